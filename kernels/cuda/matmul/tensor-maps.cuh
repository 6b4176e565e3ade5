/* SPDX-License-Identifier: MIT */
/* Tensor maps, by which bulk copies (TMA) find the tiles of a matrix. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"
#include "kernels/cuda/matmul/matmul.h"

#include <cuda.h>

namespace lig
{
/* Returns the driver function that encodes tensor maps; null if it is missing. */
inline decltype (&cuTensorMapEncodeTiled)
map_function ()
{
  static decltype (&cuTensorMapEncodeTiled) function = [] {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    if (cudaGetDriverEntryPointByVersion ("cuTensorMapEncodeTiled", &found, 12000,
                                          cudaEnableDefault, &result) != cudaSuccess ||
        result != cudaDriverEntryPointSuccess)
      found = nullptr;
    cudaGetLastError ();
    return (decltype (&cuTensorMapEncodeTiled)) found;
  }();
  return function;
}

/* Returns whether bulk copies can read rows of that many elements of 8 or 16 bits. */
inline bool
has_rows (const LigOperand *operand, LigDtype dtype, int64_t columns)
{
  return operand->dtype == dtype && columns * (int64_t) lig_dtype_size (dtype) % 16 == 0 &&
         (uintptr_t) operand->data % 16 == 0;
}

/* Encodes a tensor map of a stack of matrices of 8-bit or 16-bit elements for copies of tiles of
 * that height and width, in rows of 64 or 128 bytes, with the swizzle of that size. With 0 layers
 * it is that of one matrix, for copies without a layer. */
static bool
describe_layers (CUtensorMap *map,
                 const LigMatrix &matrix,
                 int64_t layers,
                 int64_t rows,
                 int64_t columns,
                 int high,
                 int wide)
{
  const int64_t element = (int64_t) lig_dtype_size (matrix.dtype);
  CUtensorMapSwizzle collective =
    wide * element == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapDataType type = element == 1               ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                             : matrix.dtype == LIG_BF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                        : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  cuuint64_t sides[3] = {(cuuint64_t) columns, (cuuint64_t) rows, (cuuint64_t) layers};
  cuuint64_t strides[2] = {(cuuint64_t) (matrix.stride * element),
                           (cuuint64_t) (rows * matrix.stride * element)};
  cuuint32_t box[3] = {(cuuint32_t) wide, (cuuint32_t) high, 1}, steps[3] = {1, 1, 1};
  return map_function () (map, type, layers > 0 ? 3 : 2, matrix.data, sides, strides, box, steps,
                          CU_TENSOR_MAP_INTERLEAVE_NONE, collective,
                          CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

static bool
describe (
  CUtensorMap *map, const LigMatrix &matrix, int64_t rows, int64_t columns, int high, int wide)
{
  return describe_layers (map, matrix, 0, rows, columns, high, wide);
}
} /* namespace lig */
