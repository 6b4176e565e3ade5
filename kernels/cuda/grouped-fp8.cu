/* SPDX-License-Identifier: MIT */
/* Matmuls of groups of quantized rows, each with its own weight, for every size, kind of scales and
 * device: the elements are multiplied by their scales and then multiplied in fp32, like those of
 * any other type in grouped.cu. Compute capability 9.0 has a faster kernel in
 * grouped-fp8-rows.cu. */
#include "kernels/cuda/grouped-segments.cuh"
#include "kernels/cuda/grouped-tile.cuh"
#include "kernels/cuda/grouped.h"
#include "kernels/quantize.h"
#include <ligature/params-matmul.h>

#include <cuda_fp8.h>

namespace lig
{
namespace grouped
{
namespace fp8
{
/* A tile has TILE by TILE elements, SIDE by SIDE of each thread; DEPTH elements of the depth are in
 * shared memory at a time. */
enum { TILE = 64, DEPTH = 16, SIDE = 4, PITCH = TILE + 4 };

/* A quantized matrix; the scales of a stack of matrices are those of each after those of the one
 * before. */
struct Matrix {
  const uint8_t *data;
  const float *scales;
  int64_t columns, stride; /* of the scales */
  LigScales kind;
  __nv_fp8_interpretation_t format;

  __device__ float
  get (int64_t row, int64_t column) const
  {
    const float value =
      widen (half (__nv_cvt_fp8_to_halfraw (data[row * columns + column], format)));
    const int64_t block = column / LIG_SCALES_EDGE;
    const int64_t at = kind == LIG_SCALES_ROW     ? row
                       : kind == LIG_SCALES_BLOCK ? block * stride + row
                       : kind == LIG_SCALES_TILE  ? row / LIG_SCALES_EDGE * stride + block
                                                  : 0;
    return value * scales[at];
  }
};

struct Job {
  Segments segments;
  Matrix a, b;
  int64_t across, rows, columns, depth, of_group; /* tiles of a row; the scales of a matrix */
  float factor;
  Result y;
  Vector bias;
  const float *scales;
};

/* Copies a tile of a matrix to shared memory as [depth, rows]; outside of the matrix it is 0. */
__device__ inline void
fill (float (&tile)[DEPTH][PITCH],
      const Matrix &from,
      int64_t row,
      int64_t end,
      int64_t depth,
      int64_t depth_end)
{
  for (int c = (int) threadIdx.x; c < TILE * DEPTH; c += THREADS) {
    int64_t at = row + c / DEPTH, l = depth + c % DEPTH;
    tile[c % DEPTH][c / DEPTH] = at < end && l < depth_end ? from.get (at, l) : 0;
  }
}

/* Computes a tile of y; one of rows in no group is 0. */
static __global__ void
__launch_bounds__ (THREADS) multiply_quantized (const __grid_constant__ Job job)
{
  __shared__ float left[DEPTH][PITCH], right[DEPTH][PITCH];
  const int64_t turn = blockIdx.x / job.across, column = blockIdx.x % job.across * TILE;
  const int segment = job.segments.find (job.segments.tiles, turn);
  if (segment >= job.segments.count)
    return;
  const bool any = job.segments.is_group (segment);
  const int64_t row = job.segments.borders[segment] + (turn - job.segments.tiles[segment]) * TILE;
  const int64_t end = job.segments.borders[segment + 1], group = any ? segment - 1 : 0;
  const int down = (int) threadIdx.x / 16 * SIDE, over = (int) threadIdx.x % 16 * SIDE;
  Matrix b = job.b;
  b.data += group * job.columns * job.depth;
  b.scales += group * job.of_group;
  float sums[SIDE][SIDE] = {};
#pragma unroll 1
  for (int64_t l = 0; any && l < job.depth; l += DEPTH) {
    fill (left, job.a, row, end, l, job.depth);
    fill (right, b, column, job.columns, l, job.depth);
    __syncthreads ();
#pragma unroll
    for (int k = 0; k < DEPTH; k++)
#pragma unroll
      for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++)
          sums[i][j] += left[k][down + i] * right[k][over + j];
    __syncthreads ();
  }
#pragma unroll
  for (int i = 0; i < SIDE; i++)
#pragma unroll
    for (int j = 0; j < SIDE; j++) {
      const int64_t at_row = row + down + i, at = column + over + j;
      if (at_row >= end || at >= job.columns)
        continue;
      float value = job.factor * sums[i][j];
      if (any && job.bias.data)
        value += (job.scales ? job.scales[at_row] : 1) * job.bias[group * job.columns + at];
      job.y.put (at_row * job.columns + at, value, 0, false);
    }
}

static Matrix
matrix_of (const LigOperand *operand, const LigOperand *scales, LigScales kind)
{
  return Matrix{(const uint8_t *) operand->data,
                (const float *) scales->data,
                operand->columns,
                scales->columns,
                kind,
                operand->dtype == LIG_FP8_E5M2 ? __NV_E5M2 : __NV_E4M3};
}

/* Launches the kernel for any sizes. */
static LigStatus
multiply (LigLaunch *launch, const LigGroupedFp8 &p)
{
  Job job = {};
  LigStatus status = begin (launch, p.offsets, rows (p.a), Tiles{TILE}, &job.segments);
  if (status != LIG_OK)
    return status;
  job.a = matrix_of (p.a, p.a_scale, (LigScales) p.left);
  job.b = matrix_of (p.b, p.b_scale, (LigScales) p.right);
  job.rows = rows (p.a);
  job.columns = p.y->columns;
  job.depth = p.a->columns;
  job.across = (job.columns + TILE - 1) / TILE;
  job.of_group = p.b_scale->size / (p.offsets->size - 1);
  job.factor = p.factor;
  job.y = result (p.y, false);
  job.bias = vector (p.bias);
  job.scales = (const float *) p.scales->data;
  int64_t blocks = most_tiles (job.segments, job.rows, TILE) * job.across;
  if (blocks > INT32_MAX)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_TOO_MANY_TILES);
  multiply_quantized<<<(unsigned) blocks, THREADS, 0, stream (launch)>>> (job);
  return LIG_LAUNCHED (launch);
}

/* Returns whether an operand has the scales of that many matrices. */
static bool
has_scales (
  const LigOperand *scales, LigScales kind, int64_t matrices, int64_t rows, int64_t columns)
{
  return scales->dtype == LIG_FP32 && kind >= LIG_SCALES_TENSOR && kind <= LIG_SCALES_TILE &&
         scales->size == matrices * lig_scales_count (kind, rows, columns);
}

static bool
fits (const LigGroupedFp8 &p)
{
  const unsigned quantized = LIG_DTYPE_QUANTIZED;
  int64_t groups = p.offsets->size - 1, depth = p.a->columns, columns = p.y->columns;
  return lig_dtype_has (p.a->dtype, quantized) && lig_dtype_has (p.b->dtype, quantized) &&
         lig_dtype_is_floating (p.y->dtype) && groups > 0 && depth > 0 && columns > 0 &&
         p.b->size == groups * columns * depth && rows (p.a) == rows (p.y) &&
         is_type (p.scales, LIG_FP32) &&
         has_scales (p.a_scale, (LigScales) p.left, 1, rows (p.a), depth) &&
         has_scales (p.b_scale, (LigScales) p.right, groups, columns, depth);
}
} /* namespace fp8 */
} /* namespace grouped */
} /* namespace lig */

using namespace lig::grouped;

/* Computes y_i = factor a_i b[g]^T + bias[g] scales[i] for quantized operands. */
extern "C" LigStatus
lig_cuda_grouped_fp8 (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigFp8Params &params = ((const LigGroupedFp8Params *) launch->params)->fp8;
  const LigGroupedFp8 matmul = {&o[0],       &o[1],        &o[4],         &o[2],
                                &o[3],       &o[5],        &o[6],         &o[7],
                                params.left, params.right, params.factor, params.fast};
  if (!fp8::fits (matmul))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_GROUPED_MISFIT);
  return lig_multiply_fp8_groups_serves (launch, &matmul)
           ? lig_multiply_fp8_groups (launch, &matmul)
           : fp8::multiply (launch, matmul);
}
