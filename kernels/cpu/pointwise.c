/* SPDX-License-Identifier: MIT */
/* Kernels on single elements: conversion, addition, scaling, dropout; and of whole samples. */
#include "kernels/cpu/rows.h"
#include "kernels/formulas.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

/* The number of quads in a piece. A quad is four elements, which share one Philox counter. */
#define QUADS (LIG_PIECE / 4)

typedef struct {
  uint64_t seed, path_hash, micro_step;
  uint32_t threshold; /* elements with smaller words are dropped */
  float scale;        /* of the elements that are kept */
} Dropout;

/* Several counters at once, one word per 64-bit lane. A product of two lanes needs only their
 * lower halves, and only the lower half of a word is ever used, so the upper halves may contain
 * anything. The compiler does not see this and would multiply whole lanes. */
#if defined(__AVX512F__)
#define LANES 8
#define MULTIPLY(a, b) ((Lanes) _mm512_mul_epu32 ((__m512i) (a), (__m512i) (b)))
#elif defined(__AVX2__)
#define LANES 4
#define MULTIPLY(a, b) ((Lanes) _mm256_mul_epu32 ((__m256i) (a), (__m256i) (b)))
#elif defined(__SSE2__)
#define LANES 2
#define MULTIPLY(a, b) ((Lanes) _mm_mul_epu32 ((__m128i) (a), (__m128i) (b)))
#else
#define LANES 2
#define MULTIPLY(a, b) (((a) &UINT32_MAX) * ((b) &UINT32_MAX))
#endif
typedef uint64_t Lanes __attribute__ ((vector_size (8 * LANES)));

/* One round of lig_philox () on the counters a b c d. */
#define ROUND(a, b, c, d, key0, key1) \
  do { \
    Lanes low = MULTIPLY (a, zero + 0xd2511f53u), high = MULTIPLY (c, zero + 0xcd9e8d57u); \
    a = high >> 32 ^ b ^ (key0); \
    c = low >> 32 ^ d ^ (key1); \
    b = high; \
    d = low; \
  } while (0)

/* Computes lig_random_words () of the quads from `first` on: word k of quad i is the lower half
 * of lane k QUADS + i of `words`. */
LIG_PIECE_FUNCTION
random_words (const Dropout *dropout, uint64_t first, int64_t quads, Lanes *words)
{
  const Lanes zero = {0};
  Lanes quad = zero + first;
  for (int i = 0; i < LANES; i++)
    quad[i] += (uint64_t) i;
  for (; quads > 0; quads -= LANES, quad += LANES, words++) {
    Lanes a = quad, b = quad >> 32, c = zero + dropout->path_hash, d = zero + dropout->micro_step;
    uint32_t key0 = (uint32_t) dropout->seed, key1 = (uint32_t) (dropout->seed >> 32);
    for (uint32_t i = 0; i < 10; i++)
      ROUND (a, b, c, d, key0 + i * 0x9e3779b9u, key1 + i * 0xbb67ae85u);
    words[0] = a;
    words[QUADS / LANES] = b;
    words[2 * QUADS / LANES] = c;
    words[3 * QUADS / LANES] = d;
  }
}

/* Computes a piece of dropout. It starts at a multiple of four elements, so that it takes whole
 * quads. */
LIG_PIECE_FUNCTION
dropout_piece (const Dropout *dropout, int64_t element, const float *x, float *y, int64_t count)
{
  union {
    Lanes vectors[4 * QUADS / LANES];
    uint64_t lanes[4][QUADS];
  } words;
  uint32_t threshold = dropout->threshold, word[LIG_PIECE];
  float scale = dropout->scale;
  random_words (dropout, (uint64_t) element / 4, (count + 3) / 4, words.vectors);
  for (int64_t i = 0; i < (count + 3) / 4; i++)
    for (int64_t k = 0; k < 4; k++)
      word[4 * i + k] = (uint32_t) words.lanes[k][i];
  LIG_EACH_ELEMENT (i, count)
  y[i] = word[i] >= threshold ? scale * x[i] : 0;
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
  if (p == 1) { /* the threshold exceeds a word, and the scale is infinite */
    memset (y->data, 0, (size_t) y->size * lig_dtype_size (y->dtype));
    return LIG_OK;
  }
  Dropout dropout = {launch->tick->seed, params->path_hash, launch->tick->micro_step,
                     (uint32_t) lig_dropout_threshold (p), 1.0f / (1.0f - p)};
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < x->size; element += LIG_PIECE) {
    float in[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_piece (x->size, element);
    float *to = lig_stage (y, element, out);
    dropout_piece (&dropout, element, lig_load (x, element, count, in), to, count);
    lig_commit (y, element, count, to);
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
  int64_t sample = x->size / params->samples, pieces = (sample + LIG_PIECE - 1) / LIG_PIECE;
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t i = 0; i < params->samples * pieces; i++) {
    float in[LIG_PIECE], out[LIG_PIECE];
    uint32_t words[4];
    uint64_t number = (uint64_t) (i / pieces);
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
