/* SPDX-License-Identifier: MIT */
/* The gradients of normalized rows that a threadblock can hold: it reads each operand once,
 * prefetches the next rows asynchronously, and accumulates the partial sums of the parameters'
 * gradients in registers.
 *
 * This kernel is bound by instructions, about 20 per element, not by memory: hence packs past the
 * end of a row are zeros rather than branches, and offsets are constants. */
#pragma once

#include "kernels/cuda/norm.cuh"

namespace lig
{
template <class T> struct Backward {
  Norm norm;
  const T *dy, *branch, *x;
  Vector weight;
  const float *mean, *rstd;
  T *dx;
  float *dweights, *dbiases; /* partial sums, [parts, length]; null if not needed */
  int lanes, groups, stages; /* used by gradient_packs */
  int64_t step;              /* distance between consecutive rows of a group */
};

/* The number of threads of a threadblock. Short rows need few registers, and many warps to have
 * enough bytes in flight. */
template <int PACKS, bool CENTERED>
constexpr int max_threads = PACKS > 1  ? 512
                            : CENTERED ? 768
                                       : 1024;

/* The number of slots for the sums of a threadblock's warps. Each group has an even number of them,
 * so that they are read in pairs. */
enum { MAX_SLOTS = 40 };

/* Sums the column sums of all groups of a threadblock, in the order of the groups, into `target`.
 * `shared` may be reused for it once all threads have arrived. */
template <int N, int W>
__device__ inline void
write_partials (const float (&sums)[N][W], float4 *shared, int lanes, int packs, float *target)
{
  constexpr int QUADS = W / 4;
  const int threads = (int) blockDim.x, thread = (int) threadIdx.x;
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < N; i++)
#pragma unroll
    for (int j = 0; j < W; j += 4)
      shared[(i * threads + thread) * QUADS + j / 4] =
        make_float4 (sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
  __syncthreads ();
  for (int item = thread; item < packs * QUADS; item += threads) {
    const int pack = item / QUADS, i = pack / 32 % N;
    const int lane = pack / (32 * N) * 32 + pack % 32;
    float4 total = make_float4 (0, 0, 0, 0);
#pragma unroll 4
    for (int at = lane; at < threads; at += lanes) {
      const float4 part = shared[(i * threads + at) * QUADS + item % QUADS];
      total.x += part.x, total.y += part.y, total.z += part.z, total.w += part.w;
    }
    __stcg (reinterpret_cast<float4 *> (target) + item, total);
  }
}

/* Loads the gain of a pack of columns. */
template <class T, int W>
__device__ inline void
read_gain (const Backward<T> &b, int pack, bool inside, float (&g)[W])
{
#pragma unroll
  for (int j = 0; j < W; j++)
    g[j] = 1;
  if (!inside || !b.weight.data)
    return;
  if (sizeof (T) < 4 && b.weight.dtype == LIG_FP32) {
    ParameterPack<float, W> raw;
    raw.load ((const float *) b.weight.data + pack * W);
    raw.widen_to (g);
  } else {
    ParameterPack<T, W> raw;
    raw.load ((const T *) b.weight.data + pack * W);
    raw.widen_to (g);
  }
#pragma unroll
  for (int j = 0; j < W; j++)
    g[j] += b.norm.offset;
}

/* The gain of a thread's packs, the first of which is `own`. If HELD it is kept for all rows, in
 * shared memory as fp32, or in registers for a single pack; else it is loaded through the caches
 * for each row. */
template <class T, int N, bool HELD> struct Gain {
  static constexpr int W = wide<T>, QUADS = W / 4;
  const Backward<T> *b;
  int own, packs;
  float4 *shared;
  float kept[W];

  /* Loads the gain. Each group writes the same bits, so no synchronization is needed. */
  __device__ inline void
  hold (const Backward<T> &backward, int own_, int packs_, float4 *shared_)
  {
    b = &backward, own = own_, packs = packs_, shared = shared_;
    if constexpr (HELD) {
#pragma unroll
      for (int i = 0; i < N; i++) {
        read_gain (*b, own + i * 32, own + i * 32 < packs, kept);
        if constexpr (N > 1)
#pragma unroll
          for (int q = 0; q < QUADS; q++)
            shared[(i * QUADS + q) * 32] =
              make_float4 (kept[q * 4], kept[q * 4 + 1], kept[q * 4 + 2], kept[q * 4 + 3]);
      }
    }
  }

  __device__ inline void
  of (int i, float (&g)[W]) const
  {
    if (!HELD) {
      read_gain (*b, own + i * 32, own + i * 32 < packs, g);
    } else if (N > 1) {
#pragma unroll
      for (int q = 0; q < QUADS; q++) {
        const float4 four = shared[(i * QUADS + q) * 32];
        g[q * 4] = four.x, g[q * 4 + 1] = four.y, g[q * 4 + 2] = four.z, g[q * 4 + 3] = four.w;
      }
    } else {
#pragma unroll
      for (int j = 0; j < W; j++)
        g[j] = kept[j];
    }
  }
};

/* h = x rstd - mean rstd loses digits of h if the terms are larger than this. 16-bit numbers have
 * few digits themselves, and only constant rows are so far from 0 compared with their standard
 * deviation. */
constexpr float FAR_FROM_ZERO = 8;

/* Subtracts the mean of such a row from a thread's N packs of x, so that the mean is 0. */
template <class T, int N>
__device__ inline void
come_near (uint4 *packs, float mean)
{
  constexpr int W = wide<T>;
#pragma unroll 1
  for (int i = 0; i < N; i++) {
    Pack<T> &own = *reinterpret_cast<Pack<T> *> (packs + i * 32);
    float x[W];
    unpack (own, x);
#pragma unroll
    for (int j = 0; j < W; j++)
      x[j] -= mean;
    pack (x, own);
  }
}

/* Adds a pack to the sums over rows, and to the sums of u and of u h over its row. */
template <bool CENTERED, int W>
__device__ inline void
gather (const float (&dy)[W],
        const float (&x)[W],
        const float (&gain)[W],
        float rstd,
        float shift,
        float (&dweight)[W],
        float (&dbias)[W],
        float2 *sums)
{
#pragma unroll
  for (int j = 0; j < W; j++) {
    const float h = CENTERED ? fmaf (x[j], rstd, shift) : x[j] * rstd, u = gain[j] * dy[j];
    dweight[j] += dy[j] * h;
    if (CENTERED) {
      dbias[j] += dy[j];
      sums->x += u;
    }
    sums->y += u * h;
  }
}

/* Writes a thread's packs of dx = rstd (u - mean (u) - h mean (u h)), where all terms except u are
 * linear in x, plus the branch if there is one. `from` has the packs of dy, x and the branch; packs
 * from `end` on are past the end of the row. */
template <bool CENTERED, bool ADDS, class T, int N, bool HELD>
__device__ inline void
write_row (const uint4 *from,
           const Gain<T, N, HELD> &gain,
           float rstd,
           float by_x,
           float constant,
           int end,
           T *to)
{
  constexpr int W = wide<T>;
#pragma unroll
  for (int i = 0; i < N; i++) {
    float dy[W], x[W], g[W];
    unpack (*reinterpret_cast<const Pack<T> *> (from + i * 32), dy);
    unpack (*reinterpret_cast<const Pack<T> *> (from + (N + i) * 32), x);
    gain.of (i, g);
#pragma unroll
    for (int j = 0; j < W; j++)
      dy[j] = fmaf (rstd, g[j] * dy[j], CENTERED ? fmaf (by_x, x[j], constant) : by_x * x[j]);
    if (ADDS) {
      unpack (*reinterpret_cast<const Pack<T> *> (from + (2 * N + i) * 32), x);
#pragma unroll
      for (int j = 0; j < W; j++)
        dy[j] += x[j];
    }
    Pack<T> dx;
    pack (dy, dx);
    if (i * 32 < end)
      store_chunk (to + i * 32 * W, dx);
  }
}

/* The branch that a kernel adds: none, one, or one if the launch has one, which is decided at run
 * time. */
enum class Branch { NONE, ADDED, ASKED };

/* Computes dx and partial sums of dweight and dbias. A threadblock consists of several groups of
 * `lanes` threads, each of which processes its own rows, one after another. A warp has N * 32
 * neighbouring packs of each row, every 32nd for one thread; it keeps their sums over rows in
 * registers and prefetches them some rows ahead to shared memory that no other thread reads, so
 * that no barrier is needed for the data. */
template <class T, int LANES, int N, bool CENTERED, bool HELD, Branch BRANCH>
__global__ void
__launch_bounds__ (max_threads<N, CENTERED>, 1) gradient_packs (Backward<T> b)
{
  constexpr int W = wide<T>, QUADS = W / 4;
  extern __shared__ uint4 staged[];
  __shared__ alignas (16) float2 slots[2][MAX_SLOTS];
  const int threads = (int) blockDim.x, thread = (int) threadIdx.x;
  const int lanes = LANES ? LANES : b.lanes, group = thread / lanes, lane = thread % lanes;
  const bool adds = BRANCH == Branch::ASKED ? b.branch != nullptr : BRANCH == Branch::ADDED;
  const int packs = (int) b.norm.length / W, stages = b.stages, arrays = adds ? 3 : 2;
  /* The first of this thread's packs, in a row and in a stage; the others are 32 apart. */
  const int own = lane / 32 * (N * 32) + lane % 32;
  uint4 *const at_stage = staged + thread / 32 * (arrays * N * 32) + thread % 32;
  const int stage_size = threads * arrays * N;

  auto fetch_row = [&] (int64_t row, int stage) {
    const int inside = row < b.norm.rows ? packs : 0;
    const int64_t at = row * b.norm.length + own * W;
    uint4 *to = at_stage + stage * stage_size;
#pragma unroll
    for (int i = 0; i < N; i++) {
      copy_async (to + i * 32, b.dy + at + i * 32 * W, own + i * 32 < inside);
      copy_async (to + (N + i) * 32, b.x + at + i * 32 * W, own + i * 32 < inside);
    }
    if (adds)
#pragma unroll
      for (int i = 0; i < N; i++)
        copy_async (to + (2 * N + i) * 32, b.branch + at + i * 32 * W, own + i * 32 < inside);
    commit_copies ();
  };

  float dweight[N][W] = {}, dbias[CENTERED ? N : 1][W] = {};
  const int64_t first = (int64_t) blockIdx.x * b.groups + group;
  for (int stage = 0; stage < stages - 1; stage++)
    fetch_row (first + stage * b.step, stage);
  let_next_begin ();
  float mean = CENTERED && first < b.norm.rows ? b.mean[first] : 0.0f;
  float rstd = first < b.norm.rows ? b.rstd[first] : 0.0f;

  Gain<T, N, HELD> gain;
  gain.hold (b, own, packs,
             reinterpret_cast<float4 *> (staged + stages * stage_size) +
               lane / 32 * (N * QUADS * 32) + lane % 32);

  /* An odd number of warps leaves one slot of the last pair unwritten. */
  const int slots_of_group = (lanes / 32 + 1) / 2 * 2;
  if (LANES == 0 && lanes / 32 % 2 && lane < 2)
    slots[lane][group * slots_of_group + slots_of_group - 1] = make_float2 (0, 0);

  int stage = 0, parity = 0;
  /* The rows of a warp advance together, because its threads take part in each other's reductions:
   * until the row of its first thread is past the end. */
  const int behind = LANES > 0 && LANES < 32 ? thread % 32 / lanes : 0;
  for (int64_t row = first; row - behind < b.norm.rows; row += b.step) {
    float shift = -mean * rstd;
    uint4 *from = at_stage + stage * stage_size;
    fetch_row (row + (stages - 1) * b.step, stage ? stage - 1 : stages - 1);
    await_copies (stages - 1);
    if (CENTERED && sizeof (T) == 4 && fabsf (shift) > FAR_FROM_ZERO) {
      come_near<T, N> (from + N * 32, b.mean[row]);
      shift = 0;
    }

    float2 sums = make_float2 (0, 0);
#pragma unroll
    for (int i = 0; i < N; i++) {
      float dy[W], x[W], g[W];
      unpack (*reinterpret_cast<const Pack<T> *> (from + i * 32), dy);
      unpack (*reinterpret_cast<const Pack<T> *> (from + (N + i) * 32), x);
      gain.of (i, g);
      gather<CENTERED> (dy, x, g, rstd, shift, dweight[i], dbias[CENTERED ? i : 0], &sums);
    }
    /* Loaded late, because registers are scarce. */
    const bool more = row + b.step < b.norm.rows;
    const float next_rstd = more ? b.rstd[row + b.step] : 0.0f;
    mean = CENTERED && more ? b.mean[row + b.step] : 0.0f;
    sums = row_sums<LANES, CENTERED> (sums, slots[parity] + group * slots_of_group, lanes, group);
    if (b.dx) {
      const float scale = -rstd * (sums.y * b.norm.share), by_x = scale * rstd;
      const float constant = scale * shift - rstd * (sums.x * b.norm.share);
      const int inside = LANES == 0 || LANES >= 32 || row < b.norm.rows ? packs : 0;
      T *to = b.dx + row * b.norm.length + own * W;
      /* One branch per row costs less than one per pack. */
      if (adds)
        write_row<CENTERED, true> (from, gain, rstd, by_x, constant, inside - own, to);
      else
        write_row<CENTERED, false> (from, gain, rstd, by_x, constant, inside - own, to);
    }
    rstd = next_rstd;
    stage = stage + 1 == stages ? 0 : stage + 1;
    parity ^= 1;
  }

  /* The memory for rows past the end now holds the sums. */
  await_copies<0> ();
  float4 *shared = reinterpret_cast<float4 *> (staged);
  if (b.dweights)
    write_partials<N, W> (dweight, shared, lanes, packs, b.dweights + blockIdx.x * b.norm.length);
  if constexpr (CENTERED)
    if (b.dbiases)
      write_partials<N, W> (dbias, shared, lanes, packs, b.dbiases + blockIdx.x * b.norm.length);
}
} /* namespace lig */
