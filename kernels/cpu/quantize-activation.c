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

/* The functions of an activation, and the kernels that compute it alone. */
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
  LIG_EACH_ACTIVATION (FUNCTIONS)
#undef FUNCTIONS
};

static int
function_of (const LigLaunch *launch)
{
  return ((const LigProducerParams *) launch->params)->function;
}

static const float *
read_forward (const LigSource *source, int64_t at, int64_t count, float *buffer)
{
  lig_load_into (&source->launch->operands[0], at, count, buffer);
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
  functions[function_of (source->launch)].backward (lig_load (&operands[0], at, count, gradient),
                                                    buffer, count);
  lig_round_source (source, buffer, count);
  return buffer;
}

/* Writes the quantized copies of y = act (x), and y if it is present. */
LigStatus
LIG_CPU (activation_quantize) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigProducerParams *params = launch->params;
  LigSource source = {read_forward, launch, o[0].dtype, lig_rows (&o[0]), o[0].columns};
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
  return functions[params->function].alone (&alone);
}

/* Writes the quantized copies of dx = dy act' (x); dx, and dbias, its sum over rows, if they are
 * present. */
LigStatus
LIG_CPU (activation_backward_quantize) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigProducerParams *params = launch->params;
  LigSource source = {read_backward, launch, o[1].dtype, lig_rows (&o[1]), o[1].columns};
  LigCopies copies = lig_produced_copies (launch, 2, 5);
  if (!lig_all_floating (launch, 5))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: not a floating type; convert to fp32, fp16 or bf16");
  LigStatus status = LIG_CPU (quantize_source) (launch, &source, &params->quantize, &copies);
  if (status != LIG_OK || (!o[3].data && !o[4].data))
    return status;
  LigOperand operands[] = {o[0], o[1], o[3], o[4]};
  LigLaunch alone = *launch;
  alone.operands = operands;
  return o[4].data ? functions[params->function].backward_biased (&alone)
                   : functions[params->function].backward_alone (&alone);
}
