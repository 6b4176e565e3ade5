/* SPDX-License-Identifier: MIT */
/* Linear maps: y [M, N] = factor x [M, K] weight [N, K]^T, and its two gradients,
 *   dx [M, K] = factor dy [M, N] weight [N, K],
 *   dweight [N, K] = factor dy [M, N]^T x [M, K],
 * with fused epilogues: bias [N], residual, gelu, relu, gelu's gradient, sums over rows. The
 * accumulators stay in fp32 throughout the epilogue, and each output is rounded once. */
#include "kernels/cpu/matmul.h"
#include "kernels/formulas.h"
#include "kernels/quantize.h"
#include <ligature/params-matmul.h>

typedef enum { AS_IT_IS, GELU, RELU, GELU_BACKWARD } Activation;

/* The epilogue of a finished matmul, in this order. Absent operands are skipped. */
typedef struct {
  const LigOperand *bias;  /* added to each row */
  const LigOperand *extra; /* added; may share y's memory */
  Activation activation;
  const LigOperand *sum; /* gelu: its input as rounded, to y's type if this is absent */
  const LigOperand *x;   /* gelu backward: gelu's input */
  const LigOperand *y;
  int64_t width; /* columns of y, whether present or absent */
} Epilogue;

/* Rounds `values` to the type of `target` in place, and stores them if the target is present. */
static void
store (const LigOperand *target, int64_t at, int64_t count, float *values)
{
  uint16_t rounded[LIG_PIECE];
  if (target->dtype == LIG_FP32) {
    if (target->data && (float *) target->data + at != values)
      memcpy ((float *) target->data + at, values, (size_t) count * sizeof *values);
    return;
  }
  void *out = target->data ? lig_at (target, at) : rounded;
  lig_narrow (target->dtype, values, out, (size_t) count);
  lig_widen (target->dtype, out, values, (size_t) count);
}

/* Adds `other` to `values`. */
static void
add (float *restrict values, const float *restrict other, int64_t count)
{
  for (int64_t i = 0; i < count; i++)
    values[i] += other[i];
}

/* Applies the activation to `count` values; only GELU_BACKWARD reads `x`. `out` may be `values`. */
static void
activate (Activation activation, const float *values, const float *x, float *out, int64_t count)
{
  switch (activation) {
  case AS_IT_IS:
    if (out != values)
      memcpy (out, values, (size_t) count * sizeof *out);
    break;
  case GELU:
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
      out[i] = lig_gelu (values[i]);
    break;
  case RELU:
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
      out[i] = lig_relu (values[i]);
    break;
  case GELU_BACKWARD:
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
      out[i] = lig_gelu_backward (values[i], x[i]);
    break;
  }
}

/* Applies the epilogue to a tile of the matmul, and adds its columns to `sums` unless that is
 * null. */
static void
finish (const LigTile *tile, const void *data, float *sums)
{
  const Epilogue *epilogue = data;
  float bias_buffer[LIG_PIECE], buffer[LIG_PIECE];
  const float *bias = NULL, *x = NULL;
  int64_t count = tile->columns;
  LigOperand absent = {.dtype = epilogue->y->dtype};
  if (lig_is_present (epilogue->bias))
    bias = lig_load (epilogue->bias, tile->column, count, bias_buffer);
  for (int64_t i = 0; i < tile->rows; i++) {
    float *values = tile->values + i * tile->stride;
    int64_t at = (tile->row + i) * epilogue->width + tile->column;
    if (bias)
      add (values, bias, count);
    if (lig_is_present (epilogue->extra))
      add (values, lig_load (epilogue->extra, at, count, buffer), count);
    if (epilogue->activation == GELU)
      store (lig_is_present (epilogue->sum) ? epilogue->sum : &absent, at, count, values);
    if (lig_is_present (epilogue->x))
      x = lig_load (epilogue->x, at, count, buffer);
    float *out = lig_is_present (epilogue->y) ? lig_stage (epilogue->y, at, values) : values;
    activate (epilogue->activation, values, x, out, count);
    store (epilogue->y, at, count, out);
    if (sums)
      add (sums, out, count);
  }
}

/* Copies the operand to which the matmul is added into the result's memory, as fp32. */
static void
copy_to_result (const LigOperand *extra, const LigOperand *y)
{
  if (extra->data == y->data)
    return;
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t at = 0; at < y->size; at += LIG_PIECE) {
    int64_t count = lig_piece (y->size, at);
    lig_widen (extra->dtype, lig_at (extra, at), (float *) y->data + at, (size_t) count);
  }
}

/* Computes the matmul and its epilogue. An fp32 result is computed in place, accumulating onto the
 * operand that is added. For other types, and if the result's memory is still to be read, blocks
 * are staged in the workspace. */
static LigStatus
run (LigLaunch *launch, LigCpuMatmul matmul, Epilogue *epilogue)
{
  const LigScaleParams *params = launch->params;
  const LigOperand *y = epilogue->y, *x = epilogue->x;
  const LigOperand *place = lig_is_present (epilogue->sum) && y->data ? epilogue->sum : y;
  matmul.factor = params ? params->factor : 1;
  epilogue->width = matmul.n;
  matmul.data = epilogue;
  matmul.finish = finish;
  if (place->data && place->dtype == LIG_FP32 && !(x && x->data == place->data)) {
    matmul.target = place->data;
    matmul.accumulate = lig_is_present (epilogue->extra);
    if (matmul.accumulate)
      copy_to_result (epilogue->extra, y);
    epilogue->extra = NULL;
    if (!lig_is_present (epilogue->bias) && epilogue->activation == AS_IT_IS)
      matmul.finish = NULL;
  }
  return LIG_CPU (matmul) (launch, &matmul);
}

/* Computes factor x weight^T and its epilogue. */
static LigStatus
forward (LigLaunch *launch, Epilogue *epilogue)
{
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  LigCpuMatmul matmul = {.a = x, .b = weight, .b_transposed = true};
  matmul.m = lig_rows (x);
  matmul.n = lig_rows (weight);
  matmul.k = x->columns;
  return run (launch, matmul, epilogue);
}

/* Computes factor dy weight and its epilogue, and dbias, the sum of the result over rows, unless
 * that is null. */
static LigStatus
backward_input (LigLaunch *launch, Epilogue *epilogue, const LigOperand *dbias)
{
  const LigOperand *dy = &launch->operands[0], *weight = &launch->operands[1];
  LigCpuMatmul matmul = {.a = dy, .b = weight, .column_sums = dbias};
  matmul.m = lig_rows (dy);
  matmul.n = weight->columns;
  matmul.k = dy->columns;
  return run (launch, matmul, epilogue);
}

/* Computes y = factor x weight^T. */
LigStatus
LIG_CPU (linear) (LigLaunch *launch)
{
  return forward (launch, &(Epilogue){.y = &launch->operands[2]});
}

/* Computes y = factor x weight^T + bias. */
LigStatus
LIG_CPU (linear_bias) (LigLaunch *launch)
{
  const LigOperand *operands = launch->operands;
  return forward (launch, &(Epilogue){.bias = &operands[2], .y = &operands[3]});
}

/* Computes sum = factor x weight^T + bias and y = gelu (sum). */
LigStatus
LIG_CPU (linear_bias_gelu) (LigLaunch *launch)
{
  const LigOperand *operands = launch->operands;
  return forward (
    launch,
    &(Epilogue){.bias = &operands[2], .activation = GELU, .sum = &operands[3], .y = &operands[4]});
}

/* Computes y = relu (factor x weight^T + bias). */
LigStatus
LIG_CPU (linear_bias_relu) (LigLaunch *launch)
{
  const LigOperand *operands = launch->operands;
  return forward (launch, &(Epilogue){.bias = &operands[2], .activation = RELU, .y = &operands[3]});
}

/* Computes y = factor x weight^T + bias + extra. */
LigStatus
LIG_CPU (linear_bias_add) (LigLaunch *launch)
{
  const LigOperand *operands = launch->operands;
  return forward (launch,
                  &(Epilogue){.bias = &operands[2], .extra = &operands[3], .y = &operands[4]});
}

/* Computes dx = factor dy weight. */
LigStatus
LIG_CPU (linear_backward_input) (LigLaunch *launch)
{
  return backward_input (launch, &(Epilogue){.y = &launch->operands[2]}, NULL);
}

/* Computes dx = factor dy weight + branch. */
LigStatus
LIG_CPU (linear_backward_input_add) (LigLaunch *launch)
{
  const LigOperand *operands = launch->operands;
  return backward_input (launch, &(Epilogue){.extra = &operands[2], .y = &operands[3]}, NULL);
}

/* Computes dx = gelu' (x) (factor dy weight), and dbias, the sum of dx over rows. */
LigStatus
LIG_CPU (linear_backward_input_gelu) (LigLaunch *launch)
{
  const LigOperand *operands = launch->operands;
  Epilogue epilogue = {.activation = GELU_BACKWARD, .x = &operands[2], .y = &operands[3]};
  return backward_input (launch, &epilogue, &operands[4]);
}

/* Computes the sum of dy over rows if it is requested. */
static LigStatus
sum_gradient (LigLaunch *launch, const LigOperand *dbias)
{
  const LigOperand sum[] = {launch->operands[0], *dbias};
  LigLaunch bias = *launch;
  if (!dbias->data)
    return LIG_OK;
  bias.operands = sum;
  bias.params = NULL;
  LigStatus status = LIG_CPU (bias_backward) (&bias);
  launch->where = bias.where;
  return status;
}

/* Computes dx = factor dy weight, and dbias, the sum of dy over rows. */
LigStatus
LIG_CPU (linear_backward_input_bias) (LigLaunch *launch)
{
  LigStatus status = sum_gradient (launch, &launch->operands[3]);
  return status == LIG_OK ? LIG_CPU (linear_backward_input) (launch) : status;
}

/* Computes dx and dbias as linear_backward_input_gelu does, and dlast, the sum of dy over rows. */
LigStatus
LIG_CPU (linear_backward_input_gelu_bias) (LigLaunch *launch)
{
  LigStatus status = sum_gradient (launch, &launch->operands[5]);
  return status == LIG_OK ? LIG_CPU (linear_backward_input_gelu) (launch) : status;
}

/* Computes dweight = factor dy^T x, added to the old values if the launch accumulates. */
LigStatus
LIG_CPU (linear_backward_weight) (LigLaunch *launch)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dweight = &launch->operands[2];
  Epilogue epilogue = {.y = dweight, .extra = launch->accumulate ? dweight : NULL};
  LigCpuMatmul matmul = {.a = dy, .b = x, .a_transposed = true};
  matmul.m = dy->columns;
  matmul.n = x->columns;
  matmul.k = lig_rows (dy);
  return run (launch, matmul, &epilogue);
}

/* Computes dweight as above, and dbias [N], the sum of dy over rows. */
LigStatus
LIG_CPU (linear_backward_weight_bias) (LigLaunch *launch)
{
  /* The sum comes first: it has the same bits as the unfused bias gradient, and brings dy into the
   * cache. */
  LigStatus status = sum_gradient (launch, &launch->operands[3]);
  return status == LIG_OK && launch->operands[2].data ? LIG_CPU (linear_backward_weight) (launch)
                                                      : status;
}

/* Sets the scales of a quantized operand: per-tensor scales become part of the factor. */
static const LigOperand *
take_scales (const LigOperand *scales, int32_t kind, float *factor)
{
  if (kind != LIG_SCALES_TENSOR)
    return scales;
  *factor *= *(const float *) scales->data;
  return NULL;
}

/* Returns the matmul a b^T of quantized operands; `factor` becomes its scalar factor. */
static LigCpuMatmul
quantized_matmul (const LigLaunch *launch, float *factor)
{
  const LigOperand *operands = launch->operands;
  const LigFp8Params *params = launch->params;
  LigCpuMatmul matmul = {
    .a = &operands[0],
    .b = &operands[1],
    .b_transposed = true,
    .m = lig_rows (&operands[0]),
    .n = lig_rows (&operands[1]),
    .k = operands[0].columns,
    .a_kind = (LigScales) params->left,
    .b_kind = (LigScales) params->right,
  };
  *factor = params->factor;
  matmul.a_scales = take_scales (&operands[2], params->left, factor);
  matmul.b_scales = take_scales (&operands[3], params->right, factor);
  return matmul;
}

/* Computes y = factor a b^T + bias + extra for quantized operands, added to the old values if the
 * launch accumulates. */
LigStatus
LIG_CPU (linear_fp8) (LigLaunch *launch)
{
  const LigOperand *operands = launch->operands, *y = &operands[6];
  LigScaleParams scale;
  LigLaunch own = *launch;
  own.params = &scale;
  LigCpuMatmul matmul = quantized_matmul (launch, &scale.factor);
  Epilogue epilogue = {
    .bias = &operands[4], .extra = launch->accumulate ? y : &operands[5], .y = y};
  LigStatus status = run (&own, matmul, &epilogue);
  launch->where = own.where;
  return status;
}

/* The epilogue of a matmul with quantized output: bias, gelu, and rounding by `scale`. */
typedef struct {
  const LigOperand *bias, *row;
  float scale;
  int64_t width;
} Quantizing;

static void
finish_quantized (const LigTile *tile, const void *data, float *sums)
{
  const Quantizing *q = data;
  float buffer[LIG_PIECE];
  const float *bias =
    lig_is_present (q->bias) ? lig_load (q->bias, tile->column, tile->columns, buffer) : NULL;
  for (int64_t i = 0; i < tile->rows; i++) {
    float *values = tile->values + i * tile->stride;
    if (bias)
      add (values, bias, tile->columns);
    activate (GELU, values, NULL, values, tile->columns);
    for (int64_t j = 0; j < tile->columns; j++)
      values[j] = lig_quantize_scaled (values[j], q->scale, INFINITY);
    lig_narrow (q->row->dtype, values, lig_at (q->row, (tile->row + i) * q->width + tile->column),
                (size_t) tile->columns);
  }
}

/* Computes the quantized copy of gelu (factor a b^T + bias), and the inverse of its scale. */
LigStatus
LIG_CPU (linear_fp8_gelu) (LigLaunch *launch)
{
  const LigOperand *operands = launch->operands;
  Quantizing q = {&operands[4], &operands[6], *(const float *) operands[5].data, 0};
  float factor;
  LigCpuMatmul matmul = quantized_matmul (launch, &factor);
  matmul.factor = factor;
  q.width = matmul.n;
  matmul.finish = finish_quantized;
  matmul.data = &q;
  if (operands[7].data)
    *(float *) operands[7].data = lig_quantize_inverse (q.scale);
  return LIG_CPU (matmul) (launch, &matmul);
}
