/* SPDX-License-Identifier: MIT */
/* Quantized copies of activations and of their gradients, computed in one pass over memory. */
#include "kernels/cuda/norm.cuh"
#include "kernels/cuda/quantize-source.cuh"
#include "kernels/functions.h"

namespace lig
{
/* The numbers that are added to W neighbouring columns. */
template <int W> struct Biases {
  float values[W];
};

/* Rounds neighbouring elements to T, or, if T is float, to the launch's type. */
template <class T, int W>
__device__ inline void
round_to (LigDtype dtype, float (&values)[W])
{
  if constexpr (std::is_same_v<T, float>) {
#pragma unroll
    for (int i = 0; i < W; i++)
      values[i] = dtype == LIG_FP16   ? widen (narrow<half> (values[i]))
                  : dtype == LIG_BF16 ? widen (narrow<bf16> (values[i]))
                                      : values[i];
  } else {
#pragma unroll
    for (int i = 0; i < W; i += 2)
      widen_pair<T> (narrow_pair<T> (values[i], values[i + 1]), values[i], values[i + 1]);
  }
}

/* y = act (x). Between 0 and RISES, 0.5, activations are at most x, and from there on they are
 * increasing. Below 0 they are at least -0.28; those that are negative there are at least 0.31 at
 * RISES. */
struct Activation {
  using Of = void;
  static constexpr int STREAMS = 1, TILES = 1;
  static constexpr bool RISING = true;
  Target x;
  int function;
  __device__ const Target &
  stream (int) const
  {
    return x;
  }
  __device__ int64_t
  place (int, int64_t row, int64_t column, int64_t columns) const
  {
    return row * columns + column;
  }
  template <int W>
  __device__ void
  apply (const float (&in)[1][W], float (&out)[1][W]) const
  {
    const int number = uncertain (function);
    if (number == LIG_FUNCTION_gelu) { /* the most frequent, without a jump table */
#pragma unroll
      for (int i = 0; i < W; i++)
        out[0][i] = lig_gelu (in[0][i]);
      return;
    }
    switch (number) {
#define CASE(name, ...) \
  case LIG_FUNCTION_##name: \
    _Pragma ("unroll") for (int i = 0; i < W; i++) out[0][i] = lig_##name (in[0][i]); \
    break;
      LIG_EACH_ACTIVATION (CASE)
#undef CASE
    }
  }
};

/* dx = dy act' (x), with y instead of x if the backward pass reads y. */
struct ActivationBackward {
  using Of = void;
  static constexpr int STREAMS = 2, TILES = 1;
  static constexpr bool RISING = false;
  Target dy, x;
  int function;
  __device__ const Target &
  stream (int i) const
  {
    return i ? x : dy;
  }
  __device__ int64_t
  place (int, int64_t row, int64_t column, int64_t columns) const
  {
    return row * columns + column;
  }
  template <int W>
  __device__ void
  apply (const float (&in)[2][W], float (&out)[1][W]) const
  {
    const int number = uncertain (function);
    if (number == LIG_FUNCTION_gelu) {
#pragma unroll
      for (int i = 0; i < W; i++)
        out[0][i] = lig_gelu_backward (in[0][i], in[1][i]);
      return;
    }
    switch (number) {
#define CASE(name, backward_name, ...) \
  case LIG_FUNCTION_##name: \
    _Pragma ("unroll") for (int i = 0; i < W; i++) out[0][i] = \
      lig_##backward_name (in[0][i], in[1][i]); \
    break;
      LIG_EACH_ACTIVATION (CASE)
#undef CASE
    }
  }
};

/* The function F of the last stream plus a bias, with that sum rounded to T. A bias that is loaded
 * at once has type P. */
template <class F, class T, class P> struct Biased : F {
  using Of = T;
  Vector bias;
};

template <class F, class T, class P>
Biased<F, float, float>
of_any_types (const Biased<F, T, P> &f)
{
  return {f, f.bias};
}

/* Sets the biases of W columns: as words of the streams' type, if they have that type. */
template <int W, class F, class T, class P>
__device__ inline auto
columns_of (const Biased<F, T, P> &f, int64_t column)
{
  if constexpr (W == 1) {
    return Biases<W>{f.bias[column]};
  } else if constexpr (std::is_same_v<T, P> && sizeof (T) == 2) {
    return Words<T>{*(const uint4 *) ((const T *) f.bias.data + column)};
  } else {
    Biases<W> biases;
    ParameterPack<P, W> pack;
    pack.load ((const P *) f.bias.data + column);
    pack.widen_to (biases.values);
    return biases;
  }
}

/* The sums of two pairs in one word. They are rounded like fp32 sums, which are inexact only if the
 * smaller addend is negligible. */
struct SumOfPairs {
  template <class Two>
  __device__ Two
  operator() (Two a, Two b) const
  {
    return __hadd2 (a, b);
  }
};

/* Adds the biases to the last stream. */
template <class F, class T>
__device__ inline Words<T>
taken_from (const Biased<F, T, T> &, int stream, const Words<T> &words, const Words<T> &biases)
{
  Pair<T> sums[4], added[4];
  Words<T> result;
  if (stream < F::STREAMS - 1)
    return words;
  memcpy (sums, &words, sizeof sums);
  memcpy (added, &biases, sizeof added);
#pragma unroll
  for (int i = 0; i < 4; i++)
    sums[i] = combined (sums[i], added[i], SumOfPairs{});
  memcpy (&result, sums, sizeof result);
  return result;
}

template <class F, class T, int S, int W>
__device__ inline void
apply_to (const Biased<F, T, T> &f,
          const float (&in)[S][W],
          float (&out)[1][W],
          const Nothing &,
          const Words<T> &)
{
  f.apply (in, out);
}

template <class F, class T, class P, int W>
__device__ inline void
argument_of (const Biased<F, T, P> &f, float (&values)[W], const Biases<W> &biases)
{
#pragma unroll
  for (int i = 0; i < W; i++)
    values[i] += biases.values[i];
  round_to<T> (f.x.dtype, values);
}

template <class F, class T, class P, int S, int W>
__device__ inline void
apply_to (const Biased<F, T, P> &f,
          const float (&in)[S][W],
          float (&out)[1][W],
          const Nothing &,
          const Biases<W> &biases)
{
  float sums[S][W];
  memcpy (sums, in, sizeof sums);
  argument_of (f, sums[S - 1], biases);
  f.apply (sums, out);
}

/* Quantizes F of x, or of x + bias if there is one. */
template <class F>
static LigStatus
quantize_activation (LigLaunch *launch,
                     const LigOperand *x,
                     const LigOperand *bias,
                     const LigOperand *scale,
                     const LigOperand *dbias,
                     int first,
                     const F &f,
                     const LigOperand *values,
                     bool packs)
{
  if (!bias->data)
    return quantize_producer (launch, x, scale, dbias, first, f, values, packs);
  if (bias->size != x->columns)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: the bias has another length than a row");
  auto run = [&] (auto one, auto number, bool fits) {
    Biased<F, decltype (one), decltype (number)> biased;
    (F &) biased = f;
    biased.bias = vector (bias);
    return quantize_producer (launch, x, scale, dbias, first, biased, values, fits);
  };
  if (!packs || !weight_packs (bias, x->dtype))
    return run (float{}, float{}, false);
  return dispatch (launch, x->dtype, [&] (auto one) {
    using T = decltype (one);
    return dispatch_weight<T> (bias->dtype, [&] (auto number) { return run (T{}, number, true); });
  });
}
} /* namespace lig */

using namespace lig;

/* Writes the quantized copies of y = act (x + bias), and y if it is present. If the sum is present
 * as well, it is written first, and then read. */
extern "C" LigStatus
lig_cuda_activation_quantize (LigLaunch *launch)
{
  if (reject_older (launch) != LIG_OK)
    return LIG_UNSUPPORTED;
  const LigOperand *o = launch->operands, *x = &o[0], *sum = &o[3], *y = &o[4];
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  LigOperand bias = o[1];
  if (bias.data && sum->data) {
    LigOperand operands[] = {*x, bias, *sum};
    LigLaunch add = *launch;
    add.operands = operands;
    LigStatus status = lig_cuda_bias (&add);
    launch->where = add.where;
    if (status != LIG_OK)
      return status;
    x = sum;
    bias.data = nullptr;
  }
  return quantize_activation (launch, x, &bias, &o[2], nullptr, 5,
                              Activation{target (x), params->function}, y,
                              streams_pack ({x, y}, x->columns));
}

/* Writes the quantized copies of dx = dy act' (x + bias); dx, and dbias, its sum over rows, if they
 * are present. */
extern "C" LigStatus
lig_cuda_activation_backward_quantize (LigLaunch *launch)
{
  if (reject_older (launch) != LIG_OK)
    return LIG_UNSUPPORTED;
  const LigOperand *o = launch->operands, *dy = &o[0], *x = &o[1], *bias = &o[2], *dx = &o[4];
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  return quantize_activation (launch, x, bias, &o[3], &o[5], 6,
                              ActivationBackward{target (dy), target (x), params->function}, dx,
                              streams_pack ({x, dy, dx}, x->columns));
}
