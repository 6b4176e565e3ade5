/* SPDX-License-Identifier: MIT */
/* Quantized copies of gated units and of their gradients, computed as they are read. */
#include "kernels/cpu/gated.h"
#include "kernels/cpu/quantize-source.h"
#include "kernels/functions.h"

typedef void Forward (float *a, const float *b, int64_t count, const LigGatedParams *params);
typedef void
Backward (const float *dy, float *a, float *b, int64_t count, const LigGatedParams *params);

#define PIECES(name, backward_name, forward_formula, backward_formula) \
  LIG_PIECE_FUNCTION name##_in_place (float *a, const float *b, int64_t count, \
                                      const LigGatedParams *params) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    a[i] = forward_formula; \
  } \
  LIG_PIECE_FUNCTION backward_name##_in_place (const float *dy, float *a, float *b, int64_t count, \
                                               const LigGatedParams *params) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    { \
      float da, db; \
      backward_formula; \
      a[i] = da; \
      b[i] = db; \
    } \
  }
#define SIMPLE(name, backward, ...) \
  PIECES (name, backward, lig_##name (a[i], b[i]), lig_##backward (dy[i], a[i], b[i], &da, &db))
LIG_EACH_GATED (SIMPLE)
#define WITH_PARAMS(name, backward, ...) \
  PIECES (name, backward, lig_##name (a[i], b[i], params), \
          lig_##backward (dy[i], a[i], b[i], params, &da, &db))
LIG_EACH_GATED_WITH_PARAMS (WITH_PARAMS)

/* The functions of a unit, and its unfused kernels. */
static const struct {
  Forward *forward;
  Backward *backward;
  LigStatus (*alone) (LigLaunch *launch);
  LigStatus (*backward_alone) (LigLaunch *launch);
  LigStatus (*backward_biased) (LigLaunch *launch);
} functions[] = {
#define FUNCTIONS(name, backward_name, bias_name, bias_backward_name, ...) \
  {name##_in_place, backward_name##_in_place, LIG_CPU (name), LIG_CPU (backward_name), \
   LIG_CPU (bias_backward_name)},
  LIG_EACH_GATED (FUNCTIONS) LIG_EACH_GATED_WITH_PARAMS (FUNCTIONS)
#undef FUNCTIONS
};

static const float *
read_forward (const LigSource *source, int64_t at, int64_t count, float *buffer)
{
  const LigOperand *x = &source->launch->operands[0];
  const LigProducerParams *params = source->launch->params;
  int64_t half = source->columns, row = at / half;
  int64_t block = params->gated.interleave > 0 ? params->gated.interleave : half, run;
  float linear[LIG_PIECE];
  for (int64_t i = 0; i < count; i += run) {
    int64_t column = at % half + i, from = row * 2 * half + column + column / block * block;
    run = lig_min (block - column % block, count - i);
    lig_load_into (x, from, run, buffer + i);
    lig_load_into (x, from + block, run, linear + i);
  }
  functions[params->function].forward (buffer, linear, count, &params->gated);
  lig_round_source (source, buffer, count);
  return buffer;
}

/* Computes the elements of a piece of dx that are in one half of its row. */
static void
read_half (const LigSource *source, int64_t row, int64_t column, int64_t count, float *buffer)
{
  const LigOperand *dy = &source->launch->operands[0], *x = &source->launch->operands[1];
  const LigProducerParams *params = source->launch->params;
  int64_t half = source->columns / 2, unit = column % half;
  float gradient[LIG_PIECE], gate[LIG_PIECE], linear[LIG_PIECE];
  lig_load_into (x, row * 2 * half + unit, count, gate);
  lig_load_into (x, row * 2 * half + half + unit, count, linear);
  functions[params->function].backward (lig_load (dy, row * half + unit, count, gradient), gate,
                                        linear, count, &params->gated);
  memcpy (buffer, column < half ? gate : linear, (size_t) count * sizeof *buffer);
}

static const float *
read_backward (const LigSource *source, int64_t at, int64_t count, float *buffer)
{
  int64_t row = at / source->columns, column = at % source->columns, half = source->columns / 2;
  int64_t first = column < half ? lig_min (count, half - column) : count;
  read_half (source, row, column, first, buffer);
  if (first < count)
    read_half (source, row, half, count - first, buffer + first);
  lig_round_source (source, buffer, count);
  return buffer;
}

/* Writes the quantized copies of y = act (a) b, and y if it is present. */
LigStatus
LIG_CPU (gated_quantize) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigProducerParams *params = launch->params;
  LigSource source = {read_forward, launch, o[0].dtype, lig_rows (&o[0]), o[0].columns / 2};
  LigCopies copies = lig_produced_copies (launch, 1, 3);
  if (!lig_all_floating (launch, 3))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: not a floating type; convert to fp32, fp16 or bf16");
  LigStatus status = LIG_CPU (quantize_source) (launch, &source, &params->quantize, &copies);
  if (status != LIG_OK || !o[2].data)
    return status;
  LigOperand operands[] = {o[0], o[2]};
  LigLaunch alone = *launch;
  alone.operands = operands;
  alone.params = &params->gated;
  return functions[params->function].alone (&alone);
}

/* Writes the quantized copies of dx = [da, db]; dx, and dbias, its sum over rows, if they are
 * present. */
LigStatus
LIG_CPU (gated_backward_quantize) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigProducerParams *params = launch->params;
  LigSource source = {read_backward, launch, o[1].dtype, lig_rows (&o[1]), o[1].columns};
  LigCopies copies = lig_produced_copies (launch, 2, 5);
  if (params->gated.interleave > 0)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: the halves are interleaved; compute the gradient separately");
  if (!lig_all_floating (launch, 5))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: not a floating type; convert to fp32, fp16 or bf16");
  LigStatus status = LIG_CPU (quantize_source) (launch, &source, &params->quantize, &copies);
  if (status != LIG_OK || (!o[3].data && !o[4].data))
    return status;
  LigOperand operands[] = {o[0], o[1], o[3], o[4]};
  LigLaunch alone = *launch;
  alone.operands = operands;
  alone.params = &params->gated;
  return o[4].data ? functions[params->function].backward_biased (&alone)
                   : functions[params->function].backward_alone (&alone);
}
