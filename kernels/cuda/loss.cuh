/* SPDX-License-Identifier: MIT */
/* Shared code of the cross-entropy kernels, standalone or fused with the LM head: the running sum
 * of a row's exponentials, and the gradient of a row. */
#pragma once

#include "kernels/cuda/common/teams.cuh"

namespace lig
{
constexpr float LOG2_E = 1.44269504f;

/* Returns the offset that is subtracted from the values of a row before they are summed: its first
 * value, so that a large common offset does not cost digits. */
__device__ inline float
base_of (float first)
{
  return fabsf (first) < INFINITY ? first : 0;
}

/* The running maximum of a lane's part of a row; the running sum of exponentials relative to it,
 * which is 0 if all values are minus infinity; and, if requested, the sum of x - base. */
struct Online {
  float max, exps, sum;
  __device__ float
  shift () const
  {
    return max == -INFINITY ? 0 : max;
  }
  /* Rescales the sum of exponentials to a larger maximum. */
  __device__ void
  rise (float to)
  {
    float before = max;
    max = to;
    exps *= lig_quick_power ((before - shift ()) * LOG2_E);
  }
  /* The logarithm of the sum of exponentials relative to the maximum; NaN without exponentials. */
  __device__ float
  log () const
  {
    return exps > 0 ? logf (exps) : NAN;
  }
  /* The loss of a row of `columns` values whose shard includes the target's logit. */
  __device__ float
  loss (float logit, float smoothing, float columns, float base) const
  {
    float logarithm = log (), loss = (1 - smoothing) * (shift () - logit + logarithm);
    return smoothing > 0 ? loss + smoothing * (logarithm + (shift () - base) - sum / columns)
                         : loss;
  }
  template <int N>
  __device__ void
  add (const float (&x)[N], bool plain, float base)
  {
    float old = max, part = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
      max = fmaxf (max, x[i]);
    float to = shift ();
#pragma unroll
    for (int i = 0; i < N; i++)
      part += lig_quick_power ((x[i] - to) * LOG2_E);
    exps = exps * lig_quick_power ((old - to) * LOG2_E) + part;
    if (plain) {
#pragma unroll
      for (int i = 0; i < N; i++)
        sum += x[i] - base;
    }
  }
};

/* The gradient of a row: factor (exp (x - max) / exps - even), minus factor hit at the target; log2
 * is the binary logarithm of exps. */
struct Slope {
  float max, log2, factor, even, hit;
  int64_t target;
  /* Replaces the values from `column` on by their gradients. Every element gets a subtraction, of 0
   * except at the target: an assignment to one element with a run-time index would put the array
   * into local memory instead of registers. */
  template <int N>
  __device__ void
  apply (float (&x)[N], int64_t column) const
  {
#pragma unroll
    for (int i = 0; i < N; i++)
      x[i] = factor * (lig_quick_power ((x[i] - max) * LOG2_E - log2) - even);
    if ((uint64_t) (target - column) >= N)
      return;
#pragma unroll
    for (int i = 0; i < N; i++)
      x[i] -= i == (int) (target - column) ? factor * hit : 0;
  }
};
} /* namespace lig */
