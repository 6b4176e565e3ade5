/* SPDX-License-Identifier: MIT */
/* The frequencies of rotary embeddings, for every backend. */
#pragma once

#include "kernels/formulas.h"
#include <ligature/params-positions.h>

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
  return (float) frequency;
}
