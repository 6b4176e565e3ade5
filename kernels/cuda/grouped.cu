/* SPDX-License-Identifier: MIT */
/* Matmuls of groups of rows, each with its own weight, and their gradients, for every size and
 * type. 16-bit operands of one type are multiplied by tensor cores, all others in fp32.
 *
 * The grid has as many threadblocks as there can be tiles of segments; each finds its segment, and
 * those without a tile end. A tile has rows of one segment only: nothing of
 * another one is read, so that a NaN there has no effect. */
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/grouped-segments.cuh"
#include "kernels/cuda/grouped-tile.cuh"
#include "kernels/cuda/grouped.h"

namespace lig
{
namespace grouped
{
/* The columns of a threadblock that sums rows; the fewest rows of a part of a sum. */
enum { SUM_COLUMNS = 64, SUM_ROWS = 256 };

/* A matmul of the rows of each group by its matrix. */
struct OverRows {
  Segments segments;
  Sides sides;
  int64_t across, columns, depth, of_group; /* tiles of a row; elements of a group's matrix */
  Result y;
  Vector bias;
  const float *scales;
};

/* Computes a tile of y; one of rows in no group is 0. */
template <class E>
__global__ void
__launch_bounds__ (THREADS) multiply_rows (OverRows p)
{
  extern __shared__ uint4 staged[];
  int64_t turn = blockIdx.x / p.across, column = blockIdx.x % p.across * E::TILE;
  int segment = p.segments.find (p.segments.tiles, turn);
  if (segment >= p.segments.count)
    return;
  bool any = p.segments.is_group (segment);
  int64_t first = p.segments.borders[segment] + (turn - p.segments.tiles[segment]) * E::TILE;
  Range range = {first, p.segments.borders[segment + 1], column, p.columns, 0, any ? p.depth : 0};
  range.right_at = any ? (segment - 1) * p.of_group : 0;
  E engine;
  engine.run (p.sides, range, staged);
  int64_t bias_at = (int64_t) (segment - 1) * p.columns;
  engine.each ([&] (int i, int j, float a, float b) {
    int64_t row = range.i + i, at = range.j + j;
    if (row >= range.i_end || at >= range.j_end)
      return;
    bool both = at + 1 < range.j_end;
    if (any && p.bias.data) {
      float scale = p.scales ? p.scales[row] : 1;
      a += scale * p.bias[bias_at + at];
      b += both ? scale * p.bias[bias_at + at + 1] : 0;
    }
    p.y.put (row * p.columns + at, a, b, both);
  });
}

/* Matmuls over the rows of each group. */
struct OverDepth {
  Segments segments;
  Sides sides;
  int64_t down, across, rows, columns; /* tiles of a group's matrix; its size */
  Result y;
};

/* Computes a tile of the matrix of a group. An empty group has zeros, or nothing to add. */
template <class E>
__global__ void
__launch_bounds__ (THREADS) multiply_columns (OverDepth p)
{
  extern __shared__ uint4 staged[];
  int64_t group = blockIdx.x / (p.down * p.across), tile = blockIdx.x % (p.down * p.across);
  int64_t first = p.segments.borders[group + 1], end = p.segments.borders[group + 2];
  if (first == end && p.y.accumulate)
    return;
  Range range = {
    tile / p.across * E::TILE, p.rows, tile % p.across * E::TILE, p.columns, first, end};
  E engine;
  engine.run (p.sides, range, staged);
  engine.each ([&] (int i, int j, float a, float b) {
    int64_t row = range.i + i, at = range.j + j;
    if (row < range.i_end && at < range.j_end)
      p.y.put ((group * p.rows + row) * p.columns + at, a, b, at + 1 < range.j_end);
  });
}

/* Sums of rows of dy, times the scales if there are any. */
struct Sums {
  Segments segments;
  Vector dy;
  const float *scales;
  int64_t columns, first, count; /* of dy; those that are summed */
  int64_t length;                /* the rows of a part */
  float *partials;               /* [parts, count] */
};

/* Sums a part of the rows of a group: four threads share a column. */
static __global__ void
__launch_bounds__ (THREADS) sum_rows_of_groups (Sums s, int across)
{
  constexpr int SHARING = THREADS / SUM_COLUMNS;
  __shared__ float sums[SHARING][SUM_COLUMNS];
  int turn = (int) blockIdx.x / across, own = (int) threadIdx.x / SUM_COLUMNS;
  int64_t column = (int64_t) (blockIdx.x % across) * SUM_COLUMNS + threadIdx.x % SUM_COLUMNS;
  int segment = s.segments.find (s.segments.tiles, turn);
  if (segment >= s.segments.count || !s.segments.is_group (segment))
    return;
  int64_t first = s.segments.borders[segment] + (turn - s.segments.tiles[segment]) * s.length;
  int64_t end = min (first + s.length, (int64_t) s.segments.borders[segment + 1]);
  float sum = 0;
  if (column < s.count)
#pragma unroll 4
    for (int64_t row = first + own; row < end; row += SHARING) {
      float value = s.dy[row * s.columns + s.first + column];
      sum += s.scales ? s.scales[row] * value : value;
    }
  sums[own][threadIdx.x % SUM_COLUMNS] = sum;
  __syncthreads ();
  if (own > 0 || column >= s.count)
    return;
  for (int i = 1; i < SHARING; i++)
    sum += sums[i][threadIdx.x];
  s.partials[turn * s.count + column] = sum;
}

/* Adds the parts of each group in order. */
static __global__ void
__launch_bounds__ (THREADS) add_parts_of_groups (Sums s, Target dbias, bool accumulate)
{
  int64_t column = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  int segment = (int) blockIdx.y + 1;
  for (; segment < s.segments.count - 1 && column < s.count; segment += (int) gridDim.y) {
    int begin = s.segments.tiles[segment], end = s.segments.tiles[segment + 1];
    int64_t at = (segment - 1) * s.columns + s.first + column;
    float sum = 0;
#pragma unroll 4
    for (int part = begin; part < end; part++)
      sum += s.partials[part * s.count + column];
    if (!accumulate)
      dbias.set (at, sum);
    else if (begin < end)
      dbias.set (at, dbias.get (at) + sum);
  }
}

/* Computes dscales[i], the product of dy_i and the bias of its group: a warp per row. Rows in no
 * group have 0. */
static __global__ void
__launch_bounds__ (THREADS) multiply_bias (
  Segments segments, Vector dy, Vector bias, float *dscales, int64_t rows, int64_t columns)
{
  int lane = (int) threadIdx.x % 32;
  for (int64_t row = (int64_t) blockIdx.x * (THREADS / 32) + threadIdx.x / 32; row < rows;
       row += (int64_t) gridDim.x * (THREADS / 32)) {
    int segment = segments.find (segments.borders, row);
    float sum = 0;
    if (segments.is_group (segment))
#pragma unroll 4
      for (int64_t column = lane; column < columns; column += 32)
        sum += dy[row * columns + column] * bias[(segment - 1) * columns + column];
    fold_lanes (32, Sum{}, sum);
    if (lane == 0)
      dscales[row] = sum;
  }
}

/* Launches a kernel of tiles. */
template <class E, class P>
static LigStatus
launch_tiles (LigLaunch *launch, void (*kernel) (P), int64_t blocks, const P &problem)
{
  if (blocks > INT32_MAX)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_TOO_MANY_TILES);
  if (E::STAGED > 48 << 10)
    cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) E::STAGED);
  kernel<<<(unsigned) blocks, THREADS, E::STAGED, stream (launch)>>> (problem);
  return LIG_LAUNCHED (launch);
}

/* Calls `f` with the engine for the types of both sides: tensor cores, if they have the same 16-bit
 * type. */
template <bool LEFT_ALONG, bool RIGHT_ALONG, class F>
static LigStatus
dispatch_engine (const LigOperand *left, const LigOperand *right, F f)
{
  if (left->dtype == right->dtype && left->dtype == LIG_BF16)
    return f (Cores<bf16, LEFT_ALONG, RIGHT_ALONG>{});
  if (left->dtype == right->dtype && left->dtype == LIG_FP16)
    return f (Cores<half, LEFT_ALONG, RIGHT_ALONG>{});
  return f (GroupedPlain<LEFT_ALONG, RIGHT_ALONG>{});
}

/* Launches y_i = x_i times the matrix of the group, whose rows run along the depth if ALONG. */
template <bool ALONG>
static LigStatus
over_rows (LigLaunch *launch, const LigOperand *bias, const LigOperand *scales, const LigOperand *y)
{
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  const LigOperand *offsets = &launch->operands[2];
  int64_t groups = offsets->size - 1, of_group = groups > 0 ? weight->size / groups : 0;
  int64_t depth = x->columns, columns = y->columns;
  if (!lig_dtype_is_floating (x->dtype) || !lig_dtype_is_floating (weight->dtype) ||
      !lig_dtype_is_floating (y->dtype) || groups < 1 || depth < 1 || columns < 1 ||
      of_group != depth * columns || rows (x) != rows (y) || !is_type (scales, LIG_FP32))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_GROUPED_MISFIT);
  const LigGroupedRows matmul = {x, weight, offsets, bias, scales, y, ALONG};
  if (lig_multiply_groups_serves (launch, &matmul))
    return lig_multiply_groups (launch, &matmul);
  return dispatch_engine<true, ALONG> (x, weight, [=] (auto engine) {
    using E = decltype (engine);
    OverRows p = {};
    LigStatus status = begin (launch, offsets, rows (x), Tiles{E::TILE}, &p.segments);
    if (status != LIG_OK)
      return status;
    p.sides = sides (x, depth, weight, weight->columns);
    p.across = (columns + E::TILE - 1) / E::TILE;
    p.columns = columns;
    p.depth = depth;
    p.of_group = of_group;
    p.y = result (y, false);
    p.bias = vector (bias);
    p.scales = (const float *) scales->data;
    return launch_tiles<E> (launch, multiply_rows<E>,
                            most_tiles (p.segments, rows (x), E::TILE) * p.across, p);
  });
}

/* Launches dweight[g] = the product of dy and x over the rows of each group. */
static LigStatus
weights (LigLaunch *launch, const Segments &segments)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dweight = &launch->operands[5];
  if (lig_grouped_weights_serves (launch, dy, x, dweight)) {
    LigGroupedWeights matmul = {
      dy, x, dweight, segments.borders + 1, segments.next, segments.count - 2};
    return lig_grouped_weights (launch, &matmul);
  }
  return dispatch_engine<false, false> (dy, x, [=] (auto engine) {
    using E = decltype (engine);
    OverDepth p = {};
    p.segments = segments;
    p.sides = sides (dy, dy->columns, x, x->columns);
    p.rows = dy->columns;
    p.columns = x->columns;
    p.down = (p.rows + E::TILE - 1) / E::TILE;
    p.across = (p.columns + E::TILE - 1) / E::TILE;
    p.y = result (dweight, launch->accumulate);
    return launch_tiles<E> (launch, multiply_columns<E>, (segments.count - 2) * p.down * p.across,
                            p);
  });
}

/* Launches dbias[g], the sum of dy, times the scales, over the rows of each group; as many columns
 * at a time as have room for their parts in the workspace. */
static LigStatus
sum_bias (LigLaunch *launch, const Segments &segments, int64_t length)
{
  const LigOperand *dy = &launch->operands[0], *dbias = &launch->operands[6];
  int64_t parts = most_tiles (segments, rows (dy), length);
  size_t used = (size_t) (segments.count + 2) * 2 * sizeof (int);
  Sums s = {segments, vector (dy), (const float *) launch->operands[4].data, dy->columns};
  s.length = length;
  s.partials = (float *) (segments.next + 1);
  int64_t room = (int64_t) ((LIG_WORKSPACE_SIZE - used) / sizeof (float)) / parts;
  room = room > SUM_COLUMNS ? room / SUM_COLUMNS * SUM_COLUMNS : room;
  for (s.first = 0; s.first < s.columns; s.first += s.count) {
    s.count = s.columns - s.first < room ? s.columns - s.first : room;
    int across = (int) ((s.count + SUM_COLUMNS - 1) / SUM_COLUMNS);
    if (parts * across > INT32_MAX)
      return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_TOO_MANY_TILES);
    sum_rows_of_groups<<<(unsigned) (parts * across), THREADS, 0, stream (launch)>>> (s, across);
    dim3 grid ((unsigned) ((s.count + THREADS - 1) / THREADS),
               (unsigned) min (segments.count - 2, 65535));
    add_parts_of_groups<<<grid, THREADS, 0, stream (launch)>>> (s, target (dbias),
                                                                launch->accumulate);
  }
  return LIG_LAUNCHED (launch);
}

/* Returns the rows of a part of a sum: so many that the sums of all parts of a few columns fit the
 * workspace. */
static int64_t
part_length (int64_t rows, int64_t groups)
{
  int64_t length = SUM_ROWS;
  while ((rows / length + groups + 2) * SUM_COLUMNS * (int64_t) sizeof (float) >
           (int64_t) LIG_WORKSPACE_SIZE / 2 &&
         length < rows)
    length *= 2;
  return length;
}
} /* namespace grouped */
} /* namespace lig */

using namespace lig;

static const LigOperand none = {};

/* Computes y_i = x_i weight[g]^T + bias[g] scales[i]. */
extern "C" LigStatus
lig_cuda_grouped_linear (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return grouped::over_rows<true> (launch, &o[3], &o[4], &o[5]);
}

/* Computes dx_i = dy_i weight[g]. */
extern "C" LigStatus
lig_cuda_grouped_backward_input (LigLaunch *launch)
{
  return grouped::over_rows<false> (launch, &none, &none, &launch->operands[3]);
}

/* Returns whether the operands of the weights' gradient fit together. */
static bool
gradients_fit (const LigOperand *o)
{
  const LigOperand *dy = &o[0], *x = &o[1], *offsets = &o[2], *bias = &o[3];
  const LigOperand *dweight = &o[5], *dbias = &o[6], *dscales = &o[7];
  int64_t groups = offsets->size - 1;
  if (groups < 1 || dy->columns < 1 || x->columns < 1 || rows (dy) != rows (x) ||
      !lig_dtype_is_floating (dy->dtype) || !lig_dtype_is_floating (x->dtype))
    return false;
  if (dweight->data && (!lig_dtype_is_floating (dweight->dtype) ||
                        dweight->size != groups * dy->columns * x->columns))
    return false;
  if (dbias->data && (!lig_dtype_is_floating (dbias->dtype) || dbias->size != groups * dy->columns))
    return false;
  return is_type (&o[4], LIG_FP32) && is_type (dscales, LIG_FP32) &&
         (!dscales->data || (bias->data && lig_dtype_is_floating (bias->dtype)));
}

/* Computes the gradients of the weights and the biases, and of the numbers by which the biases were
 * multiplied. */
extern "C" LigStatus
lig_cuda_grouped_backward_weight (LigLaunch *launch)
{
  using namespace grouped;
  const LigOperand *o = launch->operands, *dy = &o[0], *offsets = &o[2], *bias = &o[3];
  const LigOperand *dweight = &o[5], *dbias = &o[6], *dscales = &o[7];
  if (!gradients_fit (o))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_GROUPED_MISFIT);
  Segments segments;
  int64_t length = part_length (rows (dy), offsets->size - 1);
  LigStatus status = begin (launch, offsets, rows (dy), Tiles{length}, &segments);
  if (status == LIG_OK && dbias->data)
    status = sum_bias (launch, segments, length);
  if (status == LIG_OK && dscales->data) {
    multiply_bias<<<blocks_for (launch, rows (dy), THREADS / 32, 32), THREADS, 0,
                    stream (launch)>>> (segments, vector (dy), vector (bias),
                                        (float *) dscales->data, rows (dy), dy->columns);
    status = LIG_LAUNCHED (launch);
  }
  return status == LIG_OK && dweight->data ? weights (launch, segments) : status;
}
