/* SPDX-License-Identifier: MIT */
/* Normalization of rows, forward: y = (v - mean) rstd gain + bias, gain = weight or 1 + weight,
 * where v = x, or v = sum = x + extra as rounded to the type of `sum`. Floor: each operand crosses
 * the memory bus once, so a row is held in registers, as packs, from its only reading on; the
 * variance looks at it there a second time. */
#include "kernels/cuda/norm.cuh"

namespace lig
{
template <class T> struct Forward {
  Norm norm;
  const T *x, *extra;
  T *sum, *y;
  Vector weight, bias;
  float *mean, *rstd;
};

template <class T>
__device__ inline float
gain_at (const Forward<T> &f, int64_t i)
{
  return f.weight.data ? f.weight[i] + f.norm.offset : 1.0f;
}

/* A block has several rows, or one row of several warps. All loads of a row are under way before
 * the first is used. Parameters are needed late, and are in the L1 cache but for the first rows:
 * only short rows, which are latency itself, read them ahead. */
template <class T, class P, int LANES, int N, bool ADD>
__global__ void
__launch_bounds__ (LANES ? 128 : 512) normalize_packs (Forward<T> f)
{
  constexpr int W = wide<T>;
  constexpr bool EARLY = LANES > 0 && N * W * sizeof (P) <= 64;
  __shared__ alignas (16) float slots[2][32];
  const int lanes = LANES ? LANES : (int) blockDim.x;
  const int lane = LANES ? (int) threadIdx.x % LANES : (int) threadIdx.x;
  const int64_t row = LANES ? (int64_t) blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES
                            : (int64_t) blockIdx.x;
  /* Threads beyond the last row take part in the shuffles, with nothing of their own. */
  const bool live = !LANES || row < f.norm.rows;
  const int packs = live ? (int) (f.norm.length / W) : 0;
  const int64_t start = row * f.norm.length;
  const P *weight = (const P *) f.weight.data, *bias = (const P *) f.bias.data;

  Pack<T> v[N], extra[N];
  Beside<P, W> weights[N], biases[N];
#pragma unroll
  for (int i = 0; i < N; i++)
    if (lane + i * lanes < packs) {
      v[i] = load_streaming (f.x + start + (lane + i * lanes) * W);
      if (ADD)
        extra[i] = load_streaming (f.extra + start + (lane + i * lanes) * W);
    }
  if (EARLY) {
#pragma unroll
    for (int i = 0; i < N; i++)
      if (lane + i * lanes < packs) {
        if (weight)
          weights[i].load (weight + (lane + i * lanes) * W);
        if (bias)
          biases[i].load (bias + (lane + i * lanes) * W);
      }
  }
  float e[W], g[W];
  if (ADD) {
#pragma unroll
    for (int i = 0; i < N; i++)
      if (lane + i * lanes < packs) {
        widen_pack (v[i], e);
        widen_pack (extra[i], g);
#pragma unroll
        for (int j = 0; j < W; j++)
          e[j] += g[j];
        narrow_pack (e, v[i]);
        if (f.sum)
          store (f.sum + start + (lane + i * lanes) * W, v[i]);
      }
  }

  float mean = 0, square = 0;
  if (f.norm.centered) {
#pragma unroll
    for (int i = 0; i < N; i++)
      if (lane + i * lanes < packs) {
        widen_pack (v[i], e);
#pragma unroll
        for (int j = 0; j < W; j++)
          mean += e[j];
      }
    mean = row_sum<LANES> (mean, slots[0]) * f.norm.share;
  }
#pragma unroll
  for (int i = 0; i < N; i++)
    if (lane + i * lanes < packs) {
      widen_pack (v[i], e);
#pragma unroll
      for (int j = 0; j < W; j++)
        square += (e[j] - mean) * (e[j] - mean);
    }
  const float rstd = rsqrtf (row_sum<LANES> (square, slots[1]) * f.norm.share + f.norm.eps);
  if (lane == 0 && live) {
    if (f.mean)
      f.mean[row] = mean;
    if (f.rstd)
      f.rstd[row] = rstd;
  }
  if (!f.y)
    return;
#pragma unroll
  for (int i = 0; i < N; i++)
    if (lane + i * lanes < packs) {
      if (!EARLY && weight)
        weights[i].load (weight + (lane + i * lanes) * W);
      if (!EARLY && bias)
        biases[i].load (bias + (lane + i * lanes) * W);
      widen_pack (v[i], e);
#pragma unroll
      for (int j = 0; j < W; j++)
        e[j] = (e[j] - mean) * rstd;
      if (weight) {
        weights[i].widen_to (g);
#pragma unroll
        for (int j = 0; j < W; j++)
          e[j] *= g[j] + f.norm.offset;
      }
      if (bias) {
        biases[i].widen_to (g);
#pragma unroll
        for (int j = 0; j < W; j++)
          e[j] += g[j];
      }
      narrow_pack (e, v[i]);
      store (f.y + start + (lane + i * lanes) * W, v[i]);
    }
}

/* A unit of v. The first reading of a row writes its sum, and the others read that: it may have
 * taken the place of x or extra. Where nobody wants the sum, it is computed again. */
template <class T, int U>
__device__ inline Unit<T, U>
read_unit (const Forward<T> &f, int64_t at, bool first)
{
  using One = Unit<T, U>;
  if (f.extra && f.sum && !first)
    return *(const One *) (f.sum + at);
  One v = *(const One *) (f.x + at);
  if (!f.extra)
    return v;
  One extra = *(const One *) (f.extra + at);
#pragma unroll
  for (int j = 0; j < U; j++)
    v.v[j] = narrow<T> (widen (v.v[j]) + widen (extra.v[j]));
  if (f.sum && first)
    *(One *) (f.sum + at) = v;
  return v;
}

/* Rows that are not held: each reading goes to memory, that is to the caches. */
template <class T, int U, int LANES>
__global__ void
__launch_bounds__ (U > 1 ? 512 : 256) normalize_units (Forward<T> f)
{
  __shared__ alignas (16) float slots[2][32];
  const int lanes = LANES ? LANES : (int) blockDim.x, lane = (int) threadIdx.x % lanes;
  const int at_once = (int) blockDim.x / lanes;
  /* The bound is the block's, as all its threads take part in the sums. */
  for (int64_t base = (int64_t) blockIdx.x * at_once; base < f.norm.rows;
       base += (int64_t) gridDim.x * at_once) {
    const int64_t row = base + threadIdx.x / lanes, start = row * f.norm.length;
    const bool live = row < f.norm.rows;
    const int units = live ? (int) (f.norm.length / U) : 0;
    float mean = 0, square = 0;
    if (f.norm.centered) {
      for (int at = lane; at < units; at += lanes) {
        Unit<T, U> v = read_unit<T, U> (f, start + (int64_t) at * U, true);
#pragma unroll
        for (int j = 0; j < U; j++)
          mean += widen (v.v[j]);
      }
      mean = row_sum<LANES> (mean, slots[0]) * f.norm.share;
    }
    for (int at = lane; at < units; at += lanes) {
      Unit<T, U> v = read_unit<T, U> (f, start + (int64_t) at * U, !f.norm.centered);
#pragma unroll
      for (int j = 0; j < U; j++)
        square += (widen (v.v[j]) - mean) * (widen (v.v[j]) - mean);
    }
    const float rstd = rsqrtf (row_sum<LANES> (square, slots[1]) * f.norm.share + f.norm.eps);
    if (lane == 0 && live) {
      if (f.mean)
        f.mean[row] = mean;
      if (f.rstd)
        f.rstd[row] = rstd;
    }
    if (f.y)
      for (int at = lane; at < units; at += lanes) {
        Unit<T, U> v = read_unit<T, U> (f, start + (int64_t) at * U, false);
#pragma unroll
        for (int j = 0; j < U; j++) {
          float y = (widen (v.v[j]) - mean) * rstd * gain_at (f, (int64_t) at * U + j);
          v.v[j] = narrow<T> (f.bias.data ? y + f.bias[(int64_t) at * U + j] : y);
        }
        *(Unit<T, U> *) (f.y + start + (int64_t) at * U) = v;
      }
    /* The slots are written again in the next row. */
    if (LANES == 0)
      __syncthreads ();
  }
}

template <class T, class P, class S, bool ADD>
static LigStatus
launch_packs (LigLaunch *launch, const Forward<T> &f)
{
  const Norm &norm = f.norm;
  constexpr int OF_WARP = S::LANES ? 32 / S::LANES : 1;
  int threads = S::LANES ? 128 : threads_of_row (norm.length / wide<T>, S::PACKS);
  int at_once = S::LANES ? 4 * OF_WARP : 1;
  /* A few rows are spread over all multiprocessors. */
  if (S::LANES && norm.rows / at_once < 2 * launch->device->multiprocessors)
    threads = 32, at_once = OF_WARP;
  int64_t blocks = (norm.rows + at_once - 1) / at_once;
  normalize_packs<T, P, S::LANES, S::PACKS, ADD>
    <<<(unsigned) blocks, threads, 0, stream (launch)>>> (f);
  return LIG_LAUNCHED (launch);
}

template <class T>
static LigStatus
launch_units (LigLaunch *launch, const Forward<T> &f, bool packs)
{
  Spread spread = spread_rows (launch, f.norm, packs);
  if (packs)
    normalize_units<T, wide<T>, 0><<<spread.blocks, spread.threads, 0, stream (launch)>>> (f);
  else if (spread.lanes == 0)
    normalize_units<T, 1, 0><<<spread.blocks, spread.threads, 0, stream (launch)>>> (f);
  else if (spread.lanes == 32)
    normalize_units<T, 1, 32><<<spread.blocks, spread.threads, 0, stream (launch)>>> (f);
  else
    normalize_units<T, 1, 4><<<spread.blocks, spread.threads, 0, stream (launch)>>> (f);
  return LIG_LAUNCHED (launch);
}

/* Which operand is which; null where the kernel has none. */
struct Operands {
  const LigOperand *x, *extra, *weight, *bias, *sum, *y, *mean, *rstd;
};

template <class T>
static LigStatus
forward_as (LigLaunch *launch, const Operands &o, const Norm &norm)
{
  auto data = [] (const LigOperand *operand) { return operand ? operand->data : nullptr; };
  Forward<T> f = {norm,
                  (const T *) data (o.x),
                  (const T *) data (o.extra),
                  (T *) data (o.sum),
                  (T *) data (o.y),
                  optional_vector (o.weight),
                  optional_vector (o.bias),
                  (float *) data (o.mean),
                  (float *) data (o.rstd)};
  int64_t packs = norm.length / wide<T>;
  LigDtype weight = f.weight.data ? o.weight->dtype : f.bias.data ? o.bias->dtype : o.x->dtype;
  bool fits = norm.length % wide<T> == 0 && packable (o.x) && packable (o.extra) &&
              packable (o.sum) && packable (o.y);
  if (!fits || !weight_packs (o.weight, o.x->dtype) || !weight_packs (o.bias, o.x->dtype) ||
      !of_type (o.bias, weight) || packs > 4096)
    return launch_units (launch, f, fits);
  return dispatch_weight<T> (weight, [&] (auto p) {
    return choose_shape (packs, [&] (auto shape) {
      using P = decltype (p);
      using S = decltype (shape);
      return f.extra ? launch_packs<T, P, S, true> (launch, f)
                     : launch_packs<T, P, S, false> (launch, f);
    });
  });
}

static LigStatus
forward (LigLaunch *launch, const Operands &o, bool centered)
{
  Norm norm;
  LigStatus status = prepare (&norm, launch, o.x, o.weight, centered);
  if (status != LIG_OK || norm.rows == 0)
    return status;
  LigDtype dtype = o.x->dtype;
  if (!of_type (o.extra, dtype) || !of_type (o.sum, dtype) || !of_type (o.y, dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "operands of several types");
  return dispatch (launch, dtype,
                   [&] (auto one) { return forward_as<decltype (one)> (launch, o, norm); });
}
} /* namespace lig */

using namespace lig;

extern "C" LigStatus
lig_cuda_layer_norm (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, {&o[0], nullptr, &o[1], &o[2], nullptr, &o[3], &o[4], &o[5]}, true);
}

extern "C" LigStatus
lig_cuda_add_layer_norm (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, {&o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], &o[7]}, true);
}

extern "C" LigStatus
lig_cuda_rms_norm (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, {&o[0], nullptr, &o[1], nullptr, nullptr, &o[2], nullptr, &o[3]}, false);
}

extern "C" LigStatus
lig_cuda_add_rms_norm (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, {&o[0], &o[1], &o[2], nullptr, &o[3], &o[4], nullptr, &o[5]}, false);
}

extern "C" LigStatus
lig_cuda_l2_normalization (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, {&o[0], nullptr, nullptr, nullptr, nullptr, &o[1], nullptr, &o[2]},
                  false);
}
