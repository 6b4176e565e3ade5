/* SPDX-License-Identifier: MIT */
/* Sums over rows in two stages, in an order that does not depend on timing: a kernel leaves fp32
 * partial sums of its share of the rows, [parts, columns], in the workspace; the second stage adds
 * them up in order and rounds once. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"

namespace lig
{
/* At most as many parts as the workspace holds for `vectors` vectors of that many columns; 0 where
 * not even one part fits. */
inline int
most_parts (int64_t columns, int vectors)
{
  int64_t most = (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float)) / (columns * vectors);
  return (int) (most < 65535 ? most : 65535);
}

/* `target` (+)= sums over `parts` of `partials`, part p of column c at p * stride + c. It may be
 * set up `beside` the kernel launched just before, if that calls let_next_begin (). */
LigStatus add_parts (LigLaunch *launch,
                     const float *partials,
                     int parts,
                     int64_t stride,
                     int64_t columns,
                     const LigOperand *target,
                     bool beside = false);

/* The sums over rows of `dy` by themselves, into `dbias`, of a row's length. */
LigStatus sum_rows (LigLaunch *launch, const LigOperand *dy, const LigOperand *dbias);
} /* namespace lig */
