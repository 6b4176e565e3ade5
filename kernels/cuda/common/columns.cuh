/* SPDX-License-Identifier: MIT */
/* Two-stage sums over rows with a deterministic order: each threadblock leaves fp32 partial sums of
 * its share of the rows, [parts, columns], in the workspace; the second stage adds these in order
 * and rounds once. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"

namespace lig
{
/* Returns the largest number of parts for which the workspace can hold partial sums of `vectors`
 * vectors of that many columns; 0 if not even one part fits. */
inline int
max_parts (int64_t columns, int vectors)
{
  int64_t max = (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float)) / (columns * vectors);
  return (int) (max < 65535 ? max : 65535);
}

/* Returns the number of threads per column for that many parts. */
inline int
threads_for (int parts)
{
  int threads = 1;
  while (threads < 32 && threads * 4 < parts)
    threads *= 2;
  return threads;
}

/* Sums partial sums by columns: target[c] (+)= the sum over p < parts of partials[p * stride + c].
 * `threads`, a power of two up to 32, share each column: each adds every threads-th part in order,
 * then their sums are added in order. With `early`, the kernel is launched early (programmatic
 * dependent launch) if the previous kernel calls let_next_begin (). */
LigStatus sum_parts (LigLaunch *launch,
                     const float *partials,
                     int64_t parts,
                     int64_t stride,
                     int64_t columns,
                     Target target,
                     bool accumulate,
                     int threads,
                     bool early = false);

/* The same into an operand, which may be absent, with a suitable number of threads per column; the
 * launch determines whether the old values are kept. */
LigStatus add_parts (LigLaunch *launch,
                     const float *partials,
                     int parts,
                     int64_t stride,
                     int64_t columns,
                     const LigOperand *target,
                     bool early = false);

/* Computes dbias, the sum over rows of the first columns of dy, as many as dbias has. The launch
 * determines whether the old values are kept. */
LigStatus sum_rows (LigLaunch *launch, const LigOperand *dy, const LigOperand *dbias);
} /* namespace lig */
