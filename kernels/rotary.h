/* SPDX-License-Identifier: MIT */
/* The frequencies of rotary embeddings, for every backend. */
#pragma once

#include "kernels/formulas.h"
#include <ligature/params-positions.h>

/* Returns the index of the pair that turns so many times in the context length of training: between
 * two pairs it is a fraction. */
LIG_FORMULA double
lig_rotary_pair (const LigRotaryParams *params, double turns)
{
  return params->rotated * log (params->original / (turns * 6.283185307179586477)) /
         (2 * log ((double) params->base));
}

/* Returns the share of YaRN's division by the factor in the frequency of a pair. Like in Hugging
 * Face's code, the limits are those of features, not of pairs, and equal ones are kept apart. */
LIG_FORMULA double
lig_rotary_yarn (const LigRotaryParams *params, int32_t pair)
{
  double first = lig_rotary_pair (params, (double) params->high),
         last = lig_rotary_pair (params, (double) params->low);
  if (params->truncate) {
    first = floor (first);
    last = ceil (last);
  }
  first = first > 0 ? first : 0;
  last = last < params->rotated - 1 ? last : params->rotated - 1;
  if (first == last)
    last += 0.001;
  double share = (pair - first) / (last - first);
  return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* Returns the factor of the rotated features. */
LIG_FORMULA float
lig_rotary_magnitude (const LigRotaryParams *params)
{
  return params->magnitude > 0 ? params->magnitude : 1;
}

/* Returns the frequency of a pair of features, in radians per position. */
LIG_FORMULA float
lig_rotary_frequency (const LigRotaryParams *params, int32_t pair)
{
  double frequency = pow ((double) params->base, -2.0 * pair / params->rotated);
  double factor = (double) params->factor, wave = 6.283185307179586477 / frequency;
  if (params->scaling == LIG_ROTARY_LINEAR)
    frequency /= factor;
  if (params->scaling == LIG_ROTARY_LLAMA3) {
    double ratio = params->original / wave, low = (double) params->low,
           high = (double) params->high;
    double share = ratio <= low ? 0 : ratio >= high ? 1 : (ratio - low) / (high - low);
    frequency *= share + (1 - share) / factor;
  }
  if (params->scaling == LIG_ROTARY_YARN) {
    double share = lig_rotary_yarn (params, pair);
    frequency *= share / factor + (1 - share);
  }
  return (float) frequency;
}
