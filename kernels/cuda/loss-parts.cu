/* SPDX-License-Identifier: MIT */
/* Vocabulary-parallel cross-entropy; kernels/cpu/loss-parts.c has the formulas. Lower bound: a rank
 * reads its logits once, with a running maximum and a sum relative to it, as for unsharded rows;
 * the parts of all ranks are a few numbers per row.
 *
 * A target that is not a valid class makes the loss, or the number of correct rows, NaN. */
#include "kernels/cuda/loss-outcome.cuh"

namespace lig
{
/* The numbers per row of a part: for the cross-entropy, and for the accuracy. */
enum { MAXIMUM, EXPS, SUM, LOGIT, ENTROPY_PART };
enum { LARGEST, AIM, BEATEN, ACCURACY_PART };

/* The rows of a rank's logits, and the part to compute. */
struct PartRows {
  const int32_t *targets;
  float *part;
  int64_t rows, columns, shown; /* shown: logits of a row that are not padding */
  int lanes;
  LigCrossEntropyParams params;
  /* Returns the index of a row's target in this rank's shard, or -1 if another rank has it. */
  __device__ int64_t
  place (int64_t row) const
  {
    int64_t at = targets[row] - params.part.first;
    return targets[row] != params.ignored && at >= 0 && at < shown ? at : -1;
  }
};

/* Computes the statistics of each row for the loss. */
template <class T, bool WHOLE>
__global__ void
__launch_bounds__ (MAX_THREADS) sum_parts (const T *x, PartRows p)
{
  int per_block = WHOLE ? 1 : (int) blockDim.x / p.lanes, lane = (int) threadIdx.x & (p.lanes - 1);
  bool smooth = p.params.label_smoothing > 0;
  for (int64_t base = (int64_t) blockIdx.x * per_block; base < p.rows;
       base += (int64_t) gridDim.x * per_block) {
    int64_t own = base + (WHOLE ? 0 : threadIdx.x / p.lanes);
    int64_t row = own < p.rows ? own : p.rows - 1;
    Online online = {-INFINITY, 0, 0};
    const float origin = smooth ? base_of (widen (x[row * p.columns])) : 0;
    walk_row (x + row * p.columns, p.shown, lane, p.lanes, [&] (const auto &chunk, int64_t) {
      float values[sizeof chunk / sizeof (T)];
      unpack (chunk, values);
      online.add (values, smooth, origin);
    });
    online.rise (fold_team<WHOLE> (online.max, p.lanes, -INFINITY, Larger{}));
    online.exps = fold_team<WHOLE> (online.exps, p.lanes, 0, Sum{});
    if (smooth)
      online.sum = fold_team<WHOLE> (online.sum, p.lanes, 0, Sum{});
    if (lane > 0 || own >= p.rows)
      continue;
    float *part = p.part + row * ENTROPY_PART;
    int64_t place = p.place (row);
    part[MAXIMUM] = online.max;
    part[EXPS] = online.exps;
    part[SUM] = smooth ? online.sum + (float) p.shown * (origin - online.shift ()) : 0;
    part[LOGIT] = place < 0 ? 0 : widen (x[row * p.columns + place]);
  }
}

/* Computes the statistics of each row for the accuracy. A target in another rank's shard counts as
 * infinite here, so that no logit beats it except NaN. */
template <class T, bool WHOLE>
__global__ void
__launch_bounds__ (MAX_THREADS) find_rivals (const T *x, PartRows p)
{
  int per_block = WHOLE ? 1 : (int) blockDim.x / p.lanes, lane = (int) threadIdx.x & (p.lanes - 1);
  for (int64_t base = (int64_t) blockIdx.x * per_block; base < p.rows;
       base += (int64_t) gridDim.x * per_block) {
    int64_t own = base + (WHOLE ? 0 : threadIdx.x / p.lanes);
    int64_t row = own < p.rows ? own : p.rows - 1, place = p.place (row);
    float aim = place < 0 ? INFINITY : widen (x[row * p.columns + place]), max = -INFINITY;
    bool above = false;
    walk_row (x + row * p.columns, p.shown, lane, p.lanes, [&] (const auto &chunk, int64_t at) {
      constexpr int N = (int) (sizeof chunk / sizeof (T));
      float values[N];
      unpack (chunk, values);
      int64_t before = place - at;
      int end = (int) (before < 0 ? 0 : before < N ? before : N);
#pragma unroll
      for (int i = 0; i < N; i++) {
        above |= !(values[i] < aim || (values[i] == aim && i >= end));
        max = fmaxf (max, values[i]);
      }
    });
    float beaten = fold_team<WHOLE> (above ? 1.0f : 0.0f, p.lanes, 0, Larger{});
    max = fold_team<WHOLE> (max, p.lanes, -INFINITY, Larger{});
    if (lane > 0 || own >= p.rows)
      continue;
    float *part = p.part + row * ACCURACY_PART;
    part[LARGEST] = max;
    part[AIM] = place < 0 ? 0 : aim;
    part[BEATEN] = beaten;
  }
}

/* The parts of all ranks from a row on; the parts of a rank are `step` numbers. */
struct Joined {
  const float *parts;
  int64_t step;
  int ranks;
  LigCrossEntropyParams params;
};

/* Computes lse and loss of each row from the parts of all ranks, in rank order. */
__global__ void
__launch_bounds__ (MAX_THREADS) join_sums (Joined joined, float *lse, Outcome outcome)
{
  const int64_t classes = lig_count_classes (&joined.params, 0);
  const int64_t each = joined.params.part.count / joined.ranks;
  const float smoothing = joined.params.label_smoothing;
  for (int64_t row = (int64_t) blockIdx.x * blockDim.x + threadIdx.x; row < outcome.rows;
       row += (int64_t) gridDim.x * blockDim.x) {
    const float *part = joined.parts + row * ENTROPY_PART;
    Online all = {-INFINITY, 0, 0};
    float logit = 0, loss = 0;
    for (int i = 0; i < joined.ranks; i++)
      all.max = fmaxf (all.max, part[i * joined.step + MAXIMUM]);
    for (int i = 0; i < joined.ranks; i++) {
      Online one = {part[i * joined.step + MAXIMUM], part[i * joined.step + EXPS], 0};
      const float less = one.shift () - all.shift ();
      all.exps += one.exps * expf (less);
      all.sum += part[i * joined.step + SUM] +
                 less * (float) lig_shown_classes (&joined.params, i * each, each);
      logit += part[i * joined.step + LOGIT];
    }
    int32_t target = outcome.targets[row];
    if (target != joined.params.ignored) {
      bool inside = target >= 0 && target < classes;
      loss = all.loss (inside ? logit : NAN, smoothing, (float) classes, all.shift ());
    }
    if (lse) {
      lse[2 * row] = all.max;
      lse[2 * row + 1] = all.log ();
    }
    outcome.values[row] = loss;
  }
  if (gridDim.x > 1)
    return;
  __syncthreads ();
  conclude (outcome);
}

/* Writes 1 for each row whose target is the first maximum, else 0: it must be larger than the
 * logits of the ranks before its own. */
__global__ void
__launch_bounds__ (MAX_THREADS) join_rivals (Joined joined, Outcome outcome)
{
  const int64_t classes = lig_count_classes (&joined.params, 0);
  const int64_t each = joined.params.part.count / joined.ranks;
  for (int64_t row = (int64_t) blockIdx.x * blockDim.x + threadIdx.x; row < outcome.rows;
       row += (int64_t) gridDim.x * blockDim.x) {
    const float *part = joined.parts + row * ACCURACY_PART;
    int32_t target = outcome.targets[row];
    bool counts = target != outcome.ignored, inside = target >= 0 && target < classes;
    bool hit = counts && inside;
    int64_t owner = hit ? target / each : 0;
    float aim = part[owner * joined.step + AIM];
    for (int i = 0; i < joined.ranks; i++) {
      float largest = part[i * joined.step + LARGEST];
      hit &= part[i * joined.step + BEATEN] == 0 && (i < owner ? largest < aim : largest <= aim);
    }
    outcome.values[row] = counts && !inside ? NAN : hit ? 1.0f : 0.0f;
  }
  if (gridDim.x > 1)
    return;
  __syncthreads ();
  conclude (outcome);
}

/* Calls `f` with a value of the logits' type, their rows and teams. */
template <class F>
static LigStatus
over_logits (LigLaunch *launch, F f)
{
  const LigOperand *o = launch->operands, *x = &o[0];
  LigCrossEntropyParams params = parameters (launch);
  PartRows p = {(const int32_t *) o[1].data,
                (float *) o[2].data,
                rows (x),
                x->columns,
                lig_shown_classes (&params, params.part.first, x->columns),
                1,
                params};
  return dispatch (launch, x->dtype, [=] (auto one) {
    using T = decltype (one);
    PartRows own = p;
    Teams teams = teams_for (launch, p.rows, p.columns, wide<T>, false);
    own.lanes = teams.lanes;
    f ((const T *) x->data, own, teams);
    return LIG_LAUNCHED (launch);
  });
}

/* Calls `f (joined, first, outcome, blocks, threads)` for as many rows at a time as the workspace
 * can hold values for. A single threadblock completes the sum itself. */
template <class F>
static LigStatus
over_parts (LigLaunch *launch, int width, Outcome outcome, F f)
{
  const LigOperand *parts = &launch->operands[0], *targets = &launch->operands[1];
  const int64_t all = targets->size;
  Joined joined = {(const float *) parts->data, all * width, (int) (parts->size / (all * width)),
                   parameters (launch)};
  outcome.ignored = joined.params.ignored;
  return over_rows (launch, targets, outcome, all, [=] (int64_t first, const Outcome &part) {
    Joined own = joined;
    bool alone = part.rows <= ALONE;
    int threads = alone ? (int) MAX_THREADS : (int) THREADS;
    int blocks = alone ? 1 : blocks_for (launch, part.rows, THREADS, 8);
    own.parts += first * width;
    f (own, first, part, blocks, threads);
    return blocks;
  });
}
} /* namespace lig */

using namespace lig;

/* Computes the part [M, 4] of the loss. */
extern "C" LigStatus
lig_cuda_cross_entropy_part (LigLaunch *launch)
{
  return over_logits (launch, [=] (auto *x, const PartRows &p, const Teams &t) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype (x)>>;
    auto kernel = t.whole ? sum_parts<T, true> : sum_parts<T, false>;
    kernel<<<t.blocks, t.threads, 0, stream (launch)>>> (x, p);
  });
}

/* Computes y, lse [M, 2] and count. */
extern "C" LigStatus
lig_cuda_cross_entropy_join (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  float *lse = (float *) o[3].data;
  Outcome outcome = {};
  outcome.mean = true;
  outcome.y = target (&o[2]);
  outcome.count = target (&o[4]);
  return over_parts (
    launch, ENTROPY_PART, outcome,
    [=] (const Joined &joined, int64_t first, const Outcome &part, int blocks, int threads) {
      join_sums<<<blocks, threads, 0, stream (launch)>>> (joined, lse ? lse + 2 * first : nullptr,
                                                          part);
    });
}

/* Computes the part [M, 2] of the accuracy. */
extern "C" LigStatus
lig_cuda_accuracy_part (LigLaunch *launch)
{
  return over_logits (launch, [=] (auto *x, const PartRows &p, const Teams &t) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype (x)>>;
    auto kernel = t.whole ? find_rivals<T, true> : find_rivals<T, false>;
    kernel<<<t.blocks, t.threads, 0, stream (launch)>>> (x, p);
  });
}

/* Computes the number of rows whose target has the largest logit, and the number of counted
 * rows. */
extern "C" LigStatus
lig_cuda_accuracy_join (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Outcome outcome = {};
  outcome.y = target (&o[2]);
  outcome.count = target (&o[3]);
  return over_parts (
    launch, ACCURACY_PART, outcome,
    [=] (const Joined &joined, int64_t, const Outcome &part, int blocks, int threads) {
      join_rivals<<<blocks, threads, 0, stream (launch)>>> (joined, part);
    });
}
