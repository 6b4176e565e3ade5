/* SPDX-License-Identifier: MIT */
/* The units of tiles of matmuls of the rows of each group, their producer, and the stores of rows
 * at the end of a group, for kernels that differ in their epilogues. */
#pragma once

#include "kernels/cuda/grouped-segments.cuh"
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
enum { STAGES = Places::STAGES, TURNS = 2 };

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

/* Returns the first tile of a unit, to a warp; tiles have `ACROSS` columns. */
template <int ACROSS = TILE_COLUMNS>
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
    tile.column = 2 * (within - pairs * job.wide) * ACROSS;
    return tile;
  }
  int band = within / (BAND * job.wide), inside = within - band * BAND * job.wide;
  int height = min (BAND, pairs - band * BAND);
  tile.row = first + 2 * (band * BAND + inside % height) * TILE_ROWS;
  tile.column = inside / height * ACROSS;
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
template <bool TRANSPOSED, int COUNT = STAGES>
__device__ inline void
produce_groups (
  const Maps &maps, const Rows &job, const StageRing &ring, const UnitQueue &queue, int rank)
{
  Cursor<COUNT> at = {0, 0};
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

static inline LigMatrix
matrix_of (const LigOperand *operand, int64_t stride)
{
  return LigMatrix{operand->data, stride, operand->dtype};
}

/* Returns the most units that the groups can have. */
inline int64_t
most_units (const Rows &job, int64_t groups)
{
  return (job.rows / TILE_ROWS + groups) * job.wide;
}

/* Launches a kernel whose clusters of two threadblocks take the units of all groups. */
template <class P>
static LigStatus
launch_units (LigLaunch *launch,
              void (*kernel) (Maps, P),
              int bytes,
              const Maps &maps,
              const P &job,
              int64_t units)
{
  if (cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) !=
      cudaSuccess)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "grouped matmul: too little shared memory");
  int64_t blocks = launch->device->multiprocessors / 2 * 2, most = 2 * units;
  kernel<<<(unsigned) (blocks < most ? blocks : most), BLOCK, bytes, stream (launch)>>> (maps, job);
  return LIG_LAUNCHED (launch);
}
} /* namespace grouped */
} /* namespace lig */
