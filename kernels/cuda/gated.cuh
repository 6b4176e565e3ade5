/* SPDX-License-Identifier: MIT */
/* The parameters of gated units, and the places of the two halves of a row: blocks of the gate and
 * of the linear half alternate; without interleaving there is one block of each. */
#pragma once

#include "kernels/cuda/common/access.cuh"
#include "kernels/gated-formulas.h"

/* Reasons of failures. */
#define LIG_NO_DIVISOR \
  "gated unit: interleave does not divide half of the columns; use a divisor, or 0"
#define LIG_INTERLEAVED \
  "bias and gated unit: the halves are interleaved; add the bias by a kernel of its own"

namespace lig
{
/* Returns the launch's parameters, or the defaults. */
static inline LigGatedParams
gated_params (const LigLaunch *launch)
{
  const LigGatedParams *params = (const LigGatedParams *) launch->params;
  return params ? *params : LigGatedParams{7, 1.702f, 1, 4, 25, 0};
}

/* Returns the columns of a block of either half. */
static inline int64_t
block_length (const LigGatedParams &params, int64_t half)
{
  return params.interleave > 0 ? params.interleave : half;
}

/* Returns the same for the launch's parameters. */
static inline int64_t
block_of (const LigLaunch *launch, int64_t half)
{
  return block_length (gated_params (launch), half);
}

/* Returns whether kernels support blocks of that length. */
static inline bool
blocks_fit (int64_t half, int64_t block)
{
  return half <= INT32_MAX && half % block == 0;
}

/* Returns whether all blocks of a row are 16-byte aligned if the row is. */
static inline bool
halves_pack (const LigOperand *x, int64_t block)
{
  return block % (x->dtype == LIG_FP32 ? 4 : 8) == 0;
}

/* Returns how far the gate of a column is after that column of its row. The branch is uniform, and
 * cheaper than the division. */
__device__ inline int
gate_shift (int column, int block)
{
  return column < block ? 0 : column / block * block;
}
} /* namespace lig */
