/* SPDX-License-Identifier: MIT */
/* Normalization of rows, forward: y = (v - mean) rstd gain + bias, gain = weight or 1 + weight,
 * where v = x, or v = sum = x + extra as rounded to the type of `sum`; kernels/cpu/norm.c has the
 * formulas of mean and rstd. Lower bound: each operand crosses the memory bus once, so a row is
 * kept in registers, as packs, after it was loaded; the second pass for the variance reads it
 * there. */
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

/* The part of a row that one thread has: its packs are `lanes` apart. */
struct Share {
  int lane, lanes;
  int packs;     /* of the row; 0 past the last row */
  int64_t start; /* the row's first element */
};

/* Calls `each (i, column)` for the thread's packs of a row, at most N; pack i begins at `column` of
 * the row. */
template <int N, int W, class Each>
__device__ inline void
each_pack (const Share &s, Each each)
{
#pragma unroll
  for (int i = 0; i < N; i++)
    if (s.lane + i * s.lanes < s.packs)
      each (i, (s.lane + i * s.lanes) * W);
}

/* Adds the pack of `extra` to that of x, rounded, and writes the sum if it is present. */
template <class T>
__device__ inline void
add_extra (const Forward<T> &f, int64_t at, const Pack<T> &extra, Pack<T> &v)
{
  constexpr int W = wide<T>;
  float sum[W], other[W];
  unpack (v, sum);
  unpack (extra, other);
#pragma unroll
  for (int j = 0; j < W; j++)
    sum[j] += other[j];
  pack (sum, v);
  if (f.sum)
    store_chunk (f.sum + at, v);
}

/* Returns the thread's part of the sum over j of (v[j] - mean)^POWER; with POWER 1, the mean is any
 * number near the row's. */
template <class T, int N, int POWER>
__device__ inline float
sum_powers (const Share &s, const Pack<T> (&v)[N], float mean)
{
  float sum = 0;
  each_pack<N, wide<T>> (s, [&] (int i, int) {
    float e[wide<T>];
    unpack (v[i], e);
#pragma unroll
    for (int j = 0; j < wide<T>; j++)
      sum += POWER == 1 ? e[j] - mean : (e[j] - mean) * (e[j] - mean);
  });
  return sum;
}

/* Broadcasts the first element of a row to all of its threads; `own` is a thread's first one. Rows
 * of several warps share it through `slot`. */
template <int LANES>
__device__ inline float
first_of_row (float own, float *slot)
{
  if (LANES)
    return __shfl_sync (0xffffffff, own, 0, LANES ? LANES : 32);
  if (threadIdx.x == 0)
    *slot = own;
  __syncthreads ();
  return *slot;
}

/* Writes a pack of y = (v - mean) rstd gain + bias. */
template <class T, class P>
__device__ inline void
write_normalized (const Forward<T> &f,
                  int64_t at,
                  Pack<T> &v,
                  float mean,
                  float rstd,
                  const ParameterPack<P, wide<T>> &weight,
                  const ParameterPack<P, wide<T>> &bias)
{
  constexpr int W = wide<T>;
  float e[W], gains[W], biases[W] = {};
  unpack (v, e);
#pragma unroll
  for (int j = 0; j < W; j++)
    gains[j] = 1 - f.norm.offset;
  if (f.weight.data)
    weight.widen_to (gains);
  if (f.bias.data)
    bias.widen_to (biases);
#pragma unroll
  for (int j = 0; j < W; j++)
    e[j] = normalized (e[j], mean, rstd, gains[j] + f.norm.offset, biases[j]);
  pack (e, v);
  store_chunk (f.y + at, v);
}

/* Normalizes rows that are held in registers, N packs per thread. A threadblock has several rows of
 * LANES threads each, or (LANES 0) one row of several warps. All loads of a row are issued before
 * the first is used. Parameters are needed late, and are in the L1 cache except for the first rows:
 * only short rows, which are latency-bound, prefetch them. */
template <class T, class P, int LANES, int N, bool ADD>
__global__ void
__launch_bounds__ (LANES ? 128 : 512) normalize_packs (Forward<T> f)
{
  wait_for_previous ();
  let_next_begin ();
  constexpr int W = wide<T>;
  constexpr bool EARLY = LANES > 0 && N * W * sizeof (P) <= 64;
  __shared__ alignas (16) float slots[2][32];
  __shared__ float shared_first;
  const int64_t row = LANES ? (int64_t) blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES
                            : (int64_t) blockIdx.x;
  /* Threads past the last row take part in the shuffles, without packs of their own. */
  const bool live = !LANES || row < f.norm.rows;
  const Share s = {LANES ? (int) threadIdx.x % LANES : (int) threadIdx.x,
                   LANES ? LANES : (int) blockDim.x, live ? (int) (f.norm.length / W) : 0,
                   row * f.norm.length};
  const P *weight = (const P *) f.weight.data, *bias = (const P *) f.bias.data;
  Pack<T> v[N], extra[N];
  ParameterPack<P, W> weights[N], biases[N];
  auto load_parameters = [&] (int i, int column) {
    if (weight)
      weights[i].load (weight + column);
    if (bias)
      biases[i].load (bias + column);
  };

  each_pack<N, W> (s, [&] (int i, int column) {
    v[i] = load_streaming (f.x + s.start + column);
    if (ADD)
      extra[i] = load_streaming (f.extra + s.start + column);
  });
  if (EARLY)
    each_pack<N, W> (s, load_parameters);
  if (ADD)
    each_pack<N, W> (s,
                     [&] (int i, int column) { add_extra (f, s.start + column, extra[i], v[i]); });

  float mean = 0, lost = 0;
  if (f.norm.centered) {
    /* A row of several warps reads it again, unless other warps may have overwritten its first
     * element. */
    float first = LANES || ADD
                    ? first_of_row<LANES> (s.lane < s.packs ? widen (v[0].v[0]) : 0, &shared_first)
                    : widen (f.x[s.start]);
    const float rest = row_sum<LANES> (sum_powers<T, N, 1> (s, v, first), slots[0]);
    mean = move_mean (first, rest * f.norm.share, &lost);
  }
  const float square = row_sum<LANES> (sum_powers<T, N, 2> (s, v, mean), slots[1]);
  const float rstd = rsqrtf (variance_of (square * f.norm.share, lost) + f.norm.eps);
  if (s.lane == 0 && live) {
    if (f.mean)
      f.mean[row] = mean;
    if (f.rstd)
      f.rstd[row] = rstd;
  }
  if (!f.y)
    return;
  each_pack<N, W> (s, [&] (int i, int column) {
    if (!EARLY)
      load_parameters (i, column);
    write_normalized (f, s.start + column, v[i], mean, rstd, weights[i], biases[i]);
  });
}

/* Returns a chunk of v. The first pass over a row writes its sum and later ones read that, because
 * it may have overwritten x or extra. An absent sum is recomputed. */
template <class T, int U>
__device__ inline Chunk<T, U>
read_unit (const Forward<T> &f, int64_t at, bool first)
{
  using One = Chunk<T, U>;
  const T *more = (const T *) uncertain ((int64_t) f.extra);
  if (more && f.sum && !first)
    return *(const One *) (f.sum + at);
  One v = *(const One *) (f.x + at);
  if (!more)
    return v;
  One extra = *(const One *) (more + at);
#pragma unroll
  for (int j = 0; j < U; j++)
    v.v[j] = narrow<T> (widen (v.v[j]) + widen (extra.v[j]));
  if (f.sum && first)
    *(One *) (f.sum + at) = v;
  return v;
}

/* Normalizes rows that are too long or misaligned for registers, in chunks of U elements: each pass
 * reads from the caches. */
template <class T, int U, int LANES>
__global__ void
__launch_bounds__ (U > 1 ? 512 : 256) normalize_units (Forward<T> f)
{
  __shared__ alignas (16) float slots[2][32];
  __shared__ float shared_first;
  const int lanes = LANES ? LANES : (int) blockDim.x, lane = (int) threadIdx.x % lanes;
  const int at_once = (int) blockDim.x / lanes;
  /* The loop bound is uniform over the threadblock, because all of its threads take part in the
   * reductions. */
  for (int64_t base = (int64_t) blockIdx.x * at_once; base < f.norm.rows;
       base += (int64_t) gridDim.x * at_once) {
    const int64_t row = base + threadIdx.x / lanes, start = row * f.norm.length;
    const bool live = row < f.norm.rows;
    const int units = live ? (int) (f.norm.length / U) : 0;
    float mean = 0, square = 0, lost = 0;
    if (f.norm.centered) {
      Chunk<T, U> v = {};
      if (lane < units)
        v = read_unit<T, U> (f, start + (int64_t) lane * U, true);
      const float first = first_of_row<LANES> (widen (v.v[0]), &shared_first);
      for (int at = lane; at < units;) {
#pragma unroll
        for (int j = 0; j < U; j++)
          mean += widen (v.v[j]) - first;
        at += lanes;
        if (at < units)
          v = read_unit<T, U> (f, start + (int64_t) at * U, true);
      }
      mean = move_mean (first, row_sum<LANES> (mean, slots[0]) * f.norm.share, &lost);
    }
    for (int at = lane; at < units; at += lanes) {
      Chunk<T, U> v = read_unit<T, U> (f, start + (int64_t) at * U, !f.norm.centered);
#pragma unroll
      for (int j = 0; j < U; j++)
        square += (widen (v.v[j]) - mean) * (widen (v.v[j]) - mean);
    }
    square = row_sum<LANES> (square, slots[1]) * f.norm.share;
    const float rstd = rsqrtf (variance_of (square, lost) + f.norm.eps);
    if (lane == 0 && live) {
      if (f.mean)
        f.mean[row] = mean;
      if (f.rstd)
        f.rstd[row] = rstd;
    }
    if (f.y)
      for (int at = lane; at < units; at += lanes) {
        Chunk<T, U> v = read_unit<T, U> (f, start + (int64_t) at * U, false);
#pragma unroll
        for (int j = 0; j < U; j++) {
          int64_t column = (int64_t) at * U + j;
          v.v[j] =
            narrow<T> (normalized (widen (v.v[j]), mean, rstd, gain_at (f.norm, f.weight, column),
                                   parameter_at (f.bias, column, 0)));
        }
        *(Chunk<T, U> *) (f.y + start + (int64_t) at * U) = v;
      }
    /* The next row overwrites the slots. */
    if (LANES == 0)
      __syncthreads ();
  }
}

/* Launches normalize_packs. */
template <class T, class P, class S, bool ADD>
static LigStatus
launch_packs (LigLaunch *launch, const Forward<T> &f)
{
  const Norm &norm = f.norm;
  constexpr int OF_WARP = S::LANES ? 32 / S::LANES : 1;
  int threads = S::LANES ? 128 : threads_of_row (norm.length / wide<T>, S::PACKS);
  int at_once = S::LANES ? 4 * OF_WARP : 1;
  /* Few rows are spread over all SMs. */
  if (S::LANES && norm.rows / at_once < 2 * launch->device->multiprocessors)
    threads = 32, at_once = OF_WARP;
  int64_t blocks = (norm.rows + at_once - 1) / at_once;
  return launch_early (launch, is_short (launch, blocks),
                       normalize_packs<T, P, S::LANES, S::PACKS, ADD>, dim3 ((unsigned) blocks),
                       dim3 ((unsigned) threads), 0, 1, f);
}

/* Launches normalize_units. */
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

/* The operands by their roles; null if the kernel has none. */
struct Operands {
  const LigOperand *x, *extra, *weight, *bias, *sum, *y, *mean, *rstd;
};

/* Normalizes rows of elements of type T. */
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
      !of_type (o.bias, weight) || packs > max_packs<T>)
    return launch_units (launch, f, fits);
  return dispatch_weight<T> (weight, [&] (auto p) {
    return choose_shape<T> (packs, [&] (auto shape) {
      using P = decltype (p);
      using S = decltype (shape);
      return f.extra ? launch_packs<T, P, S, true> (launch, f)
                     : launch_packs<T, P, S, false> (launch, f);
    });
  });
}

/* Computes y, sum, mean and rstd, each of which may be absent. */
static LigStatus
forward (LigLaunch *launch, const Operands &o, bool centered)
{
  Norm norm;
  LigStatus status = prepare (&norm, launch, o.x, o.weight, centered);
  if (status != LIG_OK || norm.rows == 0)
    return status;
  LigDtype dtype = o.x->dtype;
  if (!of_type (o.extra, dtype) || !of_type (o.sum, dtype) || !of_type (o.y, dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "norm: operands have different types; convert them to one");
  return dispatch (launch, dtype,
                   [&] (auto one) { return forward_as<decltype (one)> (launch, o, norm); });
}
} /* namespace lig */

using namespace lig;

/* Computes y [M, N], mean [M] and rstd [M] from x, weight [N] and bias [N]. */
extern "C" LigStatus
lig_cuda_layer_norm (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, {&o[0], nullptr, &o[1], &o[2], nullptr, &o[3], &o[4], &o[5]}, true);
}

/* Computes sum = x + extra, and the layer norm of the sum. */
extern "C" LigStatus
lig_cuda_add_layer_norm (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, {&o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], &o[7]}, true);
}

/* Computes y [M, N] and rstd [M] from x and weight [N]. */
extern "C" LigStatus
lig_cuda_rms_norm (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, {&o[0], nullptr, &o[1], nullptr, nullptr, &o[2], nullptr, &o[3]}, false);
}

/* Computes sum = x + extra, and the rms norm of the sum. */
extern "C" LigStatus
lig_cuda_add_rms_norm (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, {&o[0], &o[1], &o[2], nullptr, &o[3], &o[4], nullptr, &o[5]}, false);
}

/* Computes y [M, N] and rstd [M] from x. */
extern "C" LigStatus
lig_cuda_l2_normalization (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return forward (launch, {&o[0], nullptr, nullptr, nullptr, nullptr, &o[1], nullptr, &o[2]},
                  false);
}
