/* SPDX-License-Identifier: MIT */
/* The activations of kernels/activations.h on elements, with or without a bias that is added to
 * each row first, and their gradients. */
#include "kernels/cuda/bias.cuh"
#include "kernels/cuda/common/map.cuh"

namespace lig
{
namespace activation
{
/* An activation that is selected at run time. The backward pass of one that reads its output gets y
 * as x. */
struct Any {
  enum Kind {
#define KIND(name, ...) KIND_##name,
    LIG_EACH_ACTIVATION (KIND)
#undef KIND
  } kind;
  __device__ float
  operator() (float x) const
  {
    switch (uncertain (kind)) {
#define CASE(name, ...) \
  case KIND_##name: \
    return lig_##name (x);
      LIG_EACH_ACTIVATION (CASE)
#undef CASE
    }
    return x;
  }
  __device__ float
  backward (float dy, float x) const
  {
    switch (uncertain (kind)) {
#define CASE(name, backward_name, ...) \
  case KIND_##name: \
    return lig_##backward_name (dy, x);
      LIG_EACH_ACTIVATION (CASE)
#undef CASE
    }
    return dy;
  }
};

#define ACTIVATION(name, backward_name, ...) \
  struct name { \
    Any \
    any () const \
    { \
      return Any{Any::KIND_##name}; \
    } \
    __device__ float \
    operator() (float x) const \
    { \
      return lig_##name (x); \
    } \
    __device__ float \
    backward (float dy, float x) const \
    { \
      return lig_##backward_name (dy, x); \
    } \
  };
LIG_EACH_ACTIVATION (ACTIVATION)
#undef ACTIVATION

template <class F> struct Forward {
  F f;
  auto
  any () const
  {
    return Forward<Any>{f.any ()};
  }
  __device__ void
  begin () const
  {
  }
  template <int W>
  __device__ void
  apply (float (&x)[W], const float (&)[W], int64_t) const
  {
#pragma unroll
    for (int i = 0; i < W; i++)
      x[i] = f (x[i]);
  }
};

template <class F> struct Backward {
  F f;
  auto
  any () const
  {
    return Backward<Any>{f.any ()};
  }
  __device__ void
  begin () const
  {
  }
  template <int W>
  __device__ void
  apply (float (&dy)[W], const float (&x)[W], int64_t) const
  {
#pragma unroll
    for (int i = 0; i < W; i++)
      dy[i] = f.backward (dy[i], x[i]);
  }
};

/* Computes dx [M, N], rounded, and its sums over rows. */
template <class A, class F>
__global__ void
__launch_bounds__ (THREADS, 4)
  bias_backward_each (Target dy, Target x, Target dx, Walk w, Sums to, F f)
{
  constexpr int W = A::W, DEPTH = depth<A> (2);
  float sums[1][W] = {};
  go_down<A, 2, DEPTH> (
    w, spot<W> (w),
    [&] (int64_t at, auto take) {
      take (0, dy, at);
      take (1, x, at);
    },
    [&] (int64_t at, const typename A::Value (&in)[2]) {
      float values[W], inputs[W];
      A::widen (in[0], dy, values);
      A::widen (in[1], x, inputs);
      f.apply (values, inputs, 0);
      typename A::Value rounded = A::narrow (values, dx);
      if (present (dx))
        A::write (dx, at, rounded);
      A::widen (rounded, dx, values);
      add_row (sums[0], values);
    });
  finish_sums (w, to, sums);
}

/* Launches y = act (x), element by element. */
template <class F>
static LigStatus
forward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (!all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "activation: not a floating type; convert to fp32, fp16 or bf16");
  return map<false> (launch, &o[0], nullptr, &o[1], Forward<F>{});
}

/* Launches dx = dy act' (x), element by element. */
template <class F>
static LigStatus
backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (!all_floating (launch, 3))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "activation: not a floating type; convert to fp32, fp16 or bf16");
  return map<true> (launch, &o[0], &o[1], &o[2], Backward<F>{});
}

/* Launches sum = x + bias and y = act (sum) for rows of x [M, N] and a bias [N]. */
template <class F>
static LigStatus
bias_forward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (!all_floating (launch, 4))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "bias and activation: not a floating type; convert to fp32, fp16 or bf16");
  return add_bias (launch, &o[0], &o[1], &o[2], &o[3], F{});
}

/* Launches dx = dy act' (x) for x [M, N], and dbias [N], the sum of the rounded dx over rows. */
template <class F>
static LigStatus
bias_backward (LigLaunch *launch)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dx = &launch->operands[2], *dbias = &launch->operands[3];
  int64_t columns = x->columns;
  if (!all_floating (launch, 4) || !sums_fit (columns))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "bias and activation: not a floating type, or more than 2^23 columns; convert "
                     "or reduce them");
  if (!dbias->data)
    return map<true> (launch, dy, x, dx, Backward<F>{});
  Walk w = sum_walk (launch, rows (x), columns, x->dtype);
  Sums to = sums_to (launch, w, dbias);
  bool packs = packable ({x, dy, dx}) && columns % (x->dtype == LIG_FP32 ? 4 : 8) == 0;
  dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    bias_backward_each<A><<<walk_grid (w, A::W), THREADS, 0, stream (launch)>>> (
      target (dy), target (x), target_like (dx, x), w, to, function_for<A> (Backward<F>{}));
    return LIG_OK;
  });
  return finish_walk (launch, w, to, dbias);
}
} /* namespace activation */
} /* namespace lig */

using namespace lig;

#define KERNELS(name, backward_name, bias_name, bias_backward_name, ...) \
  extern "C" LigStatus lig_cuda_##name (LigLaunch *launch) \
  { \
    return activation::forward<activation::name> (launch); \
  } \
  extern "C" LigStatus lig_cuda_##backward_name (LigLaunch *launch) \
  { \
    return activation::backward<activation::name> (launch); \
  } \
  extern "C" LigStatus lig_cuda_##bias_name (LigLaunch *launch) \
  { \
    return activation::bias_forward<activation::name> (launch); \
  } \
  extern "C" LigStatus lig_cuda_##bias_backward_name (LigLaunch *launch) \
  { \
    return activation::bias_backward<activation::name> (launch); \
  }
LIG_EACH_ACTIVATION (KERNELS)
