/* SPDX-License-Identifier: MIT */
/* Gradients of norms with quantized copies: runs the kernels of norms and of quantize one after the
 * other. */
#include "kernels/cpu/quantize-source.h"

enum { DY, BRANCH, X, WEIGHT, MEAN, RSTD, SCALE, DX, DWEIGHT, DBIAS, DLAST, ROW };

/* Computes dx, dweight and dbias. */
static LigStatus
differentiate (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigProducerParams *params = launch->params;
  bool centered = o[MEAN].data, branch = o[BRANCH].data;
  LigOperand operands[9];
  LigLaunch gradient = *launch;
  int n = 0;
  operands[n++] = o[DY];
  if (branch)
    operands[n++] = o[BRANCH];
  operands[n++] = o[X];
  operands[n++] = o[WEIGHT];
  if (centered)
    operands[n++] = o[MEAN];
  operands[n++] = o[RSTD];
  operands[n++] = o[DX];
  operands[n++] = o[DWEIGHT];
  if (centered)
    operands[n++] = o[DBIAS];
  gradient.operands = operands;
  gradient.params = &params->norm;
  LigStatus status = centered ? branch ? LIG_CPU (layer_norm_backward_add) (&gradient)
                                       : LIG_CPU (layer_norm_backward) (&gradient)
                     : branch ? LIG_CPU (rms_norm_backward_add) (&gradient)
                              : LIG_CPU (rms_norm_backward) (&gradient);
  launch->where = gradient.where;
  return status;
}

/* Computes dx = norm gradient + branch, dweight, dbias and dlast, the sum of dx over rows, and the
 * quantized copies of dx. */
LigStatus
LIG_CPU (norm_backward_quantize) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigProducerParams *params = launch->params;
  LigOperand copies[] = {o[DX],      o[SCALE],   o[ROW],     o[ROW + 1], o[ROW + 2],
                         o[ROW + 3], o[ROW + 4], o[ROW + 5], o[DLAST]};
  LigLaunch quantize = *launch;
  if (!o[DX].data || !lig_all_floating (launch, ROW))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: dx is absent or no floating type; bind it to fp32, fp16 or bf16");
  LigStatus status = differentiate (launch);
  if (status != LIG_OK)
    return status;
  quantize.operands = copies;
  quantize.params = &params->quantize;
  status = LIG_CPU (quantize) (&quantize);
  launch->where = quantize.where;
  return status;
}
