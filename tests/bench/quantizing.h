/* SPDX-License-Identifier: MIT */
/* Operands of the kernels that write quantized copies, and their memory traffic. */
#pragma once

#include "kernels/functions.h"
#include "kernels/quantize.h"
#include "tests/gpu/operands.h"
#include <ligature/params-quantize.h>

/* A way to quantize. */
typedef struct {
  const char *name;
  LigScales row, transposed;
  bool given;         /* the scale of the whole tensor is known, and its amax is recorded */
  bool rows, columns; /* the copies that are written */
  LigActivationNumber activation;
  LigGatedNumber gated;
  bool biased; /* the activation's input is a sum with a bias, which is not written */
} Quantizer;

static const Quantizer quantizers[] = {
  {"delayed", LIG_SCALES_TENSOR, LIG_SCALES_TENSOR, true, true, true, LIG_FUNCTION_gelu,
   LIG_FUNCTION_swiglu, false},
  {"delayed, row", LIG_SCALES_TENSOR, LIG_SCALES_TENSOR, true, true, false, LIG_FUNCTION_gelu,
   LIG_FUNCTION_swiglu, false},
  {"current", LIG_SCALES_TENSOR, LIG_SCALES_TENSOR, false, true, true, LIG_FUNCTION_gelu,
   LIG_FUNCTION_swiglu, false},
  {"rows", LIG_SCALES_ROW, LIG_SCALES_TENSOR, false, true, true, LIG_FUNCTION_gelu,
   LIG_FUNCTION_swiglu, false},
  {"block", LIG_SCALES_BLOCK, LIG_SCALES_BLOCK, false, true, true, LIG_FUNCTION_gelu,
   LIG_FUNCTION_swiglu, false},
  {"delayed, bias", LIG_SCALES_TENSOR, LIG_SCALES_TENSOR, true, true, true, LIG_FUNCTION_gelu,
   LIG_FUNCTION_swiglu, true},
  {"current, bias", LIG_SCALES_TENSOR, LIG_SCALES_TENSOR, false, true, true, LIG_FUNCTION_gelu,
   LIG_FUNCTION_swiglu, true},
};

/* Returns whether the kernel reads its inputs twice. */
static inline bool
reads_twice (const Quantizer *q)
{
  return !q->given && q->row != LIG_SCALES_BLOCK;
}

/* Sets the shape of an operand for the matrix [rows, columns]; an absent one has no elements. */
static inline void
shape_quantizing (
  const Quantizer *q, const char *name, int64_t rows, int64_t columns, LigOperand *o)
{
  int64_t row_scales = lig_scales_count (q->row, rows, columns);
  int64_t transposed_scales = lig_scales_count (q->transposed, columns, rows);
  bool shared = q->row == LIG_SCALES_TENSOR && q->transposed == LIG_SCALES_TENSOR;
  if (g_str_equal (name, "row"))
    *o = (LigOperand){NULL, q->rows ? rows * columns : 0, columns, LIG_FP8_E4M3};
  else if (g_str_equal (name, "transposed"))
    *o = (LigOperand){NULL, q->columns ? rows * columns : 0, rows, LIG_FP8_E4M3};
  else if (g_str_equal (name, "row_scale"))
    *o = (LigOperand){NULL, q->rows ? row_scales : 0, row_scales, LIG_FP32};
  else if (g_str_equal (name, "transposed_scale"))
    *o = (LigOperand){NULL, q->columns && !shared ? transposed_scales : 0, transposed_scales,
                      LIG_FP32};
  else if (g_str_equal (name, "scale") || g_str_equal (name, "recorded"))
    *o = (LigOperand){NULL, q->given, 1, LIG_FP32};
  else if (g_str_equal (name, "rounded") || g_str_equal (name, "dx") || g_str_equal (name, "y") ||
           g_str_equal (name, "sum"))
    *o = (LigOperand){NULL, 0, columns, LIG_BF16};
  else if (g_str_equal (name, "mean") || g_str_equal (name, "rstd"))
    *o = (LigOperand){NULL, rows, 1, LIG_FP32};
  else if (g_str_equal (name, "weight") || g_str_equal (name, "bias"))
    *o = (LigOperand){NULL, columns, columns, LIG_BF16};
  else if (g_str_equal (name, "dbias") || g_str_equal (name, "dweight") ||
           g_str_equal (name, "dlast"))
    *o = (LigOperand){NULL, columns, columns, LIG_BF16};
}

/* Returns whether the kernel computes a norm's gradient, which it writes, and reads again if the
 * scale depends on all of it. */
static inline bool
is_norm_gradient (const LigKernel *kernel)
{
  return g_str_equal (kernel->name, "norm_backward_quantize");
}

/* Returns the operands of a kernel that quantizes a matrix [rows, columns] of bf16. */
static inline Operands
quantizing_operands (const LigKernel *kernel, const Quantizer *q, int64_t rows, int64_t columns)
{
  Operands o = {.kernel = kernel, .problem = {rows, columns, 1, LIG_BF16, LIG_BF16}};
  bool gated = strstr (kernel->name, "gated"), backward = strstr (kernel->name, "backward");
  bool activates = g_str_has_prefix (kernel->name, "activation");
  o.count = lig_signature_count (kernel->signature, &o.inputs);
  for (int i = 0; i < o.count; i++) {
    o.optional[i] = lig_signature_name (kernel->signature, i, o.names[i]);
    bool gradient = g_str_equal (o.names[i], "dy");
    int64_t width = !gated ? columns : backward ? (gradient ? columns / 2 : columns) : 2 * columns;
    o.operands[i] = (LigOperand){NULL, rows * width, width, LIG_BF16};
    shape_quantizing (q, o.names[i], rows, columns, &o.operands[i]);
    if (is_norm_gradient (kernel) && g_str_equal (o.names[i], "dx"))
      o.operands[i].size = rows * columns;
    bool unused = (!backward && g_str_equal (o.names[i], "dbias")) ||
                  (activates && !q->biased && g_str_equal (o.names[i], "bias"));
    o.operands[i].size = unused ? 0 : o.operands[i].size;
  }
  return o;
}

static inline LigProducerParams
quantizing_params (const LigKernel *kernel, const Quantizer *q)
{
  bool gated = strstr (kernel->name, "gated");
  return (LigProducerParams){
    .quantize = {LIG_FP8_E4M3, (int32_t) q->row, (int32_t) q->transposed, false},
    .function = gated ? (int32_t) q->gated : (int32_t) q->activation,
    .gated = {.limit = 7, .alpha = 1.702f, .offset = 1, .beta1 = 4, .beta2 = 25},
  };
}

/* Returns the bytes read and written. */
static inline double
quantizing_bytes (const Operands *o, const Quantizer *q)
{
  bool gradient = is_norm_gradient (o->kernel);
  double bytes = 0;
  for (int i = 0; i < o->count; i++) {
    bool again = gradient ? g_str_equal (o->names[i], "dx") : i < o->inputs;
    bytes += (double) operand_bytes (&o->operands[i]) * (again && reads_twice (q) ? 2 : 1);
  }
  return bytes;
}
