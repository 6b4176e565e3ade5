/* SPDX-License-Identifier: MIT */
/* Matmuls of the rows of each group by the matrix of the group, with TMA and warpgroup MMA: the
 * schedule of the built-in matmul (built-in.cu), whose persistent threadblocks walk over the tiles
 * of all groups.
 *
 * A cluster of two threadblocks computes a unit of two tiles: vertically adjacent ones, which share
 * the tile of the weight. If the last rows of a group need one tile only, the unit is two tiles
 * of the same rows, which share the tile of rows: else a half of each such unit would be wasted, up
 * to 6 % at 2,048 rows per group. A tile of at most 64 rows takes half of the MMAs.
 *
 * A tile has rows of one group; the rows of the next one are loaded too, and their results are not
 * stored: bulk stores clip at the matrix, so the 16 rows at the end of a group are stored by
 * threads. The weights are a stack of matrices, so that columns and depth are clipped within the
 * matrix of the group, and NaN in another one has no effect. */
#include "kernels/cuda/grouped-rows.cuh"
#include "kernels/cuda/grouped.h"

namespace lig
{
namespace grouped
{
enum { SHARED_BYTES = Places::SHARED_BYTES + UNITS_BYTES };

/* Stores a piece. A piece outside of the group is an empty group of stores, so that the buffers
 * still alternate. */
__device__ inline void
write_piece (const uint32_t (&words)[8],
             const Maps &maps,
             const Rows &job,
             const Share &share,
             int number,
             int place,
             int end)
{
  int row = share.row + number % 2 * HALF_ROWS;
  int column = share.column + number / 2 * PIECE_COLUMNS;
  uint32_t from = share.memory + place * PIECE_BYTES;
  bool speaks = is_elected (), whole = row + PIECE_ROWS <= end;
  if (speaks)
    await_stores<WRITTEN - 1> ();
  __syncwarp ();
  if (row < end) {
    place_piece (words, share.fragment, place);
    if (whole)
      publish_writes ();
    __syncwarp ();
    if (!whole)
      store_part (job, share, from, row, column, end);
    else if (speaks && column < job.columns)
      store_tile (&maps.result, column, row, from);
  }
  if (speaks)
    commit_stores ();
}

/* Runs the epilogue of a tile piece by piece. With SCALED, the bias is multiplied by the scale of
 * each row. */
template <class L, bool SCALED>
__device__ inline void
finish_group (const float (&sums)[2][96],
              const Maps &maps,
              const Rows &job,
              const Share &share,
              int end,
              const float *vectors)
{
  constexpr int COUNT = 2 * (L::COLUMNS / PIECE_COLUMNS), EACH = L::IS_HALF ? 2 : 1;
  int lane = threadIdx.x % 32;
  float scales[4] = {1, 1, 1, 1};
  if constexpr (SCALED)
    for (int i = 0; i < 4; i++) {
      int row = share.row + lane / 4 + i % 2 * 8 + i / 2 * HALF_ROWS;
      scales[i] = row < end ? job.scales[row] : 0;
    }
  const float *biases = vectors + 2 * (lane % 4);
  Bias bias = read_bias (biases);
#pragma unroll
  for (int number = 0; number < COUNT; number += EACH) {
    uint32_t words[8];
    float v[16];
#pragma unroll
    for (int i = 0; i < 16; i++) {
      float add = i % 2 ? bias.pairs[i / 4].y : bias.pairs[i / 4].x;
      float sum = sums[number % 2][number / 2 * 16 + i];
      v[i] = SCALED ? fmaf (add, scales[number % 2 * 2 + i / 2 % 2], sum) : sum + add;
    }
    if ((number + EACH) % 2 == 0 && number + EACH < COUNT)
      bias = read_bias (biases + (number + EACH) / 2 * PIECE_COLUMNS);
    round_piece<typename L::Type> (words, v);
    write_piece (words, maps, job, share, number, number / EACH % WRITTEN, end);
  }
}

/* A consumer: processes every second tile of this threadblock. */
template <class T, bool TRANSPOSED, bool SCALED>
__device__ inline void
consume_groups (const Maps &maps,
                const Rows &job,
                const StageRing &ring,
                const UnitQueue &queue,
                float *vectors,
                uint32_t memory,
                int warp,
                int rank)
{
  int steps = (job.depth + TILE_DEPTH - 1) / TILE_DEPTH, thread = threadIdx.x % 128;
  int group = warp / 4, next = TURNS + 3 - group;
  for (int turn = 0;; turn++) {
    SentTile tile = queue.consume (turn);
    bool own = turn % 2 == group - 1;
    if (!tile.exists) {
      if (own && turn > 0)
        turn_wait (TURNS + group);
      break;
    }
    if (!own)
      continue;
    float bias[2] = {bias_of_group (job, tile.group, tile.column + thread),
                     bias_of_group (job, tile.group, tile.column + 128 + thread)};
    if (turn > 0)
      turn_wait (TURNS + group);
    vectors[thread] = bias[0];
    if (thread < TILE_COLUMNS - 128)
      vectors[128 + thread] = bias[1];
    auto first = Cursor<STAGES>::at (turn * steps);
    choose_loop<T, false, TRANSPOSED> (
      tile.end - tile.row, job.columns - tile.column, [&] (auto loop) {
        using L = decltype (loop);
        float sums[2][96];
        multiply_steps<L> (sums, ring, first, steps, next, [] (Cursor<STAGES>, int) {});
        warpgroup_sync (group);
        finish_group<L, SCALED> (sums, maps, job, share_of_tile (tile, warp, memory), tile.end,
                                 vectors);
      });
  }
  if (is_elected ())
    await_stores<0> ();
}

template <class T, bool TRANSPOSED, bool SCALED>
__global__ void LIG_IN_PAIRS
__launch_bounds__ (BLOCK, 1)
  grouped_rows_kernel (const __grid_constant__ Maps maps, const __grid_constant__ Rows job)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ char memory[];
  uint32_t begin = (shared_address (memory) + 1023) / 1024 * 1024;
  float *vectors = (float *) (memory + (begin - shared_address (memory)) + Places::VECTORS_AT);
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
      produce_groups<TRANSPOSED> (maps, job, ring, queue, rank);
    else if (warp == 1 && rank == 0)
      queue.schedule (job.segments.next, job.segments.tiles[job.segments.count],
                      [&] (int unit) { return tile_of (job, unit); });
    else if (warp > 1)
      clear_rows (job, (int) threadIdx.x - 64, 64);
  } else {
    take_registers<232> ();
    uint32_t own = begin + STAGES * STAGE_BYTES + (warp - 4) * Places::WARP_BYTES;
    consume_groups<T, TRANSPOSED, SCALED> (maps, job, ring, queue, vectors + (group - 1) * VECTORS,
                                           own, warp, rank);
  }
  __syncwarp ();
  cluster_sync ();
#endif
}

/* Encodes the tensor maps of the operands. */
static bool
describe_rows (Maps *maps, const LigGroupedRows &p, const Rows &job, int64_t groups)
{
  LigMatrix x = matrix_of (p.x, job.depth), y = matrix_of (p.y, job.columns);
  LigMatrix weight = matrix_of (p.weight, p.along ? job.depth : job.columns);
  bool right =
    p.along
      ? describe_layers (&maps->right, weight, groups, job.columns, job.depth, 32, TILE_DEPTH)
      : describe_layers (&maps->right, weight, groups, job.depth, job.columns, TILE_DEPTH / 2, 64);
  return right && describe (&maps->left, x, job.rows, job.depth, HALF_ROWS, TILE_DEPTH) &&
         describe (&maps->result, y, job.rows, job.columns, PIECE_ROWS, PIECE_COLUMNS);
}

template <class T, bool TRANSPOSED, bool SCALED>
static LigStatus
launch_rows (LigLaunch *launch, const Maps &maps, const Rows &job, int64_t groups)
{
  return launch_units (launch, grouped_rows_kernel<T, TRANSPOSED, SCALED>, SHARED_BYTES, maps, job,
                       most_units (job, groups));
}

template <class T>
static LigStatus
launch_rows_of (LigLaunch *launch, const LigGroupedRows &p, const Maps &maps, const Rows &job)
{
  int64_t groups = p.offsets->size - 1;
  if (!p.along)
    return launch_rows<T, true, false> (launch, maps, job, groups);
  return job.scales && job.bias.data ? launch_rows<T, false, true> (launch, maps, job, groups)
                                     : launch_rows<T, false, false> (launch, maps, job, groups);
}

static Rows
rows_of (const LigGroupedRows &p)
{
  Rows job = {};
  job.rows = (int) rows (p.x);
  job.columns = (int) p.y->columns;
  job.depth = (int) p.x->columns;
  job.wide = (job.columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
  job.bias = vector (p.bias);
  job.scales = (const float *) p.scales->data;
  job.y = (char *) p.y->data;
  return job;
}
} /* namespace grouped */
} /* namespace lig */

using namespace lig;
using namespace lig::grouped;

bool
lig_multiply_groups_serves (const LigLaunch *launch, const LigGroupedRows *p)
{
  LigDtype dtype = p->x->dtype;
  int64_t columns = p->y->columns, depth = p->x->columns, limit = INT32_MAX - 2 * TILE_ROWS;
  return launch->device->capability == 90 && (dtype == LIG_BF16 || dtype == LIG_FP16) &&
         rows (p->x) > 0 && rows (p->x) <= limit && columns <= limit && depth <= limit &&
         (p->along || !p->bias->data) && has_rows (p->x, dtype, depth) &&
         has_rows (p->weight, dtype, columns) && has_rows (p->y, dtype, columns) &&
         most_units (grouped::rows_of (*p), p->offsets->size - 1) <= INT32_MAX / 2 &&
         map_function ();
}

LigStatus
lig_multiply_groups (LigLaunch *launch, const LigGroupedRows *p)
{
  Maps maps = {};
  Rows job = grouped::rows_of (*p);
  if (!describe_rows (&maps, *p, job, p->offsets->size - 1))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "grouped matmul: the driver rejects a tensor map");
  LigStatus status = begin (launch, p->offsets, job.rows, Units{job.wide}, &job.segments);
  if (status != LIG_OK)
    return status;
  return p->x->dtype == LIG_BF16 ? launch_rows_of<bf16> (launch, *p, maps, job)
                                 : launch_rows_of<half> (launch, *p, maps, job);
}
