/* SPDX-License-Identifier: MIT */
/* Parameters: those of each op, those that ops share, and those that are frozen. */
#pragma once

#include "engine/compile/draft.h"

/* Adds a parameter of a part to the draft and returns its number. */
int lig_add_parameter (LigDraft *draft, const LigTie *needed);

/* Returns whether the part computes a gradient of its parameter. */
gboolean lig_part_trains (const LigDraft *draft, const LigPart *part, int slot);

/* Returns the numbers of all parameters in the order of their offsets in the state, of int. */
GArray *lig_parameters_by_offset (const LigDraft *draft);

/* Lets tied ops use the parameters of the ops that they name, which may be later ones. */
gboolean lig_tie_parameters (LigDraft *draft, GError **error);

/* Freezes the parameters whose paths match the options' patterns. */
gboolean lig_freeze_parameters (LigDraft *draft, GError **error);
