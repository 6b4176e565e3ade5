/* SPDX-License-Identifier: MIT */
/* The formulas of the kernel `sample`, which every backend shares. Weights of tokens are
 * fixed-point numbers, so that sums do not depend on the order of their terms. */
#pragma once

#include "kernels/formulas.h"

#include <stdbool.h>
#include <stdint.h>

/* The most probable tokens that are reported with a drawn one. */
enum { LIG_SAMPLE_ALTERNATIVES = 5 };

/* How the token of a row is drawn, see LigSampling: `seen` is the row of the operand `seen` with
 * the tokens that the text has, or negative without a penalty; the random number depends on the
 * seed and the position. */
typedef struct {
  float temperature, top_p, min_p, repetition;
  int32_t top_k, seen;
  uint64_t seed, position;
} LigSampleSettings;

/* A token, -1 for none, and its probability. An output row has that of the drawn token and those of
 * the alternatives. */
typedef struct {
  int32_t token;
  float probability;
} LigSampleChance;

enum {
  LIG_SAMPLE_SETTINGS = sizeof (LigSampleSettings) / sizeof (int32_t), /* int32 columns */
  LIG_SAMPLE_CHANCES = (1 + LIG_SAMPLE_ALTERNATIVES) * 2
};

/* Returns a logit as a number that can be compared. */
LIG_FORMULA float
lig_sample_read (float logit)
{
  return logit != logit ? -INFINITY : logit;
}

/* Applies the repetition penalty and the temperature. Adding 0 makes -0 and 0 the same number. */
LIG_FORMULA float
lig_sample_scale (const LigSampleSettings *row, float logit, bool seen)
{
  float value = lig_sample_read (logit);
  if (seen)
    value = value > 0 ? value / row->repetition : value * row->repetition;
  return (row->temperature > 0 ? value / row->temperature : value) + 0.0f;
}

/* Maps a scaled logit to an integer of the same order: its distance from the largest one in units
 * of 2^-26, by which tokens spread evenly over the digits. Tokens that are too far away to have a
 * weight share the smallest keys. */
LIG_FORMULA uint32_t
lig_sample_key (float value, float top)
{
  float distance = (top - value) * 0x1p26f;
  return ~(distance < 0x1p32f - 512 ? (uint32_t) distance : UINT32_MAX);
}

/* Returns e^(value - top) in units of 2^-40, where `top` is the largest value. */
LIG_FORMULA uint64_t
lig_sample_weight (float value, float top)
{
  return value == -INFINITY ? 0 : (uint64_t) (lig_exp (value - top) * 0x1p40f);
}

/* Returns the weight below which min_p removes tokens. */
LIG_FORMULA uint64_t
lig_sample_floor (const LigSampleSettings *row)
{
  return row->min_p > 0 ? (uint64_t) (row->min_p * 0x1p40f) : 0;
}

/* Returns the weight that the most probable tokens of top_p have at least, of `sum`. */
LIG_FORMULA uint64_t
lig_sample_wanted (const LigSampleSettings *row, uint64_t sum)
{
  uint64_t wanted = row->top_p > 0 ? (uint64_t) ((double) row->top_p * (double) sum) : 0;
  return wanted > 0 ? wanted : 1;
}

/* Returns a random number below `sum`. */
LIG_FORMULA uint64_t
lig_sample_random (const LigSampleSettings *row, uint64_t sum)
{
  uint32_t words[4];
  lig_random_words (row->seed, row->position, 0, 0, words);
  uint64_t bits = ((uint64_t) words[0] << 32 | words[1]) >> 11;
  uint64_t number = (uint64_t) ((double) bits * 0x1p-53 * (double) sum);
  return number < sum ? number : sum - 1;
}

/* Returns the probability that a weight of a sum stands for. */
LIG_FORMULA float
lig_sample_share (uint64_t weight, uint64_t sum)
{
  return sum > 0 ? (float) ((double) weight / (double) sum) : 0;
}
