/* SPDX-License-Identifier: MIT */
/* Rotary position embedding: pairs (a, b) of the features of queries and keys become (a cos - b
 * sin, a sin + b cos), times a factor; the backward pass rotates by the negative angle. Lower
 * bound: each operand crosses the memory bus once, values only if not in place. A threadblock
 * processes a few rows and computes their sines and cosines once, for all heads, in shared memory.
 */
#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/early.cuh"
#include "kernels/positions.h"
#include "kernels/rotary.h"

namespace lig
{
enum { UNROLL = 2, TURNS = 512, MAX_HALF = 2048 };

struct Rotary {
  LigRotaryParams params;
  int64_t rows;
  int half;              /* pairs of a head */
  int turned;            /* heads that are rotated */
  int heads;             /* of a row, with the values */
  int at_once;           /* rows per threadblock */
  float sign;            /* of the angle */
  const int32_t *starts; /* null, or the first position of each sequence */
};

/* Computes the cosines and sines of a threadblock's rows, [rows, half]. The frequencies are stored
 * after them. */
__device__ inline void
fill_turns (const Rotary &r, int64_t first, int count, float2 *turns)
{
  float *frequencies = reinterpret_cast<float *> (turns + r.at_once * r.half);
  float magnitude = lig_rotary_magnitude (&r.params);
  for (int i = (int) threadIdx.x; i < r.half; i += THREADS)
    frequencies[i] = lig_rotary_frequency (&r.params, i);
  __syncthreads ();
  for (int i = (int) threadIdx.x; i < count * r.half; i += THREADS) {
    float sine, cosine;
    const LigRotaryParams &p = r.params;
    int64_t row = first + i / r.half;
    int64_t position = r.starts ? r.starts[row / p.length] + row % p.length
                                : lig_position (row % p.length, p.length, p.ranks, p.rank);
    sincosf ((float) position * frequencies[i % r.half], &sine, &cosine);
    turns[i] = make_float2 (magnitude * cosine, magnitude * (r.sign * sine));
  }
  __syncthreads ();
}

/* Rotates the pairs of W elements of each half, or of 2 W neighbouring elements. */
template <bool INTERLEAVED, int W>
__device__ inline void
turn (float (&a)[W], float (&b)[W], const float2 *turns)
{
  if constexpr (INTERLEAVED) {
#pragma unroll
    for (int i = 0; i < W; i += 2) {
      float2 t = turns[i / 2], u = turns[(W + i) / 2];
      float c = a[i], d = b[i];
      a[i] = c * t.x - a[i + 1] * t.y;
      a[i + 1] = c * t.y + a[i + 1] * t.x;
      b[i] = d * u.x - b[i + 1] * u.y;
      b[i + 1] = d * u.y + b[i + 1] * u.x;
    }
  } else {
#pragma unroll
    for (int i = 0; i < W; i++) {
      float2 t = turns[i];
      float c = a[i];
      a[i] = c * t.x - b[i] * t.y;
      b[i] = c * t.y + b[i] * t.x;
    }
  }
}

/* Copies the packs of a threadblock's rows that are not rotated. */
template <class T>
__device__ inline void
copy_rest (const Rotary &r, const T *x, T *y, int64_t first, int count)
{
  constexpr int W = wide<T>;
  int rotated = 2 * r.half, rest = (r.params.features - rotated) / W;
  int values = (r.heads - r.turned) * r.params.features / W, units = r.turned * rest + values;
  for (int i = (int) threadIdx.x; i < count * units; i += THREADS) {
    int unit = i % units, tail = unit - r.turned * rest;
    int64_t at = tail >= 0 ? r.turned * r.params.features + tail * W
                           : unit / rest * r.params.features + rotated + unit % rest * W;
    at += (first + i / units) * r.heads * r.params.features;
    store_chunk (y + at, load_chunk<W> (x + at));
  }
}

/* Rotates whole packs. */
template <class T, bool INTERLEAVED>
__global__ void
__launch_bounds__ (THREADS) turn_packs (Rotary r, const T *x, T *y)
{
  constexpr int W = wide<T>;
  extern __shared__ float2 turns[];
  int64_t first = (int64_t) blockIdx.x * r.at_once;
  int count = (int) (r.rows - first < r.at_once ? r.rows - first : r.at_once);
  int each = r.half / W, units = r.turned * each, all = count * units;
  int apart = INTERLEAVED ? W : r.half;
  fill_turns (r, first, count, turns);
  wait_for_previous ();
  let_next_begin ();
  for (int base = (int) threadIdx.x; base < all; base += THREADS * UNROLL) {
    Words<T> low[UNROLL], high[UNROLL];
    int64_t at[UNROLL];
    int pair[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (base + u * THREADS < all) {
        int i = base + u * THREADS, row = i / units, unit = i % units;
        int column = unit % each * W;
        pair[u] = row * r.half + column;
        at[u] = ((first + row) * r.heads + unit / each) * r.params.features +
                (INTERLEAVED ? 2 * column : column);
        low[u].bits = *reinterpret_cast<const uint4 *> (x + at[u]);
        high[u].bits = *reinterpret_cast<const uint4 *> (x + at[u] + apart);
      }
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (base + u * THREADS < all) {
        float a[W], b[W];
        unpack (low[u], a);
        unpack (high[u], b);
        turn<INTERLEAVED> (a, b, turns + pair[u]);
        pack (a, low[u]);
        pack (b, high[u]);
        store_chunk (y + at[u], low[u]);
        store_chunk (y + at[u] + apart, high[u]);
      }
  }
  if (x != y)
    copy_rest (r, x, y, first, count);
}

/* Rotates pair by pair, for operands of any type and alignment. */
__global__ void
__launch_bounds__ (THREADS) turn_pairs (Rotary r, Target x, Target y)
{
  extern __shared__ float2 turns[];
  int64_t first = (int64_t) blockIdx.x * r.at_once;
  int count = (int) (r.rows - first < r.at_once ? r.rows - first : r.at_once);
  int features = r.params.features, all = r.heads * features;
  int apart = r.params.interleaved ? 1 : r.half, step = r.params.interleaved ? 2 : 1;
  fill_turns (r, first, count, turns);
  for (int i = (int) threadIdx.x; i < count * r.turned * r.half; i += THREADS) {
    int pair = i % r.half, head = i / r.half % r.turned, row = i / r.half / r.turned;
    int64_t at = (first + row) * all + head * features + pair * step;
    float2 t = turns[row * r.half + pair];
    float a = x.get (at), b = x.get (at + apart);
    y.set (at, a * t.x - b * t.y);
    y.set (at + apart, a * t.y + b * t.x);
  }
  if (x.data != y.data)
    for (int i = (int) threadIdx.x; i < count * all; i += THREADS)
      if (i % all >= r.turned * features || i % features >= 2 * r.half)
        y.set (first * all + i, x.get (first * all + i));
}

/* Returns whether heads and the rotated part of each consist of whole aligned packs. */
static bool
whole_packs (const LigOperand *x, const LigOperand *y, const Rotary &r)
{
  int width = x->dtype == LIG_FP32 ? 4 : 8;
  return packable ({x, y}) && r.params.features % width == 0 && r.half % width == 0;
}

static LigStatus
rotate (LigLaunch *launch, const int32_t *starts, const LigOperand *y, float sign)
{
  const LigOperand *x = &launch->operands[0];
  const LigRotaryParams *params = (const LigRotaryParams *) launch->params;
  if (!params || params->rotated < 2 || params->length < 1 || params->features < 1)
    return LIG_FAIL (launch, LIG_FAILED, "rotary: needs its params");
  if (!lig_dtype_is_floating (x->dtype) || !lig_dtype_is_floating (y->dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "rotary: not a floating type; convert to fp32, fp16 or bf16");
  Rotary r = {*params,
              0,
              params->rotated / 2,
              params->heads + params->kv_heads,
              params->heads + 2 * params->kv_heads,
              1,
              sign,
              starts};
  if (r.half > MAX_HALF)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "rotary: a head has more than 4096 features; reduce them");
  r.rows = x->size / ((int64_t) r.heads * params->features);
  r.at_once = r.half < TURNS ? TURNS / r.half : 1;
  int64_t min = r.rows / ((int64_t) launch->device->multiprocessors * 4);
  r.at_once = min < 1 ? 1 : min < r.at_once ? (int) min : r.at_once;
  int64_t blocks = (r.rows + r.at_once - 1) / r.at_once;
  size_t bytes = (size_t) r.half * (r.at_once * sizeof (float2) + sizeof (float));
  if (blocks < 1)
    return LIG_OK;
  if (!whole_packs (x, y, r)) {
    turn_pairs<<<(unsigned) blocks, THREADS, bytes, stream (launch)>>> (r, target (x), target (y));
    return LIG_LAUNCHED (launch);
  }
  return dispatch (launch, x->dtype, [=] (auto one) {
    using T = decltype (one);
    auto kernel = params->interleaved ? turn_packs<T, true> : turn_packs<T, false>;
    return launch_early (launch, is_short (launch, blocks), kernel, dim3 ((unsigned) blocks),
                         dim3 (THREADS), bytes, 1, r, (const T *) x->data, (T *) y->data);
  });
}
} /* namespace lig */

using namespace lig;

/* Rotates the queries and keys of packed rows. */
extern "C" LigStatus
lig_cuda_rotary (LigLaunch *launch)
{
  return rotate (launch, nullptr, &launch->operands[1], 1);
}

/* Rotates the gradient back. */
extern "C" LigStatus
lig_cuda_rotary_backward (LigLaunch *launch)
{
  return rotate (launch, nullptr, &launch->operands[1], -1);
}

/* Rotates sequences that begin at other positions than 0. */
extern "C" LigStatus
lig_cuda_rotary_at (LigLaunch *launch)
{
  return rotate (launch, (const int32_t *) launch->operands[1].data, &launch->operands[2], 1);
}
