/* SPDX-License-Identifier: MIT */
/* Fused LM head and cross-entropy; never materializes the full logits, see kernels/joint-loss.h. */
#include "kernels/cpu/cpu.h"
#include "kernels/joint-loss.h"

static LigStatus
set_one (LigLaunch *launch, float *one)
{
  (void) launch;
  *one = 1;
  return LIG_OK;
}

static LigStatus
reduce_chunks (LigLaunch *launch, const float *parts, int64_t chunks)
{
  const LigOperand *y = &launch->operands[LIG_JOINT_Y], *count = &launch->operands[LIG_JOINT_COUNT];
  double sum = 0, counted = 0;
  for (int64_t i = 0; i < chunks; i++) {
    sum += (double) parts[2 * i] * (double) parts[2 * i + 1];
    counted += (double) parts[2 * i + 1];
  }
  float mean = counted > 0 ? (float) (sum / counted) : 0, rows = (float) counted;
  if (y->data)
    lig_narrow (y->dtype, &mean, y->data, 1);
  if (count->data)
    lig_narrow (count->dtype, &rows, count->data, 1);
  return LIG_OK;
}

LigStatus
LIG_CPU (linear_cross_entropy) (LigLaunch *launch)
{
  static const LigJointCalls calls = {
    .linear = LIG_CPU (linear),
    .linear_bias = LIG_CPU (linear_bias),
    .entropy = LIG_CPU (cross_entropy),
    .entropy_backward = LIG_CPU (cross_entropy_backward),
    .input = LIG_CPU (linear_backward_input),
    .weight = LIG_CPU (linear_backward_weight),
    .weight_bias = LIG_CPU (linear_backward_weight_bias),
    .set_one = set_one,
    .reduce_chunks = reduce_chunks,
  };
  return lig_joint_loss (launch, &calls, LIG_BACKEND_CPU);
}

/* Computes y = factor g, added to the old values if it accumulates. */
static void
scale_gradient (const LigOperand *g, const LigOperand *y, float factor, bool accumulate)
{
  if (!lig_is_present (y))
    return;
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t at = 0; at < y->size; at += LIG_PIECE) {
    float buffer[LIG_PIECE], old_buffer[LIG_PIECE], staged[LIG_PIECE];
    int64_t count = lig_piece (y->size, at);
    const float *values = lig_load (g, at, count, buffer);
    const float *old = accumulate ? lig_load (y, at, count, old_buffer) : NULL;
    float *out = lig_stage (y, at, staged);
    for (int64_t i = 0; i < count; i++)
      out[i] = factor * values[i] + (old ? old[i] : 0);
    lig_commit (y, at, count, out);
  }
}

LigStatus
LIG_CPU (linear_cross_entropy_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  float dy, count;
  lig_widen (o[0].dtype, o[0].data, &dy, 1);
  lig_widen (o[1].dtype, o[1].data, &count, 1);
  float factor = count > 0 ? dy / count : 0;
  scale_gradient (&o[2], &o[5], factor, false);
  scale_gradient (&o[3], &o[6], factor, launch->accumulate);
  scale_gradient (&o[4], &o[7], factor, launch->accumulate);
  return LIG_OK;
}
