/* SPDX-License-Identifier: MIT */
/* The mainloop of matmuls with warpgroup MMA: a ring of operand tiles in shared memory, which a
 * producer fills and two consumer warpgroups multiply in turn. The threadblocks of a cluster of two
 * share one of the operands' tiles by multicast, so that both release each stage to both. */
#pragma once

#include "kernels/cuda/matmul/finish.cuh"

namespace lig
{
/* A stage of a ring of STAGES, and the phase parity of the round in which it is used. */
template <int STAGES> struct Cursor {
  int stage, parity;
  __device__ static Cursor
  at (int round)
  {
    return {round % STAGES, round / STAGES & 1};
  }
  __device__ void
  advance ()
  {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/* The ring of operand tiles in shared memory, and its barriers. */
struct StageRing {
  uint32_t tiles, full, empty, ones;
  __device__ uint32_t
  left (int stage) const
  {
    return tiles + stage * STAGE_BYTES;
  }
  __device__ uint32_t
  right (int stage) const
  {
    return tiles + stage * STAGE_BYTES + LEFT_BYTES;
  }
};

/* Initializes the barriers, for the cluster after its next cluster_sync (). */
template <int STAGES>
__device__ inline void
begin_ring (const StageRing &ring)
{
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; stage++) {
      barrier_init (ring.full + 8 * stage, 1);
      barrier_init (ring.empty + 8 * stage, 2);
    }
    barriers_publish ();
  }
}

/* Releases a stage to both threadblocks of the cluster. */
__device__ inline void
release (const StageRing &ring, int stage)
{
  if (threadIdx.x % 128 < 2)
    barrier_arrive (ring.empty + 8 * stage, threadIdx.x % 128);
}

/* The kind of a mainloop: the type of the operands, whether the rows of their tiles are those of
 * the depth, whether only the first half of a tile's rows is computed, and how many columns. */
template <class T, bool LEFT, bool RIGHT, bool HALF = false, int WIDTH = TILE_COLUMNS> struct Loop {
  using Type = T;
  static constexpr bool IS_HALF = HALF;
  static constexpr int COLUMNS = WIDTH, LEFT_TRANSPOSED = LEFT, RIGHT_TRANSPOSED = RIGHT;
  static constexpr int LEFT_ALONG = LEFT ? 16 * 128 : 32, RIGHT_ALONG = RIGHT ? 16 * 128 : 32;
  static constexpr int LEFT_LEADING = LEFT ? CHUNK_BYTES : 16;
  static constexpr int RIGHT_LEADING = RIGHT ? CHUNK_BYTES : 16;
};

/* Calls f with the kind of the mainloop that computes the least of a tile of which so many rows and
 * columns are within the matrix. */
template <class T, bool LEFT, bool RIGHT, bool HALF, class F>
__device__ inline void
choose_width (int columns, F f)
{
  if (columns <= 64)
    f (Loop<T, LEFT, RIGHT, HALF, 64>{});
  else if (columns <= 128)
    f (Loop<T, LEFT, RIGHT, HALF, 128>{});
  else
    f (Loop<T, LEFT, RIGHT, HALF, 192>{});
}
template <class T, bool LEFT, bool RIGHT, class F>
__device__ inline void
choose_loop (int rows, int columns, F f)
{
  if (rows <= TILE_ROWS / 2)
    choose_width<T, LEFT, RIGHT, true> (columns, f);
  else
    choose_width<T, LEFT, RIGHT, false> (columns, f);
}

/* Issues the MMAs of 16 elements of the depth of a stage. */
template <class L>
__device__ inline void
multiply_slice (float (&sums)[2][96], uint64_t left, uint64_t right, int adds)
{
  using T = typename L::Type;
  constexpr int DOWN = L::LEFT_TRANSPOSED, ACROSS = L::RIGHT_TRANSPOSED;
  multiply_tile<T, DOWN, ACROSS, L::COLUMNS> (sums[0], left, right, adds);
  if constexpr (!L::IS_HALF)
    multiply_tile<T, DOWN, ACROSS, L::COLUMNS> (sums[1], left + (64 * 128 >> 4), right, adds);
}

/* Issues the MMAs of a stage; the first of a tile overwrite the accumulators. If COUNTED, the
 * column sums of the left tile are issued first, as a separate group. */
template <class L, bool COUNTED>
__device__ inline void
multiply_stage (
  float (&sums)[2][96], float (&counts)[4], const StageRing &ring, int stage, int parity, int adds)
{
  using T = typename L::Type;
  barrier_wait (ring.full + 8 * stage, parity);
  uint64_t right = describe_tile (ring.right (stage), L::RIGHT_LEADING);
  uint64_t left = describe_tile (ring.left (stage), L::LEFT_LEADING),
           ones = describe_equal (ring.ones);
  matmuls_begin ();
  if constexpr (COUNTED) {
    multiply_columns<T, false> (counts, left, ones);
#pragma unroll
    for (int k = 1; k < TILE_ROWS / 16; k++)
      multiply_columns<T, true> (counts, left + (k * 16 * 128 >> 4), ones);
    matmuls_commit ();
  }
  multiply_slice<L> (sums, left, right, adds);
#pragma unroll
  for (int k = 1; k < TILE_DEPTH / 16; k++) {
    right += L::RIGHT_ALONG >> 4;
    left += L::LEFT_ALONG >> 4;
    multiply_slice<L> (sums, left, right, true);
  }
  matmuls_commit ();
}

/* Writes the column sums of the left tile; `row` is the first, and `depth` are left. */
__device__ inline void
write_counts (const float (&counts)[4], float *row, int depth)
{
  int column = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
  if (threadIdx.x % 4 == 0 && column < depth)
    row[column] = counts[0];
  if (threadIdx.x % 4 == 0 && column + 8 < depth)
    row[column + 8] = counts[2];
}

/* The mainloop of one tile. `next` is the barrier at which the other warpgroup waits for its turn,
 * or 0: a stage's barrier only distinguishes even phases from odd ones, so the other warpgroup must
 * not poll a stage before this one has seen all of its own. If COUNTED, the column sums of the left
 * operand are written to `row`. */
template <class L, bool COUNTED, int STAGES>
__device__ inline void
multiply (float (&sums)[2][96],
          const StageRing &ring,
          Cursor<STAGES> at,
          int steps,
          int next,
          float *row,
          int depth)
{
  float counts[4];
  multiply_stage<L, COUNTED> (sums, counts, ring, at.stage, at.parity, false);
  if (next && steps == 1)
    turn_pass (next);
  if constexpr (COUNTED) {
    matmuls_wait<1> ();
    write_counts (counts, row, depth);
  }
  for (int step = 1; step < steps; step++) {
    int before = at.stage;
    at.advance ();
    multiply_stage<L, COUNTED> (sums, counts, ring, at.stage, at.parity, true);
    if (next && step == steps - 1)
      turn_pass (next);
    matmuls_wait<1> ();
    if constexpr (COUNTED)
      write_counts (counts, row + step * TILE_DEPTH, depth - step * TILE_DEPTH);
    release (ring, before);
  }
  matmuls_wait<0> ();
  release (ring, at.stage);
}

/* The mainloop of one tile as one loop, for kernels that have many kinds of it: whether MMAs add is
 * decided at run time, so that the compiler needs no registers for a second copy. Calls `prepare`
 * with the stage and the number of each step before its MMAs. */
template <class L, int STAGES, class F>
__device__ inline void
multiply_steps (
  float (&sums)[2][96], const StageRing &ring, Cursor<STAGES> at, int steps, int next, F prepare)
{
  float counts[4];
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    int before = at.stage;
    if (step > 0)
      at.advance ();
    prepare (at, step);
    multiply_stage<L, false> (sums, counts, ring, at.stage, at.parity, step > 0);
    if (next && step == steps - 1)
      turn_pass (next);
    if (step > 0) {
      matmuls_wait<1> ();
      release (ring, before);
    }
  }
  matmuls_wait<0> ();
  release (ring, at.stage);
}

/* Release builds also compile this for older devices, which have no clusters. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define LIG_IN_PAIRS
#else
#define LIG_IN_PAIRS __cluster_dims__ (2, 1, 1)
#endif

} /* namespace lig */
