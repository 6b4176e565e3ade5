/* SPDX-License-Identifier: MIT */
/* Sums over rows in two stages, in an order that does not depend on timing: a kernel leaves fp32
 * partial sums of its share of the rows, [parts, columns], in the workspace; the second stage
 * adds these in order and rounds once. */
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

/* Returns the number of threads that share a column for as many parts. */
inline int
threads_for (int parts)
{
  int threads = 1;
  while (threads < 32 && threads * 4 < parts)
    threads *= 2;
  return threads;
}

/* Adds up partial sums by columns: target[c] (+)= the sum over p < parts of
 * partials[p * stride + c]. `threads`, a power of two up to 32, share each column: each adds up
 * every threads-th part in order, then their sums are added in order. An `early` kernel is set up
 * while the kernel launched just before runs, if that calls let_next_begin (). */
LigStatus sum_parts (LigLaunch *launch,
                     const float *partials,
                     int64_t parts,
                     int64_t stride,
                     int64_t columns,
                     Target target,
                     bool accumulate,
                     int threads,
                     bool early = false);

/* The same into an operand, which may be absent, with as many threads per column as suit the number
 * of parts; the launch decides whether the old values are kept. */
LigStatus add_parts (LigLaunch *launch,
                     const float *partials,
                     int parts,
                     int64_t stride,
                     int64_t columns,
                     const LigOperand *target,
                     bool early = false);

/* Computes dbias, the sum over rows of the first columns of dy, as many as dbias has. The launch
 * decides whether the old values are kept. */
LigStatus sum_rows (LigLaunch *launch, const LigOperand *dy, const LigOperand *dbias);
} /* namespace lig */
