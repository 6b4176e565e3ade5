/* SPDX-License-Identifier: MIT */
/* Kernels on single elements: conversion, sum, scaling, dropout. */
#include "kernels/cpu/rows.h"
#include "kernels/formulas.h"

LigStatus
LIG_CPU (convert) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  if (x->data == y->data)
    return LIG_OK;
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < x->size; element += LIG_PIECE) {
    float buffer[LIG_PIECE];
    int64_t count = lig_least (LIG_PIECE, x->size - element);
    if (x->dtype == y->dtype)
      memcpy (lig_at (y, element), lig_at (x, element), (size_t) count * lig_dtype_size (x->dtype));
    else if (y->dtype == LIG_FP32)
      lig_widen (x->dtype, lig_at (x, element), lig_at (y, element), (size_t) count);
    else
      lig_commit (y, element, count, lig_load (x, element, count, buffer));
  }
  return LIG_OK;
}

LIG_PIECE_FUNCTION
add_piece (const float *a, const float *b, float *y, int64_t count)
{
  LIG_EACH_ELEMENT (i, count)
  y[i] = a[i] + b[i];
}

LigStatus
LIG_CPU (add) (LigLaunch *launch)
{
  const LigOperand *a = &launch->operands[0], *b = &launch->operands[1], *y = &launch->operands[2];
  if (!lig_all_floating (launch, 3))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "add: only floating types");
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < y->size; element += LIG_PIECE) {
    float left[LIG_PIECE], right[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_least (LIG_PIECE, y->size - element);
    float *to = lig_stage (y, element, out);
    add_piece (lig_load (a, element, count, left), lig_load (b, element, count, right), to, count);
    lig_commit (y, element, count, to);
  }
  return LIG_OK;
}

LIG_PIECE_FUNCTION
scale_piece (const float *x, float factor, float *y, int64_t count)
{
  LIG_EACH_ELEMENT (i, count)
  y[i] = factor * x[i];
}

LigStatus
LIG_CPU (scale) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigScaleParams *params = launch->params;
  float factor = params ? params->factor : 1;
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "scale: only floating types");
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < x->size; element += LIG_PIECE) {
    float in[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_least (LIG_PIECE, x->size - element);
    float *to = lig_stage (y, element, out);
    scale_piece (lig_load (x, element, count, in), factor, to, count);
    lig_commit (y, element, count, to);
  }
  return LIG_OK;
}

typedef struct {
  uint64_t seed, path_hash, micro_step;
  uint32_t threshold; /* words below it drop their element */
  float scale;        /* of the elements kept */
} Dropout;

/* A piece starts at a multiple of four elements, so that it takes whole blocks of random words. */
LIG_PIECE_FUNCTION
dropout_piece (const Dropout *dropout, int64_t element, const float *x, float *y, int64_t count)
{
  uint32_t words[LIG_PIECE];
  uint64_t seed = dropout->seed, path_hash = dropout->path_hash, first = (uint64_t) element / 4;
  uint64_t micro_step = dropout->micro_step;
  for (int64_t i = 0; i < (count + 3) / 4; i++)
    lig_random_words (seed, first + (uint64_t) i, path_hash, micro_step, words + 4 * i);
  uint32_t threshold = dropout->threshold;
  float scale = dropout->scale;
  LIG_EACH_ELEMENT (i, count)
  y[i] = words[i] >= threshold ? scale * x[i] : 0;
}

LigStatus
LIG_CPU (dropout) (LigLaunch *launch)
{
  static const LigDropoutParams defaults = {.probability = 0.1f};
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigDropoutParams *params = launch->params ? launch->params : &defaults;
  float p = params->probability;
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "dropout: only floating types");
  if (!(p >= 0 && p <= 1))
    return LIG_FAIL (launch, LIG_FAILED, "dropout: the probability is outside [0, 1]");
  if (p == 1) { /* the threshold does not fit a word, the scale is infinite */
    memset (y->data, 0, (size_t) y->size * lig_dtype_size (y->dtype));
    return LIG_OK;
  }
  Dropout dropout = {launch->tick->seed, params->path_hash, launch->tick->micro_step,
                     (uint32_t) lig_dropout_threshold (p), 1.0f / (1.0f - p)};
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < x->size; element += LIG_PIECE) {
    float in[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_least (LIG_PIECE, x->size - element);
    float *to = lig_stage (y, element, out);
    dropout_piece (&dropout, element, lig_load (x, element, count, in), to, count);
    lig_commit (y, element, count, to);
  }
  return LIG_OK;
}
