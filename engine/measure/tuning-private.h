/* SPDX-License-Identifier: MIT */
/* The tuning table as the kernels of a backend see it, and what was taken from it. */
#pragma once

#include "kernels/backend.h"
#include <ligature/plan.h>

G_BEGIN_DECLS

/* Without a tuning (null), choices are kept for this process alone. They point to the tuning. */
void lig_tuning_to_choices (const LigTuning *self, LigChoices *choices);

/* Tells whoever watches what is measured next. */
void lig_tuning_tell (const char *what);

/* Tells whoever listens a sentence about the measuring. */
void lig_tuning_say (const char *text);

/* What kernels chose or recalled in this process, a line each: key, tabulator, choice; (transfer
 * full). */
char *lig_algorithms_list (void);

/* Makes this process choose as such a text says; what is no such line is left out. */
void lig_algorithms_preset (const char *text);

G_END_DECLS
