/* SPDX-License-Identifier: MIT */
/* Reports the progress of measuring to the monitor and the listener. */
#pragma once

#include <ligature/tuning.h>

G_BEGIN_DECLS

/* Reports to the monitor what is measured next. */
void lig_tuning_report (const char *what);

/* Passes a sentence about the measuring to the listener. */
void lig_tuning_say (const char *text);

G_END_DECLS
