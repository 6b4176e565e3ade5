/* SPDX-License-Identifier: MIT */
/* Draws tokens from logits. Sets of the most probable tokens are found by radix selection on the
 * logits' bits, four passes over the vocabulary without sorting, as on a GPU. */
#include "kernels/formulas.h"
#include <ligature/error.h>
#include <ligature/sampling.h>

#include <float.h>
#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

gboolean
lig_sampling_check (const LigSampling *self, GError **error)
{
  const struct {
    const char *name;
    double value, min, max;
  } numbers[] = {
    {"temperature", self->temperature, 0, 100},
    {"top-k", (double) self->top_k, 0, G_MAXINT32},
    {"top-p", self->top_p, 0, 1},
    {"min-p", self->min_p, 0, 1},
    {"repetition", self->repetition, 0.01, 100},
    {"max", (double) self->max_tokens, 0, G_MAXINT32},
  };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!(numbers[i].value >= numbers[i].min && numbers[i].value <= numbers[i].max)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("%s is %g, expected a number from %g to %g"), numbers[i].name,
                   numbers[i].value, numbers[i].min, numbers[i].max);
      return FALSE;
    }
  return TRUE;
}

/* Maps a number to an integer of the same order. */
static guint32
order_key (float value)
{
  guint32 bits;
  memcpy (&bits, &value, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/* Returns the largest key such that the weights of all tokens with at least that key sum to
 * `wanted`, at least those of one token; 0 if all together do not. */
static guint32
select_key (const guint32 *keys, const double *weights, gsize count, double wanted)
{
  guint32 prefix = 0, mask = 0;
  double above = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    double sums[256] = {0};
    int digit = 255;
    for (gsize i = 0; i < count; i++)
      if ((keys[i] & mask) == prefix)
        sums[keys[i] >> shift & 255] += weights ? weights[i] : 1;
    while (digit > 0 && above + sums[digit] < MAX (wanted, DBL_MIN))
      above += sums[digit--];
    prefix |= (guint32) digit << shift;
    mask |= 255u << shift;
  }
  return prefix;
}

/* Returns the logits as numbers that can be compared. */
static float
read_logit (float logit)
{
  return isnan (logit) ? -INFINITY : logit;
}

/* Finds the most probable tokens of the model itself, the lowest number first among equal ones. */
static void
find_alternatives (const float *logits, gsize count, LigSampled *sampled)
{
  LigTokenChance *best = sampled->alternatives;
  float values[LIG_SAMPLING_ALTERNATIVES];
  guint n = 0;
  for (gsize i = 0; i < count; i++) {
    float value = read_logit (logits[i]);
    if (n == LIG_SAMPLING_ALTERNATIVES && value <= values[n - 1])
      continue;
    guint at = n < LIG_SAMPLING_ALTERNATIVES ? n++ : n - 1;
    for (; at > 0 && values[at - 1] < value; at--) {
      values[at] = values[at - 1];
      best[at] = best[at - 1];
    }
    values[at] = value;
    best[at] = (LigTokenChance){(gint32) i, 0};
  }
  for (; n < LIG_SAMPLING_ALTERNATIVES; n++)
    best[n] = (LigTokenChance){-1, 0};
}

/* Sets the probabilities of the chosen token and its alternatives. */
static void
measure (const float *logits, gsize count, LigSampled *sampled)
{
  double top = (double) read_logit (logits[sampled->alternatives[0].token]), sum = 0;
  gboolean known = isfinite (top);
  for (gsize i = 0; known && i < count; i++)
    sum += exp ((double) read_logit (logits[i]) - top);
  LigTokenChance *chances[LIG_SAMPLING_ALTERNATIVES + 1] = {&sampled->chosen};
  for (guint i = 0; i < LIG_SAMPLING_ALTERNATIVES; i++)
    chances[i + 1] = &sampled->alternatives[i];
  for (guint i = 0; known && i < G_N_ELEMENTS (chances); i++)
    if (chances[i]->token >= 0)
      chances[i]->probability =
        (float) (exp ((double) read_logit (logits[chances[i]->token]) - top) / sum);
}

/* Returns a number from [0, 1) with 53 random bits. */
static double
draw_uniform (guint64 seed, guint64 position)
{
  guint32 words[4];
  lig_random_words (seed, position, 0, 0, words);
  guint64 bits = ((guint64) words[0] << 32 | words[1]) >> 11;
  return (double) bits * 0x1p-53;
}

/* Applies the repetition penalty and the temperature. Returns the largest number. */
static double
scale_logits (
  const LigSampling *self, const float *logits, gsize count, const guint8 *seen, float *scaled)
{
  double top = -INFINITY;
  double divisor = self->temperature > 0 ? self->temperature : 1;
  for (gsize i = 0; i < count; i++) {
    double value = (double) read_logit (logits[i]);
    if (seen && seen[i] && self->repetition != 1)
      value = value > 0 ? value / self->repetition : value * self->repetition;
    scaled[i] = (float) (value / divisor);
    top = MAX (top, (double) scaled[i]);
  }
  return top;
}

/* Removes the tokens below the key. */
static void
keep_from (const guint32 *keys, double *weights, gsize count, guint32 key)
{
  for (gsize i = 0; i < count; i++)
    if (keys[i] < key)
      weights[i] = 0;
}

/* Sets the weight of each token that may be drawn: exp of its logit minus the largest one. */
static void
weigh (const LigSampling *self, const float *scaled, gsize count, double top, double *weights)
{
  g_autofree guint32 *keys = g_new (guint32, count);
  for (gsize i = 0; i < count; i++) {
    keys[i] = order_key (scaled[i]);
    weights[i] = exp ((double) scaled[i] - top);
  }
  if (self->top_k > 0 && (gsize) self->top_k < count)
    keep_from (keys, weights, count, select_key (keys, NULL, count, (double) self->top_k));
  if (self->top_p < 1) {
    double sum = 0;
    for (gsize i = 0; i < count; i++)
      sum += weights[i];
    keep_from (keys, weights, count, select_key (keys, weights, count, self->top_p * sum));
  }
  for (gsize i = 0; i < count; i++)
    if (weights[i] < self->min_p)
      weights[i] = 0;
}

/* Returns the token at a share of the sum of all weights, in the order of tokens. */
static gint32
pick (const double *weights, gsize count, double share)
{
  double sum = 0, passed = 0;
  gsize last = 0;
  for (gsize i = 0; i < count; i++)
    sum += weights[i];
  for (gsize i = 0; i < count; i++) {
    if (weights[i] <= 0)
      continue;
    last = i;
    passed += weights[i];
    if (passed > share * sum)
      break;
  }
  return (gint32) last;
}

void
lig_sampling_draw (const LigSampling *self,
                   const float *logits,
                   gsize count,
                   const guint8 *seen,
                   guint64 position,
                   LigSampled *sampled)
{
  *sampled = (LigSampled){{0, 0}, {{0, 0}}};
  find_alternatives (logits, count, sampled);
  g_autofree float *scaled = g_new (float, count);
  double top = scale_logits (self, logits, count, seen, scaled);
  if (self->temperature > 0 && isfinite (top)) {
    g_autofree double *weights = g_new (double, count);
    weigh (self, scaled, count, top, weights);
    sampled->chosen.token = pick (weights, count, draw_uniform (self->seed, position));
  } else {
    for (gsize i = 1; i < count; i++)
      if (scaled[i] > scaled[sampled->chosen.token])
        sampled->chosen.token = (gint32) i;
  }
  measure (logits, count, sampled);
}
