/* SPDX-License-Identifier: MIT */
/* Normalization of rows, forward: y = (v - mean) rstd gain + bias, gain = weight or 1 + weight,
 * with
 *   layer norm (Ba et al., 2016): rstd = 1 / sqrt (mean ((v - mean)^2) + eps),
 *   rms norm (Zhang and Sennrich, 2019): mean = 0, rstd = 1 / sqrt (mean (v^2) + eps),
 *   l2: mean = 0, rstd = 1 / sqrt (sum (v^2) + eps), gain = 1,
 * where v = x, or v = sum = x + extra as rounded to the type of `sum`. Statistics are fp32. If
 * values are large compared with their standard deviation, summing them directly would lose digits
 * of the mean, so a row is read twice, the second time from cache: first for the mean of v - v[0],
 * then for the mean of the differences from that, which corrects both mean and variance. */
#include "kernels/cpu/norm.h"

#include <math.h>

typedef struct {
  LigNorm norm;
  const LigOperand *x, *extra, *sum, *y, *mean, *rstd; /* null where the kernel has none */
  const float *bias;
} Forward;

/* Returns a piece of v. The first pass over a row writes its sum and later ones read that, because
 * it may have overwritten x or extra. An absent sum is recomputed. */
static const float *
load (const Forward *f, bool first, int64_t at, int64_t count, float *buffer)
{
  float other[LIG_PIECE];
  uint16_t rounded[LIG_PIECE];
  if (!f->extra)
    return lig_load (f->x, at, count, buffer);
  if (!first && f->sum->data)
    return lig_load (f->sum, at, count, buffer);
  const float *x = lig_load (f->x, at, count, buffer);
  const float *extra = lig_load (f->extra, at, count, other);
#pragma omp simd
  for (int64_t i = 0; i < count; i++)
    buffer[i] = x[i] + extra[i];
  /* The bits do not depend on whether the sum is requested. */
  LigDtype dtype = f->sum->data ? f->sum->dtype : f->x->dtype;
  void *sum = f->sum->data ? lig_at (f->sum, at) : rounded;
  if (dtype != LIG_FP32 || f->sum->data)
    lig_narrow (dtype, buffer, sum, (size_t) count);
  if (dtype != LIG_FP32)
    lig_widen (dtype, sum, buffer, (size_t) count);
  return buffer;
}

/* Returns the approximate mean of a row of v. */
static float
near_mean (const Forward *f, int64_t start)
{
  float buffer[LIG_PIECE], sum = 0, first = 0;
  for (int64_t at = 0; at < f->norm.length; at += LIG_PIECE) {
    int64_t count = lig_piece (f->norm.length, at);
    const float *v = load (f, true, start + at, count, buffer);
    float part = 0;
    first = at == 0 ? v[0] : first;
#pragma omp simd reduction(+ : part)
    for (int64_t i = 0; i < count; i++)
      part += v[i] - first;
    sum += part;
  }
  return first + sum * f->norm.share;
}

/* The number of elements added at once: a single sum over a long row would lose digits. */
enum { AT_ONCE = 256 };

typedef struct {
  float mean, variance;
} Moments;

/* Adds the differences of the elements from `near`, and their squares. */
static inline void
add_deviations (float *sum, float *squares, const float *v, int64_t count, float near)
{
  for (int64_t at = 0; at < count; at += AT_ONCE) {
    int64_t end = at + AT_ONCE < count ? at + AT_ONCE : count;
    float part = 0, square = 0;
#pragma omp simd reduction(+ : part, square)
    for (int64_t i = at; i < end; i++) {
      float rest = v[i] - near;
      part += rest;
      square += rest * rest;
    }
    *sum += part;
    *squares += square;
  }
}

/* Returns the mean of a row, which is close to `near`, and its variance, or for uncentered rows the
 * mean square. */
static Moments
moments_of (const Forward *f, int64_t start, float near)
{
  float buffer[LIG_PIECE], sum = 0, squares = 0;
  bool centered = f->norm.centered;
  for (int64_t at = 0; at < f->norm.length; at += LIG_PIECE) {
    int64_t count = lig_piece (f->norm.length, at);
    const float *v = load (f, !centered, start + at, count, buffer);
    add_deviations (&sum, &squares, v, count, near);
  }
  float rest = centered ? sum * f->norm.share : 0;
  return (Moments){near + rest, fmaxf (squares * f->norm.share - rest * rest, 0)};
}

/* Writes a row of y. */
static void
write_row (const Forward *f, int64_t start, float mean, float rstd)
{
  float buffer[LIG_PIECE], staged[LIG_PIECE];
  for (int64_t at = 0; at < f->norm.length; at += LIG_PIECE) {
    int64_t count = lig_piece (f->norm.length, at);
    const float *v = load (f, false, start + at, count, buffer);
    const float *gain = f->norm.gain ? f->norm.gain + at : NULL;
    const float *bias = f->bias ? f->bias + at : NULL;
    float *y = lig_stage (f->y, start + at, staged);
    if (gain && bias) {
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        y[i] = (v[i] - mean) * rstd * gain[i] + bias[i];
    } else if (gain) {
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        y[i] = (v[i] - mean) * rstd * gain[i];
    } else {
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        y[i] = (v[i] - mean) * rstd;
    }
    lig_commit (f->y, start + at, count, y);
  }
}

/* Computes y, mean and rstd, each of which may be absent. `bias` may be null; it is stored in f
 * here because it needs the workspace. */
static LigStatus
forward (LigLaunch *launch, Forward *f, const LigOperand *weight, const LigOperand *bias)
{
  LigNorm *norm = &f->norm;
  LigStatus status = lig_norm_prepare (norm, launch, f->x, weight);
  if (status != LIG_OK)
    return status;
  f->bias = lig_norm_vector (bias, 0, &norm->scratch);
#pragma omp parallel for schedule(static) if (lig_norm_parallel(norm))
  for (int64_t row = 0; row < norm->rows; row++) {
    int64_t start = row * norm->length;
    Moments moments = moments_of (f, start, norm->centered ? near_mean (f, start) : 0);
    float rstd = 1 / sqrtf (moments.variance + norm->eps);
    if (lig_is_present (f->mean))
      ((float *) f->mean->data)[row] = moments.mean;
    if (lig_is_present (f->rstd))
      ((float *) f->rstd->data)[row] = rstd;
    if (lig_is_present (f->y))
      write_row (f, start, moments.mean, rstd);
  }
  return LIG_OK;
}

/* Computes y [M, N], mean [M] and rstd [M] from x, weight [N] and bias [N]. */
LigStatus
LIG_CPU (layer_norm) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Forward f = {.x = &o[0], .y = &o[3], .mean = &o[4], .rstd = &o[5], .norm.centered = true};
  return forward (launch, &f, &o[1], &o[2]);
}

/* Computes sum = x + extra, and the layer norm of the sum. */
LigStatus
LIG_CPU (add_layer_norm) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Forward f = {.x = &o[0],
               .extra = &o[1],
               .sum = &o[4],
               .y = &o[5],
               .mean = &o[6],
               .rstd = &o[7],
               .norm.centered = true};
  return forward (launch, &f, &o[2], &o[3]);
}

/* Computes y [M, N] and rstd [M] from x and weight [N]. */
LigStatus
LIG_CPU (rms_norm) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, &(Forward){.x = &o[0], .y = &o[2], .rstd = &o[3]}, &o[1], NULL);
}

/* Computes sum = x + extra, and the rms norm of the sum. */
LigStatus
LIG_CPU (add_rms_norm) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Forward f = {.x = &o[0], .extra = &o[1], .sum = &o[3], .y = &o[4], .rstd = &o[5]};
  return forward (launch, &f, &o[2], NULL);
}

/* Computes y [M, N] and rstd [M] from x. */
LigStatus
LIG_CPU (l2_normalization) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Forward f = {.x = &o[0], .y = &o[1], .rstd = &o[2], .norm.summed = true};
  return forward (launch, &f, NULL, NULL);
}
