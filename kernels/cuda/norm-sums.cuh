/* SPDX-License-Identifier: MIT */
/* The second stage of the sums over rows of norm gradients: dweight, dbias, and the sum of dx. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"

namespace lig
{
enum { MAX_SUMS = 3 };

/* Vectors of partial sums [parts, length], and the operands that receive their sums; absent ones
 * are null. */
struct NormSums {
  const float *partials[MAX_SUMS];
  const LigOperand *targets[MAX_SUMS];
};

/* Reduces the partial sums of the vectors that are present, in one kernel that is launched early,
 * while the previous one still runs (programmatic dependent launch). The launch determines whether
 * the old values are kept. */
LigStatus finish_sums (LigLaunch *launch, const NormSums &sums, int parts, int64_t length);
} /* namespace lig */
