/* SPDX-License-Identifier: MIT */
/* Sums over the rows of a matrix, and the second stage of all sums over rows. */
#include "kernels/cuda/common/walk.cuh"

namespace lig
{
/* The number of columns per threadblock of add_columns. */
enum { ACROSS = 32 };

/* Sums `parts` rows of partial sums, as sum_parts () describes. threadIdx.x selects the column,
 * threadIdx.y the parts. */
__global__ static void __launch_bounds__ (1024) add_columns (
  const float *partials, int parts, int64_t stride, int64_t columns, Target target, bool accumulate)
{
  constexpr int DEPTH = 8;
  __shared__ float sums[32][ACROSS];
  int64_t column = (int64_t) blockIdx.x * ACROSS + threadIdx.x;
  int down = (int) blockDim.y;
  wait_for_previous ();
  if (column < columns) {
    float sum = 0;
    for (int part = (int) threadIdx.y; part < parts; part += DEPTH * down) {
      float values[DEPTH];
#pragma unroll
      for (int u = 0; u < DEPTH; u++)
        if (part + u * down < parts)
          values[u] = partials[(part + u * down) * stride + column];
#pragma unroll
      for (int u = 0; u < DEPTH; u++)
        if (part + u * down < parts)
          sum += values[u];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
  }
  __syncthreads ();
  if (column >= columns || threadIdx.y > 0)
    return;
  float total = accumulate ? target.get (column) : 0;
#pragma unroll 8
  for (int i = 0; i < down; i++)
    total += sums[i][threadIdx.x];
  target.set (column, total);
}

LigStatus
sum_parts (LigLaunch *launch,
           const float *partials,
           int64_t parts,
           int64_t stride,
           int64_t columns,
           Target target,
           bool accumulate,
           int threads,
           bool early)
{
  return launch_early (launch, early, add_columns,
                       dim3 ((unsigned) ((columns + ACROSS - 1) / ACROSS)),
                       dim3 (ACROSS, (unsigned) threads), 0, 1, partials, (int) parts, stride,
                       columns, target, accumulate);
}

LigStatus
add_parts (LigLaunch *launch,
           const float *partials,
           int parts,
           int64_t stride,
           int64_t columns,
           const LigOperand *target,
           bool early)
{
  if (!target->data || columns <= 0)
    return LIG_OK;
  return sum_parts (launch, partials, parts, stride, columns, lig::target (target),
                    (bool) launch->accumulate, threads_for (parts), early);
}

/* Sums the rows of dy [M, N]: a first stage that leaves partial sums, or the whole sum if there is
 * one part. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) sum_matrix (Target dy, Walk w, Sums to)
{
  constexpr int W = A::W, DEPTH = depth<A> (1);
  Spot s = spot<W> (w);
  float sums[1][W] = {};
  let_next_begin ();
  for (int64_t row = s.first; row < s.end; row += DEPTH * s.step) {
    typename A::Value in[DEPTH];
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (row + u * s.step < s.end)
        in[u] = A::read (dy, (row + u * s.step) * w.columns + s.column);
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (row + u * s.step < s.end) {
        float values[W];
        A::widen (in[u], dy, values);
        add_row (sums[0], values);
      }
  }
  finish_sums (w, to, sums);
}

LigStatus
sum_rows (LigLaunch *launch, const LigOperand *dy, const LigOperand *dbias)
{
  int64_t columns = dy->columns;
  if (!lig_dtype_is_floating (dy->dtype) ||
      (dbias->data && !lig_dtype_is_floating (dbias->dtype)) || !sums_fit (columns))
    return LIG_FAIL (
      launch, LIG_UNSUPPORTED,
      "bias: not a floating type, or more than 2^23 columns; convert or reduce them");
  if (!dbias->data)
    return LIG_OK;
  Walk w = sum_walk (launch, rows (dy), columns, dy->dtype);
  Sums to = sums_to (launch, w, dbias);
  if (dbias->size < columns) {
    to.partials = (float *) launch->workspace;
    to.columns = columns;
  }
  bool packs = packable ({dy}) && columns % (dy->dtype == LIG_FP32 ? 4 : 8) == 0;
  dispatch_access (launch, dy->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    sum_matrix<A><<<walk_grid (w, A::W), THREADS, 0, stream (launch)>>> (target (dy), w, to);
    return LIG_OK;
  });
  return finish_walk (launch, w, to, dbias);
}
} /* namespace lig */
