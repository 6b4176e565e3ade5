/* SPDX-License-Identifier: MIT */
/* Draws of tokens from logits, a threadblock for each row. Sets of the most probable tokens are
 * found by radix selection on the bits of the scaled logits, four passes over the vocabulary
 * without sorting; weights are integers, so that atomic sums do not depend on their order. Lower
 * bound: a threadblock reads the logits, which are in the L2 cache, once per pass. */
#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/sample.h"

namespace lig
{
enum { SAMPLE_THREADS = 1024, DIGITS = 256 };

/* A draw: the tokens that may be drawn have at least the key and the weight `floor`. */
struct Draw {
  const LigSampleSettings *row;
  Target logits;
  const uint8_t *seen; /* null: no penalty */
  int64_t first;
  int count;
  float top; /* the largest scaled logit */
  uint32_t key;
  uint64_t floor;

  __device__ float
  scale (float logit, int token) const
  {
    return lig_sample_scale (row, logit, seen && seen[token]);
  }
  /* Returns the weight of a token; 0 if it may not be drawn. */
  __device__ uint64_t
  weigh (float scaled) const
  {
    uint64_t weight = lig_sample_key (scaled, top) < key ? 0 : lig_sample_weight (scaled, top);
    return weight < floor ? 0 : weight;
  }
};

/* A token and its logit, ordered by the larger logit, then the lower token. */
struct Candidate {
  float value;
  int token;
};
struct Better {
  __device__ Candidate
  operator() (const Candidate &a, const Candidate &b) const
  {
    return b.value > a.value || (b.value == a.value && b.token < a.token) ? b : a;
  }
};
constexpr Candidate NOBODY = {-INFINITY, INT32_MAX};

__device__ inline Candidate
best_of_block (Candidate one)
{
  __shared__ Candidate parts[32];
  for (int offset = 16; offset > 0; offset /= 2) {
    Candidate other = {of_other_lane (offset, one.value), of_other_lane (offset, one.token)};
    one = Better{}(one, other);
  }
  __syncthreads ();
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = one;
  __syncthreads ();
  for (int i = 0; i < SAMPLE_THREADS / 32; i++)
    one = Better{}(one, parts[i]);
  return one;
}

/* Calls f (logit, token) for tokens first, first + step, … of the row, in vectors. */
template <class A, class F>
__device__ inline void
each_logit (const Draw &draw, int first, int end, int step, F f)
{
  for (int i = first * A::W; i < end; i += step * A::W) {
    float values[A::W];
    A::widen (A::read (draw.logits, draw.first + i), draw.logits, values);
#pragma unroll
    for (int j = 0; j < A::W; j++)
      if (i + j < end)
        f (values[j], i + j);
  }
}
template <class A, class F>
__device__ inline void
each_logit (const Draw &draw, F f)
{
  each_logit<A> (draw, (int) threadIdx.x, draw.count, SAMPLE_THREADS, f);
}

/* Finds the largest logits and the token with the largest scaled one, which becomes `top`. */
template <class A>
__device__ inline Candidate
find_best (Draw &draw, Candidate (&best)[LIG_SAMPLE_ALTERNATIVES])
{
  Candidate mine[LIG_SAMPLE_ALTERNATIVES], largest = NOBODY;
#pragma unroll
  for (int i = 0; i < LIG_SAMPLE_ALTERNATIVES; i++)
    mine[i] = NOBODY;
  each_logit<A> (draw, [&] (float logit, int token) {
    Candidate one = {lig_sample_read (logit), token};
    largest = Better{}(largest, Candidate{draw.scale (logit, token), token});
#pragma unroll
    for (int i = 0; i < LIG_SAMPLE_ALTERNATIVES; i++) {
      Candidate better = Better{}(mine[i], one);
      one = better.token == one.token ? mine[i] : one;
      mine[i] = better;
    }
  });
#pragma unroll
  for (int i = 0; i < LIG_SAMPLE_ALTERNATIVES; i++) {
    best[i] = best_of_block (mine[0]);
    if (mine[0].token == best[i].token) {
#pragma unroll
      for (int j = 0; j + 1 < LIG_SAMPLE_ALTERNATIVES; j++)
        mine[j] = mine[j + 1];
      mine[LIG_SAMPLE_ALTERNATIVES - 1] = NOBODY;
    }
  }
  largest = best_of_block (largest);
  draw.top = largest.value;
  return largest;
}

template <class A>
__device__ inline uint64_t
sum_weights (const Draw &draw)
{
  uint64_t sum = 0;
  each_logit<A> (draw,
                 [&] (float logit, int token) { sum += draw.weigh (draw.scale (logit, token)); });
  return block_total (sum);
}

/* Returns the largest key such that the weights of the tokens with at least that key, or the number
 * of those with a weight, sum to at least `wanted`; 0 if all together do not. */
template <class A>
__device__ inline uint32_t
select_key (const Draw &draw, bool by_number, uint64_t wanted)
{
  __shared__ unsigned long long sums[DIGITS];
  __shared__ uint32_t chosen;
  __shared__ uint64_t passed;
  uint32_t prefix = 0, mask = 0, digit = threadIdx.x;
  uint64_t above = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    __syncthreads ();
    if (digit < DIGITS)
      sums[digit] = 0;
    __syncthreads ();
    each_logit<A> (draw, [&] (float logit, int token) {
      float scaled = draw.scale (logit, token);
      uint32_t key = lig_sample_key (scaled, draw.top);
      uint64_t weight = (key & mask) == prefix ? draw.weigh (scaled) : 0;
      if (weight > 0)
        atomicAdd (&sums[key >> shift & 255], (unsigned long long) (by_number ? 1 : weight));
    });
    __syncthreads ();
    uint64_t before = above;
    for (uint32_t i = DIGITS - 1; i > digit; i--)
      before += sums[i];
    if (digit < DIGITS && before < wanted && (before + sums[digit] >= wanted || digit == 0)) {
      chosen = digit;
      passed = before;
    }
    __syncthreads ();
    above = passed;
    prefix |= chosen << shift;
    mask |= 255u << shift;
  }
  return prefix;
}

/* Returns the sum of the values of the threads before this one. */
__device__ inline uint64_t
sum_before (uint64_t value)
{
  __shared__ unsigned long long parts[SAMPLE_THREADS / 32];
  int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;
  unsigned long long sum = value;
  for (int offset = 1; offset < 32; offset *= 2) {
    unsigned long long other = __shfl_up_sync (0xffffffffu, sum, offset);
    sum += lane >= offset ? other : 0;
  }
  if (lane == 31)
    parts[warp] = sum;
  __syncthreads ();
  for (int i = 0; i < warp; i++)
    sum += parts[i];
  return sum - value;
}

/* Returns the token at which the weights up to it, in the order of tokens, exceed `number`. Each
 * thread sums neighbouring tokens; the one whose sums reach the number finds the token. */
template <class A>
__device__ inline int
find_token (const Draw &draw, uint64_t number)
{
  __shared__ int found;
  int vectors = (draw.count + A::W - 1) / A::W;
  int each = (vectors + SAMPLE_THREADS - 1) / SAMPLE_THREADS;
  int first = (int) threadIdx.x * each, end = min ((first + each) * A::W, draw.count);
  uint64_t sum = 0;
  each_logit<A> (draw, first, end, 1,
                 [&] (float logit, int token) { sum += draw.weigh (draw.scale (logit, token)); });
  if (threadIdx.x == 0)
    found = 0;
  uint64_t before = sum_before (sum);
  if (before <= number && number < before + sum)
    each_logit<A> (draw, first, end, 1, [&] (float logit, int token) {
      uint64_t weight = draw.weigh (draw.scale (logit, token));
      if (before <= number && number < before + weight)
        found = token;
      before += weight;
    });
  __syncthreads ();
  return found;
}

template <class A>
__device__ inline int
pick (Draw &draw)
{
  const LigSampleSettings *row = draw.row;
  if (row->top_k > 0 && row->top_k < draw.count)
    draw.key = select_key<A> (draw, true, (uint64_t) row->top_k);
  if (row->top_p < 1)
    draw.key = select_key<A> (draw, false, lig_sample_wanted (row, sum_weights<A> (draw)));
  draw.floor = lig_sample_floor (row);
  return find_token<A> (draw, lig_sample_random (row, sum_weights<A> (draw)));
}

template <class A>
__global__ void
__launch_bounds__ (SAMPLE_THREADS) sample (Target logits,
                                           const LigSampleSettings *rows,
                                           const uint8_t *seen,
                                           int n_seen,
                                           int columns,
                                           LigSampleChance *chances,
                                           int32_t *tokens)
{
  const LigSampleSettings *row = rows + blockIdx.x;
  Draw draw = {row, logits, nullptr, (int64_t) blockIdx.x * columns, columns, 0, 0, 0};
  if (seen && row->seen >= 0 && row->seen < n_seen)
    draw.seen = seen + (int64_t) row->seen * columns;
  Candidate best[LIG_SAMPLE_ALTERNATIVES];
  Candidate token = find_best<A> (draw, best);
  if (row->temperature > 0 && isfinite (draw.top))
    token.token = pick<A> (draw);
  if (token.token >= columns) /* All logits are -infinity. */
    token.token = 0;
  float top = best[0].value;
  uint64_t sum = 0;
  if (isfinite (top))
    each_logit<A> (
      draw, [&] (float logit, int) { sum += lig_sample_weight (lig_sample_read (logit), top); });
  sum = block_total (sum);
  int i = (int) threadIdx.x;
  if (i > LIG_SAMPLE_ALTERNATIVES)
    return;
  int one = token.token;
#pragma unroll
  for (int j = 0; j < LIG_SAMPLE_ALTERNATIVES; j++)
    if (i == j + 1)
      one = best[j].token < columns ? best[j].token : -1;
  LigSampleChance chance = {one, 0};
  if (one >= 0 && sum > 0) {
    float logit[1];
    Single::widen (Single::read (logits, draw.first + one), logits, logit);
    chance.probability =
      lig_sample_share (lig_sample_weight (lig_sample_read (logit[0]), top), sum);
  }
  chances[(int64_t) blockIdx.x * (1 + LIG_SAMPLE_ALTERNATIVES) + i] = chance;
  if (tokens && i == 0)
    tokens[blockIdx.x] = token.token;
}
} /* namespace lig */

using namespace lig;

extern "C" LigStatus
lig_cuda_sample (LigLaunch *launch)
{
  const LigOperand *logits = &launch->operands[0], *settings = &launch->operands[1];
  const LigOperand *seen = &launch->operands[2], *chances = &launch->operands[3];
  const LigOperand *tokens = &launch->operands[4];
  int64_t count = rows (logits), columns = logits->columns;
  if (settings->size < count * LIG_SAMPLE_SETTINGS || chances->size < count * LIG_SAMPLE_CHANCES ||
      (tokens->data && tokens->size < count) || columns > INT32_MAX / 2 || count > INT32_MAX)
    return LIG_FAIL (launch, LIG_FAILED, "sample: the settings do not fit the rows; correct them");
  int64_t width = logits->dtype == LIG_FP32 ? 4 : 8;
  bool packs = packable ({logits}) && columns % width == 0;
  return dispatch_access (launch, logits->dtype, packs, [=] (auto access) {
    sample<decltype (access)><<<(unsigned) count, SAMPLE_THREADS, 0, stream (launch)>>> (
      target (logits), (const LigSampleSettings *) settings->data, (const uint8_t *) seen->data,
      seen->data ? (int) (seen->size / columns) : 0, (int) columns,
      (LigSampleChance *) chances->data, (int32_t *) tokens->data);
    return LIG_LAUNCHED (launch);
  });
}
