/* SPDX-License-Identifier: MIT */
/* Declarations that ops which exchange with other ranks share. Their params structs begin with
 * LigCollectiveParams. With one rank in the group they pass their input on. */
#pragma once

#include "engine/ops/define.h"

/* The parameter `group`. */
#define LIG_RANK_GROUP(type, field) \
  LIG_CHOICE (type, field, "group", N_ ("Group"), \
              N_ ("Ranks that take part: those with other rows of the batch, or those with other " \
                  "parts of the parameters"), \
              "data|tensor|context", LIG_GROUP_TENSOR)

/* Sets the kernel's params. Of ranks of a tensor group, x has to be of this kind, and y becomes one
 * of the other. */
gboolean lig_infer_collective (
  LigInfer *infer, int group, LigShardingKind from, LigShardingKind to, GError **error);

/* Divides the first axis of y among the ranks of the group, or collects it. */
gboolean lig_infer_scattered (LigInfer *infer, int group, GError **error);
gboolean lig_infer_gathered (LigInfer *infer, int group, GError **error);

/* Emits a kernel for y and, in the backward pass, one for dx; null, or one rank in the group: the
 * value is passed on. */
void lig_lower_collective (LigLowering *lowering, const char *kernel);
void lig_lower_collective_backward (LigLowering *lowering, const char *kernel);
