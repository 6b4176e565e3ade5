/* SPDX-License-Identifier: MIT */
/* Matmuls of the quantized rows of each group by the matrix of the group, with TMA and warpgroup
 * MMA: the units, the multicast and the stores of grouped-rows.cu, with other tiles.
 *
 * The tensor cores of compute capability 9.0 accumulate fp8 with fewer bits than fp32. So a thread
 * has two sets of sums, those of 128 elements of the depth and the final ones, to which these are
 * added, multiplied by the scales of blocks if there are any. Two sets leave room for tiles of 64
 * by 128 elements per warpgroup; the two consumer warpgroups share a tile of 128 by 128, and the
 * tensor cores multiply for one of them while the other one adds. The second one begins some steps
 * after the first, and so has MMAs left while the first one stores its sums. */
#include "kernels/cuda/grouped-segments.cuh"
#include "kernels/cuda/grouped.h"
#include "kernels/cuda/matmul/ring.cuh"
#include "kernels/cuda/matmul/tensor-maps.cuh"
#include "kernels/cuda/matmul/units.cuh"

namespace lig
{
namespace grouped
{
namespace fp8
{
/* A tile and the part of the depth in a stage, in bytes or elements; a half of it is copied at
 * once. */
enum { COLUMNS = 128, DEPTH = 128, HALF = 64, SIDE_BYTES = TILE_ROWS * DEPTH };
enum { HALF_BYTES = SIDE_BYTES / 2, STEP_BYTES = 2 * SIDE_BYTES, STAGES = 6, SKEW = 3 };

/* Vectors of a tile's columns, biases and scales, of two tiles. */
enum { TILE_VECTORS = 2 * COLUMNS, VECTOR_BYTES = 2 * TILE_VECTORS * 4 };
enum { PIECES_AT = STAGES * STEP_BYTES, VECTORS_AT = PIECES_AT + 8 * WRITTEN * PIECE_BYTES };
enum { BARRIERS_AT = VECTORS_AT + 2 * VECTOR_BYTES, UNITS_AT = BARRIERS_AT + 2 * STAGES * 8 };
enum { SHARED_BYTES = 1024 + UNITS_AT + UNITS_BYTES };

/* The named barrier at which the second consumer waits for its first turn. */
enum { SKEW_BARRIER = 3 };

/* How sums are accumulated: by the tensor cores, in fp32 for each step of the depth, or in fp32
 * with the scales of blocks. */
enum class Sums { FAST, PRECISE, BLOCKS };

/* The number of units of a group, as in grouped-rows.cu. */
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

struct Job {
  Segments segments;
  int rows, columns, depth, wide;
  float factor;
  const float *a_scale, *b_scale;
  bool by_row, by_column; /* whether these are of rows, of columns; else of the matrices */
  int down, across;       /* the tile scales of a matrix */
  Vector bias;
  const float *scales;
  char *y;
};

/* Returns the first tile of a unit, to a warp. */
__device__ inline SentTile
tile_of (const Job &job, int unit)
{
  const Segments &s = job.segments;
  int segment = s.find_by_warp (s.tiles, unit);
  int first = s.borders[segment], end = s.borders[segment + 1];
  int within = unit - s.tiles[segment], pairs = (int) Units::pairs (end - first);
  SentTile tile = {true, segment - 1, 0, 0, first, end, within >= pairs * job.wide};
  if (tile.sideways) {
    tile.row = first + pairs * 2 * TILE_ROWS;
    tile.column = 2 * (within - pairs * job.wide) * COLUMNS;
    return tile;
  }
  int band = within / (BAND * job.wide), inside = within - band * BAND * job.wide;
  int height = min (BAND, pairs - band * BAND);
  tile.row = first + 2 * (band * BAND + inside % height) * TILE_ROWS;
  tile.column = inside / height * COLUMNS;
  return tile;
}

/* Copies the tiles of a stage: of the shared one, each threadblock copies a half for both. Rows and
 * columns out of bounds are 0. */
__device__ inline void
load_step (const Maps &maps, uint32_t to, const SentTile &tile, int depth, int rank, uint32_t full)
{
  barrier_expect (full, STEP_BYTES);
  for (int half = 0; half < 2; half++) {
    uint32_t left = to + half * HALF_BYTES, right = left + SIDE_BYTES;
    int row = tile.row + half * HALF, column = tile.column + half * HALF;
    if (!tile.sideways) {
      load_tile (left, &maps.left, depth, row, full);
      if (half == rank)
        load_layer_for (right, &maps.right, depth, column, tile.group, full, 3);
    } else {
      if (half == rank)
        load_tile_for (left, &maps.left, depth, row, full, 3);
      load_layer (right, &maps.right, depth, column, tile.group, full);
    }
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
    for (int depth = 0; depth < job.depth; depth += DEPTH, at.advance ()) {
      barrier_wait (ring.empty + 8 * at.stage, at.parity ^ 1);
      load_step (maps, ring.tiles + at.stage * STEP_BYTES, tile, depth, rank,
                 ring.full + 8 * at.stage);
    }
  }
}

/* Sets the rows in no group to 0, by `count` threads of each threadblock. */
__device__ inline void
clear_rows (const Job &job, int thread, int count)
{
  const Segments &s = job.segments;
  int64_t across = job.columns / 8, before = s.borders[1] * across;
  int64_t total = before + (job.rows - s.borders[s.count - 1]) * across;
  uint4 *y = (uint4 *) job.y;
  for (int64_t i = (int64_t) blockIdx.x * count + thread; i < total;
       i += (int64_t) gridDim.x * count)
    y[i < before ? i : s.borders[s.count - 1] * across + i - before] = uint4{};
}

#define LIG_MULTIPLY_FP8(left_type) \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n" \
               "wgmma.mma_async.sync.aligned.m64n128k32.f32." left_type ".e4m3 {" LIG_64_NAMES \
               "}, %64, %65, p, 1, 1;\n}" \
               : LIG_64 (d) \
               : "l"(left), "l"(right), "r"(adds))

/* Issues d = left right^T, accumulated in d if `adds`: 64 rows, 128 columns, a depth of 32. RANGE:
 * the left elements are e5m2, else e4m3. */
template <bool RANGE>
__device__ inline void
multiply_fp8 (float (&d)[64], uint64_t left, uint64_t right, int adds)
{
  if constexpr (RANGE)
    LIG_MULTIPLY_FP8 ("e5m2");
  else
    LIG_MULTIPLY_FP8 ("e4m3");
}

/* Waits for a stage and issues its MMAs. */
template <bool RANGE>
__device__ inline void
multiply_step (
  float (&d)[64], const StageRing &ring, Cursor<STAGES> at, uint32_t first_row, int adds)
{
  barrier_wait (ring.full + 8 * at.stage, at.parity);
  uint64_t left = describe_tile (ring.tiles + at.stage * STEP_BYTES + first_row * DEPTH, 16);
  uint64_t right = describe_tile (ring.tiles + at.stage * STEP_BYTES + SIDE_BYTES, 16);
  matmuls_begin ();
  multiply_fp8<RANGE> (d, left, right, adds);
#pragma unroll
  for (int k = 1; k < DEPTH / 32; k++)
    multiply_fp8<RANGE> (d, left + (k * 32 >> 4), right + (k * 32 >> 4), true);
  matmuls_commit ();
}

/* The scales of a thread's two rows and of the tile of the weight, along the depth. */
struct BlockScales {
  const float *rows[2], *tile;
  int64_t stride;

  __device__ static BlockScales
  of (const Job &job, const SentTile &tile, int row)
  {
    BlockScales s;
    for (int i = 0; i < 2; i++)
      s.rows[i] = job.a_scale + min (row + 8 * i, job.rows - 1);
    s.tile = job.b_scale + ((int64_t) tile.group * job.down + tile.column / COLUMNS) * job.across;
    s.stride = job.rows;
    return s;
  }
  /* Sets the factors of a step for both rows. */
  __device__ void
  read (int step, float (&factors)[2]) const
  {
    float of_tile = tile[step];
    factors[0] = rows[0][step * stride] * of_tile;
    factors[1] = rows[1][step * stride] * of_tile;
  }
};

/* The mainloop of a tile in which the tensor cores accumulate. */
template <bool RANGE, class F>
__device__ inline void
multiply_fast (
  float (&sums)[64], const StageRing &ring, Cursor<STAGES> &at, int steps, uint32_t row, F passed)
{
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    int before = at.stage;
    if (step > 0)
      at.advance ();
    multiply_step<RANGE> (sums, ring, at, row, step > 0);
    if (step > 0) {
      matmuls_wait<1> ();
      release (ring, before);
    }
    passed (step);
  }
  matmuls_wait<0> ();
  release (ring, at.stage);
  at.advance ();
}

/* The mainloop of a tile in which each step is added in fp32. The scales of the next step are
 * loaded while the MMAs of this one are computed. */
template <bool RANGE, bool BLOCKS, class F>
__device__ inline void
multiply_precise (float (&sums)[64],
                  const StageRing &ring,
                  Cursor<STAGES> &at,
                  int steps,
                  uint32_t row,
                  const BlockScales &scales,
                  F passed)
{
  float partial[64], factors[2] = {1, 1}, next[2];
#pragma unroll
  for (int i = 0; i < 64; i++)
    sums[i] = 0;
  if (BLOCKS)
    scales.read (0, factors);
#pragma unroll 1
  for (int step = 0; step < steps; step++, at.advance ()) {
    multiply_step<RANGE> (partial, ring, at, row, false);
    if (BLOCKS)
      scales.read (step + 1 < steps ? step + 1 : step, next);
    matmuls_wait<0> ();
    release (ring, at.stage);
    passed (step);
#pragma unroll
    for (int i = 0; i < 64; i++)
      sums[i] = BLOCKS ? fmaf (partial[i], factors[i / 2 % 2], sums[i]) : sums[i] + partial[i];
    if (BLOCKS)
      for (int i = 0; i < 2; i++)
        factors[i] = next[i];
  }
}

/* Stores a staged piece whose rows end within the group. */
__device__ inline void
store_part (const Job &job, const Share &share, uint32_t from, int row, int column, int end)
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
template <class T>
__device__ inline void
finish_tile (const float (&sums)[64],
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
  for (int number = 0; number < COLUMNS / PIECE_COLUMNS; number++) {
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
  int steps = (job.depth + DEPTH - 1) / DEPTH, thread = threadIdx.x % 128, group = warp / 4;
  uint32_t own = (group - 1) * HALF;
  Cursor<STAGES> at = {0, 0};
  bool waits = steps > SKEW;
  int computed = 0;
  for (int turn = 0;; turn++) {
    SentTile tile = queue.consume (turn);
    if (!tile.exists)
      break;
    if (waits && turn == 0 && group == 2)
      turn_wait (SKEW_BARRIER);
    auto passed = [&] (int step) {
      if (waits && turn == 0 && group == 1 && step == SKEW - 1)
        turn_pass (SKEW_BARRIER);
    };
    float *vector = vectors + computed % 2 * TILE_VECTORS;
    int column = tile.column + thread, row = tile.row + (int) own;
    if (row >= tile.end || tile.column >= job.columns) {
      for (int step = 0; step < steps; step++, at.advance ()) {
        barrier_wait (ring.full + 8 * at.stage, at.parity);
        release (ring, at.stage);
        passed (step);
      }
      continue;
    }
    computed++;
    vector[thread] = job.bias.data && column < job.columns
                       ? job.bias[(int64_t) tile.group * job.columns + column]
                       : 0;
    vector[COLUMNS + thread] = factor_of_column<SUMS> (job, tile.group, column);
    float sums[64];
    ::lig::Job none = {};
    Share share = share_of (none, Corner{row, tile.column}, warp, memory);
    if constexpr (SUMS == Sums::FAST)
      multiply_fast<RANGE> (sums, ring, at, steps, own, passed);
    else
      multiply_precise<RANGE, SUMS == Sums::BLOCKS> (
        sums, ring, at, steps, own,
        SUMS == Sums::BLOCKS ? BlockScales::of (job, tile, share.row + thread % 32 / 4)
                             : BlockScales{},
        passed);
    warpgroup_sync (group);
    finish_tile<T> (sums, maps, job, share, tile.end, vector);
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
        [&] (int unit) { return tile_of (job, unit); }, COLUMNS);
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

/* --- Launching ----------------------------------------------------------------------------------
 */

static LigMatrix
matrix_of (const LigOperand *operand, int64_t stride)
{
  return LigMatrix{operand->data, stride, operand->dtype};
}

/* Encodes the tensor maps of the operands. */
static bool
describe_job (Maps *maps, const LigGroupedFp8 &p, const Job &job, int64_t groups)
{
  return describe_layers (&maps->right, matrix_of (p.b, job.depth), groups, job.columns, job.depth,
                          HALF, DEPTH) &&
         describe (&maps->left, matrix_of (p.a, job.depth), job.rows, job.depth, HALF, DEPTH) &&
         describe (&maps->result, matrix_of (p.y, job.columns), job.rows, job.columns, PIECE_ROWS,
                   PIECE_COLUMNS);
}

/* Returns the most units that the groups can have. */
static int64_t
most_units (const Job &job, int64_t groups)
{
  return (job.rows / TILE_ROWS + groups) * job.wide;
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
  job.down = job.wide;
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
  auto kernel = grouped_fp8_kernel<T, RANGE, SUMS>;
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
         fp8::most_units (fp8::job_of (*p), p->offsets->size - 1) <= INT32_MAX / 2 &&
         map_function ();
}

LigStatus
lig_multiply_fp8_groups (LigLaunch *launch, const LigGroupedFp8 *p)
{
  Maps maps = {};
  fp8::Job job = fp8::job_of (*p);
  if (!fp8::describe_job (&maps, *p, job, p->offsets->size - 1))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "grouped matmul: the driver rejects a tensor map");
  LigStatus status = begin (launch, p->offsets, job.rows, fp8::Units{job.wide}, &job.segments);
  if (status != LIG_OK)
    return status;
  return p->y->dtype == LIG_BF16 ? fp8::launch_of_type<bf16> (launch, *p, maps, job)
                                 : fp8::launch_of_type<half> (launch, *p, maps, job);
}
