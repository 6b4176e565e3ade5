/* SPDX-License-Identifier: MIT */
/* Arrays that are sharded over a data-parallel group: each rank has the part that it updates. */
#pragma once

#include "engine/state/struct.h"

/* Returns whether the array is sharded over the data-parallel group. */
gboolean lig_state_shares (LigState *self, LigStateArray array);

/* Returns (transfer full) the values of a parameter in such an array, gathered from all ranks of
 * the group, which all call it. */
LigTensor *lig_state_collect (LigState *self,
                              LigStateArray array,
                              const LigParameter *parameter,
                              GError **error);

/* Writes this rank's elements of a tensor of the array's type, which has all elements of the
 * parameter. */
gboolean lig_state_write_share (LigState *self,
                                LigStateArray array,
                                const LigParameter *parameter,
                                LigTensor *tensor,
                                GError **error);
