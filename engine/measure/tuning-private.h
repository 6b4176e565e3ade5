/* SPDX-License-Identifier: MIT */
/* Reports the progress of measuring to the monitor and the listener. */
#pragma once

#include <ligature/tuning.h>

G_BEGIN_DECLS

/* Returns the amount of work of a series of measurements, in any unit. */
typedef double (*LigTuningWork) (gpointer data);

/* Begins a series of measurements. Its work is only counted before the first report, because most
 * compilations measure nothing. Null ends the series. */
void lig_tuning_begin (LigTuningWork count, gpointer data);

/* Reports that this much of the work is done. */
void lig_tuning_advance (double work);

/* Reports the next measurement to the monitor. */
void lig_tuning_report (const char *what);

/* Passes a message about measuring to the listener. */
void lig_tuning_say (const char *text);

/* Measures like lig_device_measure(), but in a fraction of a second and with rates that are a few
 * percent less accurate. The error is LIG_ERROR_DEVICE. */
gboolean lig_device_measure_quickly (LigDevice *self, GError **error);

G_END_DECLS
