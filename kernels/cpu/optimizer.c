/* SPDX-License-Identifier: MIT */
/* Updates of whole arenas, in one pass over memory. g = gradient / carried, times clip_norm / norm
 * if the global norm is above clip_norm; p = the fp32 master if present, else the parameter.
 *   sgd: g += decay p; m = momentum m + g; p -= rate m
 *   adamw (Loshchilov and Hutter, 2019), where t counts updates from 1:
 *     p -= rate decay p; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
 *     p -= rate (m / (1 - b1^t)) / (sqrt (v / (1 - b2^t)) + eps)
 * The parameter is p, rounded once. If the norm is not finite, the update is skipped and not
 * counted by t. */
#include "kernels/cpu/cpu.h"
#include "kernels/scaling.h"
#include <ligature/params-optimizer.h>

#include <math.h>

/* Returns the sum of squares of a piece. It is not inlined: GCC 12 splits the loop over pieces, and
 * then does not vectorize loops inlined into it. */
static __attribute__ ((noinline)) double
sum_of_squares (const float *values, int64_t count)
{
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; i++)
    sum += (double) values[i] * (double) values[i];
  return sum;
}

/* Computes y = factor x, and records the factor that the gradients now carry. */
LigStatus
LIG_CPU (scale_gradient) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigScalingParams *params = launch->params;
  LigScaling *scaling = launch->operands[2].data;
  float factor = params && params->fixed > 0 ? params->fixed : scaling ? scaling->scale : 1;
  if (scaling)
    scaling->carried = factor;
  int64_t size = y->data ? x->size : 0;
#pragma omp parallel for schedule(static) if (size > LIG_PARALLEL_FROM)
  for (int64_t at = 0; at < size; at += LIG_PIECE) {
    float in[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_piece (size, at);
    const float *from = lig_load (x, at, count, in);
    float *to = lig_stage (y, at, out);
    for (int64_t i = 0; i < count; i++)
      to[i] = factor * from[i];
    lig_commit (y, at, count, to);
  }
  return LIG_OK;
}

/* Computes the global norm of the gradients, and updates the loss scale. */
LigStatus
LIG_CPU (gradient_norm) (LigLaunch *launch)
{
  const LigOperand *gradients = &launch->operands[0], *norm = &launch->operands[1];
  const LigScalingParams *params = launch->params;
  LigScaling *scaling = launch->operands[2].data;
  double sums[64] = {0}, total = 0;
  int64_t size = gradients->size, pieces = (size + LIG_PIECE - 1) / LIG_PIECE;
  LigPartition partition = lig_partition (pieces, 1);
#pragma omp parallel for schedule(static) if (size > LIG_PARALLEL_FROM)
  for (int64_t block = 0; block < partition.blocks; block++) {
    float buffer[LIG_PIECE];
    int64_t at = block * partition.rows_per_block * LIG_PIECE;
    int64_t end = at + partition.rows_per_block * LIG_PIECE;
    for (; at < end && at < size; at += LIG_PIECE) {
      int64_t count = lig_piece (size, at);
      sums[block] += sum_of_squares (lig_load (gradients, at, count, buffer), count);
    }
  }
  for (int64_t i = 0; i < partition.blocks; i++)
    total += sums[i];
  float root = (float) sqrt (total);
  if (scaling)
    root = lig_scaling_take_norm (scaling, root, params && params->fixed == 0);
  if (norm->data)
    lig_narrow (norm->dtype, &root, norm->data, 1);
  return LIG_OK;
}

/* Sets the factor by which the gradients are multiplied; false if the update is skipped. */
static bool
find_factor (const LigLaunch *launch, float *factor)
{
  const LigOperand *norm = &launch->operands[1];
  const LigScaling *scaling = launch->operands[2].data;
  float buffer, clip = launch->tick->clip_norm, share = 1;
  if (norm->data) {
    float length = *lig_load (norm, 0, 1, &buffer);
    if (!isfinite (length))
      return false;
    share = clip > 0 && length > clip ? clip / length : 1;
  }
  *factor = scaling ? share / scaling->carried : share;
  return true;
}

/* Returns the old values of a piece as floats, in place if they are fp32. lig_commit () stores them
 * again. */
static float *
open_piece (const LigOperand *operand, int64_t at, int64_t count, float *buffer)
{
  float *values = lig_stage (operand, at, buffer);
  if (values == buffer)
    lig_widen (operand->dtype, lig_at (operand, at), buffer, (size_t) count);
  return values;
}

/* Stores new weights, and rounds them to the parameters if the weights are the fp32 master. */
static void
close_weights (const LigOperand *weights,
               const LigOperand *parameters,
               int64_t at,
               int64_t count,
               const float *values)
{
  lig_commit (weights, at, count, values);
  if (weights != parameters && parameters->data)
    lig_narrow (parameters->dtype, values, lig_at (parameters, at), (size_t) count);
}

/* Updates parameters, momentum and master. */
LigStatus
LIG_CPU (sgd) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *gradients = &o[0], *momentum = &o[4];
  const LigOperand *weights = o[5].data ? &o[5] : &o[3];
  const LigSgdParams *params = launch->params;
  float decay = params ? params->weight_decay : 0, keep = params ? params->momentum : 0;
  float rate = launch->tick->learning_rate, clip;
  int64_t size = gradients->size, pieces = (size + LIG_PIECE - 1) / LIG_PIECE;
  if (!find_factor (launch, &clip))
    return LIG_OK;
#pragma omp parallel for schedule(static) if (size > LIG_PARALLEL_FROM)
  for (int64_t piece = 0; piece < pieces; piece++) {
    float g_buffer[LIG_PIECE], p_buffer[LIG_PIECE], m_buffer[LIG_PIECE];
    int64_t at = piece * LIG_PIECE, count = lig_piece (size, at);
    const float *g = lig_load (gradients, at, count, g_buffer);
    float *p = open_piece (weights, at, count, p_buffer);
    if (momentum->data) {
      float *m = open_piece (momentum, at, count, m_buffer);
#pragma omp simd
      for (int64_t i = 0; i < count; i++) {
        m[i] = keep * m[i] + (clip * g[i] + decay * p[i]);
        p[i] -= rate * m[i];
      }
      lig_commit (momentum, at, count, m);
    } else {
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        p[i] -= rate * (clip * g[i] + decay * p[i]);
    }
    close_weights (weights, &o[3], at, count, p);
  }
  return LIG_OK;
}

/* The constants of one adamw update. */
typedef struct {
  float clip, keep, beta1, beta2, eps;
  float rate;     /* learning rate / (1 - beta1^t) */
  float variance; /* 1 / sqrt (1 - beta2^t) */
} Adamw;

/* Returns the constants of the launch's update. */
static Adamw
adamw_constants (const LigLaunch *launch, float factor)
{
  const LigAdamwParams defaults = {.beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f};
  const LigAdamwParams *params = launch->params ? launch->params : &defaults;
  double rate = (double) launch->tick->learning_rate;
  double step = (double) lig_scaling_count (launch->operands[2].data, launch->tick->step);
  Adamw adamw = {.clip = factor, .beta1 = params->beta1, .beta2 = params->beta2};
  adamw.eps = params->eps;
  adamw.keep = (float) (1 - rate * (double) params->weight_decay);
  adamw.rate = (float) (rate / (1 - pow ((double) params->beta1, step)));
  adamw.variance = (float) (1 / sqrt (1 - pow ((double) params->beta2, step)));
  return adamw;
}

/* Updates the weights p and the moments m and v of a piece. */
static void
adamw_piece (const Adamw *adamw, const float *g, float *p, float *m, float *v, int64_t count)
{
  Adamw a = *adamw;
#pragma omp simd
  for (int64_t i = 0; i < count; i++) {
    float gradient = a.clip * g[i];
    m[i] = a.beta1 * m[i] + (1 - a.beta1) * gradient;
    v[i] = a.beta2 * v[i] + (1 - a.beta2) * (gradient * gradient);
    p[i] = a.keep * p[i] - a.rate * m[i] / (sqrtf (v[i]) * a.variance + a.eps);
  }
}

/* Updates parameters, mean, variance and master. */
LigStatus
LIG_CPU (adamw) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *gradients = &o[0], *mean = &o[4], *variance = &o[5];
  const LigOperand *weights = o[6].data ? &o[6] : &o[3];
  float factor;
  if (!find_factor (launch, &factor))
    return LIG_OK;
  Adamw adamw = adamw_constants (launch, factor);
  int64_t size = gradients->size, pieces = (size + LIG_PIECE - 1) / LIG_PIECE;
#pragma omp parallel for schedule(static) if (size > LIG_PARALLEL_FROM)
  for (int64_t piece = 0; piece < pieces; piece++) {
    float buffer[4][LIG_PIECE];
    int64_t at = piece * LIG_PIECE, count = lig_piece (size, at);
    const float *g = lig_load (gradients, at, count, buffer[0]);
    float *p = open_piece (weights, at, count, buffer[1]);
    float *m = open_piece (mean, at, count, buffer[2]);
    float *v = open_piece (variance, at, count, buffer[3]);
    adamw_piece (&adamw, g, p, m, v, count);
    lig_commit (mean, at, count, m);
    lig_commit (variance, at, count, v);
    close_weights (weights, &o[3], at, count, p);
  }
  return LIG_OK;
}
