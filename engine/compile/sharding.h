/* SPDX-License-Identifier: MIT */
/* The parts of values and parameters that the ranks of a tensor group have. */
#pragma once

#include "engine/compile/draft.h"

/* Presets the parts in the input of an op's shape rule. */
void lig_sharding_prepare (const LigDraft *draft, const LigPart *part, LigInfer *infer);

/* Checks that the op computes with the parts of its inputs. */
gboolean lig_sharding_check (const LigPart *part, const LigInfer *infer, GError **error);

/* Sets the part of the parameter that an op needs, and whether its gradient is a sum over the
 * ranks. */
void lig_sharding_parameter (LigTie *parameter, const LigInfer *infer);

/* Returns the shape of the parameter on all ranks together. */
LigShape lig_sharding_whole (const LigTie *parameter);

/* Returns whether the op may use the parameter of another op. */
gboolean lig_sharding_same (const LigTie *tie, const LigDraftParameter *parameter);

/* Returns the number of the step's rows among those of all ranks, see LigLaunch.part. A step that
 * several ops share is of rows alike. */
int lig_step_row_part (const LigDraft *draft, const LigDraftStep *step);

/* Returns the group with whose ranks the step exchanges; LIG_N_GROUPS: with none. */
LigRankGroup lig_step_group (const LigDraftStep *step);
