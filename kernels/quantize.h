/* SPDX-License-Identifier: MIT */
/* Quantization, for every backend: the CPU and the GPU write the same bits. A value x becomes q =
 * round (x scale), saturated to the format; a matmul multiplies by the inverse, 1 / scale. All of
 * it is fp32 IEEE arithmetic, each step rounded to nearest. */
#pragma once

#include "kernels/formulas.h"
#include <ligature/dtype.h>
#include <ligature/scales.h>

/* Returns the number of blocks along a side. */
LIG_FORMULA int64_t
lig_scales_blocks (int64_t length)
{
  return (length + LIG_SCALES_EDGE - 1) / LIG_SCALES_EDGE;
}

/* Returns the row stride of tile scales. */
LIG_FORMULA int64_t
lig_scales_stride (int64_t columns)
{
  return (lig_scales_blocks (columns) + 3) / 4 * 4;
}

/* Returns the padded numbers of rows and of columns of MX block scales. */
LIG_FORMULA int64_t
lig_scales_mx_rows (int64_t rows)
{
  return (rows + 127) / 128 * 128;
}
LIG_FORMULA int64_t
lig_scales_mx_columns (int64_t columns)
{
  return ((columns + 31) / 32 + 3) / 4 * 4;
}

/* Returns the number of bytes of NV scales: the block scales, padded like MX scales, and the fp32
 * scale of the whole matrix. */
LIG_FORMULA int64_t
lig_scales_nv_bytes (int64_t rows, int64_t columns)
{
  return lig_scales_mx_rows (rows) * (((columns + 15) / 16 + 3) / 4 * 4) + 4;
}

/* Returns the number of scales of a matrix, for NV formats in bytes. */
LIG_FORMULA int64_t
lig_scales_count (LigScales kind, int64_t rows, int64_t columns)
{
  return kind == LIG_SCALES_ROW     ? rows
         : kind == LIG_SCALES_BLOCK ? lig_scales_blocks (columns) * rows
         : kind == LIG_SCALES_TILE  ? lig_scales_blocks (rows) * lig_scales_stride (columns)
         : kind == LIG_SCALES_MX    ? lig_scales_mx_rows (rows) * lig_scales_mx_columns (columns)
         : kind == LIG_SCALES_NV    ? lig_scales_nv_bytes (rows, columns)
                                    : 1;
}

/* Returns the largest number of a format. */
LIG_FORMULA float
lig_quantize_largest (LigDtype format)
{
  return format == LIG_FP8_E5M2 ? 57344.0f : 448.0f;
}

/* Returns the largest finite number of a type that values are quantized from. */
LIG_FORMULA float
lig_quantize_overflow (LigDtype source)
{
  return source == LIG_FP16 ? 65504.0f : source == LIG_BF16 ? 0x1.fep127f : FLT_MAX;
}

/* Returns the maximum of an amax and the magnitude of a value; NaN is ignored. */
LIG_FORMULA float
lig_quantize_amax (float amax, float value)
{
  float magnitude = fabsf (value);
  return magnitude > amax ? magnitude : amax;
}

/* Returns `numerator / denominator`, rounded to nearest. */
LIG_FORMULA float
lig_quantize_divide (float numerator, float denominator)
{
#ifdef __CUDA_ARCH__
  return __fdiv_rn (numerator, denominator);
#else
  return numerator / denominator;
#endif
}

/* Returns the scale that maps `amax` to `largest`. It is 1 for an amax of zero or infinity, and
 * `overflow` if the quotient exceeds fp32 (TransformerEngine, compute_scale_from_amax). With
 * `powers` it is rounded down to a power of two. */
LIG_FORMULA float
lig_quantize_scale (float amax, float largest, float overflow, bool powers)
{
  if (!(amax > 0) || amax > FLT_MAX)
    return 1;
  float scale = lig_quantize_divide (largest, amax);
  if (scale > FLT_MAX)
    scale = overflow;
  if (powers) {
    uint32_t bits;
    memcpy (&bits, &scale, sizeof bits);
    bits &= 0xff800000u;
    memcpy (&scale, &bits, sizeof bits);
  }
  return scale;
}

/* Returns the largest magnitude of a type that is saturated; larger ones become NaN. fp16 infinity
 * is a gradient that overflowed, and saturation would hide it from loss scaling. In other types
 * infinity is saturated, as TransformerEngine does for all types. */
LIG_FORMULA float
lig_quantize_limit (LigDtype source)
{
  return source == LIG_FP16 ? 65504.0f : INFINITY;
}

/* Returns a value times its scale, or NaN beyond the limit. NaN loses its sign, as in the
 * conversion instructions of GPUs. */
LIG_FORMULA float
lig_quantize_scaled (float value, float scale, float limit)
{
  return fabsf (value) <= limit ? value * scale : NAN;
}

/* Returns the inverse that matmuls multiply by. */
LIG_FORMULA float
lig_quantize_inverse (float scale)
{
  return lig_quantize_divide (1.0f, scale);
}

/* Sets the next scale of a quantizer from the relevant amax, unless that is infinite, and clears
 * the amax of the step. */
LIG_FORMULA void
lig_quantizer_set (float *entry, float amax, float largest, int margin)
{
  if (amax <= FLT_MAX) {
    float scale = lig_quantize_divide (ldexpf (largest, -margin), amax);
    entry[0] = scale > FLT_MAX ? FLT_MAX : scale;
  }
  entry[1] = 0;
}

/* Advances the history of a quantizer by one step and sets its next scale (TransformerEngine's
 * DelayedScaling with a history of `length` + 1). `entry` is {scale, amax of this step, `length`
 * amaxes of earlier steps}, the last of which is the newest. A quantizer that did not run, whose
 * amax is 0, is not changed; nor is a scale if the amax is infinite. */
LIG_FORMULA void
lig_quantizer_update (float *entry, int64_t length, float largest, int margin, bool newest_only)
{
  float last = entry[1], amax = last, *history = entry + 2;
  if (!(last > 0))
    return;
  for (int64_t i = 0; i < length; i++) {
    if (!newest_only && history[i] > amax)
      amax = history[i];
    history[i] = i + 1 < length ? history[i + 1] : last;
  }
  lig_quantizer_set (entry, amax, largest, margin);
}
