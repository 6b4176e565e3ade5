/* SPDX-License-Identifier: MIT */
/* Matmuls of the quantized rows of each group by the matrix of the group, with TMA and warpgroup
 * MMA: the units, the multicast and the stores of grouped-rows.cu, with other tiles.
 *
 * The tensor cores of compute capability 9.0 accumulate fp8 with fewer bits than fp32. So a thread
 * has partial sums of 128 elements of the depth, which are added to the final ones, multiplied by
 * the scales of blocks if there are any. The two consumer warpgroups share a tile of 128 by 256,
 * because tiles of 128 by 128 need more operands than the L2 cache can deliver: each has 64 rows,
 * with final sums of all columns and partial sums of a half of them at a time. The tensor cores
 * multiply for one warpgroup while the other one adds. */
#include "kernels/cuda/grouped-rows.cuh"
#include "kernels/cuda/grouped.h"
#include <ligature/scales.h>

namespace lig
{
namespace grouped
{
namespace fp8
{
/* A tile, the halves of its rows and columns that are copied at once, and the part of the depth in
 * a stage, in bytes or elements. */
enum { COLUMNS = 256, DEPTH = 128, HALF_COLUMNS = COLUMNS / 2 };
enum { HALF_LEFT = HALF_ROWS * DEPTH, HALF_RIGHT = HALF_COLUMNS * DEPTH, RIGHT_AT = 2 * HALF_LEFT };
enum { STEP_BYTES = 2 * (HALF_LEFT + HALF_RIGHT), STAGES = 4 };

/* Vectors of a tile's columns, biases and scales, of two tiles. */
enum { TILE_VECTORS = 2 * COLUMNS, VECTOR_BYTES = 2 * TILE_VECTORS * 4 };
enum { PIECES_AT = STAGES * STEP_BYTES, VECTORS_AT = PIECES_AT + 8 * WRITTEN * PIECE_BYTES };
enum { BARRIERS_AT = VECTORS_AT + 2 * VECTOR_BYTES, UNITS_AT = BARRIERS_AT + 2 * STAGES * 8 };
enum { SHARED_BYTES = 1024 + UNITS_AT + UNITS_BYTES };

/* How sums are accumulated: by the tensor cores, in fp32 for each step of the depth, or in fp32
 * with the scales of blocks. */
enum class Sums { FAST, PRECISE, BLOCKS };

struct Job : Rows {
  float factor;
  const float *a_scale, *b_scale;
  bool by_row, by_column; /* whether these are of rows, of columns; else of the matrices */
  int down, across;       /* the tile scales of a matrix */
};

/* Returns how many halves of a tile's columns are within the matrix. */
__device__ inline int
halves_of (const Job &job, const SentTile &tile)
{
  int columns = job.columns - tile.column;
  return columns > HALF_COLUMNS ? 2 : columns > 0;
}

/* Copies the tiles of a stage: of the shared one, each threadblock copies a half for both. */
__device__ inline void
load_step (const Maps &maps,
           uint32_t to,
           const SentTile &tile,
           int halves,
           int depth,
           int rank,
           uint32_t full)
{
  barrier_expect (full, 2 * HALF_LEFT + halves * HALF_RIGHT);
  for (int half = 0; half < 2; half++) {
    uint32_t left = to + half * HALF_LEFT, right = to + RIGHT_AT + half * HALF_RIGHT;
    int row = tile.row + half * HALF_ROWS, column = tile.column + half * HALF_COLUMNS;
    if (!tile.sideways)
      load_tile (left, &maps.left, depth, row, full);
    else if (half == rank)
      load_tile_for (left, &maps.left, depth, row, full, 3);
    if (half >= halves)
      continue;
    if (tile.sideways)
      load_layer (right, &maps.right, depth, column, tile.group, full);
    else if (half == rank)
      load_layer_for (right, &maps.right, depth, column, tile.group, full, 3);
  }
}

/* The producer: fills the ring, for all tiles of this threadblock. */
__device__ inline void
produce (const Maps &maps, const Job &job, const StageRing &ring, const UnitQueue &queue, int rank)
{
  Cursor<STAGES> at = {0, 0};
  for (int turn = 0;; turn++) {
    SentTile tile = queue.produce (turn);
    if (!tile.exists)
      break;
    int halves = halves_of (job, tile);
    for (int depth = 0; depth < job.depth; depth += DEPTH, at.advance ()) {
      barrier_wait (ring.empty + 8 * at.stage, at.parity ^ 1);
      load_step (maps, ring.tiles + at.stage * STEP_BYTES, tile, halves, depth, rank,
                 ring.full + 8 * at.stage);
    }
  }
}

/* The operand list of an instruction with 128 registers, and their names. */
#define LIG_128(d) LIG_96 (d), LIG_8 (d, 96), LIG_8 (d, 104), LIG_8 (d, 112), LIG_8 (d, 120)
#define LIG_128_NAMES \
  LIG_96_NAMES \
  ", " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define LIG_MULTIPLY_FP8(count, columns, a, b, add, left_type) \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " add ", 0;\n" \
               "wgmma.mma_async.sync.aligned.m64n" columns "k32.f32." left_type \
               ".e4m3 {" LIG_##count##_NAMES "}, " a ", " b ", p, 1, 1;\n}" \
               : LIG_##count (d) \
               : "l"(left), "l"(right), "r"(adds))

/* Issue d = left right^T, accumulated in d if `adds`: 64 rows, 128 or 256 columns, a depth of 32.
 * RANGE: the left elements are e5m2, else e4m3. */
template <bool RANGE>
__device__ inline void
multiply_fp8 (float (&d)[64], uint64_t left, uint64_t right, int adds)
{
  if constexpr (RANGE)
    LIG_MULTIPLY_FP8 (64, "128", "%64", "%65", "%66", "e5m2");
  else
    LIG_MULTIPLY_FP8 (64, "128", "%64", "%65", "%66", "e4m3");
}
template <bool RANGE>
__device__ inline void
multiply_fp8 (float (&d)[128], uint64_t left, uint64_t right, int adds)
{
  if constexpr (RANGE)
    LIG_MULTIPLY_FP8 (128, "256", "%128", "%129", "%130", "e5m2");
  else
    LIG_MULTIPLY_FP8 (128, "256", "%128", "%129", "%130", "e4m3");
}

/* Issues the MMAs of a stage with the columns of the right tile from a half on. */
template <bool RANGE, int COUNT>
__device__ inline void
multiply_step (
  float (&d)[COUNT], const StageRing &ring, int stage, uint32_t first_row, int half, int adds)
{
  uint32_t at = ring.tiles + stage * STEP_BYTES;
  uint64_t left = describe_tile (at + first_row * DEPTH, 16);
  uint64_t right = describe_tile (at + RIGHT_AT + half * HALF_RIGHT, 16);
  matmuls_begin ();
  multiply_fp8<RANGE> (d, left, right, adds);
#pragma unroll
  for (int k = 1; k < DEPTH / 32; k++)
    multiply_fp8<RANGE> (d, left + (k * 32 >> 4), right + (k * 32 >> 4), true);
  matmuls_commit ();
}

/* The scales of a thread's two rows and of the weight's tiles of 128 columns in a step. */
template <int HALVES> struct StepScales {
  float rows[2], tiles[HALVES];
};

/* These scales along the depth. */
struct BlockScales {
  const float *rows[2], *tiles;
  int64_t stride, across;

  __device__ static BlockScales
  of (const Job &job, const SentTile &tile, int row)
  {
    BlockScales s;
    for (int i = 0; i < 2; i++)
      s.rows[i] = job.a_scale + min (row + 8 * i, job.rows - 1);
    s.tiles =
      job.b_scale + ((int64_t) tile.group * job.down + tile.column / HALF_COLUMNS) * job.across;
    s.stride = job.rows;
    s.across = job.across;
    return s;
  }
  template <int HALVES>
  __device__ void
  read (int step, StepScales<HALVES> &scales) const
  {
#pragma unroll
    for (int i = 0; i < 2; i++)
      scales.rows[i] = rows[i][step * stride];
#pragma unroll
    for (int half = 0; half < HALVES; half++)
      scales.tiles[half] = tiles[half * across + step];
  }
};

/* The mainloop of a tile in which the tensor cores accumulate. */
template <bool RANGE, int HALVES>
__device__ inline void
multiply_fast (
  float (&sums)[64 * HALVES], const StageRing &ring, Cursor<STAGES> &at, int steps, uint32_t row)
{
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    int before = at.stage;
    if (step > 0)
      at.advance ();
    barrier_wait (ring.full + 8 * at.stage, at.parity);
    multiply_step<RANGE> (sums, ring, at.stage, row, 0, step > 0);
    if (step > 0) {
      matmuls_wait<1> ();
      release (ring, before);
    }
  }
  matmuls_wait<0> ();
  release (ring, at.stage);
  at.advance ();
}

/* The mainloop of a tile in which each step is added in fp32. The scales of the next step are
 * loaded while this one is computed. */
template <bool RANGE, bool BLOCKS, int HALVES>
__device__ inline void
multiply_precise (float (&sums)[64 * HALVES],
                  const StageRing &ring,
                  Cursor<STAGES> &at,
                  int steps,
                  uint32_t row,
                  const BlockScales &scales)
{
  float partial[64];
  StepScales<HALVES> now, next;
#pragma unroll
  for (int i = 0; i < 64 * HALVES; i++)
    sums[i] = 0;
  if (BLOCKS)
    scales.read (0, now);
#pragma unroll 1
  for (int step = 0; step < steps; step++, at.advance ()) {
    if (BLOCKS)
      scales.read (step + 1 < steps ? step + 1 : step, next);
    barrier_wait (ring.full + 8 * at.stage, at.parity);
#pragma unroll
    for (int half = 0; half < HALVES; half++) {
      multiply_step<RANGE> (partial, ring, at.stage, row, half, false);
      float factors[2] = {1, 1};
      if (BLOCKS)
        for (int i = 0; i < 2; i++)
          factors[i] = now.rows[i] * now.tiles[half];
      matmuls_wait<0> ();
      if (half == HALVES - 1)
        release (ring, at.stage);
#pragma unroll
      for (int i = 0; i < 64; i++) {
        float &sum = sums[half * 64 + i];
        sum = BLOCKS ? fmaf (partial[i], factors[i / 2 % 2], sum) : sum + partial[i];
      }
    }
    now = next;
  }
}

/* Stores a piece. A piece outside of the group is an empty group of stores, so that the buffers
 * still alternate. */
__device__ inline void
write_piece (const uint32_t (&words)[8],
             const Maps &maps,
             const Job &job,
             const Share &share,
             int number,
             int end)
{
  int column = share.column + number * PIECE_COLUMNS, place = number % WRITTEN;
  uint32_t from = share.memory + place * PIECE_BYTES;
  bool speaks = is_elected (), whole = share.row + PIECE_ROWS <= end;
  if (speaks)
    await_stores<WRITTEN - 1> ();
  __syncwarp ();
  if (share.row < end) {
    place_piece (words, share.fragment, place);
    if (whole)
      publish_writes ();
    __syncwarp ();
    if (!whole)
      store_part (job, share, from, share.row, column, end);
    else if (speaks && column < job.columns)
      store_tile (&maps.result, column, share.row, from);
  }
  if (speaks)
    commit_stores ();
}

/* Runs the epilogue of a warpgroup's rows piece by piece: multiplies by the scales of row and
 * column, and adds the bias. */
template <class T, int COUNT>
__device__ inline void
finish_tile (const float (&sums)[COUNT],
             const Maps &maps,
             const Job &job,
             const Share &share,
             int end,
             const float *vectors)
{
  int lane = threadIdx.x % 32;
  float factors[2], biased[2];
  for (int i = 0; i < 2; i++) {
    int row = share.row + lane / 4 + 8 * i;
    bool inside = row < end;
    factors[i] = job.factor * (!job.by_row ? 1 : inside ? job.a_scale[row] : 0);
    biased[i] = !job.scales ? 1 : inside ? job.scales[row] : 0;
  }
#pragma unroll
  for (int number = 0; number < COUNT / 16; number++) {
    const float *at = vectors + number * PIECE_COLUMNS + 2 * (lane % 4);
    Bias bias = read_bias (at), scale = read_bias (at + COLUMNS);
    uint32_t words[8];
    float v[16];
#pragma unroll
    for (int i = 0; i < 16; i++) {
      float add = i % 2 ? bias.pairs[i / 4].y : bias.pairs[i / 4].x;
      float by = i % 2 ? scale.pairs[i / 4].y : scale.pairs[i / 4].x;
      v[i] = fmaf (sums[number * 16 + i] * factors[i / 2 % 2], by, add * biased[i / 2 % 2]);
    }
    round_piece<T> (words, v);
    write_piece (words, maps, job, share, number, end);
  }
}

/* Returns the factor of a column that is applied in the epilogue. */
template <Sums SUMS>
__device__ inline float
factor_of_column (const Job &job, int group, int column)
{
  if (SUMS == Sums::BLOCKS)
    return 1;
  float whole = job.by_row ? 1 : *job.a_scale;
  if (!job.by_column)
    return whole * job.b_scale[group];
  return column < job.columns ? whole * job.b_scale[(int64_t) group * job.columns + column] : 0;
}

/* Stores the biases and the factors of a tile's columns in shared memory. */
template <Sums SUMS>
__device__ inline void
set_vectors (const Job &job, const SentTile &tile, float *vectors)
{
  for (int i = threadIdx.x % 128; i < COLUMNS; i += 128) {
    int column = tile.column + i;
    vectors[i] = job.bias.data && column < job.columns
                   ? job.bias[(int64_t) tile.group * job.columns + column]
                   : 0;
    vectors[COLUMNS + i] = factor_of_column<SUMS> (job, tile.group, column);
  }
}

/* Computes the rows of a warpgroup in a tile that has so many halves of columns. */
template <class T, bool RANGE, Sums SUMS, int HALVES>
__device__ inline void
compute_tile (const Maps &maps,
              const Job &job,
              const StageRing &ring,
              Cursor<STAGES> &at,
              const SentTile &tile,
              const Share &share,
              const float *vectors,
              uint32_t row,
              int steps)
{
  float sums[64 * HALVES];
  if constexpr (SUMS == Sums::FAST) {
    multiply_fast<RANGE, HALVES> (sums, ring, at, steps, row);
  } else {
    BlockScales scales = {};
    if (SUMS == Sums::BLOCKS)
      scales = BlockScales::of (job, tile, share.row + (int) threadIdx.x % 32 / 4);
    multiply_precise<RANGE, SUMS == Sums::BLOCKS, HALVES> (sums, ring, at, steps, row, scales);
  }
  warpgroup_sync (threadIdx.x / 128);
  finish_tile<T> (sums, maps, job, share, tile.end, vectors);
}

/* A consumer: computes its half of the rows of all tiles of this threadblock. A half without rows
 * of the group, or columns of the matrix, releases the stages only. */
template <class T, bool RANGE, Sums SUMS>
__device__ inline void
consume (const Maps &maps,
         const Job &job,
         const StageRing &ring,
         const UnitQueue &queue,
         float *vectors,
         uint32_t memory,
         int warp)
{
  int steps = (job.depth + DEPTH - 1) / DEPTH, group = warp / 4, computed = 0;
  uint32_t own = (group - 1) * HALF_ROWS;
  Cursor<STAGES> at = {0, 0};
  for (int turn = 0;; turn++) {
    SentTile tile = queue.consume (turn);
    if (!tile.exists)
      break;
    int halves = halves_of (job, tile), row = tile.row + (int) own;
    if (row >= tile.end || halves == 0) {
      for (int step = 0; step < steps; step++, at.advance ()) {
        barrier_wait (ring.full + 8 * at.stage, at.parity);
        release (ring, at.stage);
      }
      continue;
    }
    /* The threads of the warpgroup may still read those of the tile before. */
    float *vector = vectors + computed++ % 2 * TILE_VECTORS;
    set_vectors<SUMS> (job, tile, vector);
    ::lig::Job none = {};
    Share share = share_of (none, Corner{row, tile.column}, warp, memory);
    if (halves > 1)
      compute_tile<T, RANGE, SUMS, 2> (maps, job, ring, at, tile, share, vector, own, steps);
    else
      compute_tile<T, RANGE, SUMS, 1> (maps, job, ring, at, tile, share, vector, own, steps);
  }
  if (is_elected ())
    await_stores<0> ();
}

/* Initializes the barriers of the ring, for the cluster after its next cluster_sync (). A stage is
 * released by both consumers of both threadblocks. */
__device__ inline void
begin_steps (const StageRing &ring)
{
  if (threadIdx.x > 0)
    return;
  for (int stage = 0; stage < STAGES; stage++) {
    barrier_init (ring.full + 8 * stage, 1);
    barrier_init (ring.empty + 8 * stage, 4);
  }
  barriers_publish ();
}

template <class T, bool RANGE, Sums SUMS>
__global__ void LIG_IN_PAIRS
__launch_bounds__ (BLOCK, 1)
  grouped_fp8_kernel (const __grid_constant__ Maps maps, const __grid_constant__ Job job)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ char memory[];
  uint32_t begin = (shared_address (memory) + 1023) / 1024 * 1024;
  float *vectors = (float *) (memory + (begin - shared_address (memory)) + VECTORS_AT);
  StageRing ring = {begin, begin + BARRIERS_AT, begin + BARRIERS_AT + STAGES * 8, 0};
  int warp = warp_number (), group = warp / 4, rank = (int) cluster_rank ();
  UnitQueue queue = UnitQueue::at (begin + UNITS_AT);
  begin_steps (ring);
  queue.begin ();
  cluster_sync ();
  if (group == 0) {
    release_registers<40> ();
    if (threadIdx.x == 0)
      produce (maps, job, ring, queue, rank);
    else if (warp == 1 && rank == 0)
      queue.schedule (
        job.segments.next, job.segments.tiles[job.segments.count],
        [&] (int unit) { return tile_of<COLUMNS> (job, unit); }, COLUMNS);
    else if (warp > 1)
      clear_rows (job, (int) threadIdx.x - 64, 64);
  } else {
    take_registers<232> ();
    consume<T, RANGE, SUMS> (maps, job, ring, queue, vectors + (group - 1) * 2 * TILE_VECTORS,
                             begin + PIECES_AT + (warp - 4) * WRITTEN * PIECE_BYTES, warp);
  }
  __syncwarp ();
  cluster_sync ();
#endif
}

/* --- Launching ------------------------------------------------------------------------------- */

/* Encodes the tensor maps of the operands. */
static bool
describe_job (Maps *maps, const LigGroupedFp8 &p, const Job &job, int64_t groups)
{
  return describe_layers (&maps->right, matrix_of (p.b, job.depth), groups, job.columns, job.depth,
                          HALF_COLUMNS, DEPTH) &&
         describe (&maps->left, matrix_of (p.a, job.depth), job.rows, job.depth, HALF_ROWS,
                   DEPTH) &&
         describe (&maps->result, matrix_of (p.y, job.columns), job.rows, job.columns, PIECE_ROWS,
                   PIECE_COLUMNS);
}

static Job
job_of (const LigGroupedFp8 &p)
{
  Job job = {};
  job.rows = (int) rows (p.a);
  job.columns = (int) p.y->columns;
  job.depth = (int) p.a->columns;
  job.wide = (job.columns + COLUMNS - 1) / COLUMNS;
  job.factor = p.factor;
  job.a_scale = (const float *) p.a_scale->data;
  job.b_scale = (const float *) p.b_scale->data;
  job.by_row = p.left == LIG_SCALES_ROW;
  job.by_column = p.right == LIG_SCALES_ROW;
  job.down = (job.columns + HALF_COLUMNS - 1) / HALF_COLUMNS;
  job.across = (int) p.b_scale->columns;
  job.bias = vector (p.bias);
  job.scales = (const float *) p.scales->data;
  job.y = (char *) p.y->data;
  return job;
}

template <class T, bool RANGE, Sums SUMS>
static LigStatus
launch_job (LigLaunch *launch, const Maps &maps, const Job &job, int64_t groups)
{
  return launch_units (launch, grouped_fp8_kernel<T, RANGE, SUMS>, SHARED_BYTES, maps, job,
                       most_units (job, groups));
}

template <class T>
static LigStatus
launch_of_type (LigLaunch *launch, const LigGroupedFp8 &p, const Maps &maps, const Job &job)
{
  int64_t groups = p.offsets->size - 1;
  bool range = p.a->dtype == LIG_FP8_E5M2;
  if (p.left == LIG_SCALES_BLOCK)
    return launch_job<T, false, Sums::BLOCKS> (launch, maps, job, groups);
  if (p.fast)
    return range ? launch_job<T, true, Sums::FAST> (launch, maps, job, groups)
                 : launch_job<T, false, Sums::FAST> (launch, maps, job, groups);
  return range ? launch_job<T, true, Sums::PRECISE> (launch, maps, job, groups)
               : launch_job<T, false, Sums::PRECISE> (launch, maps, job, groups);
}

/* Returns whether there is a kernel for the kinds of scales and the formats. */
static bool
has_kernel (const LigGroupedFp8 &p)
{
  bool blocks = p.left == LIG_SCALES_BLOCK && p.right == LIG_SCALES_TILE;
  bool lines = p.left <= LIG_SCALES_ROW && p.right <= LIG_SCALES_ROW;
  return p.b->dtype == LIG_FP8_E4M3 && (lines || (blocks && p.a->dtype == LIG_FP8_E4M3));
}
} /* namespace fp8 */
} /* namespace grouped */
} /* namespace lig */

using namespace lig;
using namespace lig::grouped;

bool
lig_multiply_fp8_groups_serves (const LigLaunch *launch, const LigGroupedFp8 *p)
{
  LigDtype dtype = p->y->dtype;
  int64_t columns = p->y->columns, depth = p->a->columns, limit = INT32_MAX - 2 * TILE_ROWS;
  return launch->device->capability == 90 && (dtype == LIG_BF16 || dtype == LIG_FP16) &&
         rows (p->a) > 0 && rows (p->a) <= limit && columns <= limit && depth <= limit &&
         fp8::has_kernel (*p) && has_rows (p->a, p->a->dtype, depth) &&
         has_rows (p->b, p->b->dtype, depth) && has_rows (p->y, dtype, columns) &&
         most_units (fp8::job_of (*p), p->offsets->size - 1) <= INT32_MAX / 2 && map_function ();
}

LigStatus
lig_multiply_fp8_groups (LigLaunch *launch, const LigGroupedFp8 *p)
{
  Maps maps = {};
  fp8::Job job = fp8::job_of (*p);
  if (!fp8::describe_job (&maps, *p, job, p->offsets->size - 1))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "grouped matmul: the driver rejects a tensor map");
  LigStatus status = begin (launch, p->offsets, job.rows, Units{job.wide}, &job.segments);
  if (status != LIG_OK)
    return status;
  return p->y->dtype == LIG_BF16 ? fp8::launch_of_type<bf16> (launch, *p, maps, job)
                                 : fp8::launch_of_type<half> (launch, *p, maps, job);
}
