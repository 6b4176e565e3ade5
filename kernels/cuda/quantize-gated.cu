/* SPDX-License-Identifier: MIT */
/* Quantized copies of gated units and of their gradients, computed in one pass over memory. */
#include "kernels/cuda/gated.cuh"
#include "kernels/cuda/quantize-source.cuh"
#include "kernels/functions.h"

namespace lig
{
/* y = act (a) b, where a row of x is [a, b]. */
struct Gated {
  using Of = void;
  static constexpr int STREAMS = 2, TILES = 1;
  static constexpr bool RISING = false;
  Target x;
  int function, block;
  LigGatedParams params;
  __device__ const Target &
  stream (int) const
  {
    return x;
  }
  __device__ int64_t
  place (int i, int64_t row, int64_t column, int64_t columns) const
  {
    int64_t shift = gate_shift ((int) column, block);
    return 2 * row * columns + column + shift + i * block;
  }
  template <int W>
  __device__ void
  apply (const float (&in)[2][W], float (&out)[1][W]) const
  {
    switch (uncertain (function)) {
#define CASE(name, ...) \
  case LIG_FUNCTION_##name: \
    _Pragma ("unroll") for (int i = 0; i < W; i++) out[0][i] = lig_##name (in[0][i], in[1][i]); \
    break;
      LIG_EACH_GATED (CASE)
#undef CASE
#define CASE(name, ...) \
  case LIG_FUNCTION_##name: \
    _Pragma ("unroll") for (int i = 0; i < W; i++) out[0][i] = \
      lig_##name (in[0][i], in[1][i], &params); \
    break;
      LIG_EACH_GATED_WITH_PARAMS (CASE)
#undef CASE
    }
  }
};

/* dx = [da, db]. */
struct GatedBackward {
  using Of = void;
  static constexpr int STREAMS = 3, TILES = 2;
  static constexpr bool RISING = false;
  Target dy, x;
  int function;
  LigGatedParams params;
  __device__ const Target &
  stream (int i) const
  {
    return i ? x : dy;
  }
  __device__ int64_t
  place (int i, int64_t row, int64_t column, int64_t columns) const
  {
    int64_t half = columns / 2;
    return i ? (2 * row + i - 1) * half + column : row * half + column;
  }
  template <int W>
  __device__ void
  apply (const float (&in)[3][W], float (&out)[2][W]) const
  {
    switch (uncertain (function)) {
#define CASE(name, backward_name, ...) \
  case LIG_FUNCTION_##name: \
    _Pragma ("unroll") for (int i = 0; i < W; i++) \
      lig_##backward_name (in[0][i], in[1][i], in[2][i], &out[0][i], &out[1][i]); \
    break;
      LIG_EACH_GATED (CASE)
#undef CASE
#define CASE(name, backward_name, ...) \
  case LIG_FUNCTION_##name: \
    _Pragma ("unroll") for (int i = 0; i < W; i++) \
      lig_##backward_name (in[0][i], in[1][i], in[2][i], &params, &out[0][i], &out[1][i]); \
    break;
      LIG_EACH_GATED_WITH_PARAMS (CASE)
#undef CASE
    }
  }
};

/* Returns an operand with half as many columns, for one half of its rows. */
static LigOperand
half_of (const LigOperand *x)
{
  LigOperand half = *x;
  half.columns /= 2;
  half.size /= 2;
  return half;
}
} /* namespace lig */

using namespace lig;

/* Writes the quantized copies of y = act (a) b, and y if it is present. */
extern "C" LigStatus
lig_cuda_gated_quantize (LigLaunch *launch)
{
  if (reject_older (launch) != LIG_OK)
    return LIG_UNSUPPORTED;
  const LigOperand *o = launch->operands, *x = &o[0], *y = &o[2];
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  LigOperand half = half_of (x);
  int64_t block = block_length (params->gated, half.columns);
  if (half.columns > 0 && !blocks_fit (half.columns, block))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_NO_DIVISOR);
  return quantize_producer (launch, &half, &o[1], nullptr, 3,
                            Gated{target (x), params->function, (int) block, params->gated}, y,
                            streams_pack ({x, y}, half.columns) && block % SIDE == 0);
}

/* Writes the quantized copies of dx = [da, db]; dx, and dbias, its sum over rows, if they are
 * present. */
extern "C" LigStatus
lig_cuda_gated_backward_quantize (LigLaunch *launch)
{
  if (reject_older (launch) != LIG_OK)
    return LIG_UNSUPPORTED;
  const LigOperand *o = launch->operands, *dy = &o[0], *x = &o[1], *dx = &o[3];
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  if (params->gated.interleave > 0)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "gated unit: the halves are interleaved; quantize its gradient by a kernel of "
                     "its own");
  /* Both tiles of a threadblock must coincide with tiles of the scales. */
  bool packs = streams_pack ({x, dy, dx}, x->columns / 2) && x->columns / 2 % EDGE == 0;
  return quantize_producer (launch, x, &o[2], &o[4], 5,
                            GatedBackward{target (dy), target (x), params->function, params->gated},
                            dx, packs);
}
