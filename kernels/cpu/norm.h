/* SPDX-License-Identifier: MIT */
/* Shared code of the norms, forward and backward: the length of a row, and its gain as floats. */
#pragma once

#include "kernels/cpu/cpu.h"
#include <ligature/params-norm.h>

typedef struct {
  bool centered; /* layer norm: the mean is subtracted */
  bool summed;   /* l2: uses the sum of squares instead of their mean */
  int64_t length, rows;
  float share; /* weight of an element in a mean: 1 / length, or 1 if summed */
  float eps;
  const float *gain; /* one per column, or null for 1 */
  float *scratch;    /* the unused part of the workspace */
} LigNorm;

/* Returns the elements of a vector as floats, plus `offset`: the vector's own memory if no
 * conversion is needed, else memory at `*scratch`, which is advanced. Returns null if the vector is
 * absent. */
static inline const float *
lig_norm_vector (const LigOperand *vector, float offset, float **scratch)
{
  if (!vector || !vector->data)
    return NULL;
  if (vector->dtype == LIG_FP32 && offset == 0)
    return vector->data;
  float *values = *scratch;
  *scratch += vector->size;
  lig_widen (vector->dtype, vector->data, values, (size_t) vector->size);
  for (int64_t i = 0; i < vector->size; i++)
    values[i] += offset;
  return values;
}

/* Fills in `norm` except `centered` and `summed`. `weight` is null for l2. */
static inline LigStatus
lig_norm_prepare (LigNorm *norm, LigLaunch *launch, const LigOperand *x, const LigOperand *weight)
{
  const LigNormParams *params = launch->params;
  norm->length = weight ? weight->size : x->columns;
  norm->rows = norm->length > 0 ? x->size / norm->length : 0;
  norm->share = norm->summed ? 1 : 1 / (float) norm->length;
  norm->eps = params ? params->eps : norm->summed ? 1e-6f : 1e-5f;
  norm->scratch = launch->workspace;
  /* Two vectors and two rows of partial sums have to fit. */
  if (norm->length > (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float) / 4))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "norm: a row is longer than 2^21; reduce it");
  norm->gain = lig_norm_vector (weight, params && params->zero_centered ? 1 : 0, &norm->scratch);
  return LIG_OK;
}

/* Returns whether the rows are worth several threads. */
static inline bool
lig_norm_parallel (const LigNorm *norm)
{
  return norm->rows * norm->length > LIG_PARALLEL_FROM;
}
