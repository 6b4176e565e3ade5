/* SPDX-License-Identifier: MIT */
/* Matrices to quantize, random and adversarial, and the shapes of their scales. */
#pragma once

#include "kernels/functions.h"
#include "tests/kernels/case.h"
#include <ligature/params-quantize.h>
#include <ligature/scales.h>

typedef enum {
  RANDOM,
  ZEROS,
  TINY,
  SUBNORMAL,
  HUGE_ROW,
  INFINITE,
  NOT_NUMBERS,
  N_CONTENTS
} Content;

/* Fills a matrix: most contents are random values with some that are hard to scale. */
static inline LigOperand
content_of (Content content, LigDtype dtype, int64_t rows, int64_t columns)
{
  LigOperand x = random_tensor (dtype, rows, columns);
  g_autofree float *values = g_new (float, x.size);
  lig_widen (dtype, x.data, values, (size_t) x.size);
  for (int64_t i = 0; i < x.size; i++) {
    int64_t row = i / columns, column = i % columns;
    gboolean some = (row * 7 + column * 3) % 61 == 5;
    values[i] = content == ZEROS                      ? (some ? -0.0f : 0)
                : content == TINY                     ? values[i] * 0x1p-120f
                : content == SUBNORMAL                ? values[i] * 0x1p-140f
                : content == HUGE_ROW && row % 5 == 2 ? values[i] * 3e4f
                : content == INFINITE && some         ? (column % 2 ? INFINITY : -INFINITY)
                : content == NOT_NUMBERS && some      ? (column % 2 ? NAN : -NAN)
                : content == NOT_NUMBERS && row == 1  ? NAN
                                                      : values[i];
  }
  lig_narrow (dtype, values, x.data, (size_t) x.size);
  return x;
}

/* Returns the memory for the scales of a matrix. */
static inline LigOperand
scales_for (LigScales kind, int64_t rows, int64_t columns)
{
  int64_t down = (rows + LIG_SCALES_EDGE - 1) / LIG_SCALES_EDGE;
  int64_t across = (columns + LIG_SCALES_EDGE - 1) / LIG_SCALES_EDGE;
  switch (kind) {
  case LIG_SCALES_ROW:
    return blank (LIG_FP32, 1, rows);
  case LIG_SCALES_BLOCK:
    return blank (LIG_FP32, across, rows);
  case LIG_SCALES_TILE:
    return blank (LIG_FP32, down, (across + 3) / 4 * 4);
  default:
    return blank (LIG_FP32, 1, 1);
  }
}

/* The operands of quantize: with `scale` 0 a per-tensor scale is computed from the amax. The amax
 * of earlier steps is `before`. */
typedef struct {
  LigOperand operands[9];
  LigQuantizeParams params;
} Quantizing;

static inline Quantizing
quantizing (LigOperand x, LigQuantizeParams params, float scale, float before)
{
  int64_t rows = x.size / x.columns, columns = x.columns;
  LigDtype format = (LigDtype) params.format;
  Quantizing q = {.params = params};
  LigOperand all[9] = {x,
                       scale > 0 ? number ((double) scale) : absent (LIG_FP32, 1, 1),
                       blank (format, rows, columns),
                       scales_for ((LigScales) params.row, rows, columns),
                       blank (format, columns, rows),
                       scales_for ((LigScales) params.transposed, columns, rows),
                       number ((double) before),
                       blank (x.dtype, rows, columns),
                       absent (x.dtype, 1, columns)};
  memcpy (q.operands, all, sizeof all);
  return q;
}

static const LigScales kinds[][2] = {
  {LIG_SCALES_TENSOR, LIG_SCALES_TENSOR}, {LIG_SCALES_ROW, LIG_SCALES_TENSOR},
  {LIG_SCALES_ROW, LIG_SCALES_ROW},       {LIG_SCALES_BLOCK, LIG_SCALES_BLOCK},
  {LIG_SCALES_TILE, LIG_SCALES_TILE},     {LIG_SCALES_BLOCK, LIG_SCALES_TILE},
};

static const int64_t matrices[][2] = {{1, 1},     {16, 16},   {128, 128}, {256, 272},
                                      {303, 300}, {144, 400}, {48, 1040}, {5, 130}};

/* A fused quantizing kernel, and the unfused kernel that computes the values. */
typedef struct {
  const char *kernel, *alone;
  int32_t function;
  gboolean backward, gated;
} Producer;

static const Producer producers[] = {
#define EACH(name, backward_name, bias_name, bias_backward_name, work, back, read) \
  {"activation_quantize", #name, LIG_FUNCTION_##name, FALSE, FALSE}, \
    {"activation_backward_quantize", #bias_backward_name, LIG_FUNCTION_##name, TRUE, FALSE},
  LIG_EACH_ACTIVATION (EACH)
#undef EACH
#define EACH(name, backward_name, bias_name, bias_backward_name, ...) \
  {"gated_quantize", #name, LIG_FUNCTION_##name, FALSE, TRUE}, \
    {"gated_backward_quantize", #bias_backward_name, LIG_FUNCTION_##name, TRUE, TRUE},
    LIG_EACH_GATED (EACH) LIG_EACH_GATED_WITH_PARAMS (EACH)
#undef EACH
};

/* The operands of such a kernel: `values` is the first output that it computes, other than a sum,
 * `copies` that of row, `x` the operand to which a bias is added, which is operand `bias`; -1: it
 * takes none. */
typedef struct {
  LigOperand operands[LIG_MAX_OPERANDS];
  int values, copies, count, x, bias;
  float scale;
  LigProducerParams params;
} Producing;

/* Returns whether the gradient is computed from y, to which a bias has been added. */
static inline gboolean
relies_on_output (const Producer *p)
{
  return p->backward && !p->gated && p->function == LIG_FUNCTION_relu;
}

/* Returns the operands for the quantized matrix [rows, columns]. A gated unit's gradient has an
 * even number of columns. */
static inline Producing
producing (
  const Producer *p, LigDtype dtype, const LigScales kind[2], const int64_t shape[2], unsigned n)
{
  int64_t rows = shape[0], columns = shape[1];
  gboolean halves = p->gated && p->backward;
  columns += halves ? columns % 2 : 0;
  LigDtype format = n / 2 % 2 ? LIG_FP8_E5M2 : LIG_FP8_E4M3;
  Producing q = {.scale = n % 4 == 1 ? 24 : 0, .bias = -1};
  q.params = (LigProducerParams){
    .quantize = {(int32_t) format, (int32_t) kind[0], (int32_t) kind[1], n / 3 % 2},
    .function = p->function,
    .gated = {.limit = 1.5f, .alpha = 1.25f, .offset = 0.5f, .beta1 = 2, .beta2 = 3},
  };
  LigOperand x = random_tensor (dtype, rows, p->gated && !p->backward ? 2 * columns : columns);
  LigOperand values = blank (dtype, rows, columns);
  Quantizing copies = quantizing (values, q.params.quantize, q.scale, 0.5f);
  if (p->backward)
    q.operands[q.count++] = random_tensor (dtype, rows, halves ? columns / 2 : columns);
  q.x = q.count;
  q.operands[q.count++] = x;
  if (!p->gated) {
    q.bias = q.count;
    q.operands[q.count++] = random_tensor (n / 7 % 2 ? LIG_FP32 : dtype, 1, columns);
    if (n % 5 < 2 || relies_on_output (p))
      q.operands[q.bias].data = NULL;
  }
  q.operands[q.count++] = copies.operands[1];
  if (!p->gated && !p->backward)
    q.operands[q.count++] = n % 2 ? blank (dtype, rows, columns) : absent (dtype, 1, 1);
  q.values = q.count;
  q.operands[q.count++] = values;
  if (p->backward)
    q.operands[q.count++] = blank (n / 5 % 2 ? LIG_FP32 : dtype, 1, columns);
  q.copies = q.count;
  for (int i = 2; i < 8; i++)
    q.operands[q.count++] = copies.operands[i];
  return q;
}

/* Returns whether a bias is added, and sets the operands of the kernel that adds it. */
static inline gboolean
producing_sum (const Producing *q, LigOperand sum[3])
{
  const LigOperand *x = &q->operands[q->x];
  if (q->bias < 0 || !q->operands[q->bias].data)
    return FALSE;
  sum[0] = *x;
  sum[1] = q->operands[q->bias];
  sum[2] = blank (x->dtype, x->size / x->columns, x->columns);
  return TRUE;
}

/* Sets the operands of the unfused kernel that computes the values, from the sum if there is one;
 * returns their number. */
static inline int
producing_alone (const Producer *p, const Producing *q, const LigOperand *sum, LigOperand alone[4])
{
  int inputs = p->backward ? 2 : 1, outputs = inputs;
  for (int i = 0; i < inputs; i++)
    alone[i] = i == q->x && sum ? *sum : q->operands[i];
  for (int i = 0; i < outputs; i++)
    alone[inputs + i] = blank (q->operands[q->values + i].dtype,
                               q->operands[q->values + i].size / q->operands[q->values + i].columns,
                               q->operands[q->values + i].columns);
  return inputs + outputs;
}

/* Sets the operands of a norm of [rows, columns]; returns their number. */
static inline int
norm_alone (gboolean centered, LigDtype dtype, const int64_t shape[2], unsigned n, LigOperand o[6])
{
  int64_t rows = shape[0], columns = shape[1];
  LigDtype parameters = n / 2 % 2 ? LIG_FP32 : dtype;
  int count = 0;
  o[count++] = random_tensor (dtype, rows, columns);
  o[count++] = random_tensor (parameters, 1, columns);
  if (centered)
    o[count++] = random_tensor (parameters, 1, columns);
  o[count++] = blank (dtype, rows, columns);
  if (centered)
    o[count++] = blank (LIG_FP32, 1, rows);
  o[count++] = blank (LIG_FP32, 1, rows);
  return count;
}

/* Returns the operands of the kernel that quantizes a norm, given its statistics. */
static inline Producing
norming (gboolean centered, const LigOperand *alone, const LigScales kind[2], unsigned n)
{
  const LigOperand *y = &alone[centered ? 3 : 2];
  Producing q = {.scale = n % 4 == 1 ? 24 : 0, .values = 6, .copies = 7};
  q.params = (LigProducerParams){
    .quantize = {n / 2 % 2 ? LIG_FP8_E5M2 : LIG_FP8_E4M3, (int32_t) kind[0], (int32_t) kind[1],
                 n / 3 % 2},
    .norm = {1e-3f, n / 5 % 2},
  };
  Quantizing copies = quantizing (*y, q.params.quantize, q.scale, 0.5f);
  q.operands[q.count++] = alone[0];
  q.operands[q.count++] = alone[1];
  q.operands[q.count++] = centered ? alone[2] : absent (LIG_FP32, 1, 1);
  q.operands[q.count++] = centered ? alone[4] : absent (LIG_FP32, 1, 1);
  q.operands[q.count++] = alone[centered ? 5 : 3];
  q.operands[q.count++] = copies.operands[1];
  q.operands[q.count++] = blank (y->dtype, y->size / y->columns, y->columns);
  for (int i = 2; i < 8; i++)
    q.operands[q.count++] = copies.operands[i];
  return q;
}

/* A norm's gradient: the unfused kernel with its operands, of which dx is number `dx`, and the
 * operands of the kernel that also quantizes it. */
typedef struct {
  const char *kernel;
  LigOperand alone[9];
  int count, dx;
  Producing q;
} NormGradient;

/* The outputs of norm_backward_quantize. */
enum { OF_DX = 7, OF_DWEIGHT, OF_DBIAS, OF_DLAST, OF_COPIES };

/* Returns valid statistics of rows: numbers from 0.5 on. */
static inline LigOperand
some_rstd (int64_t rows)
{
  LigOperand rstd = random_tensor (LIG_FP32, 1, rows);
  for (int64_t i = 0; i < rows; i++)
    ((float *) rstd.data)[i] = 0.5f + fabsf (((float *) rstd.data)[i]);
  return rstd;
}

static inline NormGradient
norm_gradient (
  gboolean centered, LigDtype dtype, const LigScales kind[2], const int64_t shape[2], unsigned n)
{
  int64_t rows = shape[0], columns = shape[1];
  gboolean branch = n / 3 % 2 == 0;
  LigDtype parameters = n / 2 % 2 ? LIG_FP32 : dtype;
  NormGradient g = {.kernel = branch
                                ? centered ? "layer_norm_backward_add" : "rms_norm_backward_add"
                              : centered ? "layer_norm_backward"
                                         : "rms_norm_backward"};
  LigOperand none = absent (LIG_FP32, 1, 1);
  LigOperand inputs[] = {random_tensor (dtype, rows, columns),
                         branch ? random_tensor (dtype, rows, columns) : none,
                         random_tensor (dtype, rows, columns),
                         random_tensor (parameters, 1, columns),
                         centered ? random_tensor (LIG_FP32, 1, rows) : none,
                         some_rstd (rows)};
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    if (inputs[i].data)
      g.alone[g.count++] = inputs[i];
  g.dx = g.count;
  g.alone[g.count++] = blank (dtype, rows, columns);
  g.alone[g.count++] = blank (parameters, 1, columns);
  if (centered)
    g.alone[g.count++] = blank (parameters, 1, columns);
  g.q.scale = n % 4 == 1 || n % 4 == 2 ? 24 : 0;
  g.q.params = (LigProducerParams){
    .quantize = {n % 2 ? LIG_FP8_E5M2 : LIG_FP8_E4M3, (int32_t) kind[0], (int32_t) kind[1],
                 n / 3 % 2},
    .norm = {1e-3f, n / 5 % 2},
  };
  Quantizing copies = quantizing (g.alone[g.dx], g.q.params.quantize, g.q.scale, 0.5f);
  memcpy (g.q.operands, inputs, sizeof inputs);
  g.q.operands[OF_DX - 1] = copies.operands[1];
  g.q.operands[OF_DX] = blank (dtype, rows, columns);
  g.q.operands[OF_DWEIGHT] = blank (parameters, 1, columns);
  g.q.operands[OF_DBIAS] = centered ? blank (parameters, 1, columns) : none;
  g.q.operands[OF_DLAST] = n / 7 % 3 ? blank (parameters, 1, columns) : none;
  memcpy (&g.q.operands[OF_COPIES], &copies.operands[2], 6 * sizeof *copies.operands);
  g.q.count = OF_COPIES + 6;
  if (n % 9 > 2)
    g.q.operands[OF_COPIES + 5].data = NULL;
  return g;
}
