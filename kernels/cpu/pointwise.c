/* SPDX-License-Identifier: MIT */
/* Element-wise kernels: conversion, addition, scaling, dropout; and drop path, on whole samples. */
#include "kernels/cpu/random.h"
#include "kernels/cpu/rows.h"
#include "kernels/positions.h"
#include <ligature/params-matmul.h>
#include <ligature/params-random.h>

/* Converts x to the type of y; any types, any shape. */
LigStatus
LIG_CPU (convert) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  if (x->data == y->data)
    return LIG_OK;
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < x->size; element += LIG_PIECE) {
    float buffer[LIG_PIECE];
    int64_t count = lig_piece (x->size, element);
    if (x->dtype == y->dtype)
      memcpy (lig_at (y, element), lig_at (x, element), (size_t) count * lig_dtype_size (x->dtype));
    else if (y->dtype == LIG_FP32)
      lig_widen (x->dtype, lig_at (x, element), lig_at (y, element), (size_t) count);
    else
      lig_commit (y, element, count, lig_load (x, element, count, buffer));
  }
  return LIG_OK;
}

/* Computes y = a + b for a piece. */
LIG_PIECE_FUNCTION
add_piece (const float *a, const float *b, float *y, int64_t count)
{
  LIG_EACH_ELEMENT (i, count)
  y[i] = a[i] + b[i];
}

/* Computes y = a + b, element by element. */
LigStatus
LIG_CPU (add) (LigLaunch *launch)
{
  const LigOperand *a = &launch->operands[0], *b = &launch->operands[1], *y = &launch->operands[2];
  if (!lig_all_floating (launch, 3))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "add: not a floating type; convert to fp32, fp16 or bf16");
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < y->size; element += LIG_PIECE) {
    float left[LIG_PIECE], right[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_piece (y->size, element);
    float *to = lig_stage (y, element, out);
    add_piece (lig_load (a, element, count, left), lig_load (b, element, count, right), to, count);
    lig_commit (y, element, count, to);
  }
  return LIG_OK;
}

/* Computes y = factor x for a piece. */
LIG_PIECE_FUNCTION
scale_piece (const float *x, float factor, float *y, int64_t count)
{
  LIG_EACH_ELEMENT (i, count)
  y[i] = factor * x[i];
}

/* Computes y = factor x, element by element. */
LigStatus
LIG_CPU (scale) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigScaleParams *params = launch->params;
  float factor = params ? params->factor : 1;
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "scale: not a floating type; convert to fp32, fp16 or bf16");
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < x->size; element += LIG_PIECE) {
    float in[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_piece (x->size, element);
    float *to = lig_stage (y, element, out);
    scale_piece (lig_load (x, element, count, in), factor, to, count);
    lig_commit (y, element, count, to);
  }
  return LIG_OK;
}

/* The number of quads of a piece that may begin inside a quad, a multiple of LIG_LANES. A quad is
 * four elements, which share one Philox counter. */
#define QUADS (LIG_PIECE / 4 + LIG_LANES)

typedef struct {
  uint64_t seed, path_hash, micro_step;
  uint64_t first;     /* global index of the first element */
  uint32_t threshold; /* elements with smaller words are dropped */
  float scale;        /* of the elements that are kept */
} Dropout;

/* Computes lig_random_words () of the quads from `first` on: word k of quad i is the lower half of
 * lane k QUADS + i of `words`. */
LIG_PIECE_FUNCTION
random_words (const Dropout *dropout, uint64_t first, int64_t quads, LigLanes *words)
{
  LigLanes quad = (LigLanes){0} + first;
  for (int i = 0; i < LIG_LANES; i++)
    quad[i] += (uint64_t) i;
  for (; quads > 0; quads -= LIG_LANES, quad += LIG_LANES, words++) {
    LigLanes some[4];
    lig_random_lanes (dropout->seed, quad, dropout->path_hash, dropout->micro_step, some);
    for (int k = 0; k < 4; k++)
      words[k * QUADS / LIG_LANES] = some[k];
  }
}

/* Applies dropout to a piece. A rank's shard may begin inside a quad. */
LIG_PIECE_FUNCTION
dropout_piece (const Dropout *dropout, int64_t element, const float *x, float *y, int64_t count)
{
  union {
    LigLanes vectors[4 * QUADS / LIG_LANES];
    uint64_t lanes[4][QUADS];
  } words;
  uint32_t threshold = dropout->threshold, drawn[4 * QUADS];
  float scale = dropout->scale;
  uint64_t number = dropout->first + (uint64_t) element;
  const uint32_t *word = drawn + number % 4;
  int64_t quads = (count + (int64_t) (number % 4) + 3) / 4;
  random_words (dropout, number / 4, quads, words.vectors);
  for (int64_t i = 0; i < quads; i++)
    for (int64_t k = 0; k < 4; k++)
      drawn[4 * i + k] = (uint32_t) words.lanes[k][i];
  LIG_EACH_ELEMENT (i, count)
  y[i] = word[i] >= threshold ? scale * x[i] : 0;
}

/* Applies dropout to elements of the range [first, end), which are contiguous in the unsharded
 * tensor from dropout->first on. */
static void
drop_range (Dropout dropout, const LigOperand *x, const LigOperand *y, int64_t first, int64_t end)
{
  dropout.first -= (uint64_t) first;
#pragma omp parallel for schedule(static) if (end - first > LIG_PARALLEL_FROM)
  for (int64_t element = first; element < end; element += LIG_PIECE) {
    float in[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_piece (end, element);
    float *to = lig_stage (y, element, out);
    dropout_piece (&dropout, element, lig_load (x, element, count, in), to, count);
    lig_commit (y, element, count, to);
  }
}

/* Computes y = x / (1 - p) for the elements kept, 0 for the others. */
LigStatus
LIG_CPU (dropout) (LigLaunch *launch)
{
  static const LigDropoutParams defaults = {.probability = 0.1f};
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigDropoutParams *params = launch->params ? launch->params : &defaults;
  float p = params->probability;
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "dropout: not a floating type; convert to fp32, fp16 or bf16");
  if (!(p >= 0 && p <= 1))
    return LIG_FAIL (launch, LIG_FAILED, "dropout: the probability is outside [0, 1]; correct it");
  if (p == 1) { /* the threshold exceeds every word, and the scale is infinite */
    memset (y->data, 0, (size_t) y->size * lig_dtype_size (y->dtype));
    return LIG_OK;
  }
  Dropout dropout = {.seed = launch->tick->seed,
                     .path_hash = params->path_hash,
                     .micro_step = launch->tick->micro_step,
                     .threshold = (uint32_t) lig_dropout_threshold (p),
                     .scale = 1.0f / (1.0f - p)};
  bool sharded = params->ranks > 1 && params->block > 0;
  int64_t block = sharded ? params->block : x->size, blocks = 2 * (int64_t) params->ranks;
  uint64_t before = (uint64_t) launch->part * (uint64_t) x->size;
  before *= sharded ? (uint64_t) params->ranks : 1;
  for (int64_t at = 0; at < x->size; at += block) {
    int64_t k = at / block;
    int64_t number =
      sharded ? k / 2 * blocks + lig_block_number (params->ranks, params->rank, k % 2) : 0;
    dropout.first = before + (uint64_t) (number * block);
    drop_range (dropout, x, y, at, at + block < x->size ? at + block : x->size);
  }
  return LIG_OK;
}

/* Computes y = x / (1 - p) for the samples kept, 0 for the others. */
LigStatus
LIG_CPU (drop_path) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigDropPathParams defaults = {0.1f, 0, lig_rows (x)};
  const LigDropPathParams *params = launch->params ? launch->params : &defaults;
  float p = params->probability;
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "drop-path: not a floating type; convert to fp32, fp16 or bf16");
  if (!(p >= 0 && p <= 1) || params->samples < 1 || x->size % params->samples != 0)
    return LIG_FAIL (launch, LIG_FAILED,
                     "drop-path: the probability is outside [0, 1], or the samples do not divide "
                     "the elements; correct them");
  uint64_t threshold = lig_dropout_threshold (p);
  uint64_t before = (uint64_t) launch->part * (uint64_t) params->samples;
  int64_t sample = x->size / params->samples, pieces = (sample + LIG_PIECE - 1) / LIG_PIECE;
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t i = 0; i < params->samples * pieces; i++) {
    float in[LIG_PIECE], out[LIG_PIECE];
    uint32_t words[4];
    uint64_t number = before + (uint64_t) (i / pieces);
    lig_random_words (launch->tick->seed, number / 4, params->path_hash, launch->tick->micro_step,
                      words);
    bool kept = words[number % 4] >= threshold;
    int64_t first = i % pieces * LIG_PIECE, element = i / pieces * sample + first;
    int64_t count = lig_piece (sample, first);
    float *to = lig_stage (y, element, out);
    if (kept)
      scale_piece (lig_load (x, element, count, in), 1.0f / (1.0f - p), to, count);
    else
      memset (to, 0, (size_t) count * sizeof *to);
    lig_commit (y, element, count, to);
  }
  return LIG_OK;
}
