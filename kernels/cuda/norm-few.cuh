/* SPDX-License-Identifier: MIT */
/* The gradients for few normalized rows: one launch, in which some threadblocks sum over rows and
 * the others write dx. Both read dy and x, once from memory and once from the L2 cache, which costs
 * less than partial sums and a second launch that reduces them. */
#pragma once

#include "kernels/cuda/norm-backward.cuh"

namespace lig
{
enum {
  FEW_THREADS = 256,
  FEW_ACROSS = 2, /* packs of a row per threadblock that sums over rows: a sector of 32 bytes */
  FEW_DOWN = FEW_THREADS / FEW_ACROSS,
  FEW_PACKS = 2, /* largest number of packs of a thread that writes dx */
};

/* The destination of the sums over rows, and the number of threadblocks that compute them, which
 * are the first of the grid. */
struct FewSums {
  Target dweight, dbias;
  int blocks;
  bool accumulate;
};

/* Sums FEW_ACROSS packs of columns over all rows: each thread its rows in order, then over the
 * threads. */
template <class T, bool CENTERED>
__device__ inline void
sum_few (const Backward<T> &b, const FewSums &to, float *shared)
{
  /* An offset of half the banks between two values avoids bank conflicts: each half of a warp reads
   * one. */
  constexpr int W = wide<T>, DEPTH = 4, STRIDE = FEW_THREADS + 16, VALUES = CENTERED ? 2 * W : W;
  const int thread = (int) threadIdx.x, packs = (int) b.norm.length / W;
  const int pack = (int) blockIdx.x * FEW_ACROSS + thread % FEW_ACROSS;
  const int rows = pack < packs ? (int) b.norm.rows : 0;
  float sums[VALUES] = {};
  for (int base = thread / FEW_ACROSS; base < rows; base += DEPTH * FEW_DOWN) {
    Pack<T> dys[DEPTH], xs[DEPTH];
    float mean[DEPTH], rstd[DEPTH];
#pragma unroll
    for (int u = 0; u < DEPTH; u++) {
      const int row = base + u * FEW_DOWN;
      if (row < rows) {
        const int64_t at = row * b.norm.length + pack * W;
        dys[u] = load_chunk<W> (b.dy + at);
        xs[u] = load_chunk<W> (b.x + at);
        rstd[u] = b.rstd[row];
        mean[u] = CENTERED ? b.mean[row] : 0.0f;
      }
    }
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (base + u * FEW_DOWN < rows) {
        float dy[W], x[W];
        unpack (dys[u], dy);
        unpack (xs[u], x);
#pragma unroll
        for (int j = 0; j < W; j++) {
          sums[j] += dy[j] * ((CENTERED ? x[j] - mean[u] : x[j]) * rstd[u]);
          if constexpr (CENTERED)
            sums[W + j] += dy[j];
        }
      }
  }
#pragma unroll
  for (int v = 0; v < VALUES; v++)
    shared[v * STRIDE + thread] = sums[v];
  __syncthreads ();
  /* A warp reduces two values; their number is even. */
  const int value = thread / 16, first = thread % 16;
  if (value >= VALUES)
    return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < FEW_THREADS / 16; i++)
    sum += shared[value * STRIDE + i * 16 + first];
  fold_strided (FEW_ACROSS, 16, Sum{}, sum);
  const Target target = value < W ? to.dweight : to.dbias;
  const int own = (int) blockIdx.x * FEW_ACROSS + first;
  if (first >= FEW_ACROSS || own >= packs || !target.data)
    return;
  const int64_t column = own * W + value % W;
  target.set (column, to.accumulate ? target.get (column) + sum : sum);
}

/* Computes dx of one row per `lanes` threads of the threadblock; `lanes` is 32 or more. */
template <class T, class P, int N, bool CENTERED>
__device__ inline void
write_few (const Backward<T> &b, int block, float2 *slots)
{
  constexpr int W = wide<T>;
  const int lanes = b.lanes, lane = (int) threadIdx.x % lanes;
  const int64_t row = (int64_t) block * (FEW_THREADS / lanes) + threadIdx.x / lanes;
  /* Threads past the last row take part in the barrier. */
  const int packs = row < b.norm.rows ? (int) b.norm.length / W : 0;
  const int64_t start = row * b.norm.length + lane * W;
  const P *weight = (const P *) b.weight.data;

  Pack<T> dys[N], xs[N], branches[N];
  ParameterPack<P, W> weights[N];
#pragma unroll
  for (int i = 0; i < N; i++)
    if (lane + i * lanes < packs) {
      const int64_t at = start + i * lanes * W;
      dys[i] = load_chunk<W> (b.dy + at);
      xs[i] = load_chunk<W> (b.x + at);
      if (b.branch)
        branches[i] = load_chunk<W> (b.branch + at);
      if (weight)
        weights[i].load (weight + (lane + i * lanes) * W);
    }
  const float rstd = packs ? b.rstd[row] : 0.0f;
  const float mean = CENTERED && packs ? b.mean[row] : 0.0f;

  float2 sums = make_float2 (0, 0);
  auto widen_both = [&] (int i, float (&u)[W], float (&x)[W]) {
    unpack (dys[i], u);
    unpack (xs[i], x);
    if (CENTERED)
#pragma unroll
      for (int j = 0; j < W; j++)
        x[j] -= mean;
    if (!weight)
      return;
    float g[W];
    weights[i].widen_to (g);
#pragma unroll
    for (int j = 0; j < W; j++)
      u[j] *= g[j] + b.norm.offset;
  };
#pragma unroll
  for (int i = 0; i < N; i++)
    if (lane + i * lanes < packs) {
      float u[W], x[W];
      widen_both (i, u, x);
#pragma unroll
      for (int j = 0; j < W; j++) {
        if (CENTERED)
          sums.x += u[j];
        sums.y += u[j] * (x[j] * rstd);
      }
    }
  sums = short_row_sums<FEW_THREADS / 32, CENTERED> (sums, slots, lanes);
  /* dx = rstd (u - mean (u) - h mean (u h)), where all terms except u are linear in x. */
  const float by_x = -rstd * (sums.y * b.norm.share) * rstd;
  const float constant = -rstd * (sums.x * b.norm.share);
#pragma unroll
  for (int i = 0; i < N; i++)
    if (lane + i * lanes < packs) {
      float u[W], x[W];
      widen_both (i, u, x);
#pragma unroll
      for (int j = 0; j < W; j++)
        u[j] = fmaf (rstd, u[j], CENTERED ? fmaf (by_x, x[j], constant) : by_x * x[j]);
      if (b.branch) {
        unpack (branches[i], x);
#pragma unroll
        for (int j = 0; j < W; j++)
          u[j] += x[j];
      }
      Pack<T> dx;
      pack (u, dx);
      store_chunk (b.dx + start + i * lanes * W, dx);
    }
}

/* Computes dweight and dbias in the first threadblocks, dx in the others. */
template <class T, class P, int N, bool CENTERED>
__global__ void
__launch_bounds__ (FEW_THREADS, 3) gradient_few (Backward<T> b, FewSums to)
{
  __shared__ float shared[(CENTERED ? 2 : 1) * wide<T> * (FEW_THREADS + 16)];
  __shared__ float2 slots[FEW_THREADS / 32];
  if ((int) blockIdx.x < to.blocks)
    sum_few<T, CENTERED> (b, to, shared);
  else
    write_few<T, P, N, CENTERED> (b, (int) blockIdx.x - to.blocks, slots);
}
} /* namespace lig */
