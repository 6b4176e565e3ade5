/* SPDX-License-Identifier: MIT */
/* The optimizer's steps at the end of a plan, and the loss scale before its backward pass. */
#pragma once

#include "engine/compile/draft.h"

void lig_schedule_update (LigDraft *draft);

/* Adds the steps that multiply the incoming gradients listed in draft->scalings by the loss
 * scale. */
void lig_schedule_scaling (LigDraft *draft);

/* Adds a value for elements of an array of the state. */
int lig_array_value (LigDraft *draft, int array, gint64 first, gint64 count);
