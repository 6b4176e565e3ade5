/* SPDX-License-Identifier: MIT */
/* Shared code of the norms, forward and backward: the length of a row, its mapping to threads, and
 * the parameters of a pack of columns. */
#pragma once

#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/common/early.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include <ligature/params-norm.h>

namespace lig
{
struct Norm {
  int64_t length, rows;
  float share;   /* weight of an element in a mean: 1 / length; 1 for l2, which sums */
  float eps;     /* added under the square root */
  float offset;  /* added to the weight to give the gain: 1 if zero-centered */
  bool centered; /* layer norm: the mean is subtracted */
};

/* Fills in a norm; `weight` is null for l2. Rows too long for the CPU's workspace are rejected here
 * as well, so that both backends have the same limit. */
inline LigStatus
prepare (
  Norm *norm, LigLaunch *launch, const LigOperand *x, const LigOperand *weight, bool centered)
{
  const LigNormParams *params = (const LigNormParams *) launch->params;
  int64_t length = weight ? weight->size : x->columns;
  norm->length = length;
  norm->rows = length > 0 ? x->size / length : 0;
  norm->share = weight ? 1 / (float) length : 1;
  norm->eps = params ? params->eps : weight ? 1e-5f : 1e-6f;
  norm->offset = params && params->zero_centered ? 1 : 0;
  norm->centered = centered;
  if (length > (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float) / 4))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "norm: a row is longer than 2^21; reduce it");
  return LIG_OK;
}

/* Returns the normalized element, with the same rounding in all kernels. */
__device__ inline float
normalized (float v, float mean, float rstd, float gain, float bias)
{
  return __fmaf_rn ((v - mean) * rstd, gain, bias);
}

/* Returns the mean of a row, given one of its elements and the mean of the differences from that.
 * `*lost` is the rounding error of the sum (Knuth, The Art of Computer Programming, 4.2.2, theorem
 * B). */
__device__ inline float
move_mean (float element, float rest, float *lost)
{
  float mean = element + rest, moved = mean - element;
  *lost = (element - (mean - moved)) + (rest - moved);
  return mean;
}

/* Returns the variance, given the mean square of the differences from a rounded mean. */
__device__ inline float
variance_of (float square, float lost)
{
  return fmaxf (square - lost * lost, 0);
}

/* Returns whether the operand is absent or of that type. */
inline bool
of_type (const LigOperand *operand, LigDtype dtype)
{
  return !operand || !operand->data || operand->dtype == dtype;
}

/* Returns whether the operand is absent or allows 16-byte accesses. */
inline bool
packable (const LigOperand *operand)
{
  return !operand || aligned (operand);
}

/* Returns an operand as a Vector; a null operand as an absent one. */
inline Vector
optional_vector (const LigOperand *operand)
{
  return operand ? vector (operand) : Vector{nullptr, LIG_FP32};
}

/* The mapping of a row to threads: LANES threads, half a warp, a warp, or (0) several warps whose
 * number is set by the launch; each thread holds up to PACKS packs, `lanes` apart. */
template <int LANES_, int PACKS_> struct Shape {
  static constexpr int LANES = LANES_, PACKS = PACKS_;
};

/* The largest number of packs of elements of type T in a row that is held in registers: longer
 * 16-bit rows are rare. */
template <class T> constexpr int max_packs = sizeof (T) < 4 ? 2048 : 4096;

/* Calls `f` with the shape for rows of that many packs of elements of type T. */
template <class T, class F>
inline LigStatus
choose_shape (int64_t packs, F f)
{
  if (packs <= 16)
    return f (Shape<16, 1>{});
  if (packs <= 32)
    return f (Shape<32, 1>{});
  if (packs <= 64)
    return f (Shape<32, 2>{});
  if (packs <= 128)
    return f (Shape<32, 4>{});
  if (packs <= 2048)
    return f (Shape<0, 4>{});
  return f (Shape<0, max_packs<T> / 512>{});
}

/* Returns the number of threads for a row of several warps with `each` packs per thread: the
 * smallest sufficient power of two. */
inline int
threads_of_row (int64_t packs, int each)
{
  int threads = 64;
  while (threads * each < packs)
    threads *= 2;
  return threads;
}

/* Calls `f` with the element type of the weight, which is T or fp32: the types that the vectorized
 * path supports. */
template <class T, class F>
inline LigStatus
dispatch_weight (LigDtype dtype, F f)
{
  return dtype == LIG_FP32 ? f (float{}) : f (T{});
}

/* Returns whether that weight can be loaded in packs. */
inline bool
weight_packs (const LigOperand *weight, LigDtype dtype)
{
  return !weight || !weight->data ||
         (aligned (weight) && (weight->dtype == dtype || weight->dtype == LIG_FP32));
}

/* The parameters of W neighbouring columns, as stored in memory. */
template <class P, int W> struct ParameterPack {
  Pack<P> packs[W / wide<P>];
  __device__ void
  load (const P *from)
  {
#pragma unroll
    for (int i = 0; i < W / wide<P>; i++)
      packs[i] = load_constant (from + i * wide<P>);
  }
  __device__ void
  widen_to (float (&to)[W]) const
  {
    float part[wide<P>];
#pragma unroll
    for (int i = 0; i < W / wide<P>; i++) {
      unpack (packs[i], part);
#pragma unroll
      for (int j = 0; j < wide<P>; j++)
        to[i * wide<P> + j] = part[j];
    }
  }
};

/* Returns an element of a parameter, or `absent`, for rows that are read from memory in each pass.
 * These are rare, so the loop is not specialized for presence or type. */
__device__ inline float
parameter_at (const Vector &parameter, int64_t i, float absent)
{
  const void *data = (const void *) uncertain ((int64_t) parameter.data);
  return data ? Vector{data, (LigDtype) uncertain (parameter.dtype)}[i] : absent;
}

/* Returns the gain of column i for such rows. */
__device__ inline float
gain_at (const Norm &norm, const Vector &weight, int64_t i)
{
  return parameter_at (weight, i, 1 - norm.offset) + norm.offset;
}

/* The mapping of rows that are read from memory in each pass instead of held in registers:
 * misaligned or very long ones. */
struct Spread {
  int lanes, threads;
  unsigned blocks;
};

/* Returns the mapping of a norm's rows; `packs` if they are read in packs. */
inline Spread
spread_rows (const LigLaunch *launch, const Norm &norm, bool packs)
{
  Spread spread;
  spread.lanes = packs || norm.length > 1024 ? 0 : norm.length > 16 ? 32 : 4;
  spread.threads = packs ? 512 : 256;
  int64_t at_once = spread.lanes ? spread.threads / spread.lanes : 1;
  int64_t blocks = (norm.rows + at_once - 1) / at_once;
  int64_t max = (int64_t) launch->device->multiprocessors * 32;
  spread.blocks = (unsigned) (blocks < max ? blocks : max);
  return spread;
}
} /* namespace lig */
