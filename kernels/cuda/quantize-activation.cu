/* SPDX-License-Identifier: MIT */
/* Quantized copies of activations and of their gradients, computed in the same reading. */
#include "kernels/cuda/quantize-source.cuh"
#include "kernels/functions.h"

namespace lig
{
/* y = act (x). */
struct Activation {
  static constexpr int STREAMS = 1, TILES = 1;
  static constexpr bool BOUNDED = true;
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
  /* Activations are at most x where that is positive, and no less than -0.28 below. */
  __device__ float
  bound (float x) const
  {
    return function == LIG_FUNCTION_srelu ? INFINITY : fmaxf (1.0001f * x, 0.28f);
  }
  template <int W>
  __device__ void
  apply (const float (&in)[1][W], float (&out)[1][W]) const
  {
    switch (uncertain (function)) {
#define CASE(name, ...) \
  case LIG_FUNCTION_##name: \
    _Pragma ("unroll") for (int i = 0; i < W; i++) out[0][i] = lig_##name (in[0][i]); \
    break;
      LIG_EACH_ACTIVATION (CASE)
#undef CASE
    }
  }
};

/* dx = dy act' (x), with y instead of x where the backward pass reads that. */
struct ActivationBackward {
  static constexpr int STREAMS = 2, TILES = 1;
  static constexpr bool BOUNDED = true;
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
  /* Derivatives of activations are at most 1.13, that of gelu. */
  __device__ float
  bound (float dy) const
  {
    return function == LIG_FUNCTION_srelu ? INFINITY : 1.14f * fabsf (dy);
  }
  template <int W>
  __device__ void
  apply (const float (&in)[2][W], float (&out)[1][W]) const
  {
    switch (uncertain (function)) {
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
} /* namespace lig */

using namespace lig;

/* Writes the quantized copies of y = act (x), and y if it is present. */
extern "C" LigStatus
lig_cuda_activation_quantize (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[0], *y = &o[2];
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  return quantize_producer (launch, x, &o[1], nullptr, 3, Activation{target (x), params->function},
                            y, streams_pack ({x, y}, x->columns));
}

/* Writes the quantized copies of dx = dy act' (x); dx, and dbias, its sum over rows, if they are
 * present. */
extern "C" LigStatus
lig_cuda_activation_backward_quantize (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *dy = &o[0], *x = &o[1], *dx = &o[3];
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  return quantize_producer (launch, x, &o[2], &o[4], 5,
                            ActivationBackward{target (dy), target (x), params->function}, dx,
                            streams_pack ({x, dy, dx}, x->columns));
}
