/* SPDX-License-Identifier: MIT */
/* On elements, whatever the shape: convert, add, scale, dropout. Floor: each operand crosses the
 * memory bus once. */
#include "kernels/cuda/cuda.cuh"

namespace lig
{
enum { THREADS = 256, UNROLL = 4 };

/* y = f (a, b, index), pack by pack; a block takes UNROLL packs a thread at once, so that all loads
 * are under way before the first is used. The tail that fills no pack goes element by element. */
template<class T, bool BINARY, class F>
__global__ void __launch_bounds__ (THREADS)
map_packs (const T *a, const T *b, T *y, int64_t packs, int64_t size, F f)
{
  constexpr int W = wide<T>;
  int64_t step = (int64_t) gridDim.x * THREADS * UNROLL;
  for (int64_t base = (int64_t) blockIdx.x * THREADS * UNROLL + threadIdx.x; base < packs;
       base += step) {
    Pack<T> left[UNROLL], right[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (base + u * THREADS < packs) {
        left[u] = load_streaming (a + (base + u * THREADS) * W);
        if (BINARY)
          right[u] = load_streaming (b + (base + u * THREADS) * W);
      }
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (base + u * THREADS < packs) {
        int64_t at = (base + u * THREADS) * W;
        f.pack (left[u], right[u], at);
        store (y + at, left[u]);
      }
  }
  int64_t rest = packs * W + (int64_t) blockIdx.x * THREADS + threadIdx.x;
  for (; rest < size; rest += (int64_t) gridDim.x * THREADS)
    y[rest] = f.one (a[rest], BINARY ? b[rest] : a[rest], rest);
}

template<class T, bool BINARY, class F>
static LigStatus
map (LigLaunch *launch, const T *a, const T *b, T *y, int64_t size, F f)
{
  bool fits = all_aligned (launch, BINARY ? 3 : 2);
  int64_t packs = fits ? size / wide<T> : 0;
  int64_t work = fits ? (packs + UNROLL - 1) / UNROLL + wide<T> : size;
  map_packs<T, BINARY>
    <<<blocks_for (launch, work, THREADS, 16), THREADS, 0, stream (launch)>>> (a, b, y, packs, size, f);
  return LIG_LAUNCHED (launch);
}

/* f on each element of a pack. */
template<class F> struct Each {
  F f;
  template<class T>
  __device__ void
  pack (Pack<T> &left, const Pack<T> &right, int64_t) const
  {
#pragma unroll
    for (int i = 0; i < wide<T>; i++)
      left.v[i] = narrow<T> (f (widen (left.v[i]), widen (right.v[i])));
  }
  template<class T>
  __device__ T
  one (T left, T right, int64_t) const
  {
    return narrow<T> (f (widen (left), widen (right)));
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

/* Four elements share the four words of one Philox counter. */
struct Dropout {
  const LigTick *tick;
  uint64_t path_hash, threshold;
  float scale;
  template<class T>
  __device__ void
  pack (Pack<T> &x, const Pack<T> &, int64_t at) const
  {
#pragma unroll
    for (int quad = 0; quad < wide<T> / 4; quad++) {
      uint32_t words[4];
      lig_random_words (tick->seed, (uint64_t) at / 4 + quad, path_hash, tick->micro_step, words);
#pragma unroll
      for (int i = 0; i < 4; i++)
        x.v[quad * 4 + i] = keep (x.v[quad * 4 + i], words[i]);
    }
  }
  template<class T>
  __device__ T
  one (T x, T, int64_t at) const
  {
    uint32_t words[4];
    lig_random_words (tick->seed, (uint64_t) at / 4, path_hash, tick->micro_step, words);
    int lane = (int) (at & 3);
    return keep (x, lane == 0 ? words[0] : lane == 1 ? words[1] : lane == 2 ? words[2] : words[3]);
  }
  template<class T>
  __device__ T
  keep (T x, uint32_t word) const
  {
    return narrow<T> (word >= threshold ? widen (x) * scale : 0.0f);
  }
};

template<class From, class To>
__global__ void
convert_each (const From *x, To *y, int64_t size)
{
  int64_t at = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  for (; at < size; at += (int64_t) gridDim.x * blockDim.x)
    y[at] = narrow<To> (widen (x[at]));
}

template<class T>
static T *
data (const LigLaunch *launch, int index)
{
  return (T *) launch->operands[index].data;
}
} /* namespace lig */

using namespace lig;

extern "C" LigStatus
lig_cuda_convert (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  return dispatch (launch, x->dtype, [=] (auto from) {
    return dispatch (launch, y->dtype, [=] (auto to) {
      using From = decltype (from);
      using To = decltype (to);
      convert_each<From, To><<<blocks_for (launch, x->size, THREADS, 16), THREADS, 0,
                               stream (launch)>>> ((const From *) x->data, (To *) y->data, x->size);
      return LIG_LAUNCHED (launch);
    });
  });
}

extern "C" LigStatus
lig_cuda_add (LigLaunch *launch)
{
  return dispatch (launch, launch->operands[0].dtype, [=] (auto one) {
    using T = decltype (one);
    return map<T, true> (launch, data<T> (launch, 0), data<T> (launch, 1), data<T> (launch, 2),
                         launch->operands[0].size, Each<Add>{});
  });
}

extern "C" LigStatus
lig_cuda_scale (LigLaunch *launch)
{
  const LigScaleParams *params = (const LigScaleParams *) launch->params;
  float factor = params ? params->factor : 1.0f;
  return dispatch (launch, launch->operands[0].dtype, [=] (auto one) {
    using T = decltype (one);
    return map<T, false> (launch, data<T> (launch, 0), (const T *) nullptr, data<T> (launch, 1),
                          launch->operands[0].size, Each<Scale>{{factor}});
  });
}

extern "C" LigStatus
lig_cuda_dropout (LigLaunch *launch)
{
  const LigDropoutParams *params = (const LigDropoutParams *) launch->params;
  float p = params->probability;
  Dropout f = {launch->tick, params->path_hash, lig_dropout_threshold (p), p < 1 ? 1 / (1 - p) : 0};
  return dispatch (launch, launch->operands[0].dtype, [=] (auto one) {
    using T = decltype (one);
    return map<T, false> (launch, data<T> (launch, 0), (const T *) nullptr, data<T> (launch, 1),
                          launch->operands[0].size, f);
  });
}
