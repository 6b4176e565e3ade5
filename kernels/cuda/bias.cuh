/* SPDX-License-Identifier: MIT */
/* A bias added to rows, and a function of the sum. */
#pragma once

#include "kernels/cuda/common/walk.cuh"

namespace lig
{
/* Computes sum = x + bias and y = f (sum) for rows of x [M, N] and a bias [N]; the sum or y may be
 * absent. f gets the rounded sum. */
template <class A, class F>
__global__ void
__launch_bounds__ (THREADS, 4)
  add_bias_each (Target x, Vector bias, Target sum, Target y, Walk w, F f)
{
  constexpr int W = A::W, DEPTH = depth<A> (2);
  Spot s = spot<W> (w);
  if (s.first >= s.end)
    return;
  float added[W];
  load_columns (bias, s.column, added);
  for (int64_t row = s.first; row < s.end; row += DEPTH * s.step) {
    typename A::Value in[DEPTH];
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (row + u * s.step < s.end)
        in[u] = A::read (x, (row + u * s.step) * w.columns + s.column);
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (row + u * s.step < s.end) {
        int64_t at = (row + u * s.step) * w.columns + s.column;
        float values[W];
        A::widen (in[u], x, values);
        add_row (values, added);
        typename A::Value biased = A::narrow (values, sum);
        if (present (sum))
          A::write (sum, at, biased);
        if (present (y)) {
          A::widen (biased, sum, values);
#pragma unroll
          for (int i = 0; i < W; i++)
            values[i] = f (values[i]);
          A::write (y, at, A::narrow (values, y));
        }
      }
  }
}

/* Launches add_bias_each; `sum` and `y` may be null. */
template <class F>
static LigStatus
add_bias (LigLaunch *launch,
          const LigOperand *x,
          const LigOperand *bias,
          const LigOperand *sum,
          const LigOperand *y,
          F f)
{
  LigOperand none = {};
  int64_t columns = bias->size;
  if (x->size <= 0)
    return LIG_OK;
  Target to_sum = target_like (sum ? sum : &none, x), to_y = target (y ? y : &none);
  bool packs = packable ({x, sum ? sum : &none, y ? y : &none}) && aligned (bias) &&
               columns % (x->dtype == LIG_FP32 ? 4 : 8) == 0;
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Walk w = plain_walk (launch, x->size / columns, columns, A::W);
    add_bias_each<A><<<walk_grid (w, A::W), THREADS, 0, stream (launch)>>> (
      target (x), vector (bias), to_sum, to_y, w, function_for<A> (f));
    return LIG_LAUNCHED (launch);
  });
}
} /* namespace lig */
