/* SPDX-License-Identifier: MIT */
/* Quantized copies of normalized rows, computed from known statistics in one pass over memory. */
#include "kernels/cuda/norm.cuh"
#include "kernels/cuda/quantize-source.cuh"

namespace lig
{
/* y = (x - mean) rstd gain + bias. Vectors of parameters that are loaded at once have type P. */
template <class P> struct Normalized {
  static constexpr int STREAMS = 1, TILES = 1;
  static constexpr bool RISING = false;
  Target x;
  Vector weight, bias;
  const float *mean, *rstd;
  float offset;
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
};

/* The statistics of a row. */
struct Statistics {
  float mean, rstd;
};

template <class P>
__device__ inline Statistics
row_of (const Normalized<P> &f, int64_t row)
{
  return {f.mean ? f.mean[row] : 0, f.rstd[row]};
}

/* The parameters of W columns. */
template <int W> struct Affine {
  float gains[W], biases[W];
};

/* Loads neighbouring elements of a parameter, which may be absent. */
template <class P, int W>
__device__ inline void
read_parameter (const Vector &parameter, int64_t column, float (&values)[W], float absent)
{
#pragma unroll
  for (int i = 0; i < W; i++)
    values[i] = absent;
  if (!parameter.data)
    return;
  if constexpr (W == 1) {
    values[0] = parameter[column];
  } else {
    ParameterPack<P, W> pack;
    pack.load ((const P *) parameter.data + column);
    pack.widen_to (values);
  }
}

template <int W, class P>
__device__ inline Affine<W>
columns_of (const Normalized<P> &f, int64_t column)
{
  Affine<W> affine;
  read_parameter<P> (f.weight, column, affine.gains, 1);
  read_parameter<P> (f.bias, column, affine.biases, 0);
#pragma unroll
  for (int i = 0; i < W; i++)
    affine.gains[i] += f.offset;
  return affine;
}

template <class P, int W>
__device__ inline void
apply_to (const Normalized<P> &f,
          const float (&in)[1][W],
          float (&out)[1][W],
          const Statistics &of_row,
          const Affine<W> &affine)
{
#pragma unroll
  for (int i = 0; i < W; i++)
    out[0][i] = normalized (in[0][i], of_row.mean, of_row.rstd, affine.gains[i], affine.biases[i]);
}

enum { X, WEIGHT, BIAS, MEAN, RSTD, SCALE, Y, ROW };

template <class P>
static Normalized<P>
normalized_source (const LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  return {target (&o[X]),
          vector (&o[WEIGHT]),
          vector (&o[BIAS]),
          (const float *) o[MEAN].data,
          (const float *) o[RSTD].data,
          params->norm.zero_centered ? 1.0f : 0.0f};
}
} /* namespace lig */

using namespace lig;

/* Writes the quantized copies of y = (x - mean) rstd gain + bias, and y if it is present. */
extern "C" LigStatus
lig_cuda_norm_quantize (LigLaunch *launch)
{
  if (reject_older (launch) != LIG_OK)
    return LIG_UNSUPPORTED;
  const LigOperand *o = launch->operands, *y = &o[Y], none = {};
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  if (!all_floating (launch, ROW))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: not a floating type; convert to fp32, fp16 or bf16");
  if (o[WEIGHT].size != o[X].columns)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: the norm extends over several axes; normalize the last one");
  Quantization q = quantization (launch, &params->quantize, &o[X], &o[SCALE], ROW);
  Lines lines = {};
  LigStatus status = place_lines (launch, &q, false, &lines);
  LigDtype parameters = o[WEIGHT].dtype;
  if (status != LIG_OK)
    return status;
  if (!streams_pack ({&o[X], y}, q.columns) || !weight_packs (&o[WEIGHT], q.source) ||
      !weight_packs (&o[BIAS], q.source) || !of_type (&o[BIAS], parameters) || !copies_pack (q))
    return quantize_from<false> (
      launch, q, lines,
      LooseSource<Normalized<float>>{normalized_source<float> (launch), target (y)}, &none);
  return dispatch (launch, q.source, [&] (auto one) {
    using T = decltype (one);
    return dispatch_weight<T> (parameters, [&] (auto weight) {
      using P = decltype (weight);
      PackedSource<Normalized<P>, T> source = {normalized_source<P> (launch), (T *) y->data};
      return quantize_from<true> (launch, q, lines, source, &none);
    });
  });
}
