/* SPDX-License-Identifier: MIT */
/* The second stage of the sums over rows that the gradients of norms leave: dweight, dbias, and the
 * sum of dx. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"

namespace lig
{
enum { MAX_SUMS = 3 };

/* Vectors of partial sums [parts, length], and the operands that get their sums; the others are
 * null. */
struct NormSums {
  const float *partials[MAX_SUMS];
  const LigOperand *targets[MAX_SUMS];
};

/* Adds up the partial sums of the vectors that are present, in one launch, which is set up early,
 * while the previous kernel still runs. The launch decides whether the old values are kept. */
LigStatus finish_sums (LigLaunch *launch, const NormSums &sums, int parts, int64_t length);
} /* namespace lig */
