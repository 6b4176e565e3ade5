/* SPDX-License-Identifier: MIT */
/* The optimizer's steps at the end of a plan, and the loss scale before its backward pass. */
#pragma once

#include "engine/compile/draft.h"

void lig_schedule_update (LigDraft *draft);

/* Multiplies the gradients that arrive, where differentiate noted them down for it. */
void lig_schedule_scaling (LigDraft *draft);
