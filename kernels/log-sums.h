/* SPDX-License-Identifier: MIT */
/* The log-sum-exps that attention leaves for its backward pass, and attention sinks, which join
 * their sums. */
#pragma once

#include "kernels/formulas.h"

/* Stores log-sum-exp number `at` of `count` in lse: the rounded value, and in the second half of
 * lse its rounding error, without which the weights of large scores would not sum to 1. */
LIG_FORMULA void
lig_attention_store (float *lse, int64_t count, int64_t at, double value)
{
  float rounded = (float) value;
  lse[at] = rounded;
  lse[count + at] = (float) (value - (double) rounded);
}

/* Returns log-sum-exp number `at` of `count`. */
LIG_FORMULA double
lig_attention_load (const float *lse, int64_t count, int64_t at)
{
  return (double) lse[at] + (double) lse[count + at];
}

/* Returns the share of the keys in a sum of exponentials, of which lse is the logarithm, to which
 * exp (sink) is added. */
LIG_FORMULA float
lig_attention_kept (double lse, float sink)
{
  return 1 / (1 + expf ((float) ((double) sink - lse)));
}

/* Returns the logarithm of that sum. */
LIG_FORMULA double
lig_attention_with_sink (double lse, float sink)
{
  double apart = (double) sink - lse, max = apart > 0 ? (double) sink : lse;
  return max + (double) log1pf (expf ((float) (apart > 0 ? -apart : apart)));
}
