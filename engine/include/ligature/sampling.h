/* SPDX-License-Identifier: MIT */
/* Draws tokens from logits. The functions may be called from any thread. */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

/* The number of alternatives that are reported with a token. */
#define LIG_SAMPLING_ALTERNATIVES 5

/**
 * LigSampling:
 * @size: the size of the struct that the program was compiled with, set by %LIG_SAMPLING_INIT
 * @temperature: the divisor of the logits, from 0 to 100; 0: the most probable token
 * @top_k: the number of most probable tokens among which one is drawn; 0: all
 * @top_p: the probability of the set of most probable tokens among which one is drawn, from 0 to 1;
 *   1: all
 * @min_p: tokens less probable than this share of the most probable one are not drawn, from 0 to 1
 * @repetition: the divisor of the positive logits of tokens that the text already has, by which
 *   their negative ones are multiplied, from 0.01 to 100; 1: none
 * @seed: the seed of the draws
 * @max_tokens: the number of tokens after which a text ends; 0: only the length of the window ends
 *   it
 * @stops: (nullable) (array length=n_stops): tokens that end a text
 * @n_stops: their number
 *
 * How tokens are drawn, in the order of Hugging Face's generate(): repetition, temperature, top_k,
 * top_p, min_p. Tokens with the same logit as the last one of a set are in the set, too.
 */
typedef struct {
  gsize size;
  double temperature;
  gint64 top_k;
  double top_p, min_p, repetition;
  guint64 seed;
  gint64 max_tokens;
  const gint32 *stops;
  guint n_stops;
} LigSampling;

#define LIG_SAMPLING_INIT \
  { \
    .size = sizeof (LigSampling), .temperature = 1, .top_p = 1, .repetition = 1 \
  }

/**
 * LigTokenChance:
 * @token: a token; -1: none
 * @probability: its probability according to the model: the softmax of the logits as they are
 */
typedef struct {
  gint32 token;
  float probability;
} LigTokenChance;

/**
 * LigSampled:
 * @chosen: the token that was drawn
 * @alternatives: the most probable tokens, the first one first
 *
 * A drawn token.
 */
typedef struct {
  LigTokenChance chosen;
  LigTokenChance alternatives[LIG_SAMPLING_ALTERNATIVES];
} LigSampled;

/**
 * lig_sampling_check:
 * @self: settings
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE set, naming the setting and its range
 */
LIG_API gboolean lig_sampling_check (const LigSampling *self, GError **error);

/**
 * lig_sampling_draw:
 * @self: settings that lig_sampling_check() accepts
 * @logits: (array length=count): a logit for each token; NaN counts as minus infinity
 * @count: the number of tokens, at least 1
 * @seen: (nullable) (array length=count): whether the text already has each token
 * @position: the number of tokens before the drawn one in its text
 * @sampled: (out caller-allocates): the token
 *
 * Draws a token. The result depends only on the arguments: the random number is Philox4x32-10 of
 * the seed and the position.
 */
LIG_API void lig_sampling_draw (const LigSampling *self,
                                const float *logits,
                                gsize count,
                                const guint8 *seen,
                                guint64 position,
                                LigSampled *sampled);

G_END_DECLS
