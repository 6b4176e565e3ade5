/* SPDX-License-Identifier: MIT */
/* Quantized copies of activations and of their gradients, computed as they are read. */
#include "kernels/cpu/quantize-source.h"
#include "kernels/formulas.h"
#include "kernels/functions.h"

typedef void Forward (float *x, int64_t count);
typedef void Backward (const float *dy, float *x, int64_t count);

#define PIECES(name, backward_name, ...) \
  LIG_PIECE_FUNCTION name##_in_place (float *x, int64_t count) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    x[i] = lig_##name (x[i]); \
  } \
  LIG_PIECE_FUNCTION backward_name##_in_place (const float *dy, float *x, int64_t count) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    x[i] = lig_##backward_name (dy[i], x[i]); \
  }
LIG_EACH_ACTIVATION (PIECES)
#undef PIECES

/* The functions of an activation, and its unfused kernels. */
static const struct {
  Forward *forward;
  Backward *backward;
  LigStatus (*alone) (LigLaunch *launch);
  LigStatus (*biased) (LigLaunch *launch);
  LigStatus (*backward_alone) (LigLaunch *launch);
  LigStatus (*backward_biased) (LigLaunch *launch);
} functions[] = {
#define FUNCTIONS(name, backward_name, bias_name, bias_backward_name, ...) \
  {name##_in_place,     backward_name##_in_place, LIG_CPU (name), \
   LIG_CPU (bias_name), LIG_CPU (backward_name),  LIG_CPU (bias_backward_name)},
  LIG_EACH_ACTIVATION (FUNCTIONS)
#undef FUNCTIONS
};

static int
function_of (const LigLaunch *launch)
{
  return ((const LigProducerParams *) launch->params)->function;
}

/* Adds the bias to elements of a row, if there is one, and rounds the sums. */
static void
add_bias (const LigSource *source, const LigOperand *bias, int64_t at, int64_t count, float *x)
{
  float added[LIG_PIECE];
  if (!bias->data)
    return;
  const float *from = lig_load (bias, at % source->columns, count, added);
  LIG_EACH_ELEMENT (i, count)
  x[i] += from[i];
  lig_round_source (source, x, count);
}

static const float *
read_forward (const LigSource *source, int64_t at, int64_t count, float *buffer)
{
  const LigOperand *operands = source->launch->operands;
  lig_load_into (&operands[0], at, count, buffer);
  add_bias (source, &operands[1], at, count, buffer);
  functions[function_of (source->launch)].forward (buffer, count);
  lig_round_source (source, buffer, count);
  return buffer;
}

static const float *
read_backward (const LigSource *source, int64_t at, int64_t count, float *buffer)
{
  const LigOperand *operands = source->launch->operands;
  float gradient[LIG_PIECE];
  lig_load_into (&operands[1], at, count, buffer);
  add_bias (source, &operands[2], at, count, buffer);
  functions[function_of (source->launch)].backward (lig_load (&operands[0], at, count, gradient),
                                                    buffer, count);
  lig_round_source (source, buffer, count);
  return buffer;
}

/* Writes the values of a source and their sum over rows, each of which may be absent. Each thread
 * processes adjacent columns of all rows, so that the sums do not depend on the number of
 * threads. */
static void
write_values (const LigSource *source, const LigOperand *y, const LigOperand *sums)
{
  int64_t columns = source->columns, pieces = (columns + LIG_PIECE - 1) / LIG_PIECE;
#pragma omp parallel for schedule(static) if (source->rows * columns > LIG_PARALLEL_FROM)
  for (int64_t piece = 0; piece < pieces; piece++) {
    float buffer[LIG_PIECE], total[LIG_PIECE] = {0}, old[LIG_PIECE];
    int64_t column = piece * LIG_PIECE, count = lig_min (columns - column, LIG_PIECE);
    for (int64_t row = 0; row < source->rows; row++) {
      const float *values = source->read (source, row * columns + column, count, buffer);
      LIG_EACH_ELEMENT (i, count)
      total[i] += values[i];
      if (y->data)
        lig_narrow (y->dtype, values, lig_at (y, row * columns + column), (size_t) count);
    }
    if (!sums->data)
      continue;
    const float *before = lig_load (sums, column, count, old);
    for (int64_t i = 0; i < count && source->launch->accumulate; i++)
      total[i] += before[i];
    lig_narrow (sums->dtype, total, lig_at (sums, column), (size_t) count);
  }
}

/* Runs the unfused kernel that computes the values, in the same launch. */
static LigStatus
run_alone (const LigLaunch *launch,
           LigStatus (*kernel) (LigLaunch *launch),
           const LigOperand *operands)
{
  LigLaunch alone = *launch;
  alone.operands = operands;
  return kernel (&alone);
}

/* Writes the quantized copies of y = act (x + bias), and the sum and y if they are present. */
LigStatus
LIG_CPU (activation_quantize) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *bias = &o[1], *sum = &o[3], *y = &o[4];
  const LigProducerParams *params = launch->params;
  LigSource source = {read_forward, launch, o[0].dtype, lig_rows (&o[0]), o[0].columns};
  LigCopies copies = lig_produced_copies (launch, 2, 5);
  if (!lig_all_floating (launch, 5))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: not a floating type; convert to fp32, fp16 or bf16");
  if (bias->data && bias->size != o[0].columns)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: the bias has another length than a row");
  LigStatus status = LIG_CPU (quantize_source) (launch, &source, &params->quantize, &copies);
  if (status != LIG_OK || (!y->data && !(bias->data && sum->data)))
    return status;
  LigOperand plain[] = {o[0], *y}, biased[] = {o[0], *bias, *sum, *y};
  return bias->data ? run_alone (launch, functions[params->function].biased, biased)
                    : run_alone (launch, functions[params->function].alone, plain);
}

/* Writes the quantized copies of dx = dy act' (x + bias); dx, and dbias, its sum over rows, if they
 * are present. */
LigStatus
LIG_CPU (activation_backward_quantize) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *bias = &o[2], *dx = &o[4], *dbias = &o[5];
  const LigProducerParams *params = launch->params;
  LigSource source = {read_backward, launch, o[1].dtype, lig_rows (&o[1]), o[1].columns};
  LigCopies copies = lig_produced_copies (launch, 3, 6);
  if (!lig_all_floating (launch, 6))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: not a floating type; convert to fp32, fp16 or bf16");
  if (bias->data && bias->size != o[1].columns)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: the bias has another length than a row");
  LigStatus status = LIG_CPU (quantize_source) (launch, &source, &params->quantize, &copies);
  if (status != LIG_OK || (!dx->data && !dbias->data))
    return status;
  if (bias->data) {
    write_values (&source, dx, dbias);
    return LIG_OK;
  }
  LigOperand operands[] = {o[0], o[1], *dx, *dbias};
  return run_alone (launch,
                    dbias->data ? functions[params->function].backward_biased
                                : functions[params->function].backward_alone,
                    operands);
}
