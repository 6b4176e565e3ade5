/* SPDX-License-Identifier: MIT */
/* Reports the progress of measuring to the monitor and the listener. */
#pragma once

#include <ligature/tuning.h>

G_BEGIN_DECLS

/* Begins a series of measurements that are that much work, in a unit of their own; 0 ends it. */
void lig_tuning_begin (double work);

/* Says that so much of the work is done. */
void lig_tuning_advance (double work);

/* Reports to the monitor what is measured next. */
void lig_tuning_report (const char *what);

/* Passes a sentence about the measuring to the listener. */
void lig_tuning_say (const char *text);

G_END_DECLS
