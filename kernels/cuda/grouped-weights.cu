/* SPDX-License-Identifier: MIT */
/* The gradients of the matrices of groups, dweight[g] = dy^T x over the rows of each group, with
 * TMA and warpgroup MMA: the schedule of the built-in matmul (built-in.cu), where the depth of a
 * tile is the rows of its group, which are known only on the device.
 *
 * Both operands have the depth as rows: MMAs take 16-bit operands of that layout. The last 64 rows
 * of the depth may contain rows of the next group; the consumers set these to 0 in both tiles,
 * since 0 times infinity is NaN. Empty groups have zeros. */
#include "kernels/cuda/experts.cuh"
#include "kernels/cuda/grouped.h"
#include "kernels/cuda/matmul/ring.cuh"
#include "kernels/cuda/matmul/tensor-maps.cuh"
#include "kernels/cuda/matmul/units.cuh"

namespace lig
{
namespace grouped
{
/* The epilogue stages nothing; the barriers of the warpgroups' turns follow those of the sums. */
using Places = Layout<After::SUM>;
enum { STAGES = Places::STAGES, TURNS = 2, SHARED_BYTES = Places::SHARED_BYTES + UNITS_BYTES };

struct Weights {
  const int *borders; /* of the groups */
  int *next;          /* the counter of units */
  int groups;         /* their number */
  int rows, columns;  /* of a gradient */
  int tall, wide;     /* pairs of tiles in a column, tiles in a row */
  void *result;
};

/* Returns the first tile of a unit; it begins and ends at rows of the group. */
__device__ inline SentTile
tile_of (const Weights &job, int unit)
{
  Job shape = {};
  shape.tall = job.tall;
  shape.wide = job.wide;
  int group = unit / (job.tall * job.wide);
  Corner corner = corner_of (shape, unit - group * job.tall * job.wide, 0);
  return SentTile{
    true, group, corner.row, corner.column, job.borders[group], job.borders[group + 1]};
}

/* Returns the steps of the depth of a tile. */
__device__ inline int
steps_of (const SentTile &tile)
{
  return (tile.end - tile.begin + TILE_DEPTH - 1) / TILE_DEPTH;
}

/* Copies the tiles of a stage; each threadblock copies half of the right one for both. */
__device__ inline void
load_rows (const Maps &maps,
           const StageRing &ring,
           int stage,
           const SentTile &tile,
           int chunks,
           int row,
           int rank)
{
  uint32_t full = ring.full + 8 * stage;
  barrier_expect (full, LEFT_BYTES + chunks * CHUNK_BYTES);
  for (int chunk = 0; chunk < TILE_ROWS / 64; chunk++)
    load_tile (ring.left (stage) + chunk * CHUNK_BYTES, &maps.left, tile.row + 64 * chunk, row,
               full);
  for (int chunk = 0; chunk < chunks; chunk++)
    load_tile_for (ring.right (stage) + chunk * CHUNK_BYTES + rank * CHUNK_BYTES / 2, &maps.right,
                   tile.column + 64 * chunk, row + rank * TILE_DEPTH / 2, full, 3);
}

/* The producer: fills the ring, for all tiles of this threadblock. */
__device__ inline void
produce_rows (
  const Maps &maps, const Weights &job, const StageRing &ring, const UnitQueue &queue, int rank)
{
  Cursor<STAGES> at = {0, 0};
  for (int turn = 0;; turn++) {
    SentTile tile = queue.produce (turn);
    if (!tile.exists)
      break;
    int chunks = min ((job.columns - tile.column + 63) / 64, TILE_COLUMNS / 64);
    for (int row = tile.begin; row < tile.end; row += TILE_DEPTH, at.advance ()) {
      barrier_wait (ring.empty + 8 * at.stage, at.parity ^ 1);
      load_rows (maps, ring, at.stage, tile, chunks, row, rank);
    }
  }
}

/* Sets the rows of a stage's tiles from `count` on to 0. */
__device__ inline void
clear_stage (const StageRing &ring, Cursor<STAGES> at, int count)
{
  barrier_wait (ring.full + 8 * at.stage, at.parity);
#pragma unroll 1
  for (int i = threadIdx.x % 128; i < STAGE_BYTES / 16; i += 128)
    if (i % (CHUNK_BYTES / 16) >= count * 8)
      asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(ring.left (at.stage) + i * 16),
                   "r"(0)
                   : "memory");
  publish_writes ();
  warpgroup_sync (threadIdx.x / 128);
}

/* The mainloop of one tile. */
template <class L>
__device__ inline void
multiply_group (
  float (&sums)[2][96], const StageRing &ring, Cursor<STAGES> first, const SentTile &tile, int next)
{
  int last = steps_of (tile) - 1, left = (tile.end - tile.begin) % TILE_DEPTH;
  multiply_steps<L> (sums, ring, first, last + 1, next, [&] (Cursor<STAGES> at, int step) {
    if (left && step == last)
      clear_stage (ring, at, left);
  });
}

/* Writes two neighbouring elements, or adds them to the stored ones. */
template <bool ADDS>
__device__ inline void
put_pair (float *to, float a, float b)
{
  if constexpr (ADDS) {
    float2 old = *(const float2 *) to;
    a += old.x;
    b += old.y;
  }
  *(float2 *) to = make_float2 (a, b);
}
template <bool ADDS, class Y>
__device__ inline void
put_pair (Y *to, float a, float b)
{
  if constexpr (ADDS) {
    float2 old;
    widen_pair<Y> (*(const uint32_t *) to, old.x, old.y);
    a += old.x;
    b += old.y;
  }
  *(uint32_t *) to = narrow_pair<Y> (a, b);
}

/* Writes a tile. A lane has pairs of neighbouring elements, and four lanes have whole sectors of
 * fp32. The types are known to the compiler: branches at each element would not fit the instruction
 * cache. */
template <class L, class Y, bool ADDS>
__device__ inline void
write_tile (const float (&sums)[2][96], const Weights &job, const SentTile &tile)
{
  int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  int row = tile.row + warp * PIECE_ROWS + lane / 4, column = tile.column + 2 * (lane % 4);
  Y *to = (Y *) job.result + ((int64_t) tile.group * job.rows + row) * job.columns + column;
  int64_t below = 8 * (int64_t) job.columns;
  int count = (job.columns - column + 7) / 8;
#pragma unroll
  for (int number = 0; number < 4; number++) {
    Y *at = to + (number / 2 * 8 + number % 2) * below;
    if (row + number / 2 * 64 + number % 2 * 8 < job.rows)
#pragma unroll
      for (int i = 0; i < L::COLUMNS / 8; i++)
        if (i < count)
          put_pair<ADDS> (at + 8 * i, sums[number / 2][4 * i + 2 * (number % 2)],
                          sums[number / 2][4 * i + 2 * (number % 2) + 1]);
  }
}

/* Writes zeros for a tile of an empty group. */
template <class Y>
__device__ inline void
clear_tile (const Weights &job, const SentTile &tile)
{
  int rows = min (TILE_ROWS, job.rows - tile.row);
  int columns = min (TILE_COLUMNS, job.columns - tile.column);
  Y *to =
    (Y *) job.result + ((int64_t) tile.group * job.rows + tile.row) * job.columns + tile.column;
  for (int i = threadIdx.x % 128; i < rows * columns; i += 128)
    to[(int64_t) (i / columns) * job.columns + i % columns] = 0;
}

/* A consumer: processes every second tile of this threadblock. */
template <class T, class Y, bool ADDS>
__device__ inline void
consume_rows (const Weights &job, const StageRing &ring, const UnitQueue &queue, int group)
{
  int round = 0, next = TURNS + 3 - group;
  for (int turn = 0;; turn++) {
    SentTile tile = queue.consume (turn);
    int first = round;
    bool own = turn % 2 == group - 1;
    if (!tile.exists) {
      if (own && turn > 0)
        turn_wait (TURNS + group);
      break;
    }
    round += steps_of (tile);
    if (!own)
      continue;
    if (turn > 0)
      turn_wait (TURNS + group);
    if (tile.begin == tile.end) {
      turn_pass (next);
      if (!ADDS)
        clear_tile<Y> (job, tile);
      continue;
    }
    choose_width<T, true, true, false> (job.columns - tile.column, [&] (auto loop) {
      float sums[2][96];
      multiply_group<decltype (loop)> (sums, ring, Cursor<STAGES>::at (first), tile, next);
      write_tile<decltype (loop), Y, ADDS> (sums, job, tile);
    });
  }
}

template <class T, class Y, bool ADDS>
__global__ void LIG_IN_PAIRS
__launch_bounds__ (BLOCK, 1)
  grouped_weights_kernel (const __grid_constant__ Maps maps, const __grid_constant__ Weights job)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ char memory[];
  uint32_t begin = (shared_address (memory) + 1023) / 1024 * 1024;
  StageRing ring = {begin, begin + Places::BARRIERS_AT, begin + Places::BARRIERS_AT + STAGES * 8,
                    0};
  int warp = warp_number (), group = warp / 4, rank = (int) cluster_rank ();
  UnitQueue queue = UnitQueue::at (begin + Places::BARRIERS_AT + 2 * STAGES * 8);
  begin_ring<STAGES> (ring);
  queue.begin ();
  cluster_sync ();
  if (group == 0) {
    release_registers<40> ();
    if (threadIdx.x == 0)
      produce_rows (maps, job, ring, queue, rank);
    else if (warp == 1 && rank == 0)
      queue.schedule (job.next, job.groups * job.tall * job.wide,
                      [&] (int unit) { return tile_of (job, unit); });
  } else {
    take_registers<232> ();
    consume_rows<T, Y, ADDS> (job, ring, queue, group);
  }
  __syncwarp ();
  cluster_sync ();
#endif
}

template <class T, class Y, bool ADDS>
static LigStatus
launch_weights (LigLaunch *launch, const Maps &maps, const Weights &job)
{
  auto kernel = grouped_weights_kernel<T, Y, ADDS>;
  if (cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES) !=
      cudaSuccess)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "grouped matmul: too little shared memory");
  int blocks = launch->device->multiprocessors / 2 * 2, most = 2 * job.groups * job.tall * job.wide;
  kernel<<<(unsigned) min (blocks, most), BLOCK, SHARED_BYTES, stream (launch)>>> (maps, job);
  return LIG_LAUNCHED (launch);
}

/* Launches the kernel for the type of the gradient, which is that of the operands or fp32. */
template <class T>
static LigStatus
launch_weights_of (LigLaunch *launch, LigDtype dtype, const Maps &maps, const Weights &job)
{
  if (dtype == LIG_FP32)
    return launch->accumulate ? launch_weights<T, float, true> (launch, maps, job)
                              : launch_weights<T, float, false> (launch, maps, job);
  return launch->accumulate ? launch_weights<T, T, true> (launch, maps, job)
                            : launch_weights<T, T, false> (launch, maps, job);
}

static Weights
weights_of (const LigOperand *dy, const LigOperand *x, int64_t groups)
{
  Weights job = {};
  job.groups = (int) groups;
  job.rows = (int) dy->columns;
  job.columns = (int) x->columns;
  job.tall = (job.rows + 2 * TILE_ROWS - 1) / (2 * TILE_ROWS);
  job.wide = (job.columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
  return job;
}
} /* namespace grouped */
} /* namespace lig */

using namespace lig;
using namespace lig::grouped;

bool
lig_grouped_weights_serves (const LigLaunch *launch,
                            const LigOperand *dy,
                            const LigOperand *x,
                            const LigOperand *dweight)
{
  int64_t limit = INT32_MAX - 2 * TILE_ROWS;
  if (launch->device->capability != 90 || (dy->dtype != LIG_BF16 && dy->dtype != LIG_FP16) ||
      rows (x) < 1 || rows (x) > limit || dy->columns > limit || x->columns > limit ||
      !has_rows (dy, dy->dtype, dy->columns) || !has_rows (x, dy->dtype, x->columns) ||
      (dweight->dtype != LIG_FP32 && dweight->dtype != dy->dtype))
    return false;
  int64_t groups = dweight->size / (dy->columns * x->columns);
  const Weights job = weights_of (dy, x, groups);
  return groups * job.tall * job.wide <= INT32_MAX / 4 && (uintptr_t) dweight->data % 16 == 0 &&
         map_function ();
}

LigStatus
lig_grouped_weights (LigLaunch *launch, const LigGroupedWeights *p)
{
  Maps maps = {};
  Weights job = weights_of (p->dy, p->x, p->groups);
  LigMatrix left = {p->dy->data, p->dy->columns, p->dy->dtype};
  LigMatrix right = {p->x->data, p->x->columns, p->x->dtype};
  job.borders = p->borders;
  job.next = p->next;
  job.result = p->dweight->data;
  if (!describe (&maps.left, left, rows (p->dy), left.stride, TILE_DEPTH, 64) ||
      !describe (&maps.right, right, rows (p->x), right.stride, TILE_DEPTH / 2, 64))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "grouped matmul: the driver rejects a tensor map");
  return left.dtype == LIG_BF16 ? launch_weights_of<bf16> (launch, p->dweight->dtype, maps, job)
                                : launch_weights_of<half> (launch, p->dweight->dtype, maps, job);
}
