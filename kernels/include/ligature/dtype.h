/* SPDX-License-Identifier: MIT */
/* Element types and their conversions; plain C, shared by every backend. All functions may be
 * called from any thread.
 *
 * fp16, bf16 and the two fp8 formats are storage types on the CPU: values are widened to fp32,
 * computed there, and rounded back once, to nearest with ties to even, as the GPU rounds.
 * fp16 and bf16 overflow to infinity (IEEE 754). fp8 follows the OCP 8-bit specification
 * (OFP8, 2023) with saturation: finite values beyond the largest are clamped to it, infinities
 * too, and NaN stays NaN (e4m3: 0x7F, e5m2: 0x7F, the sign kept). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef LIG_API
#define LIG_API __attribute__ ((visibility ("default")))
#endif

/**
 * LigDtype:
 * @LIG_FP32: IEEE 754 binary32, 4 bytes
 * @LIG_FP16: IEEE 754 binary16, 2 bytes
 * @LIG_BF16: the upper half of an fp32 number, 2 bytes
 * @LIG_FP8_E4M3: 4 bits of exponent and 3 of mantissa, largest number 448, no infinity, 1 byte
 * @LIG_FP8_E5M2: 5 bits of exponent and 2 of mantissa, largest number 57344, 1 byte
 * @LIG_INT32: signed integer, 4 bytes
 * @LIG_UINT8: unsigned integer, 1 byte
 * @LIG_BOOL: false (0) or true (any other byte), 1 byte
 * @LIG_N_DTYPES: the number of types
 *
 * The type of a tensor's elements. A new one is a constant at the end and a row of the table in
 * kernels/dtype.c, with the functions that convert one value.
 */
typedef enum {
  LIG_FP32,
  LIG_FP16,
  LIG_BF16,
  LIG_FP8_E4M3,
  LIG_FP8_E5M2,
  LIG_INT32,
  LIG_UINT8,
  LIG_BOOL,
  LIG_N_DTYPES
} LigDtype;

/**
 * LigDtypeRole:
 * @LIG_DTYPE_COMPUTES: activations and parameters may have the type
 * @LIG_DTYPE_COUNTS: its values are integers or booleans
 * @LIG_DTYPE_INDEXES: the type of token ids and class labels, the input of ops that take integers
 * @LIG_DTYPE_NARROW: gradients underflow in it unless the loss is scaled
 * @LIG_DTYPE_QUANTIZED: a format of quantized matmul operands, which need scales
 *
 * The roles of a type, as a set.
 */
typedef enum {
  LIG_DTYPE_COMPUTES = 1 << 0,
  LIG_DTYPE_COUNTS = 1 << 1,
  LIG_DTYPE_INDEXES = 1 << 2,
  LIG_DTYPE_NARROW = 1 << 3,
  LIG_DTYPE_QUANTIZED = 1 << 4
} LigDtypeRole;

/**
 * LIG_MAX_DTYPES:
 *
 * The largest number of types that any later version can have, which is the size of tables indexed
 * by type in public structs.
 */
#define LIG_MAX_DTYPES 32

/**
 * LIG_TYPES:
 * @dtype: a #LigDtype
 *
 * The set with one type; combine sets with `|`.
 */
#define LIG_TYPES(dtype) (1u << (dtype))

/**
 * LIG_FLOATING_TYPES:
 *
 * The set of types that kernels compute in.
 */
#define LIG_FLOATING_TYPES (LIG_TYPES (LIG_FP32) | LIG_TYPES (LIG_FP16) | LIG_TYPES (LIG_BF16))

/**
 * lig_dtype_size:
 * @dtype: an element type
 *
 * Returns: the bytes of one element
 */
LIG_API size_t lig_dtype_size (LigDtype dtype);

/**
 * lig_dtype_name:
 * @dtype: an element type
 *
 * Returns: (transfer none): `fp32`, `fp16`, `bf16`, `fp8e4m3`, `fp8e5m2`, `int32`, `uint8` or
 *   `bool`; a static string
 */
LIG_API const char *lig_dtype_name (LigDtype dtype);

/**
 * lig_dtype_from_name:
 * @name: a name as lig_dtype_name() returns it
 * @dtype: (out): location for the type; unchanged if no type has that name
 *
 * Returns: true if there is a type of that name
 */
LIG_API bool lig_dtype_from_name (const char *name, LigDtype *dtype);

/**
 * lig_dtype_is_floating:
 * @dtype: an element type
 *
 * Checks for the types that kernels compute in: fp32, fp16 and bf16.
 *
 * Returns: true for these three
 */
LIG_API bool lig_dtype_is_floating (LigDtype dtype);

/**
 * lig_dtype_has:
 * @dtype: an element type
 * @roles: a set of #LigDtypeRole
 *
 * Returns: true if the type has one of the roles
 */
LIG_API bool lig_dtype_has (LigDtype dtype, unsigned roles);

/**
 * lig_dtypes_with:
 * @roles: a set of #LigDtypeRole
 *
 * Returns: the set of types that have one of the roles, the bit 1 << dtype for each
 */
LIG_API unsigned lig_dtypes_with (unsigned roles);

/**
 * lig_dtype_file_name:
 * @dtype: an element type
 *
 * Returns: (transfer none): its name in safetensors files, `F8_E4M3`; a static string
 */
LIG_API const char *lig_dtype_file_name (LigDtype dtype);

/**
 * lig_fp16_from_float:
 * @value: any number
 *
 * Returns: the bits of the nearest fp16 number, ties to even; infinity from 65520 on
 */
LIG_API uint16_t lig_fp16_from_float (float value);

/**
 * lig_bf16_from_float:
 * @value: any number
 *
 * Returns: the bits of the nearest bf16 number, ties to even
 */
LIG_API uint16_t lig_bf16_from_float (float value);

/**
 * lig_e4m3_from_float:
 * @value: any number
 *
 * Returns: the bits of the nearest e4m3 number, ties to even, at most 448 in magnitude
 */
LIG_API uint8_t lig_e4m3_from_float (float value);

/**
 * lig_e5m2_from_float:
 * @value: any number
 *
 * Returns: the bits of the nearest e5m2 number, ties to even, at most 57344 in magnitude
 */
LIG_API uint8_t lig_e5m2_from_float (float value);

/**
 * lig_fp16_to_float:
 * @bits: an fp16 number
 *
 * Returns: the same number, exactly
 */
LIG_API float lig_fp16_to_float (uint16_t bits);

/**
 * lig_bf16_to_float:
 * @bits: a bf16 number
 *
 * Returns: the same number, exactly
 */
LIG_API float lig_bf16_to_float (uint16_t bits);

/**
 * lig_e4m3_to_float:
 * @bits: an e4m3 number
 *
 * Returns: the same number, exactly
 */
LIG_API float lig_e4m3_to_float (uint8_t bits);

/**
 * lig_e5m2_to_float:
 * @bits: an e5m2 number
 *
 * Returns: the same number, exactly
 */
LIG_API float lig_e5m2_to_float (uint8_t bits);

/**
 * lig_widen: (skip)
 * @dtype: the type of @source
 * @source: @count elements, aligned for their type
 * @target: memory for @count floats; does not overlap @source
 * @count: the number of elements
 *
 * Converts elements to fp32. Integers are converted by value, bool to 0 or 1.
 */
LIG_API void lig_widen (LigDtype dtype, const void *source, float *target, size_t count);

/**
 * lig_narrow: (skip)
 * @dtype: the type of @target
 * @source: @count floats
 * @target: memory for @count elements, aligned for their type; does not overlap @source
 * @count: the number of elements
 *
 * Rounds floats to elements of a type. Integers are rounded to nearest and saturate; NaN becomes 0;
 * bool is value != 0.
 */
LIG_API void lig_narrow (LigDtype dtype, const float *source, void *target, size_t count);

#ifdef __cplusplus
}
#endif
