/* SPDX-License-Identifier: MIT */
/* The gradients of normalized rows, fused with their quantization, in one pass over memory. A
 * threadblock processes chunks of neighbouring rows, and each of its groups one row after another,
 * as in gradient_packs. With a known scale it writes both copies: it stages the bytes of a chunk in
 * shared memory, from where it writes them transposed. Otherwise it finds the amaxes from which the
 * scales are computed. Lower bound: each operand crosses the memory bus once. */
#pragma once

#include "kernels/cuda/norm-backward.cuh"
#include "kernels/cuda/quantize-lines.cuh"

namespace lig
{
/* A part of a transposed column: 16 rows, whose bytes are stored at once. */
enum { PART = 16 };

/* A launch. `b.groups` is a power of two that divides the rows of a chunk. */
template <class T> struct QuantizedBackward {
  Backward<T> b;
  Quantization q;
  Lines lines;   /* finds the amaxes instead of writing copies */
  float *dlasts; /* partial sums of dx; null if not needed */
  int chunks, chunk_rows;
  int turns;  /* binary logarithm of the number of rows of a chunk per group */
  int stride; /* 8-byte words between two rows of a chunk */
  /* Returns the first row of the chunk that a threadblock processes in an iteration, and that of a
   * group. */
  __device__ int64_t
  first_of (int turn) const
  {
    return ((int64_t) blockIdx.x + (int64_t) (turn >> turns) * gridDim.x) * chunk_rows;
  }
  __device__ int
  in_chunk (int turn, int group) const
  {
    return (turn & ((1 << turns) - 1)) * b.groups + group;
  }
  __device__ int64_t
  row_of (int turn, int group) const
  {
    return first_of (turn) + in_chunk (turn, group);
  }
  /* Returns the number of iterations of a threadblock. */
  __device__ int
  count_turns () const
  {
    return (chunks - (int) blockIdx.x + (int) gridDim.x - 1) / (int) gridDim.x << turns;
  }
  /* Returns a number of a row; 0 if there is none. */
  __device__ float
  number_at (const float *numbers, int64_t row) const
  {
    return numbers && row < b.norm.rows ? numbers[row] : 0.0f;
  }
};

/* Returns the offset of an 8-byte word in a chunk. Neighbouring parts are half of the banks
 * apart. */
__device__ inline int
place_in_chunk (int row, int word, int stride)
{
  return row * stride + (word ^ (row / PART % 2 * 8));
}

/* Writes the transposed copy of a chunk of rows from its bytes. Neighbouring threads write the
 * parts of one column, which together fill whole sectors. */
__device__ inline void
write_transposed (const Quantization &q, const uint2 *bytes, int stride, int64_t first, int rows)
{
  int parts = rows / PART, words = (int) (q.columns / 4);
  for (int unit = (int) threadIdx.x; unit < words * parts; unit += (int) blockDim.x) {
    int part = unit % parts, word = unit / parts;
    const uint32_t *from = reinterpret_cast<const uint32_t *> (bytes);
    uint32_t w[PART];
    if (first + part * PART >= q.rows)
      continue;
#pragma unroll
    for (int r = 0; r < PART; r++)
      w[r] = from[place_in_chunk (part * PART + r, word / 2, stride) * 2 + word % 2];
#pragma unroll
    for (int r = 0; r < PART; r += 4)
      transpose_words (w[r], w[r + 1], w[r + 2], w[r + 3]);
    uint8_t *to = q.transposed + (int64_t) word * 4 * q.rows + first + part * PART;
#pragma unroll
    for (int j = 0; j < 4; j++)
      *reinterpret_cast<uint4 *> (to + j * q.rows) =
        make_uint4 (w[j], w[j + 4], w[j + 8], w[j + 12]);
  }
}

/* Returns the maximum of an amax and the magnitudes of a pack. */
template <class T>
__device__ inline Pair<T>
larger_of (Pair<T> amax, const Words<T> &words)
{
  amax = larger<T> (amax, Pair<T>{words.bits.x});
  amax = larger<T> (amax, Pair<T>{words.bits.y});
  amax = larger<T> (amax, Pair<T>{words.bits.z});
  return larger<T> (amax, Pair<T>{words.bits.w});
}

/* Rounds a pack to the format, and adds it to sums. */
template <class T>
__device__ inline uint2
quantized_pack (const Quantization &q, const Words<T> &words, float scale, float (&sums)[SIDE])
{
  float values[SIDE];
  unpack (words, values);
#pragma unroll
  for (int j = 0; j < SIDE; j++) {
    sums[j] += values[j];
    values[j] = scaled<T> (q, values[j], scale);
  }
  return quantized (values, q.narrow_exponent);
}

/* Returns dx plus the branch of a pack from dy, x and the branch, N packs of a warp apart: dx =
 * rstd (u - mean (u) - h mean (u h)), where all terms except u are linear in x. */
template <class T, int N, bool CENTERED>
__device__ inline Words<T>
gradient_of (const uint4 *from, const float (&gain)[SIDE], float rstd, float by_x, float constant)
{
  float dx[SIDE], x[SIDE], branch[SIDE];
  Words<T> words;
  unpack (Words<T>{from[0]}, dx);
  unpack (Words<T>{from[N * 32]}, x);
  unpack (Words<T>{from[2 * N * 32]}, branch);
#pragma unroll
  for (int j = 0; j < SIDE; j++) {
    const float of_x = CENTERED ? fmaf (by_x, x[j], constant) : by_x * x[j];
    dx[j] = fmaf (rstd, gain[j] * dx[j], of_x) + branch[j];
  }
  pack (dx, words);
  return words;
}

/* Records the maxima, and writes the inverses of the scale that all copies have. */
template <class T, bool COPIES>
__device__ inline void
finish_quantized (const QuantizedBackward<T> &s, float scale, Pair<T> amax)
{
  float max = warp_amax<T> (amax);
  if (threadIdx.x % 32 == 0) {
    if (s.lines.of_all)
      raise (s.lines.of_all, max);
    if (COPIES && s.q.recorded)
      raise (s.q.recorded, max);
  }
  if (!COPIES || blockIdx.x > 0 || threadIdx.x > 0)
    return;
  if (s.q.row_scale)
    *s.q.row_scale = lig_quantize_inverse (scale);
  if (s.q.transposed_scale)
    *s.q.transposed_scale = lig_quantize_inverse (scale);
}

/* Writes the partial sums of a threadblock. */
template <bool COPIES, class T, int N, int B, int L, int W>
__device__ inline void
write_vectors (const QuantizedBackward<T> &s,
               const float (&dweight)[N][W],
               const float (&dbias)[B][W],
               const float (&dlast)[L][W],
               float4 *shared,
               int packs)
{
  const int64_t part = blockIdx.x * s.b.norm.length;
  if (s.b.dweights)
    write_partials<N, W> (dweight, shared, s.b.lanes, packs, s.b.dweights + part);
  if constexpr (B == N)
    if (s.b.dbiases)
      write_partials<N, W> (dbias, shared, s.b.lanes, packs, s.b.dbiases + part);
  if constexpr (COPIES)
    if (s.dlasts)
      write_partials<N, W> (dlast, shared, s.b.lanes, packs, s.dlasts + part);
}

/* The number of threads of a threadblock: the sums of three vectors need registers. */
template <int PACKS, bool CENTERED>
constexpr int quantizing_threads = PACKS > 3 && CENTERED ? 256 : 512;

/* Computes dx, partial sums of dweight, dbias and of dx itself, and the copies of dx (COPIES) or
 * its amaxes. Rows are mapped to threads and prefetched as in gradient_packs. */
template <class T, int LANES, int N, bool CENTERED, bool COPIES>
__global__ void
__launch_bounds__ (quantizing_threads<N, CENTERED>, 1)
  gradient_quantized (const __grid_constant__ QuantizedBackward<T> s)
{
#if LIG_QUANTIZES
  constexpr int W = wide<T>, QUADS = W / 4, OWN = 3 * N * 32;
  extern __shared__ uint4 staged[];
  __shared__ alignas (16) float2 slots[2][MAX_SLOTS];
  const Backward<T> &b = s.b;
  const int threads = (int) blockDim.x, thread = (int) threadIdx.x;
  const int lanes = LANES ? LANES : b.lanes, group = thread / lanes, lane = thread % lanes;
  const int packs = (int) b.norm.length / W, own = lane / 32 * (N * 32) + lane % 32;
  const int stages = b.stages, stage_size = threads * 3 * N, end = s.count_turns ();
  uint4 *const at_stage = staged + thread / 32 * OWN + thread % 32;
  float4 *const gains = reinterpret_cast<float4 *> (staged + stages * stage_size);
  uint2 *const bytes = reinterpret_cast<uint2 *> (gains + (N > 1 ? N * QUADS * lanes : 0));

  auto fetch_row = [&] (int turn, int stage) {
    const int64_t row = s.row_of (turn, group), at = row * b.norm.length + own * W;
    const int inside = turn < end && row < b.norm.rows ? packs : 0;
    const int of_branch = b.branch ? inside : 0;
    uint4 *to = at_stage + stage * stage_size;
#pragma unroll
    for (int i = 0; i < N; i++) {
      copy_async (to + i * 32, b.dy + at + i * 32 * W, own + i * 32 < inside);
      copy_async (to + (N + i) * 32, b.x + at + i * 32 * W, own + i * 32 < inside);
      copy_async (to + (2 * N + i) * 32, b.branch + at + i * 32 * W, own + i * 32 < of_branch);
    }
    commit_copies ();
  };

  float dweight[N][W] = {}, dbias[CENTERED ? N : 1][W] = {}, dlast[COPIES ? N : 1][W] = {};
  for (int stage = 0; stage < stages - 1; stage++)
    fetch_row (stage, stage);
  let_next_begin ();
  Gain<T, N, true> gain;
  gain.hold (b, own, packs, gains + lane / 32 * (N * QUADS * 32) + lane % 32);
  const int slots_of_group = (lanes / 32 + 1) / 2 * 2;
  if (LANES == 0 && lanes / 32 % 2 && lane < 2)
    slots[lane][group * slots_of_group + slots_of_group - 1] = make_float2 (0, 0);
  const float scale = COPIES ? s.q.tensor_scale () : 0;
  Pair<T> amax = {};
  float rstd = s.number_at (b.rstd, s.row_of (0, group));
  float mean = CENTERED ? s.number_at (b.mean, s.row_of (0, group)) : 0;

  int stage = 0;
#pragma unroll 1
  for (int turn = 0; turn < end; turn++) {
    const int64_t row = s.row_of (turn, group), next = s.row_of (turn + 1, group);
    const bool live = row < b.norm.rows;
    float shift = -mean * rstd;
    uint4 *from = at_stage + stage * stage_size;
    fetch_row (turn + stages - 1, stage ? stage - 1 : stages - 1);
    await_copies (stages - 1);
    if (CENTERED && sizeof (T) == 4 && fabsf (shift) > FAR_FROM_ZERO) {
      come_near<T, N> (from + N * 32, s.number_at (b.mean, row));
      shift = 0;
    }

    float2 sums = make_float2 (0, 0);
#pragma unroll
    for (int i = 0; i < N; i++) {
      float dy[W], x[W], g[W];
      unpack (Words<T>{from[i * 32]}, dy);
      unpack (Words<T>{from[(N + i) * 32]}, x);
      gain.of (i, g);
      gather<CENTERED> (dy, x, g, rstd, shift, dweight[i], dbias[CENTERED ? i : 0], &sums);
    }
    /* Loaded late, because registers are scarce. */
    const float next_rstd = s.number_at (b.rstd, next);
    mean = CENTERED ? s.number_at (b.mean, next) : 0;
    sums = row_sums<LANES, CENTERED> (sums, slots[turn & 1] + group * slots_of_group, lanes, group);
    const float factor = -rstd * (sums.y * b.norm.share), by_x = factor * rstd;
    const float constant = factor * shift - rstd * (sums.x * b.norm.share);
    const int inside = live ? packs : 0, in_chunk = s.in_chunk (turn, group);
    Pair<T> of_row = {};
#pragma unroll
    for (int i = 0; i < N; i++) {
      float g[W];
      gain.of (i, g);
      const Words<T> dx = gradient_of<T, N, CENTERED> (from + i * 32, g, rstd, by_x, constant);
      if (own + i * 32 >= inside)
        continue;
      const int64_t at = row * b.norm.length + (own + i * 32) * W;
      store_chunk (b.dx + at, dx);
      of_row = larger_of<T> (of_row, dx);
      if constexpr (COPIES) {
        const uint2 word = quantized_pack<T> (s.q, dx, scale, dlast[i]);
        if (s.q.row)
          *reinterpret_cast<uint2 *> (s.q.row + at) = word;
        if (s.q.transposed)
          bytes[place_in_chunk (in_chunk, own + i * 32, s.stride)] = word;
      }
    }
    if (!COPIES && s.lines.of_rows) {
      const float max = warp_amax<T> (of_row);
      if (lane % 32 == 0 && live)
        raise (s.lines.of_rows + s.q.amax_at (row), max);
    }
    amax = larger<T> (amax, of_row);
    rstd = next_rstd;
    stage = stage + 1 == stages ? 0 : stage + 1;
    if (COPIES && s.q.transposed && s.in_chunk (turn + 1, 0) == 0) {
      __syncthreads ();
      write_transposed (s.q, bytes, s.stride, s.first_of (turn), s.chunk_rows);
      __syncthreads ();
    }
  }

  /* The memory for rows past the end now holds the sums. */
  await_copies<0> ();
  finish_quantized<T, COPIES> (s, scale, amax);
  write_vectors<COPIES> (s, dweight, dbias, dlast, reinterpret_cast<float4 *> (staged), packs);
#endif
}
} /* namespace lig */
