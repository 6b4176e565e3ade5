/* SPDX-License-Identifier: MIT */
/* The choices that kernels make by measuring, and where they are kept. */
#pragma once

#include "engine/device/device-private.h"
#include <ligature/tuning.h>

G_BEGIN_DECLS

/* Until lig_choices_end(), kernels of the device look for their choices in this process and in the
 * tuning, and keep there what they measure. Without a tuning (null), choices are kept for this
 * process alone. The tuning outlives the call of lig_choices_end(). */
void lig_choices_begin (LigDevice *device, const LigTuning *tuning);
void lig_choices_end (LigDevice *device);

/* Returns the choices that kernels made or recalled in this process, a line each: key, tabulator,
 * choice; (transfer full). */
char *lig_algorithms_list (void);

/* Makes this process choose as such a text says; malformed lines are ignored. */
void lig_algorithms_preset (const char *text);

G_END_DECLS
