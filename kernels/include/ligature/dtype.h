/* SPDX-License-Identifier: MIT */
/* Element types and their exact conversions; plain C, shared by every backend.
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

/* A new type is a constant here, at the end, and a row of the table in dtype.c with the functions
 * that convert one value. */
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

/* The roles that a type can have. */
typedef enum {
  LIG_DTYPE_COMPUTES = 1 << 0, /* activations and parameters may have it */
  LIG_DTYPE_COUNTS = 1 << 1,   /* whole numbers; the value 1 is 1 */
  LIG_DTYPE_INDEXES = 1 << 2,  /* tokens and classes have it: the input of ops that want integers */
  LIG_DTYPE_NARROW = 1 << 3 /* computes, but gradients underflow in it unless the loss is scaled */
} LigDtypeRole;

/* Types there will be at most: tables by type in public structs have room for so many. */
#define LIG_MAX_DTYPES 32

/* Bytes of one element. */
LIG_API size_t lig_dtype_size (LigDtype dtype);

/* `fp32`, `fp16`, `bf16`, `fp8e4m3`, `fp8e5m2`, `int32`, `uint8`, `bool`; a static string. */
LIG_API const char *lig_dtype_name (LigDtype dtype);

/* The type of that name; false, with `dtype` untouched, where no type is called so. */
LIG_API bool lig_dtype_from_name (const char *name, LigDtype *dtype);

/* True for the types that compute may have: fp32, fp16, bf16. */
LIG_API bool lig_dtype_is_floating (LigDtype dtype);

/* True if the type has one of these #LigDtypeRole. */
LIG_API bool lig_dtype_has (LigDtype dtype, unsigned roles);

/* The set of types that have one of these roles, bit by bit as LIG_TYPES of kernels.h has it. */
LIG_API unsigned lig_dtypes_with (unsigned roles);

/* Its name in a safetensors file, `F8_E4M3`; a static string. */
LIG_API const char *lig_dtype_file_name (LigDtype dtype);

/* One value to its nearest neighbour in the type, as its bits. */
LIG_API uint16_t lig_fp16_from_float (float value);
LIG_API uint16_t lig_bf16_from_float (float value);
LIG_API uint8_t lig_e4m3_from_float (float value);
LIG_API uint8_t lig_e5m2_from_float (float value);

/* The bits of one value widened; always exact. */
LIG_API float lig_fp16_to_float (uint16_t bits);
LIG_API float lig_bf16_to_float (uint16_t bits);
LIG_API float lig_e4m3_to_float (uint8_t bits);
LIG_API float lig_e5m2_to_float (uint8_t bits);

/* `count` elements of `source` (of type `dtype`) widened into `target`. Integers are converted by
 * value, bool to 0 or 1. */
LIG_API void lig_widen (LigDtype dtype, const void *source, float *target, size_t count);

/* `count` floats of `source` rounded into `target`. Integers are rounded to nearest and saturate;
 * NaN becomes 0; bool is value != 0. */
LIG_API void lig_narrow (LigDtype dtype, const float *source, void *target, size_t count);

#ifdef __cplusplus
}
#endif
