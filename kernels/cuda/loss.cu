/* SPDX-License-Identifier: MIT */
/* Losses over rows of x [M, C], each reduced to a scalar y, and their gradients; kernels/cpu/loss.c
 * has the formulas. Lower bound: the forward pass reads x once, with a running maximum and a sum
 * relative to it (online softmax; Milakov and Gimelshein, 2018); the backward pass reads and writes
 * x once, in place if the plan allows it. Per-row values are stored in the workspace, and one
 * threadblock sums them in order.
 *
 * Checking targets on the GPU would force a synchronization: a target that is not a valid class
 * makes the loss, or the number of correct rows, NaN. The gradient of the cross-entropy supports
 * sharded classes. */
#include "kernels/cuda/loss-outcome.cuh"

namespace lig
{
/* The number of elements up to which a single threadblock, and so a single launch, sums all
 * squares. */
enum { SQUARES_ALONE = 1 << 14 };

/* Computes lse and loss of each row, over the `shown` logits that are not padding. */
template <class T, bool WHOLE, bool SMOOTH>
__global__ void
__launch_bounds__ (MAX_THREADS) entropy_rows (const T *x,
                                              int64_t columns,
                                              int64_t shown,
                                              int lanes,
                                              float *lse,
                                              LigCrossEntropyParams params,
                                              Outcome outcome)
{
  int per_block = WHOLE ? 1 : (int) blockDim.x / lanes, lane = (int) threadIdx.x & (lanes - 1);
  for (int64_t base = (int64_t) blockIdx.x * per_block; base < outcome.rows;
       base += (int64_t) gridDim.x * per_block) {
    int64_t own = base + (WHOLE ? 0 : threadIdx.x / lanes);
    int64_t row = own < outcome.rows ? own : outcome.rows - 1;
    Online online = {-INFINITY, 0, 0};
    const float origin = SMOOTH ? base_of (widen (x[row * columns])) : 0;
    walk_row (x + row * columns, shown, lane, lanes, [&] (const auto &chunk, int64_t) {
      float values[sizeof chunk / sizeof (T)];
      unpack (chunk, values);
      online.add (values, SMOOTH, origin);
    });
    online.rise (fold_team<WHOLE> (online.max, lanes, -INFINITY, Larger{}));
    online.exps = fold_team<WHOLE> (online.exps, lanes, 0, Sum{});
    if (SMOOTH)
      online.sum = fold_team<WHOLE> (online.sum, lanes, 0, Sum{});
    if (lane > 0 || own >= outcome.rows)
      continue;
    float loss = 0;
    int32_t target = outcome.targets[row];
    if (target != params.ignored) {
      bool inside = target >= 0 && target < shown;
      loss = online.loss (inside ? widen (x[row * columns + target]) : NAN, params.label_smoothing,
                          (float) shown, origin);
    }
    if (lse) {
      lse[2 * row] = online.max;
      lse[2 * row + 1] = online.log ();
    }
    outcome.values[row] = loss;
  }
  if (gridDim.x > 1)
    return;
  __syncthreads ();
  conclude (outcome);
}

/* Writes 1 for each row whose target is the first maximum of the `shown` logits, else 0. */
template <class T, bool WHOLE>
__global__ void
__launch_bounds__ (MAX_THREADS)
  accuracy_rows (const T *x, int64_t columns, int64_t shown, int lanes, Outcome outcome)
{
  int per_block = WHOLE ? 1 : (int) blockDim.x / lanes, lane = (int) threadIdx.x & (lanes - 1);
  for (int64_t base = (int64_t) blockIdx.x * per_block; base < outcome.rows;
       base += (int64_t) gridDim.x * per_block) {
    int64_t own = base + (WHOLE ? 0 : threadIdx.x / lanes);
    int64_t row = own < outcome.rows ? own : outcome.rows - 1;
    int32_t target = outcome.targets[row];
    bool inside = target >= 0 && target < shown, above = false;
    float aim = inside ? widen (x[row * columns + target]) : 0;
    if (inside && target != outcome.ignored)
      walk_row (x + row * columns, shown, lane, lanes, [&] (const auto &chunk, int64_t at) {
        constexpr int N = (int) (sizeof chunk / sizeof (T));
        float values[N];
        unpack (chunk, values);
        int64_t before = target - at;
        int own = (int) (before < 0 ? 0 : before < N ? before : N);
#pragma unroll
        for (int i = 0; i < N; i++)
          above |= !(values[i] < aim || (values[i] == aim && i >= own));
      });
    float beaten = fold_team<WHOLE> (above ? 1.0f : 0.0f, lanes, 0, Larger{});
    if (lane == 0 && own < outcome.rows)
      outcome.values[row] = target == outcome.ignored ? 0 : inside ? 1 - beaten : NAN;
  }
  if (gridDim.x > 1)
    return;
  __syncthreads ();
  conclude (outcome);
}

/* The values that the gradients of all rows share. */
struct Entropy {
  Vector dy, count;
  const int32_t *targets;
  const float *lse; /* two numbers of each row */
  int64_t rows, columns;
  LigCrossEntropyParams params;
  int64_t classes, shown; /* of all ranks; those of the logits that are not padding */
  __device__ Slope
  slope (int64_t row) const
  {
    float counted = count[0], even = params.label_smoothing / (float) classes;
    int32_t target = targets[row];
    float factor = counted > 0 && target != params.ignored ? dy[0] / counted : 0;
    return {lse[2 * row], lse[2 * row + 1] * LOG2_E,  factor,
            even,         1 - params.label_smoothing, target - params.part.first};
  }
};

/* Writes the lane's part of a row of dx, and zeros after the `shown` classes. A row whose factor is
 * 0, such as an ignored one, may contain infinities and is not read. PACKED: x and dx have the same
 * type and alignment; otherwise elements are processed one by one. */
template <bool PACKED, class T>
__device__ inline void
write_slopes (const T *x,
              const Target &dx,
              int64_t start,
              const Slope &slope,
              int64_t columns,
              int64_t shown,
              int lane,
              int lanes)
{
  T *out = (T *) dx.data + start;
  if (slope.factor == 0)
    shown = 0;
  if (!PACKED)
    for (int64_t at = lane; at < columns; at += lanes) {
      float value[1] = {at < shown ? widen (x[start + at]) : 0};
      slope.apply (value, at);
      dx.set (start + at, at < shown ? value[0] : 0);
    }
  else {
    walk_row<true> (x + start, shown, lane, lanes, [&] (auto chunk, int64_t at) {
      float values[sizeof chunk / sizeof (T)];
      unpack (chunk, values);
      slope.apply (values, at);
      pack (values, chunk);
      store_chunk (out + at, chunk);
    });
    if (shown < columns)
      clear_row (out + shown, columns - shown, lane, lanes);
  }
}

/* Computes dx [M, C]. It starts with the last rows, which the forward pass left in cache. */
template <class T, bool PACKED>
__global__ void
__launch_bounds__ (MAX_THREADS) entropy_slopes (const T *x, Target dx, int lanes, Entropy entropy)
{
  int per_block = (int) blockDim.x / lanes, lane = (int) threadIdx.x & (lanes - 1);
  int64_t from = (int64_t) blockIdx.x * per_block + threadIdx.x / lanes;
  for (; from < entropy.rows; from += (int64_t) gridDim.x * per_block) {
    int64_t row = entropy.rows - 1 - from;
    write_slopes<PACKED> (x, dx, row * entropy.columns, entropy.slope (row), entropy.columns,
                          entropy.shown, lane, lanes);
  }
}

/* Computes y = mean own / count; 0 if no rank counts any row. */
static __global__ void
weigh_mean (Vector mean, Vector own, Vector count, Target y)
{
  y.set (0, count[0] > 0 ? mean[0] * own[0] / count[0] : 0);
}

/* Writes the mean of `size` squares whose sum is known. */
struct Mean {
  int64_t size;
  Target y;
  __device__ void
  operator() (double sum) const
  {
    y.set (0, size ? (float) (sum / (double) size) : 0);
  }
};

/* Computes a threadblock's sum of squared differences; if it is the only threadblock, their
 * mean. */
template <class T, class U, int N>
__global__ void
__launch_bounds__ (MAX_THREADS)
  squared_errors (const T *x, const U *targets, int64_t size, double *partials, Target y)
{
  int64_t chunks = size / N, step = (int64_t) gridDim.x * blockDim.x;
  int64_t first = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int64_t at = first; at < chunks; at += step * UNROLL) {
    Chunk<T, N> a[UNROLL];
    Chunk<U, N> b[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (at + u * step < chunks) {
        a[u] = load_chunk<N> (x + (at + u * step) * N);
        b[u] = load_chunk<N> (targets + (at + u * step) * N);
      }
    float part = 0;
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (at + u * step < chunks) {
        float left[N], right[N];
        unpack (a[u], left);
        unpack (b[u], right);
#pragma unroll
        for (int i = 0; i < N; i++)
          part += (left[i] - right[i]) * (left[i] - right[i]);
      }
    sum += (double) part;
  }
  if (chunks * N + first < size) {
    float difference = widen (x[chunks * N + first]) - widen (targets[chunks * N + first]);
    sum += (double) (difference * difference);
  }
  sum = block_total (sum);
  if (threadIdx.x > 0)
    return;
  if (gridDim.x > 1)
    partials[blockIdx.x] = sum;
  else
    Mean{size, y}(sum);
}

/* Computes both gradients; each pointer may be null. */
template <class T, class U, int N>
__global__ void
__launch_bounds__ (THREADS)
  squared_slopes (Vector dy, const T *x, const U *targets, T *dx, U *dtargets, int64_t size)
{
  float factor = dy[0] * 2 / (float) size;
  int64_t chunks = size / N, step = (int64_t) gridDim.x * THREADS;
  auto write = [=] (auto a, auto b, int64_t at) {
    constexpr int M = (int) (sizeof a / sizeof (T));
    float left[M], right[M];
    unpack (a, left);
    unpack (b, right);
#pragma unroll
    for (int i = 0; i < M; i++) {
      left[i] = factor * (left[i] - right[i]);
      right[i] = -left[i];
    }
    pack (left, a);
    pack (right, b);
    if (dx)
      store_chunk (dx + at, a);
    if (dtargets)
      store_chunk (dtargets + at, b);
  };
  int64_t first = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  for (int64_t at = first; at < chunks; at += step * 2) {
    Chunk<T, N> a[2];
    Chunk<U, N> b[2];
#pragma unroll
    for (int u = 0; u < 2; u++)
      if (at + u * step < chunks) {
        a[u] = load_chunk<N> (x + (at + u * step) * N);
        b[u] = load_chunk<N> (targets + (at + u * step) * N);
      }
#pragma unroll
    for (int u = 0; u < 2; u++)
      if (at + u * step < chunks)
        write (a[u], b[u], (at + u * step) * N);
  }
  int64_t rest = chunks * N + first;
  if (rest < size)
    write (load_chunk<1> (x + rest), load_chunk<1> (targets + rest), rest);
}

/* Computes both gradients for operands of any floating types. */
__global__ void
__launch_bounds__ (THREADS) squared_slopes_each (
  Vector dy, Vector x, Vector targets, Target dx, Target dtargets, int64_t size)
{
  float factor = dy[0] * 2 / (float) size;
  int64_t at = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  for (; at < size; at += (int64_t) gridDim.x * THREADS) {
    float slope = factor * (x[at] - targets[at]);
    if (dx.data)
      dx.set (at, slope);
    if (dtargets.data)
      dtargets.set (at, -slope);
  }
}

/* Calls `f` with a value of x's type and one of the targets'. */
template <class F>
static LigStatus
dispatch_both (LigLaunch *launch, const LigOperand *x, const LigOperand *targets, F f)
{
  return dispatch (launch, x->dtype, [&] (auto one) {
    return dispatch (launch, targets->dtype, [&] (auto other) { return f (one, other); });
  });
}
} /* namespace lig */

using namespace lig;

/* Computes y, lse [M, 2] and count. */
extern "C" LigStatus
lig_cuda_cross_entropy (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[0];
  LigCrossEntropyParams params = parameters (launch);
  Outcome outcome = {};
  outcome.ignored = params.ignored;
  outcome.mean = true;
  outcome.y = target (&o[2]);
  outcome.count = target (&o[4]);
  int64_t shown = lig_shown_classes (&params, 0, x->columns);
  return dispatch (launch, x->dtype, [=] (auto one) {
    using T = decltype (one);
    return over_rows (launch, &o[1], outcome, rows (x), [=] (int64_t first, const Outcome &part) {
      Teams t = teams_for (launch, part.rows, x->columns, wide<T>, true);
      const T *from = (const T *) x->data + first * x->columns;
      float *lse = o[3].data ? (float *) o[3].data + 2 * first : nullptr;
      /* Without label smoothing, the sums of logits would waste a tenth of the instructions. */
      auto kernel = params.label_smoothing > 0
                      ? t.whole ? entropy_rows<T, true, true> : entropy_rows<T, false, true>
                    : t.whole ? entropy_rows<T, true, false>
                              : entropy_rows<T, false, false>;
      kernel<<<t.blocks, t.threads, 0, stream (launch)>>> (from, x->columns, shown, t.lanes, lse,
                                                           params, part);
      return t.blocks;
    });
  });
}

/* Computes dx [M, C] from dy, x, targets, lse and count. A target in another rank's shard has no
 * effect. */
extern "C" LigStatus
lig_cuda_cross_entropy_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[1], *dx = &o[5];
  LigCrossEntropyParams params = parameters (launch);
  Entropy entropy = {vector (&o[0]),
                     vector (&o[4]),
                     (const int32_t *) o[2].data,
                     (const float *) o[3].data,
                     rows (x),
                     x->columns,
                     params,
                     lig_count_classes (&params, x->columns),
                     lig_shown_classes (&params, params.part.first, x->columns)};
  bool alike = x->dtype == dx->dtype && (((uintptr_t) x->data ^ (uintptr_t) dx->data) & 15) == 0;
  if (!lig_dtype_is_floating (dx->dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "not a floating type; convert to fp32, fp16 or bf16");
  if (x->size == 0)
    return LIG_OK;
  return dispatch (launch, x->dtype, [=] (auto one) {
    using T = decltype (one);
    Teams t = teams_for (launch, entropy.rows, x->columns, wide<T>, false);
    auto kernel = alike ? entropy_slopes<T, true> : entropy_slopes<T, false>;
    kernel<<<t.blocks, t.threads, 0, stream (launch)>>> ((const T *) x->data, target (dx), t.lanes,
                                                         entropy);
    return LIG_LAUNCHED (launch);
  });
}

/* Computes y from the mean over this rank's rows, their number, and the average number per rank. */
extern "C" LigStatus
lig_cuda_cross_entropy_weigh (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  weigh_mean<<<1, 1, 0, stream (launch)>>> (vector (&o[0]), vector (&o[1]), vector (&o[2]),
                                            target (&o[3]));
  return LIG_LAUNCHED (launch);
}

/* Computes the number of rows whose target has the largest logit, and the number of counted
 * rows. */
extern "C" LigStatus
lig_cuda_accuracy (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[0];
  Outcome outcome = {};
  LigCrossEntropyParams params = parameters (launch);
  int64_t shown = lig_shown_classes (&params, 0, x->columns);
  outcome.ignored = params.ignored;
  outcome.y = target (&o[2]);
  outcome.count = target (&o[3]);
  return dispatch (launch, x->dtype, [=] (auto one) {
    using T = decltype (one);
    return over_rows (launch, &o[1], outcome, rows (x), [=] (int64_t first, const Outcome &part) {
      Teams t = teams_for (launch, part.rows, x->columns, wide<T>, true);
      const T *from = (const T *) x->data + first * x->columns;
      auto kernel = t.whole ? accuracy_rows<T, true> : accuracy_rows<T, false>;
      kernel<<<t.blocks, t.threads, 0, stream (launch)>>> (from, x->columns, shown, t.lanes, part);
      return t.blocks;
    });
  });
}

/* Computes y, the mean of (x - targets)^2. */
extern "C" LigStatus
lig_cuda_mean_squared_error (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *targets = &launch->operands[1];
  Target y = target (&launch->operands[2]);
  bool packed = all_aligned (launch, 2);
  return dispatch_both (launch, x, targets, [=] (auto one, auto other) {
    using T = decltype (one);
    using U = decltype (other);
    constexpr int N = shared_width<T, U>;
    bool alone = x->size <= SQUARES_ALONE;
    int threads = alone ? (int) MAX_THREADS : (int) THREADS;
    int64_t work = (packed ? x->size / N : x->size) / UNROLL + 1;
    int blocks = alone ? 1 : blocks_for (launch, work, THREADS, 8);
    double *partials = (double *) launch->workspace;
    auto kernel = packed ? squared_errors<T, U, N> : squared_errors<T, U, 1>;
    kernel<<<blocks, threads, 0, stream (launch)>>> ((const T *) x->data, (const U *) targets->data,
                                                     x->size, partials, y);
    if (blocks > 1)
      finish_partials<<<1, MAX_THREADS, 0, stream (launch)>>> (partials, blocks, Mean{x->size, y});
    return LIG_LAUNCHED (launch);
  });
}

/* Computes dx = 2 dy (x - targets) / size and dtargets = -dx; either may be absent. */
extern "C" LigStatus
lig_cuda_mean_squared_error_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[1], *targets = &o[2], *dx = &o[3], *dt = &o[4];
  int64_t size = x->size;
  bool same = (!dx->data || dx->dtype == x->dtype) && (!dt->data || dt->dtype == targets->dtype);
  if (size == 0)
    return LIG_OK;
  return dispatch_both (launch, x, targets, [=] (auto one, auto other) {
    using T = decltype (one);
    using U = decltype (other);
    constexpr int N = shared_width<T, U>;
    bool packed = same && aligned (x) && aligned (targets) && aligned (dx) && aligned (dt);
    int blocks = blocks_for (launch, packed ? size / N / 2 + 1 : size, THREADS, 16);
    if (packed)
      squared_slopes<T, U, N><<<blocks, THREADS, 0, stream (launch)>>> (
        vector (&o[0]), (const T *) x->data, (const U *) targets->data, (T *) dx->data,
        (U *) dt->data, size);
    else
      squared_slopes_each<<<blocks, THREADS, 0, stream (launch)>>> (
        vector (&o[0]), vector (x), vector (targets), target (dx), target (dt), size);
    return LIG_LAUNCHED (launch);
  });
}
