/* SPDX-License-Identifier: MIT */
/* Gradients of parameters that several ops share. */
#pragma once

#include "engine/compile/draft.h"

/* Returns whether a step writes the gradient of a parameter that several ops share. Such a step
 * must not overlap others, which may add to the same gradient. */
gboolean lig_writes_shared (const LigDraft *draft, const LigDraftStep *step);

/* After the backward pass is scheduled: lets the first step that writes a gradient replace it, and
 * every later one add to it. */
void lig_share_gradients (LigDraft *draft);

/* Renumbers the steps of the groups of the backward pass after steps were inserted. */
void lig_find_step_groups (LigDraft *draft);
