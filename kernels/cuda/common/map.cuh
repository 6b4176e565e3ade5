/* SPDX-License-Identifier: MIT */
/* Element-wise functions y = f (a, b), for any shape. */
#pragma once

#include "kernels/cuda/common/access.cuh"

namespace lig
{
/* Applies f to elements. A thread processes up to `each` values, a threadblock's width apart, and
 * loads them all before it uses the first. The tail that does not fill 16 bytes is processed
 * element by element. */
template <class A, bool BINARY, class F>
__global__ void
__launch_bounds__ (THREADS) map_elements (Target a, Target b, Target y, int64_t size, int each, F f)
{
  constexpr int W = A::W, DEPTH = depth<A> (2);
  typename A::Value left[DEPTH], right[DEPTH];
  int64_t base = ((gridDim.x - 1 - (int64_t) blockIdx.x) * each * THREADS + threadIdx.x) * W;
  f.begin ();
#pragma unroll
  for (int u = 0; u < DEPTH; u++)
    if (u < each && base + (u * THREADS + 1) * W <= size) {
      left[u] = A::read (a, base + u * THREADS * W);
      if (BINARY)
        right[u] = A::read (b, base + u * THREADS * W);
    }
#pragma unroll
  for (int u = 0; u < DEPTH; u++)
    if (u < each && base + (u * THREADS + 1) * W <= size) {
      int64_t at = base + u * THREADS * W;
      float values[W], others[W];
      A::widen (left[u], a, values);
      if (BINARY)
        A::widen (right[u], b, others);
      f.apply (values, others, at);
      A::write (y, at, A::narrow (values, y));
    }
  int64_t rest = size / W * W + threadIdx.x;
  if (W > 1 && blockIdx.x == 0 && rest < size) {
    float value[1] = {a.get (rest)}, other[1] = {BINARY ? b.get (rest) : 0};
    f.apply (value, other, rest);
    y.set (rest, value[0]);
  }
}

/* Launches map_elements; `b` is null for a function of one argument. Small sizes get less work per
 * thread, so that no SM is idle. */
template <bool BINARY, class F>
static LigStatus
map (LigLaunch *launch, const LigOperand *a, const LigOperand *b, const LigOperand *y, F f)
{
  int64_t size = y->size;
  if (size <= 0)
    return LIG_OK;
  bool packs = packable ({a, BINARY ? b : a, y});
  return dispatch_access (launch, a->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    int64_t values = (size + A::W - 1) / A::W, min = (int64_t) launch->device->multiprocessors * 4;
    int each = depth<A> (2);
    while (each > 1 && values < min * THREADS * each)
      each /= 2;
    unsigned blocks = (unsigned) ((values + THREADS * each - 1) / (THREADS * each));
    map_elements<A, BINARY><<<blocks, THREADS, 0, stream (launch)>>> (
      target (a), target (BINARY ? b : a), target (y), size, each, function_for<A> (f));
    return LIG_LAUNCHED (launch);
  });
}
} /* namespace lig */
