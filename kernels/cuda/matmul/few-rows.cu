/* SPDX-License-Identifier: MIT */
/* Matmuls y [M, N] = x [M, K] weight [N, K]^T of at most 32 rows, whose time is that of reading the
 * weight. A threadblock computes 16 columns of y; its warps take every eighth chunk of 32 elements
 * of the depth, and their sums are added in order, so that a row's bits do not depend on the number
 * of rows. On tensor cores the weight is the operand with 16 rows, and y's rows are the 8 columns
 * of the other. Lanes load 16 bytes at a time straight into registers, several chunks ahead: a lane
 * takes 8 neighbours of a row as its part of two matmuls, which permutes the depth of both operands
 * alike. The launch may begin before the previous kernel ends (programmatic dependent launch) and
 * in the meantime has the beginning of the weight fetched into the L2 cache. */
#include "kernels/cuda/common/early.cuh"
#include "kernels/cuda/common/mma.cuh"
#include "kernels/cuda/matmul/few-rows.h"
#include "kernels/formulas.h"

namespace lig
{
enum {
  FEW_THREADS = 256,
  FEW_WARPS = FEW_THREADS / 32,
  FEW_COLUMNS = 16,
  FEW_DEPTH = 32,
  AHEAD = 6,
  MAX_FEW_ROWS = 32,
  PREFETCHED = 1024 /* bytes of each row of the weight */
};

struct FewJob {
  const void *x, *weight, *extra, *bias; /* the last two may be null */
  void *y;
  int64_t x_stride, weight_stride, extra_stride, y_stride;
  int rows, columns, depth;
  float factor;
  LigActivation activation;
};

/* Has the beginning of the threadblock's part of the weight fetched into the L2 cache. */
template <class T>
__device__ inline void
prefetch_weight (const FewJob &job, int first)
{
#if __CUDA_ARCH__ >= 900
  int row = first + (int) threadIdx.x;
  if ((int) threadIdx.x < FEW_COLUMNS && row < job.columns)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"((const T *) job.weight +
                                                                    row * job.weight_stride),
                 "r"(min (job.depth * 2, (int) PREFETCHED))
                 : "memory");
#endif
}

/* Accumulates the matmul of a chunk of two rows of the weight and of the rows of x. */
template <class T, int TILES>
__device__ inline void
add_chunk (float (&sums)[TILES][4], const uint4 &low, const uint4 &high, const FewJob &job, int at)
{
  int g = (int) threadIdx.x % 32 / 4;
  const uint32_t first[4] = {low.x, high.x, low.y, high.y};
  const uint32_t second[4] = {low.z, high.z, low.w, high.w};
#pragma unroll
  for (int n = 0; n < TILES; n++) {
    int row = 8 * n + g;
    uint4 x = make_uint4 (0, 0, 0, 0);
    if (row < job.rows && at < job.depth)
      x = *(const uint4 *) ((const T *) job.x + row * job.x_stride + at);
    multiply<T> (sums[n], first, x.x, x.y);
    multiply<T> (sums[n], second, x.z, x.w);
  }
}

/* Adds the warp's chunks of the depth. */
template <class T, int TILES>
__device__ inline void
add_chunks (float (&sums)[TILES][4], const FewJob &job, int first)
{
  int g = (int) threadIdx.x % 32 / 4, t = (int) threadIdx.x % 4, warp = (int) threadIdx.x / 32;
  constexpr int STEP = FEW_WARPS * FEW_DEPTH;
  const T *weight = (const T *) job.weight;
  const T *low = weight + min (first + g, job.columns - 1) * job.weight_stride;
  const T *high = weight + min (first + g + 8, job.columns - 1) * job.weight_stride;
  uint4 lows[AHEAD], highs[AHEAD];
  auto load = [&] (int u, int at) {
    lows[u] = highs[u] = make_uint4 (0, 0, 0, 0);
    if (at < job.depth) {
      lows[u] = __ldcs ((const uint4 *) (low + at));
      highs[u] = __ldcs ((const uint4 *) (high + at));
    }
  };
  int at = warp * FEW_DEPTH + 8 * t;
#pragma unroll
  for (int u = 0; u < AHEAD; u++)
    load (u, at + u * STEP);
    /* All lanes of a warp take part in each matmul, also those whose elements are past the end. */
#pragma unroll 1
  for (; at - 8 * t < job.depth; at += AHEAD * STEP)
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      add_chunk<T> (sums, lows[u], highs[u], job, at + u * STEP);
      load (u, at + (u + AHEAD) * STEP);
    }
}

/* Completes an element of y from the sum. */
template <class T>
__device__ inline void
finish (const FewJob &job, float sum, int row, int column)
{
  float value = sum * job.factor;
  if (job.bias)
    value += widen (((const T *) job.bias)[column]);
  if (job.activation == LIG_GELU)
    value = lig_gelu (value);
  else if (job.activation == LIG_RELU)
    value = lig_relu (value);
  if (job.extra)
    value += widen (((const T *) job.extra)[row * job.extra_stride + column]);
  ((T *) job.y)[row * job.y_stride + column] = narrow<T> (value);
}

template <class T, int TILES>
__global__ void
__launch_bounds__ (FEW_THREADS, 2) multiply_few (const __grid_constant__ FewJob job)
{
  __shared__ float parts[FEW_WARPS][8 * TILES][FEW_COLUMNS + 1];
  int first = (int) blockIdx.x * FEW_COLUMNS, warp = (int) threadIdx.x / 32;
  int g = (int) threadIdx.x % 32 / 4, t = (int) threadIdx.x % 4;
  float sums[TILES][4] = {};
  prefetch_weight<T> (job, first);
  wait_for_previous ();
  let_next_begin ();
  add_chunks<T> (sums, job, first);
#pragma unroll
  for (int n = 0; n < TILES; n++)
#pragma unroll
    for (int i = 0; i < 4; i++)
      parts[warp][8 * n + 2 * t + i % 2][g + i / 2 * 8] = sums[n][i];
  __syncthreads ();
  for (int i = (int) threadIdx.x; i < 8 * TILES * FEW_COLUMNS; i += FEW_THREADS) {
    int row = i / FEW_COLUMNS, column = i % FEW_COLUMNS;
    float sum = 0;
#pragma unroll
    for (int w = 0; w < FEW_WARPS; w++)
      sum += parts[w][row][column];
    if (row < job.rows && first + column < job.columns)
      finish<T> (job, sum, row, first + column);
  }
}

template <class T, int TILES>
static LigStatus
launch_few (LigLaunch *launch, const FewJob &job)
{
  unsigned blocks = (unsigned) ((job.columns + FEW_COLUMNS - 1) / FEW_COLUMNS);
  return launch_early (launch, true, multiply_few<T, TILES>, dim3 (blocks), dim3 (FEW_THREADS), 0,
                       1, job);
}

/* Returns whether a matrix has the type, and its rows 16-byte alignment; an absent one does. */
static bool
suits_few (const LigMatrix &matrix, LigDtype dtype)
{
  return !matrix.data ||
         (matrix.dtype == dtype && (uintptr_t) matrix.data % 16 == 0 && matrix.stride % 8 == 0);
}
} /* namespace lig */

using namespace lig;

extern "C" bool
lig_few_rows_serves (const LigLaunch *launch, const LigMatmul *matmul)
{
  LigDtype dtype = matmul->left.dtype;
  return launch->device->capability >= 90 && (dtype == LIG_BF16 || dtype == LIG_FP16) &&
         matmul->rows > 0 && matmul->rows <= MAX_FEW_ROWS && matmul->columns > 0 &&
         matmul->columns <= INT32_MAX - FEW_COLUMNS && matmul->depth >= 8 &&
         matmul->depth <= INT32_MAX / 4 && matmul->depth % 8 == 0 && !matmul->left_transposed &&
         matmul->right_transposed && matmul->result.data && !matmul->aux.data &&
         matmul->activation != LIG_GELU_BACKWARD && matmul->sums == LIG_NO_SUMS &&
         !matmul->left_sums.data && suits_few (matmul->left, dtype) &&
         suits_few (matmul->right, dtype) && matmul->result.dtype == dtype &&
         (!matmul->extra.data || matmul->extra.dtype == dtype) &&
         (!matmul->vector.data || matmul->vector.dtype == dtype);
}

extern "C" LigStatus
lig_few_rows_matmul (LigLaunch *launch, const LigMatmul *matmul)
{
  FewJob job = {matmul->left.data,    matmul->right.data,    matmul->extra.data,
                matmul->vector.data,  matmul->result.data,   matmul->left.stride,
                matmul->right.stride, matmul->extra.stride,  matmul->result.stride,
                (int) matmul->rows,   (int) matmul->columns, (int) matmul->depth,
                matmul->factor,       matmul->activation};
  return dispatch (launch, matmul->left.dtype, [&] (auto one) {
    using T = decltype (one);
    if constexpr (std::is_same_v<T, float>)
      return LIG_FAIL (launch, LIG_UNSUPPORTED, "linear: not a 16-bit type");
    else
      return job.rows <= 8    ? launch_few<T, 1> (launch, job)
             : job.rows <= 16 ? launch_few<T, 2> (launch, job)
                              : launch_few<T, 4> (launch, job);
  });
}
