/* SPDX-License-Identifier: MIT */
/* Draws of tokens from logits. Sets of the most probable tokens are found by radix selection on the
 * bits of the scaled logits, four passes over the vocabulary without sorting. */
#include "kernels/sample.h"
#include "kernels/cpu/cpu.h"

#include <math.h>

/* A draw: the tokens that may be drawn have at least the key and the weight `floor`. */
typedef struct {
  const LigSampleSettings *row;
  const LigOperand *logits;
  const uint8_t *seen; /* null: no penalty */
  int64_t first, count;
  float top; /* the largest scaled logit */
  uint32_t key;
  uint64_t floor;
} Draw;

/* The largest logits in a row so far, the lowest token first among equal ones. */
typedef struct {
  float values[LIG_SAMPLE_ALTERNATIVES];
  int32_t tokens[LIG_SAMPLE_ALTERNATIVES];
  int n;
} Best;

static void
insert (Best *best, float value, int32_t token)
{
  if (best->n == LIG_SAMPLE_ALTERNATIVES && value <= best->values[best->n - 1])
    return;
  int at = best->n < LIG_SAMPLE_ALTERNATIVES ? best->n++ : best->n - 1;
  for (; at > 0 && best->values[at - 1] < value; at--) {
    best->values[at] = best->values[at - 1];
    best->tokens[at] = best->tokens[at - 1];
  }
  best->values[at] = value;
  best->tokens[at] = token;
}

/* Fills a piece of the row with scaled logits; returns their number. */
static int64_t
scale_piece (const Draw *draw, int64_t at, float *scaled)
{
  int64_t count = lig_piece (draw->count, at);
  const float *logits = lig_load (draw->logits, draw->first + at, count, scaled);
  for (int64_t i = 0; i < count; i++)
    scaled[i] = lig_sample_scale (draw->row, logits[i], draw->seen && draw->seen[at + i]);
  return count;
}

/* Returns the weight of a token; 0 if it may not be drawn. */
static uint64_t
weigh (const Draw *draw, float scaled)
{
  uint64_t weight =
    lig_sample_key (scaled, draw->top) < draw->key ? 0 : lig_sample_weight (scaled, draw->top);
  return weight < draw->floor ? 0 : weight;
}

static uint64_t
sum_weights (const Draw *draw)
{
  float scaled[LIG_PIECE];
  uint64_t sum = 0;
  for (int64_t at = 0; at < draw->count; at += LIG_PIECE) {
    int64_t count = scale_piece (draw, at, scaled);
    for (int64_t i = 0; i < count; i++)
      sum += weigh (draw, scaled[i]);
  }
  return sum;
}

/* Returns the largest key such that the weights of the tokens with at least that key, or the number
 * of those with a weight, sum to at least `wanted`; 0 if all together do not. */
static uint32_t
select_key (const Draw *draw, bool by_number, uint64_t wanted)
{
  float scaled[LIG_PIECE];
  uint32_t prefix = 0, mask = 0;
  uint64_t above = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    uint64_t sums[256] = {0};
    int digit = 255;
    for (int64_t at = 0; at < draw->count; at += LIG_PIECE) {
      int64_t count = scale_piece (draw, at, scaled);
      for (int64_t i = 0; i < count; i++) {
        uint32_t key = lig_sample_key (scaled[i], draw->top);
        uint64_t weight = (key & mask) == prefix ? weigh (draw, scaled[i]) : 0;
        sums[key >> shift & 255] += by_number ? weight > 0 : weight;
      }
    }
    while (digit > 0 && above + sums[digit] < wanted)
      above += sums[digit--];
    prefix |= (uint32_t) digit << shift;
    mask |= 255u << shift;
  }
  return prefix;
}

/* Returns the token at which the weights up to it, in the order of tokens, exceed a random share of
 * their sum. */
static int32_t
pick (Draw *draw)
{
  float scaled[LIG_PIECE];
  const LigSampleSettings *row = draw->row;
  if (row->top_k > 0 && row->top_k < draw->count)
    draw->key = select_key (draw, true, (uint64_t) row->top_k);
  if (row->top_p < 1)
    draw->key = select_key (draw, false, lig_sample_wanted (row, sum_weights (draw)));
  draw->floor = lig_sample_floor (row);
  uint64_t number = lig_sample_random (row, sum_weights (draw)), passed = 0;
  for (int64_t at = 0; at < draw->count; at += LIG_PIECE) {
    int64_t count = scale_piece (draw, at, scaled);
    for (int64_t i = 0; i < count; i++)
      if ((passed += weigh (draw, scaled[i])) > number)
        return (int32_t) (at + i);
  }
  return 0;
}

/* Finds the largest logits, and the token with the largest scaled one, which becomes `top`. */
static int32_t
find_best (Draw *draw, Best *best)
{
  float scaled[LIG_PIECE], buffer[LIG_PIECE];
  int32_t token = 0;
  draw->top = -INFINITY;
  for (int64_t at = 0; at < draw->count; at += LIG_PIECE) {
    int64_t count = scale_piece (draw, at, scaled);
    const float *logits = lig_load (draw->logits, draw->first + at, count, buffer);
    for (int64_t i = 0; i < count; i++) {
      insert (best, lig_sample_read (logits[i]), (int32_t) (at + i));
      if (scaled[i] > draw->top) {
        draw->top = scaled[i];
        token = (int32_t) (at + i);
      }
    }
  }
  return token;
}

/* Writes the tokens with their probabilities according to the logits as they are. */
static void
write_chances (const Draw *draw, const Best *best, int32_t token, LigSampleChance *chances)
{
  float buffer[LIG_PIECE], top = best->values[0];
  uint64_t sum = 0;
  for (int64_t at = 0; isfinite (top) && at < draw->count; at += LIG_PIECE) {
    int64_t count = lig_piece (draw->count, at);
    const float *logits = lig_load (draw->logits, draw->first + at, count, buffer);
    for (int64_t i = 0; i < count; i++)
      sum += lig_sample_weight (lig_sample_read (logits[i]), top);
  }
  for (int i = 0; i <= LIG_SAMPLE_ALTERNATIVES; i++) {
    int32_t one = i == 0 ? token : i <= best->n ? best->tokens[i - 1] : -1;
    float logit = 0;
    if (one >= 0)
      logit = lig_sample_read (*lig_load (draw->logits, draw->first + one, 1, buffer));
    chances[i].token = one;
    chances[i].probability =
      one >= 0 && sum > 0 ? lig_sample_share (lig_sample_weight (logit, top), sum) : 0;
  }
}

LigStatus
LIG_CPU (sample) (LigLaunch *launch)
{
  const LigOperand *logits = &launch->operands[0], *settings = &launch->operands[1];
  const LigOperand *seen = &launch->operands[2], *chances = &launch->operands[3];
  const LigOperand *tokens = &launch->operands[4];
  int64_t rows = lig_rows (logits), columns = logits->columns;
  if (settings->size < rows * LIG_SAMPLE_SETTINGS || chances->size < rows * LIG_SAMPLE_CHANCES ||
      (tokens->data && tokens->size < rows) || columns > INT32_MAX)
    return LIG_FAIL (launch, LIG_FAILED, "sample: the settings do not fit the rows; correct them");
#pragma omp parallel for schedule(static) if (rows > 1 && logits->size > LIG_PARALLEL_FROM)
  for (int64_t i = 0; i < rows; i++) {
    const LigSampleSettings *row = (const LigSampleSettings *) settings->data + i;
    Draw draw = {row, logits, NULL, i * columns, columns, 0, 0, 0};
    if (seen->data && row->seen >= 0 && row->seen < seen->size / columns)
      draw.seen = (const uint8_t *) seen->data + row->seen * columns;
    Best best = {.n = 0};
    int32_t token = find_best (&draw, &best);
    if (row->temperature > 0 && isfinite (draw.top))
      token = pick (&draw);
    LigSampleChance *to = (LigSampleChance *) chances->data + i * (1 + LIG_SAMPLE_ALTERNATIVES);
    write_chances (&draw, &best, token, to);
    if (tokens->data)
      ((int32_t *) tokens->data)[i] = token;
  }
  return LIG_OK;
}
