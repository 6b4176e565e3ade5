/* SPDX-License-Identifier: MIT */
/* The part of a parameter that a rank of a tensor-parallel or expert-parallel group keeps. */
#pragma once

#include "engine/state/struct.h"

/* Returns (transfer full) this rank's part of the whole parameter. */
LigTensor *lig_state_take_part (LigState *self,
                                const LigParameter *parameter,
                                LigTensor *whole,
                                GError **error);

/* Gathers the peers' pieces of the data, piece i from byte bounds[i] on: all of them call it. */
gboolean lig_state_gather (const LigPeers *peers, void *data, const gint64 *bounds, GError **error);

/* Returns (transfer full) the whole parameter, gathered from all ranks, which all call it. */
LigTensor *lig_state_join_parts (LigState *self,
                                 const LigParameter *parameter,
                                 LigTensor *part,
                                 GError **error);
