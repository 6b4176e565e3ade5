/* SPDX-License-Identifier: MIT */
/* Linear maps: y [M, N] = factor x [M, K] weight [N, K]^T, its two gradients dx [M, K] = factor dy
 * weight and dweight [N, K] = factor dy^T x, with fused epilogues. cuBLASLt runs everything in one
 * launch if it can. Otherwise the matmul is computed block by block in fp32 in the workspace,
 * followed by one epilogue pass over each block. */
#include "kernels/cuda/common/columns.cuh"
#include "kernels/cuda/linear.cuh"
#include "kernels/cuda/matmul/blocks.cuh"
#include "kernels/cuda/matmul/built-in.h"
#include "kernels/cuda/matmul/fallback.cuh"
#include "kernels/cuda/matmul/sums.cuh"
#include "kernels/quantize.h"
#include <ligature/params-matmul.h>

namespace lig
{
/* The layout of the workspace: converted operands, blocks of matmuls (from the beginning if no
 * operand is converted), a vector, and the part that is left to the library. */
constexpr size_t MIB = (size_t) 1 << 20;
constexpr size_t CONVERTED_SPACE = 16 * MIB, VECTOR_SPACE = 2 * MIB;
constexpr size_t VECTOR_AT = LIG_WORKSPACE_SIZE - LIG_LIBRARY_SPACE - VECTOR_SPACE;
constexpr int64_t MAX_STAGED = 1 << 22, MAX_STAGED_COLUMNS = 8192, MAX_STAGED_ROWS = 1 << 16;

/* Returns the address of byte `at` of the workspace. */
static char *
workspace (const LigLaunch *launch, size_t at)
{
  return (char *) launch->workspace + at;
}

/* Rounds `value` up to a multiple of `unit`. */
static int64_t
round_up (int64_t value, int64_t unit)
{
  return (value + unit - 1) / unit * unit;
}

/* Computes one block of a staged matmul: the bare matmul into `stage`, and from there the result;
 * its sums, unless `sums` is null, are added to those of the blocks above. */
static LigStatus
stage_block (LigLaunch *launch, const LigMatmul &job, LigMatrix stage, float *sums, bool first)
{
  LigMatmul bare = without_sums (job);
  bare.extra = bare.aux = bare.vector = LigMatrix{};
  bare.activation = LIG_AS_IT_IS;
  bare.result = stage;
  bare.shares_workspace = true;
  LigStatus status = lig_matmul (launch, &bare);
  if (status == LIG_UNSUPPORTED)
    status = multiply_any (launch, &bare);
  if (status != LIG_OK)
    return status;

  Finish finish = {};
  finish.staged = stage;
  finish.rows = job.rows;
  finish.columns = job.columns;
  if (job.sums == LIG_NO_SUMS)
    finish.bias = Vector{job.vector.data, job.vector.dtype};
  finish.extra = job.extra;
  finish.activation = job.activation;
  finish.aux = job.aux;
  finish.aux_dtype = job.aux.data ? job.aux.dtype : job.result.dtype;
  finish.y = job.result;
  finish.keeps_staged = sums;
  status = finish_block (launch, finish);
  if (status == LIG_OK && sums)
    status = add_columns (launch, stage, job.rows, job.columns, sums, !first);
  return status;
}

/* Computes a matmul through the workspace, whose first `taken` bytes are in use. Blocks fit into
 * the cache, and a full one has as many tiles as a large GPU processes at once. Sums, if any, are
 * those of the result. */
static LigStatus
staged (LigLaunch *launch, const LigMatmul &job, size_t taken)
{
  int64_t width = min (job.columns, MAX_STAGED_COLUMNS), stride = round_up (width, 8);
  int64_t space = min ((int64_t) ((VECTOR_AT - taken) / sizeof (float)), MAX_STAGED);
  int64_t height = min (min (space / stride / 64 * 64, MAX_STAGED_ROWS), job.rows);
  LigMatrix stage = {workspace (launch, taken), stride, LIG_FP32};
  float *sums = job.sums == LIG_NO_SUMS ? nullptr : (float *) workspace (launch, VECTOR_AT);
  for (int64_t column = 0; column < job.columns; column += width) {
    LigMatmul band = columns_of (job, column, min (width, job.columns - column));
    for (int64_t row = 0; row < job.rows; row += height) {
      LigMatmul block = rows_of (band, row, min (height, job.rows - row));
      LigStatus status = stage_block (launch, block, stage, sums, row == 0);
      if (status != LIG_OK)
        return status;
    }
    LigOperand target = {band.vector.data, band.columns, band.columns, band.vector.dtype};
    LigStatus status =
      sums ? add_parts (launch, sums, 1, band.columns, band.columns, &target) : LIG_OK;
    if (status != LIG_OK)
      return status;
  }
  return LIG_OK;
}

/* Returns whether `right` may be converted to the type of `left`: between fp32 and a 16-bit type.
 * Between the two 16-bit types too much precision or range would be lost. */
static bool
converts (const LigMatmul &job)
{
  LigDtype left = job.left.dtype, right = job.right.dtype;
  return left != right && (left == LIG_FP32 || right == LIG_FP32);
}

/* Returns the number of columns of the result whose part of `right` fits into the workspace after
 * conversion. */
static int64_t
max_converted (const LigMatmul &job)
{
  int64_t space = (int64_t) (CONVERTED_SPACE / lig_dtype_size (job.left.dtype));
  int64_t depth = job.right_transposed ? round_up (max (job.depth, (int64_t) 1), 8) : job.depth;
  int64_t limit = space / max (depth, (int64_t) 1);
  return limit >= 64 ? limit / 64 * 64 : limit / 8 * 8;
}

/* Splits `columns` into equal blocks of at most `max`, all except the last a multiple of 8; returns
 * their width. */
static int64_t
width_of (int64_t columns, int64_t max)
{
  if (columns <= max)
    return columns;
  int64_t parts = (columns + max - 1) / max;
  return min (round_up ((columns + parts - 1) / parts, max >= 64 ? 64 : 8), max);
}

/* Converts the block's part of `right` to the type of `left`, with 16-byte aligned rows. */
static LigStatus
convert_right (LigLaunch *launch, LigMatmul *block)
{
  int64_t rows = block->right_transposed ? block->columns : block->depth;
  int64_t columns = block->right_transposed ? block->depth : block->columns;
  LigMatrix converted = {launch->workspace, round_up (columns, 8), block->left.dtype};
  LigStatus status = convert_matrix (launch, block->right, converted, rows, columns);
  block->right = converted;
  return status;
}

/* Returns whether the matmul has a bias of another type than the library requires. */
static bool
bias_differs (const LigMatmul &job)
{
  return job.vector.data && job.sums == LIG_NO_SUMS &&
         job.vector.dtype != lig_matmul_side (job.result.dtype);
}

/* Computes a block whose bias has another type than the result: the bias is converted to that type,
 * which is exact for an fp32 result and rounds once for a 16-bit one, like weights are rounded. An
 * 8-bit type has too little precision. */
static LigStatus
with_other_bias (LigLaunch *launch, LigMatmul block)
{
  LigDtype side = lig_matmul_side (block.result.dtype);
  LigMatrix bias = {workspace (launch, VECTOR_AT), block.columns, side};
  if ((side == block.result.dtype && side != LIG_FP32 && block.vector.dtype != LIG_FP32) ||
      block.columns > (int64_t) (VECTOR_SPACE / lig_dtype_size (side)))
    return LIG_UNSUPPORTED;
  LigStatus status = convert_matrix (launch, block.vector, bias, 1, block.columns);
  block.vector = bias;
  block.shares_workspace = true;
  return status == LIG_OK ? lig_matmul (launch, &block) : status;
}

/* Computes one block in the best possible way. Clears `summed` if the sums were not computed with
 * it. */
static LigStatus
run_block (LigLaunch *launch, LigMatmul block, size_t taken, bool *summed)
{
  /* The library's epilogue may run as a second kernel, which would find that the result has
   * overwritten an aux matrix in the same memory. */
  if (block.result.data && block.result.data != block.aux.data) {
    LigStatus status =
      bias_differs (block) ? with_other_bias (launch, block) : lig_matmul (launch, &block);
    if (status == LIG_UNSUPPORTED && block.sums != LIG_NO_SUMS) {
      *summed = false;
      block = without_sums (block);
      status = lig_matmul (launch, &block);
    }
    if (status != LIG_UNSUPPORTED)
      return status;
  }
  if (block.result.data) {
    *summed = false;
    block = without_sums (block);
  }
  return staged (launch, block, taken);
}

/* Computes a matmul in as few blocks of columns as converted operands permit. */
static LigStatus
run_blocks (LigLaunch *launch, const LigMatmul &job, bool *summed)
{
  int64_t max = job.columns;
  bool converting = converts (job) && max_converted (job) > 0;
  if (converting)
    max = max_converted (job);
  if (bias_differs (job))
    max = min (max, (int64_t) (VECTOR_SPACE / sizeof (float)));
  int64_t width = width_of (job.columns, max);
  for (int64_t column = 0; column < job.columns; column += width) {
    LigMatmul block = columns_of (job, column, min (width, job.columns - column));
    block.shares_workspace = converting;
    LigStatus status = converting ? convert_right (launch, &block) : LIG_OK;
    if (status == LIG_OK)
      status = run_block (launch, block, converting ? CONVERTED_SPACE : 0, summed);
    if (status != LIG_OK)
      return status;
  }
  return LIG_OK;
}

/* Rejects sizes and types that no path supports. */
static LigStatus
check (LigLaunch *launch, const LigMatmul &job)
{
  const LigMatrix *optional[] = {&job.extra, &job.aux, &job.vector, &job.left_sums};
  if (max (max (job.rows, job.columns), job.depth) > INT32_MAX)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "linear: a side is longer than 2^31 - 1; reduce it");
  bool floating = lig_dtype_is_floating (job.left.dtype) &&
                  lig_dtype_is_floating (job.right.dtype) &&
                  lig_dtype_is_floating (job.result.dtype);
  for (const LigMatrix *matrix : optional)
    floating = floating && (!matrix->data || lig_dtype_is_floating (matrix->dtype));
  return floating ? LIG_OK
                  : LIG_FAIL (launch, LIG_UNSUPPORTED,
                              "linear: not a floating type; convert to fp32, fp16 or bf16");
}

/* Computes a matmul and its sums through the library. */
static LigStatus
run_library (LigLaunch *launch, const LigMatmul *matmul)
{
  LigMatmul job = *matmul;
  job.left_sums = LigMatrix{};
  bool summed = job.sums != LIG_NO_SUMS && takes_sums (launch, job);
  LigStatus status = LIG_OK;
  if (job.result.data || summed)
    status = run_blocks (launch, summed ? job : without_sums (job), &summed);
  if (status == LIG_OK && job.sums != LIG_NO_SUMS && !summed)
    status = sum_apart (launch, job);
  if (status == LIG_OK && matmul->left_sums.data)
    status = sum_matrix (launch, job.left, job.rows, job.depth, matmul->left_sums);
  return status;
}

/* Writes zeros for sums of no rows. */
static void
clear_sums (LigLaunch *launch, const LigMatrix &sums, int64_t columns)
{
  if (sums.data && !launch->accumulate)
    cudaMemsetAsync (sums.data, 0, (size_t) columns * lig_dtype_size (sums.dtype), stream (launch));
}

/* Returns the part of a size that is a multiple of 16 bytes. */
static int64_t
whole_part (int64_t size, LigDtype dtype)
{
  int64_t unit = 16 / (int64_t) lig_dtype_size (dtype);
  return size / unit * unit;
}

/* Returns whether the rows of a matrix, unless it is absent, are 16-byte aligned. */
static bool
begins_aligned (const LigMatrix &matrix)
{
  return !matrix.data || ((uintptr_t) matrix.data % 16 == 0 &&
                          whole_part (matrix.stride, matrix.dtype) == matrix.stride);
}

/* Computes a matmul through the library. Its fast kernels require 16-byte aligned rows and row
 * lengths of a multiple of 16 bytes (cuBLAS documentation, tensor core usage). If only a length is
 * not a multiple, its last elements are computed separately: the first part of a sum is the
 * remainder, so that little is rounded twice. */
static LigStatus
run_sides (LigLaunch *launch, const LigMatmul *matmul)
{
  const LigMatmul &job = *matmul;
  bool plain = job.activation == LIG_AS_IT_IS && job.sums == LIG_NO_SUMS && !job.aux.data &&
               !job.left_sums.data && begins_aligned (job.left) && begins_aligned (job.right) &&
               begins_aligned (job.extra) && begins_aligned (job.result);
  int64_t columns = whole_part (job.columns, job.result.dtype);
  int64_t rows = whole_part (job.rows, job.left.dtype);
  int64_t depth = whole_part (job.depth, job.left.dtype);
  LigMatmul first = job, second = job;
  if (plain && columns > 0 && columns < job.columns) {
    first = columns_of (job, 0, columns);
    second = columns_of (job, columns, job.columns - columns);
  } else if (plain && job.left_transposed && rows > 0 && rows < job.rows) {
    first = rows_of (job, 0, rows);
    second = rows_of (job, rows, job.rows - rows);
  } else if (plain && !job.left_transposed && depth > 0 && depth < job.depth && !job.vector.data &&
             !job.extra.data) {
    first = depth_of (job, depth, job.depth - depth);
    second = depth_of (job, 0, depth);
    second.extra = job.result;
  } else {
    return run_library (launch, matmul);
  }
  LigStatus status = multiply (launch, first);
  return status == LIG_OK ? multiply (launch, second) : status;
}

LigStatus
multiply (LigLaunch *launch, LigMatmul job)
{
  const LigScaleParams *params = (const LigScaleParams *) launch->params;
  job.factor = params ? params->factor : 1.0f;
  if (job.sums != LIG_NO_SUMS && !job.vector.data)
    job = without_sums (job);
  LigStatus status = check (launch, job);
  if (status != LIG_OK || (!job.result.data && job.sums == LIG_NO_SUMS && !job.left_sums.data))
    return status;
  if (job.rows == 0) {
    if (job.sums != LIG_NO_SUMS)
      clear_sums (launch, job.vector, job.columns);
    clear_sums (launch, job.left_sums, job.depth);
    return LIG_LAUNCHED (launch);
  }
  if (launch->scratch)
    return multiply_padded (launch, job);
  if (lig_built_in_matmul_serves (launch, &job) &&
      lig_built_in_matmul_wins (launch, &job, run_sides))
    return lig_built_in_matmul (launch, &job);
  return run_sides (launch, &job);
}

LigMatmul
forward (const LigLaunch *launch, const LigOperand &y)
{
  const LigOperand &x = launch->operands[0], &weight = launch->operands[1];
  LigMatmul job = {};
  job.rows = rows (&x);
  job.columns = rows (&weight);
  job.depth = x.columns;
  job.left = matrix (x);
  job.right = matrix (weight);
  job.right_transposed = true;
  job.result = matrix (y);
  return job;
}

LigMatmul
backward_input (const LigLaunch *launch, const LigOperand &dx)
{
  const LigOperand &dy = launch->operands[0], &weight = launch->operands[1];
  LigMatmul job = {};
  job.rows = rows (&dy);
  job.columns = weight.columns;
  job.depth = dy.columns;
  job.left = matrix (dy);
  job.right = matrix (weight);
  job.result = matrix (dx);
  return job;
}

/* Returns the matmul dy weight, followed by gelu's gradient and sums. */
static LigMatmul
backward_gelu (const LigLaunch *launch)
{
  LigMatmul job = backward_input (launch, launch->operands[3]);
  job.activation = LIG_GELU_BACKWARD;
  job.aux = matrix (launch->operands[2]);
  job.sums = LIG_SUMS_OF_RESULT;
  job.vector = matrix (launch->operands[4]);
  return job;
}

LigMatmul
backward_weight (const LigLaunch *launch)
{
  const LigOperand &dy = launch->operands[0], &x = launch->operands[1];
  LigMatmul job = {};
  job.rows = dy.columns;
  job.columns = x.columns;
  job.depth = rows (&dy);
  job.left = matrix (dy);
  job.left_transposed = true;
  job.right = matrix (x);
  job.result = matrix (launch->operands[2]);
  if (launch->accumulate)
    job.extra = job.result;
  return job;
}
} /* namespace lig */

using namespace lig;

/* Computes y = factor x weight^T. */
extern "C" LigStatus
lig_cuda_linear (LigLaunch *launch)
{
  return multiply (launch, forward (launch, launch->operands[2]));
}

/* Computes y = factor x weight^T + bias. */
extern "C" LigStatus
lig_cuda_linear_bias (LigLaunch *launch)
{
  LigMatmul job = forward (launch, launch->operands[3]);
  job.vector = matrix (launch->operands[2]);
  return multiply (launch, job);
}

/* Computes sum = factor x weight^T + bias and y = gelu (sum). */
extern "C" LigStatus
lig_cuda_linear_bias_gelu (LigLaunch *launch)
{
  const LigOperand &sum = launch->operands[3], &y = launch->operands[4];
  LigMatmul job = forward (launch, y.data ? y : sum);
  job.vector = matrix (launch->operands[2]);
  if (y.data) {
    job.activation = LIG_GELU;
    job.aux = matrix (sum);
  }
  return multiply (launch, job);
}

/* Computes y = relu (factor x weight^T + bias). */
extern "C" LigStatus
lig_cuda_linear_bias_relu (LigLaunch *launch)
{
  LigMatmul job = forward (launch, launch->operands[3]);
  job.vector = matrix (launch->operands[2]);
  job.activation = LIG_RELU;
  return multiply (launch, job);
}

/* Computes y = factor x weight^T + bias + extra. */
extern "C" LigStatus
lig_cuda_linear_bias_add (LigLaunch *launch)
{
  LigMatmul job = forward (launch, launch->operands[4]);
  job.vector = matrix (launch->operands[2]);
  job.extra = matrix (launch->operands[3]);
  return multiply (launch, job);
}

/* Computes dx = factor dy weight. */
extern "C" LigStatus
lig_cuda_linear_backward_input (LigLaunch *launch)
{
  return multiply (launch, backward_input (launch, launch->operands[2]));
}

/* Computes dx = factor dy weight + branch. */
extern "C" LigStatus
lig_cuda_linear_backward_input_add (LigLaunch *launch)
{
  LigMatmul job = backward_input (launch, launch->operands[3]);
  job.extra = matrix (launch->operands[2]);
  return multiply (launch, job);
}

/* Computes dx = factor dy weight, and dbias, the sum of dy over rows. */
extern "C" LigStatus
lig_cuda_linear_backward_input_bias (LigLaunch *launch)
{
  LigMatmul job = backward_input (launch, launch->operands[2]);
  job.left_sums = matrix (launch->operands[3]);
  return multiply (launch, job);
}

/* Computes dx = gelu' (x) (factor dy weight), and dbias, the sum of dx over rows. */
extern "C" LigStatus
lig_cuda_linear_backward_input_gelu (LigLaunch *launch)
{
  return multiply (launch, backward_gelu (launch));
}

/* Computes the same, and dlast, the sum of dy over rows. */
extern "C" LigStatus
lig_cuda_linear_backward_input_gelu_bias (LigLaunch *launch)
{
  LigMatmul job = backward_gelu (launch);
  job.left_sums = matrix (launch->operands[5]);
  return multiply (launch, job);
}

/* Computes dweight = factor dy^T x, added to the old values if the launch accumulates. */
extern "C" LigStatus
lig_cuda_linear_backward_weight (LigLaunch *launch)
{
  return multiply (launch, backward_weight (launch));
}

/* Computes dweight as above, and dbias [N], the sum of dy over rows. */
extern "C" LigStatus
lig_cuda_linear_backward_weight_bias (LigLaunch *launch)
{
  const LigOperand &dbias = launch->operands[3];
  if (!launch->operands[2].data)
    return dbias.data ? sum_rows (launch, &launch->operands[0], &dbias) : LIG_OK;
  LigMatmul job = backward_weight (launch);
  job.sums = LIG_SUMS_OF_LEFT;
  job.vector = matrix (dbias);
  return multiply (launch, job);
}

/* Returns the matmul of quantized operands. */
static LigMatmul
quantized_matmul (const LigLaunch *launch, const LigOperand &result)
{
  const LigOperand *operands = launch->operands;
  const LigFp8Params *params = (const LigFp8Params *) launch->params;
  LigMatmul job = forward (launch, result);
  job.vector = matrix (operands[4]);
  job.left_scales = LigQuantized{operands[2].data, (LigScales) params->left};
  job.right_scales = LigQuantized{operands[3].data, (LigScales) params->right};
  job.factor = params->factor;
  job.fast = params->fast;
  return job;
}

/* Computes a matmul of quantized operands. */
static LigStatus
multiply_quantized (LigLaunch *launch, const LigMatmul &job)
{
  LigStatus status = bias_differs (job) ? with_other_bias (launch, job) : lig_matmul (launch, &job);
  return status == LIG_UNSUPPORTED
           ? LIG_FAIL (launch, LIG_UNSUPPORTED,
                       "linear_fp8: cuBLASLt has no algorithm for these sizes; quantize less")
           : status;
}

/* Computes y = factor a b^T + bias + extra for quantized operands, added to the old values if the
 * launch accumulates. The sizes are multiples of 16, else the library rejects them. */
extern "C" LigStatus
lig_cuda_linear_fp8 (LigLaunch *launch)
{
  LigMatmul job = quantized_matmul (launch, launch->operands[6]);
  job.extra = launch->accumulate ? job.result : matrix (launch->operands[5]);
  return multiply_quantized (launch, job);
}

namespace lig
{
static __global__ void
write_inverse (const float *scale, float *inverse)
{
  *inverse = lig_quantize_inverse (*scale);
}
} /* namespace lig */

/* Computes the quantized copy of gelu (factor a b^T + bias), and the inverse of its scale. */
extern "C" LigStatus
lig_cuda_linear_fp8_gelu (LigLaunch *launch)
{
  const LigOperand *scale = &launch->operands[5], *row_scale = &launch->operands[7];
  LigMatmul job = quantized_matmul (launch, launch->operands[6]);
  job.activation = LIG_GELU;
  job.result_scale = scale->data;
  LigStatus status = multiply_quantized (launch, job);
  if (status != LIG_OK || !row_scale->data)
    return status;
  write_inverse<<<1, 1, 0, stream (launch)>>> ((const float *) scale->data,
                                               (float *) row_scale->data);
  return LIG_LAUNCHED (launch);
}
