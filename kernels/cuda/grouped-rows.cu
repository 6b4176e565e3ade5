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
#include "kernels/cuda/grouped-segments.cuh"
#include "kernels/cuda/grouped.h"
#include "kernels/cuda/matmul/ring.cuh"
#include "kernels/cuda/matmul/tensor-maps.cuh"
#include "kernels/cuda/matmul/units.cuh"

namespace lig
{
namespace grouped
{
enum { HALF_BYTES = LEFT_BYTES / 2, HALF_ROWS = TILE_ROWS / 2 };

/* The epilogue reads no pieces; the barriers of the warpgroups' turns follow those of the sums. */
using Places = Layout<After::SUM>;
enum { STAGES = Places::STAGES, TURNS = 2, SHARED_BYTES = Places::SHARED_BYTES + UNITS_BYTES };

/* The number of units of a group. */
struct Units {
  int wide; /* tiles in a row of tiles */
  __host__ __device__ static int64_t
  pairs (int64_t rows)
  {
    return (rows + TILE_ROWS - 1) / (2 * TILE_ROWS);
  }
  __device__ int64_t
  operator() (bool is_group, int64_t rows) const
  {
    int64_t sideways = rows > pairs (rows) * 2 * TILE_ROWS ? (wide + 1) / 2 : 0;
    return is_group ? pairs (rows) * wide + sideways : 0;
  }
};

struct Rows {
  Segments segments;
  int rows, columns, depth, wide;
  Vector bias;
  const float *scales;
  char *y;
};

/* Returns the first tile of a unit, to a warp. */
__device__ inline SentTile
tile_of (const Rows &job, int unit)
{
  const Segments &s = job.segments;
  int segment = s.find_by_warp (s.tiles, unit);
  int first = s.borders[segment], end = s.borders[segment + 1];
  int within = unit - s.tiles[segment], pairs = (int) Units::pairs (end - first);
  SentTile tile = {true, segment - 1, 0, 0, first, end, within >= pairs * job.wide};
  if (tile.sideways) {
    tile.row = first + pairs * 2 * TILE_ROWS;
    tile.column = 2 * (within - pairs * job.wide) * TILE_COLUMNS;
    return tile;
  }
  int band = within / (BAND * job.wide), inside = within - band * BAND * job.wide;
  int height = min (BAND, pairs - band * BAND);
  tile.row = first + 2 * (band * BAND + inside % height) * TILE_ROWS;
  tile.column = inside / height * TILE_COLUMNS;
  return tile;
}

/* Returns how many chunks of 64 columns of a tile are within the matrix. */
__device__ inline int
chunks_of (const Rows &job, const SentTile &tile)
{
  return min (max ((job.columns - tile.column + 63) / 64, 0), TILE_COLUMNS / 64);
}

/* Copies a half of the chunks of the weight's tile at one depth, for one or both threadblocks. A
 * chunk has 64 columns in rows of the depth, or the depth of 64 columns. */
template <bool TRANSPOSED>
__device__ inline void
load_half (const Maps &maps,
           uint32_t to,
           const SentTile &tile,
           int chunks,
           int depth,
           int half,
           uint32_t full)
{
  for (int chunk = 0; chunk < chunks; chunk++) {
    uint32_t at = to + chunk * CHUNK_BYTES + half * CHUNK_BYTES / 2;
    int column = tile.column + 64 * chunk, down = half * 32;
    int x = TRANSPOSED ? column : depth, y = TRANSPOSED ? depth + down : column + down;
    if (tile.sideways)
      load_layer (at, &maps.right, x, y, tile.group, full);
    else
      load_layer_for (at, &maps.right, x, y, tile.group, full, 3);
  }
}

/* Copies the tiles of a stage: of the shared one, each threadblock copies a half for both. */
template <bool TRANSPOSED>
__device__ inline void
load_group_stage (const Maps &maps,
                  const StageRing &ring,
                  int stage,
                  const SentTile &tile,
                  int chunks,
                  int depth,
                  int rank)
{
  uint32_t full = ring.full + 8 * stage, left = ring.left (stage), right = ring.right (stage);
  barrier_expect (full, LEFT_BYTES + chunks * CHUNK_BYTES);
  for (int half = 0; half < 2; half++) {
    if (!tile.sideways)
      load_tile (left + half * HALF_BYTES, &maps.left, depth, tile.row + half * HALF_ROWS, full);
    else if (half == rank)
      load_tile_for (left + half * HALF_BYTES, &maps.left, depth, tile.row + half * HALF_ROWS, full,
                     3);
    if (tile.sideways || half == rank)
      load_half<TRANSPOSED> (maps, right, tile, chunks, depth, half, full);
  }
}

/* The producer: fills the ring, for all tiles of this threadblock. */
template <bool TRANSPOSED>
__device__ inline void
produce_groups (
  const Maps &maps, const Rows &job, const StageRing &ring, const UnitQueue &queue, int rank)
{
  Cursor<STAGES> at = {0, 0};
  for (int turn = 0;; turn++) {
    SentTile tile = queue.produce (turn);
    if (!tile.exists)
      break;
    int chunks = chunks_of (job, tile);
    for (int depth = 0; depth < job.depth; depth += TILE_DEPTH, at.advance ()) {
      barrier_wait (ring.empty + 8 * at.stage, at.parity ^ 1);
      load_group_stage<TRANSPOSED> (maps, ring, at.stage, tile, chunks, depth, rank);
    }
  }
}

/* Sets the rows in no group to 0, by `count` threads of each threadblock. */
__device__ inline void
clear_rows (const Rows &job, int thread, int count)
{
  const Segments &s = job.segments;
  int64_t across = job.columns / 8, before = s.borders[1] * across;
  int64_t total = before + (job.rows - s.borders[s.count - 1]) * across;
  uint4 *y = (uint4 *) job.y;
  for (int64_t i = (int64_t) blockIdx.x * count + thread; i < total;
       i += (int64_t) gridDim.x * count)
    y[i < before ? i : s.borders[s.count - 1] * across + i - before] = uint4{};
}

/* Stores a staged piece whose rows end within the group. */
__device__ inline void
store_part (const Rows &job, const Share &share, uint32_t from, int row, int column, int end)
{
  int lane = threadIdx.x % 32;
  row += lane / 4;
  column += 8 * (lane % 4);
  for (int below = 0; below < 16; below += 8) {
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(from + share.unit - share.memory + below / 8 * PIECE_BYTES / 2)
                 : "memory");
    if (row + below < end && column < job.columns)
      *(uint4 *) (job.y + ((int64_t) (row + below) * job.columns + column) * 2) = v;
  }
}

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

/* Returns a warp's share of the pieces of a tile. */
__device__ inline Share
share_of_tile (const SentTile &tile, int warp, uint32_t memory)
{
  Job job = {};
  return share_of (job, Corner{tile.row, tile.column}, warp, memory);
}

/* Returns an element of the bias of the group; 0 without a bias, and out of bounds. */
__device__ inline float
bias_of_group (const Rows &job, int group, int column)
{
  return job.bias.data && column < job.columns ? job.bias[(int64_t) group * job.columns + column]
                                               : 0;
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

static LigMatrix
matrix_of (const LigOperand *operand, int64_t stride)
{
  return LigMatrix{operand->data, stride, operand->dtype};
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

/* Returns the most units that the groups can have. */
static int64_t
most_units (const Rows &job, int64_t groups)
{
  return (job.rows / TILE_ROWS + groups) * job.wide;
}

template <class T, bool TRANSPOSED, bool SCALED>
static LigStatus
launch_rows (LigLaunch *launch, const Maps &maps, const Rows &job, int64_t groups)
{
  auto kernel = grouped_rows_kernel<T, TRANSPOSED, SCALED>;
  if (cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES) !=
      cudaSuccess)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "grouped matmul: too little shared memory");
  int64_t blocks = launch->device->multiprocessors / 2 * 2, most = 2 * most_units (job, groups);
  kernel<<<(unsigned) (blocks < most ? blocks : most), BLOCK, SHARED_BYTES, stream (launch)>>> (
    maps, job);
  return LIG_LAUNCHED (launch);
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
