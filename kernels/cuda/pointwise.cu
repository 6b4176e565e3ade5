/* SPDX-License-Identifier: MIT */
/* Element-wise operations on any shape: convert, add, scale, dropout, drop_path. Lower bound: each
 * operand crosses the memory bus once; the samples that drop_path drops are not read. */
#include "kernels/cuda/common/map.cuh"
#include "kernels/positions.h"
#include <ligature/params-matmul.h>
#include <ligature/params-random.h>

#include <cuda_fp8.h>

namespace lig
{
/* A unary element-wise function f. */
template <class F> struct Each {
  F f;
  Each
  any () const
  {
    return *this;
  }
  __device__ void
  begin () const
  {
  }
  template <int W>
  __device__ void
  apply (float (&a)[W], const float (&b)[W], int64_t) const
  {
#pragma unroll
    for (int i = 0; i < W; i++)
      a[i] = f (a[i], b[i]);
  }
};

struct Add {
  __device__ float
  operator() (float a, float b) const
  {
    return a + b;
  }
};

struct Scale {
  float factor;
  __device__ float
  operator() (float a, float) const
  {
    return factor * a;
  }
};

/* Dropout: y = x / (1 - p) for the elements kept. Four elements share the four words of one
 * Philox counter. */
struct Dropout {
  const LigTick *tick;
  uint64_t path_hash, threshold;
  float scale;
  int64_t before; /* number of elements in earlier ranks */
  int64_t block;  /* 0: elements are numbered consecutively; see LigDropoutParams */
  int ranks, rank;
  uint64_t seed, micro_step;
  Dropout
  any () const
  {
    return *this;
  }
  /* Reads the tick once, before all stores: the compiler cannot know that these do not alias it. */
  __device__ void
  begin ()
  {
    seed = tick->seed;
    micro_step = tick->micro_step;
  }
  /* Returns the global index of an element, over all processes. */
  __device__ int64_t
  number (int64_t at) const
  {
    if (block == 0)
      return before + at;
    int64_t k = at / block;
    return before + (k / 2 * 2 * ranks + lig_block_number (ranks, rank, k % 2 != 0)) * block +
           at % block;
  }
  __device__ float
  keep (float x, uint32_t word) const
  {
    return word >= threshold ? x * scale : 0.0f;
  }
  __device__ void
  apply (float (&x)[1], const float (&)[1], int64_t at) const
  {
    uint32_t words[4];
    at = number (at);
    int lane = (int) (at & 3);
    lig_random_words (seed, (uint64_t) at / 4, path_hash, micro_step, words);
    x[0] =
      keep (x[0], lane < 2 ? (lane == 0 ? words[0] : words[1]) : (lane == 2 ? words[2] : words[3]));
  }
  template <int W>
  __device__ void
  apply (float (&x)[W], const float (&)[W], int64_t at) const
  {
    if (block % W != 0 || before % 4 != 0) {
      for (int i = 0; i < W; i++) {
        float one[1] = {x[i]}, none[1] = {};
        apply (one, none, at + i);
        x[i] = one[0];
      }
      return;
    }
    at = number (at);
#pragma unroll
    for (int quad = 0; quad < W / 4; quad++) {
      uint32_t words[4];
      lig_random_words (seed, (uint64_t) at / 4 + quad, path_hash, micro_step, words);
#pragma unroll
      for (int i = 0; i < 4; i++)
        x[quad * 4 + i] = keep (x[quad * 4 + i], words[i]);
    }
  }
};

/* Keeps or drops whole samples of `each` elements. A threadblock processes a part of one sample, so
 * that it generates one random word. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) drop_samples (Target x,
                                          Target y,
                                          const LigTick *tick,
                                          uint64_t path_hash,
                                          uint64_t threshold,
                                          float scale,
                                          uint64_t before,
                                          int64_t each,
                                          int64_t tiles)
{
  constexpr int W = A::W, DEPTH = depth<A> (1);
  uint64_t sample = blockIdx.x / tiles, number = before + sample;
  int64_t base = (blockIdx.x % tiles * DEPTH * THREADS + threadIdx.x) * W;
  uint32_t words[4];
  lig_random_words (tick->seed, number / 4, path_hash, tick->micro_step, words);
  int lane = (int) (number & 3);
  uint32_t word = lane < 2 ? (lane == 0 ? words[0] : words[1]) : (lane == 2 ? words[2] : words[3]);
  bool kept = word >= threshold;
  typename A::Value in[DEPTH];
#pragma unroll
  for (int u = 0; u < DEPTH; u++)
    if (kept && base + u * THREADS * W < each)
      in[u] = A::read (x, (int64_t) sample * each + base + u * THREADS * W);
#pragma unroll
  for (int u = 0; u < DEPTH; u++)
    if (base + u * THREADS * W < each) {
      float values[W] = {};
      if (kept) {
        A::widen (in[u], x, values);
#pragma unroll
        for (int i = 0; i < W; i++)
          values[i] *= scale;
      }
      A::write (y, (int64_t) sample * each + base + u * THREADS * W, A::narrow (values, y));
    }
}

/* Converts between floating types, a chunk of 16 bytes of the wider type at a time; `size` is the
 * number of chunks. */
template <class From, class To>
__global__ void
__launch_bounds__ (THREADS) convert_chunks (const From *x, To *y, int64_t size)
{
  constexpr int W = shared_width<From, To>, DEPTH = 4;
  Chunk<From, W> in[DEPTH];
  int64_t base = (int64_t) blockIdx.x * DEPTH * THREADS + threadIdx.x;
#pragma unroll
  for (int u = 0; u < DEPTH; u++)
    if (base + u * THREADS < size)
      in[u] = load_chunk<W> (x + (base + u * THREADS) * W);
#pragma unroll
  for (int u = 0; u < DEPTH; u++)
    if (base + u * THREADS < size) {
      Chunk<To, W> out;
#pragma unroll
      for (int i = 0; i < W; i++)
        out.v[i] = narrow<To> (widen (in[u].v[i]));
      store_chunk (y + (base + u * THREADS) * W, out);
    }
}

/* Returns an element of any type as fp32. */
__device__ static float
number_at (const void *data, LigDtype dtype, int64_t i)
{
  switch (dtype) {
  case LIG_FP8_E4M3:
  case LIG_FP8_E5M2: {
    __nv_fp8_interpretation_t kind = dtype == LIG_FP8_E4M3 ? __NV_E4M3 : __NV_E5M2;
    return widen (half (__nv_cvt_fp8_to_halfraw (((const uint8_t *) data)[i], kind)));
  }
  case LIG_INT32:
    return (float) ((const int32_t *) data)[i];
  case LIG_UINT8:
    return (float) ((const uint8_t *) data)[i];
  case LIG_BOOL:
    return ((const uint8_t *) data)[i] ? 1 : 0;
  default:
    return Vector{data, dtype}[i];
  }
}

/* Writes an element of any type. fp8 has one NaN of each sign. Conversions to integers saturate,
 * and NaN becomes 0. */
__device__ static void
set_number_at (void *data, LigDtype dtype, int64_t i, float value)
{
  uint8_t *byte = (uint8_t *) data + i;
  switch (dtype) {
  case LIG_FP8_E4M3:
  case LIG_FP8_E5M2: {
    __nv_fp8_interpretation_t kind = dtype == LIG_FP8_E4M3 ? __NV_E4M3 : __NV_E5M2;
    *byte = isnan (value) ? (signbit (value) ? 0xff : 0x7f)
                          : (uint8_t) __nv_cvt_float_to_fp8 (value, __NV_SATFINITE, kind);
    break;
  }
  case LIG_INT32:
    ((int32_t *) data)[i] = __float2int_rn (value);
    break;
  case LIG_UINT8:
    *byte = (uint8_t) max (0, min (255, __float2int_rn (value)));
    break;
  case LIG_BOOL:
    *byte = value != 0;
    break;
  default:
    Target{data, dtype}.set (i, value);
  }
}

/* Converts between any types, element by element. */
__global__ static void
convert_each (const void *x, LigDtype from, void *y, LigDtype to, int64_t size)
{
  int64_t at = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  for (; at < size; at += (int64_t) gridDim.x * blockDim.x)
    set_number_at (y, to, at, number_at (x, from, at));
}

/* Returns the bytes of that many elements. */
static int64_t
bytes (LigDtype dtype, int64_t elements)
{
  return elements * (int64_t) lig_dtype_size (dtype);
}

/* Converts the elements from `first` on, one by one. */
static LigStatus
convert_rest (LigLaunch *launch, int64_t first)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  int64_t size = x->size - first;
  if (size > 0)
    convert_each<<<blocks_for (launch, size, THREADS, 16), THREADS, 0, stream (launch)>>> (
      (const char *) x->data + bytes (x->dtype, first), x->dtype,
      (char *) y->data + bytes (y->dtype, first), y->dtype, size);
  return LIG_LAUNCHED (launch);
}

/* Converts between aligned operands of floating types. */
static LigStatus
convert_packed (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  return dispatch (launch, x->dtype, [=] (auto from) {
    return dispatch (launch, y->dtype, [=] (auto to) {
      using From = decltype (from);
      using To = decltype (to);
      constexpr int W = shared_width<From, To>;
      int64_t chunks = x->size / W;
      unsigned blocks = (unsigned) ((chunks + 4 * THREADS - 1) / (4 * THREADS));
      if (blocks > 0)
        convert_chunks<From, To><<<blocks, THREADS, 0, stream (launch)>>> ((const From *) x->data,
                                                                           (To *) y->data, chunks);
      return convert_rest (launch, chunks * W);
    });
  });
}
} /* namespace lig */

using namespace lig;

/* Converts x to the type of y; any types, any shape. */
extern "C" LigStatus
lig_cuda_convert (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  if (x->data == y->data || x->size <= 0)
    return LIG_OK;
  if (x->dtype == y->dtype) {
    cudaMemcpyAsync (y->data, x->data, (size_t) bytes (x->dtype, x->size), cudaMemcpyDeviceToDevice,
                     stream (launch));
    return LIG_LAUNCHED (launch);
  }
  if (all_floating (launch, 2) && all_aligned (launch, 2))
    return convert_packed (launch);
  return convert_rest (launch, 0);
}

/* Computes y = a + b, element by element. */
extern "C" LigStatus
lig_cuda_add (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (!all_floating (launch, 3))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "add: not a floating type; convert to fp32, fp16 or bf16");
  return map<true> (launch, &o[0], &o[1], &o[2], Each<Add>{});
}

/* Computes y = factor x, element by element. */
extern "C" LigStatus
lig_cuda_scale (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigScaleParams *params = (const LigScaleParams *) launch->params;
  if (!all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "scale: not a floating type; convert to fp32, fp16 or bf16");
  return map<false> (launch, &o[0], nullptr, &o[1], Each<Scale>{{params ? params->factor : 1}});
}

/* Computes y = x / (1 - p) for the elements kept, 0 for the others. */
extern "C" LigStatus
lig_cuda_dropout (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigDropoutParams defaults = {0.1f, 0, 0, 0, 0};
  const LigDropoutParams *params =
    launch->params ? (const LigDropoutParams *) launch->params : &defaults;
  float p = params->probability;
  if (!all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "dropout: not a floating type; convert to fp32, fp16 or bf16");
  if (!(p >= 0 && p <= 1))
    return LIG_FAIL (launch, LIG_FAILED, "dropout: the probability is outside [0, 1]; correct it");
  bool sharded = params->ranks > 1 && params->block > 0;
  Dropout f = {.tick = launch->tick,
               .path_hash = params->path_hash,
               .threshold = lig_dropout_threshold (p),
               .scale = p < 1 ? 1 / (1 - p) : 0,
               .before = launch->part * o[0].size * (sharded ? params->ranks : 1),
               .block = sharded ? params->block : 0,
               .ranks = params->ranks,
               .rank = params->rank};
  return map<false> (launch, &o[0], nullptr, &o[1], f);
}

/* Computes y = x / (1 - p) for the samples kept, 0 for the others. */
extern "C" LigStatus
lig_cuda_drop_path (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigDropPathParams defaults = {0.1f, 0, rows (x)};
  const LigDropPathParams *params =
    launch->params ? (const LigDropPathParams *) launch->params : &defaults;
  if (!all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "drop-path: not a floating type; convert to fp32, fp16 or bf16");
  if (params->samples < 1 || x->size % params->samples != 0 ||
      !(params->probability >= 0 && params->probability <= 1))
    return LIG_FAIL (launch, LIG_FAILED,
                     "drop-path: the samples do not divide the rows, or the probability is outside "
                     "[0, 1]; correct them");
  float p = params->probability, scale = p < 1 ? 1 / (1 - p) : 0;
  int64_t each = x->size / params->samples;
  uint64_t path_hash = params->path_hash, threshold = lig_dropout_threshold (p);
  bool packs = packable ({x, y}) && each % (x->dtype == LIG_FP32 ? 4 : 8) == 0;
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    int64_t part = (int64_t) depth<A> (1) * THREADS * A::W, tiles = (each + part - 1) / part;
    if (tiles * params->samples > INT32_MAX)
      return LIG_FAIL (launch, LIG_UNSUPPORTED, "drop-path: too many elements; reduce the batch");
    drop_samples<A><<<(unsigned) (tiles * params->samples), THREADS, 0, stream (launch)>>> (
      target (x), target (y), launch->tick, path_hash, threshold, scale,
      (uint64_t) launch->part * (uint64_t) params->samples, each, tiles);
    return LIG_LAUNCHED (launch);
  });
}
