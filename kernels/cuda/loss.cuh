/* SPDX-License-Identifier: MIT */
/* The common parts of the cross-entropy alone and of that with its product: the running sum of a
 * row's exponentials, and the gradient of a row. */
#pragma once

#include "kernels/cuda/common/teams.cuh"

namespace lig
{
constexpr float LOG2_E = 1.44269504f;

/* The running sum of exponentials of a lane's part of a row, relative to the largest value so
 * far. If all values are minus infinity, the sum is 0. */
struct Online {
  float most, exps, sum;
  __device__ float
  shift () const
  {
    return most == -INFINITY ? 0 : most;
  }
  template <int N>
  __device__ void
  add (const float (&x)[N], bool plain)
  {
    float old = most, part = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
      most = fmaxf (most, x[i]);
    float to = shift ();
#pragma unroll
    for (int i = 0; i < N; i++)
      part += lig_quick_power ((x[i] - to) * LOG2_E);
    exps = exps * lig_quick_power ((old - to) * LOG2_E) + part;
    if (plain) {
#pragma unroll
      for (int i = 0; i < N; i++)
        sum += x[i];
    }
  }
};

/* The gradient of a row: factor (exp (x - lse) - even), less factor hit at the target. */
struct Slope {
  float lse, factor, even, hit;
  int64_t target;
  /* Replaces the values from `column` on by their gradients. Each element has something
   * subtracted, which is 0 except at the target: an assignment to one element, whose number is
   * known at run time, would keep the array in memory instead of registers. */
  template <int N>
  __device__ void
  apply (float (&x)[N], int64_t column) const
  {
#pragma unroll
    for (int i = 0; i < N; i++)
      x[i] = factor * (lig_quick_power ((x[i] - lse) * LOG2_E) - even);
    if ((uint64_t) (target - column) >= N)
      return;
#pragma unroll
    for (int i = 0; i < N; i++)
      x[i] -= i == (int) (target - column) ? factor * hit : 0;
  }
};
} /* namespace lig */
