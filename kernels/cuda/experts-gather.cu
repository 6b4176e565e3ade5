/* SPDX-License-Identifier: MIT */
/* The inverse of the permutation of rows by expert, and the gradients of both. A warp sums the rows
 * of a token, in the order of its choices, or writes them. Lower bound: each row of a token and of
 * its copies crosses the memory bus once. */
#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/experts-move.cuh"

namespace lig
{
namespace unpermute
{
/* Computes y_t, the sum of weights[t, j] x[places[t, j]] in the order of j. A lane has DEPTH rows
 * of its columns in flight. */
template <class A>
__global__ void
__launch_bounds__ (THREADS, 3) gather_rows (Move m, Target x, const float *weights, Target y)
{
  constexpr int W = A::W, DEPTH = 8;
  int64_t columns = m.units * W, step = (int64_t) gridDim.x * MOVERS;
  int lane = (int) threadIdx.x % 32;
  for (int64_t token = (int64_t) blockIdx.x * MOVERS + threadIdx.x / 32; token < m.tokens;
       token += step)
    for (int64_t at = (int64_t) lane * W; at < columns; at += 32 * W) {
      float sums[W] = {};
      for (int base = 0; base < m.top_k; base += DEPTH) {
        typename A::Value in[DEPTH];
        int64_t place[DEPTH];
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
          place[d] = base + d < m.top_k ? m.place (token, base + d) : -1;
          if (place[d] >= 0)
            in[d] = A::read (x, place[d] * columns + at);
        }
#pragma unroll
        for (int d = 0; d < DEPTH; d++)
          if (place[d] >= 0) {
            float values[W], weight = weights ? weights[token * m.top_k + base + d] : 1;
            A::widen (in[d], x, values);
#pragma unroll
            for (int i = 0; i < W; i++)
              sums[i] = fmaf (weight, values[i], sums[i]);
          }
      }
      A::write (y, token * columns + at, A::narrow (sums, y));
    }
}

/* Marks the rows that places name, one bit each. */
static __global__ void
__launch_bounds__ (THREADS) mark_rows (Move m, uint32_t *marks)
{
  int64_t count = m.tokens * m.top_k, step = (int64_t) gridDim.x * THREADS;
  for (int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
    int64_t place = m.places[i];
    if (place >= 0 && place < m.rows)
      atomicOr (&marks[place / 32], 1u << place % 32);
  }
}

/* Clears the words of the marks. */
static __global__ void
__launch_bounds__ (THREADS) clear_marks (uint32_t *marks, int64_t words)
{
  int64_t step = (int64_t) gridDim.x * THREADS;
  for (int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x; i < words; i += step)
    marks[i] = 0;
}

/* The gradient of unpermute. Each output may be absent; x is, if `dweights` is. */
struct Scatter {
  Target dy, x, dx;
  const float *weights;
  float *dweights;
  const uint32_t *marks;
};

/* Writes the rows of dx of AT_ONCE choices of a token, and sums their products with dy, which is
 * read once. */
template <class A, int AT_ONCE>
__device__ inline void
scatter_token (const Move &m, const Scatter &s, int64_t token, int first)
{
  constexpr int W = A::W;
  int64_t columns = m.units * W, place[AT_ONCE];
  int lane = (int) threadIdx.x % 32;
  float sums[AT_ONCE] = {}, weight[AT_ONCE];
#pragma unroll
  for (int j = 0; j < AT_ONCE; j++) {
    bool inside = first + j < m.top_k;
    place[j] = inside ? m.place (token, first + j) : -1;
    weight[j] = inside && s.weights ? s.weights[token * m.top_k + first + j] : 1;
  }
  for (int64_t at = (int64_t) lane * W; at < columns; at += 32 * W) {
    float dy[W];
    A::widen (A::read (s.dy, token * columns + at), s.dy, dy);
    typename A::Value in[AT_ONCE];
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++)
      if (s.dweights && place[j] >= 0)
        in[j] = A::read (s.x, place[j] * columns + at);
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++)
      if (place[j] >= 0) {
        float values[W], out[W];
        if (s.dweights) {
          A::widen (in[j], s.x, values);
#pragma unroll
          for (int i = 0; i < W; i++)
            sums[j] = fmaf (dy[i], values[i], sums[j]);
        }
#pragma unroll
        for (int i = 0; i < W; i++)
          out[i] = weight[j] * dy[i];
        if (present (s.dx))
          A::write (s.dx, place[j] * columns + at, A::narrow (out, s.dx));
      }
  }
  if (!s.dweights)
    return;
  fold_lanes (32, Sum{}, sums);
#pragma unroll
  for (int j = 0; j < AT_ONCE; j++)
    if (lane == 0 && first + j < m.top_k)
      s.dweights[token * m.top_k + first + j] = sums[j];
}

/* Computes dx and dweights. The first `clearing` threadblocks clear the rows of dx without a mark.
 */
template <class A>
__global__ void
__launch_bounds__ (THREADS) scatter_rows (Move m, Scatter s, int clearing)
{
  constexpr int AT_ONCE = 8;
  int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  if ((int) blockIdx.x >= clearing) {
    int64_t step = (int64_t) ((int) gridDim.x - clearing) * MOVERS;
    for (int64_t token = (int64_t) ((int) blockIdx.x - clearing) * MOVERS + warp; token < m.tokens;
         token += step)
      for (int first = 0; first < m.top_k; first += AT_ONCE)
        scatter_token<A, AT_ONCE> (m, s, token, first);
    return;
  }
  int64_t columns = m.units * A::W;
  for (int64_t group = (int64_t) blockIdx.x * MOVERS + warp; group * 32 < m.rows;
       group += (int64_t) clearing * MOVERS) {
    int64_t row = group * 32 + lane;
    bool free = row < m.rows && !(s.marks[group] >> lane & 1);
    unsigned left = __ballot_sync (0xffffffffu, free);
    for (; left; left &= left - 1)
      for (int64_t at = (int64_t) lane * A::W; at < columns; at += 32 * A::W) {
        float zeros[A::W] = {};
        A::write (s.dx, (group * 32 + __ffs (left) - 1) * columns + at, A::narrow (zeros, s.dx));
      }
  }
}

/* Computes dweights[t, j] = dscales[places[t, j]]; 0 without dscales. */
static __global__ void
__launch_bounds__ (THREADS) gather_scales (
  const int32_t *places, const float *dscales, int64_t rows, int64_t count, float *to)
{
  int64_t step = (int64_t) gridDim.x * THREADS;
  for (int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
    int64_t place = places[i];
    to[i] = dscales && place >= 0 && place < rows ? dscales[place] : 0;
  }
}

/* Launches y_t = the sum of weights[t, j] x[places[t, j]]. */
static LigStatus
gather (LigLaunch *launch,
        const LigOperand *x,
        const LigOperand *places,
        const LigOperand *weights,
        const LigOperand *y)
{
  bool packs = packable ({x, y}) && y->columns % (x->dtype == LIG_FP32 ? 4 : 8) == 0;
  if (!lig_dtype_is_floating (x->dtype) || !lig_dtype_is_floating (y->dtype) ||
      x->columns != y->columns)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  if (y->size <= 0)
    return LIG_OK;
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Move move = move_of (places, places->data, rows (y), rows (x));
    move.units = y->columns / A::W;
    gather_rows<A><<<movers (launch, move.tokens), THREADS, 0, stream (launch)>>> (
      move, target (x), weights ? (const float *) weights->data : nullptr, target (y));
    return LIG_LAUNCHED (launch);
  });
}

/* Launches the marks of the rows that places name. */
static LigStatus
mark (LigLaunch *launch, const Move &move)
{
  int64_t words = (move.rows + 31) / 32;
  uint32_t *marks = (uint32_t *) launch->workspace;
  if ((size_t) words * sizeof *marks > LIG_WORKSPACE_SIZE)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "experts: too many rows for the workspace; use fewer tokens");
  clear_marks<<<blocks_for (launch, words, THREADS, 8), THREADS, 0, stream (launch)>>> (marks,
                                                                                        words);
  mark_rows<<<blocks_for (launch, move.tokens * move.top_k, THREADS, 8), THREADS, 0,
              stream (launch)>>> (move, marks);
  return LIG_LAUNCHED (launch);
}
} /* namespace unpermute */
} /* namespace lig */

using namespace lig;

/* Computes dx_t, the sum of the gradients of the token's rows, and dweights. */
extern "C" LigStatus
lig_cuda_permute_backward (LigLaunch *launch)
{
  using namespace unpermute;
  const LigOperand *o = launch->operands, *dy = &o[0], *dscales = &o[1], *places = &o[2];
  const LigOperand *dx = &o[3], *dweights = &o[4];
  if (places->dtype != LIG_INT32 || !is_type (dscales, LIG_FP32) || !is_type (dweights, LIG_FP32) ||
      (dx->data && !dy->data))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  LigStatus status = dx->data ? gather (launch, dy, places, nullptr, dx) : LIG_OK;
  if (status != LIG_OK || !dweights->data || dweights->size <= 0)
    return status;
  gather_scales<<<blocks_for (launch, dweights->size, THREADS, 8), THREADS, 0, stream (launch)>>> (
    (const int32_t *) places->data, (const float *) dscales->data, dscales->size, dweights->size,
    (float *) dweights->data);
  return LIG_LAUNCHED (launch);
}

/* Sums the rows of each token, times their weights. */
extern "C" LigStatus
lig_cuda_unpermute (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (o[1].dtype != LIG_INT32 || !is_type (&o[2], LIG_FP32))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  return unpermute::gather (launch, &o[0], &o[1], &o[2], &o[3]);
}

/* Returns the gradient of each token to its rows, and computes dweights. */
extern "C" LigStatus
lig_cuda_unpermute_backward (LigLaunch *launch)
{
  using namespace unpermute;
  const LigOperand *o = launch->operands, *dy = &o[0], *x = &o[1], *places = &o[2];
  const LigOperand *weights = &o[3], *dx = &o[4], *dweights = &o[5];
  const LigOperand *like = dx->data ? dx : x;
  if (places->dtype != LIG_INT32 || !is_type (weights, LIG_FP32) || !is_type (dweights, LIG_FP32) ||
      (dweights->data && !x->data) || !lig_dtype_is_floating (dy->dtype) ||
      (x->data && (!lig_dtype_is_floating (x->dtype) || x->columns != dy->columns)) ||
      (dx->data && (!lig_dtype_is_floating (dx->dtype) || dx->columns != dy->columns)))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  if (dy->size <= 0 || !like->data)
    return LIG_OK;
  Move move = move_of (places, places->data, rows (dy), rows (like));
  if (x->data && dx->data && rows (x) < move.rows)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  LigStatus status = dx->data ? mark (launch, move) : LIG_OK;
  if (status != LIG_OK)
    return status;
  bool packs = packable ({dy, x, dx}) && dy->columns % (dy->dtype == LIG_FP32 ? 4 : 8) == 0;
  Scatter scatter = {target (dy),
                     target (x),
                     target_like (dx, dy),
                     (const float *) weights->data,
                     (float *) dweights->data,
                     (const uint32_t *) launch->workspace};
  return dispatch_access (launch, dy->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Move with = move;
    with.units = dy->columns / A::W;
    int scattering = movers (launch, with.tokens);
    int clearing = dx->data ? movers (launch, (with.rows + 31) / 32) : 0;
    scatter_rows<A>
      <<<scattering + clearing, THREADS, 0, stream (launch)>>> (with, scatter, clearing);
    return LIG_LAUNCHED (launch);
  });
}
