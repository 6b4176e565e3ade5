/* SPDX-License-Identifier: MIT */
/* Reports the progress of measuring to the monitor and the listener. */
#pragma once

#include <ligature/tuning.h>

G_BEGIN_DECLS

/* Returns how much work a series of measurements is, in a unit of its own. */
typedef double (*LigTuningWork) (gpointer data);

/* Begins a series of measurements. Its work is counted before the first one is reported, as most
 * compilations measure nothing. Null ends the series. */
void lig_tuning_begin (LigTuningWork count, gpointer data);

/* Says that so much of the work is done. */
void lig_tuning_advance (double work);

/* Reports to the monitor what is measured next. */
void lig_tuning_report (const char *what);

/* Passes a sentence about the measuring to the listener. */
void lig_tuning_say (const char *text);

/* Measures like lig_device_measure(), but in a fraction of a second and with rates that are a few
 * percent less accurate. The error is LIG_ERROR_DEVICE. */
gboolean lig_device_measure_quickly (LigDevice *self, GError **error);

G_END_DECLS
