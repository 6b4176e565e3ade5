/* SPDX-License-Identifier: MIT */
/* Routers: the choice of k experts for each row of logits, the weights of the chosen ones, and two
 * auxiliary losses (kernels/cpu/experts-router.c has the formulas); the gradient of the logits, for
 * which the scores are recomputed; and the correction of the choice. A warp processes a row, whose
 * logits stay in registers: lane l has those of the experts l, l + 32, ... Everything is computed
 * in fp32. Lower bound: the logits cross the memory bus once, and the outputs.
 *
 * For the load and the losses, each threadblock leaves the sums of its rows in the workspace, and
 * one threadblock adds them in order. The rows of a threadblock depend on their number only. */
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/experts.cuh"

namespace lig
{
namespace router
{
/* The warps of a threadblock of the gradient; the largest number of parts of the rows; the threads
 * of the threadblock that adds the parts. */
enum { WARPS = 4, MAX_PARTS = 1024, FINISHING = 1024 };

/* The warps of a threadblock that routes, and the rows that each processes unless that makes too
 * many parts: many warps hide the latency of the selection; with many experts, their selections
 * need too much shared memory. */
template <int PER> struct Block {
  static constexpr int WARPS = PER <= 4 ? 16 : 4, EACH = PER <= 4 ? 4 : 8, EXPERTS = 32 * PER;
};

/* The mark of an expert that is taken, or not in a chosen group; that of NaN, which is smaller than
 * all numbers. */
enum : uint32_t { TAKEN = 0, NOT_A_NUMBER = 1 };

/* Returns numbers in the order of the values; -0 and 0 are equal. */
__device__ inline uint32_t
key_of (float value)
{
  uint32_t bits = __float_as_uint (value == 0 ? 0.0f : value);
  return value != value ? NOT_A_NUMBER : bits >> 31 ? ~bits : bits | 0x80000000u;
}

/* Returns the value of a key. */
__device__ inline float
value_of (uint32_t key)
{
  return key <= NOT_A_NUMBER ? NAN : __uint_as_float (key >> 31 ? key & 0x7fffffffu : ~key);
}

/* Returns log (1 + e^x). */
__device__ inline float
softplus (float x)
{
  return fmaxf (x, 0) + log1pf (lig_exp (-fabsf (x)));
}

__device__ inline bool
is_local (const LigRouterParams &p)
{
  return p.score == LIG_SCORE_SOFTMAX && p.first == LIG_FIRST_SELECT;
}

/* Returns the score of a logit, unless that is a softmax. */
__device__ inline float
score_of (const LigRouterParams &p, float x)
{
  return p.score == LIG_SCORE_SIGMOID ? lig_sigmoid (x) : sqrtf (softplus (x));
}

/* A lane's logits of a row, and what follows from all of them. */
template <int PER> struct Row {
  float logits[PER], softmax[PER];
  float lse;  /* the log-sum-exp of the logits */
  float norm; /* by which the load-balancing loss divides the scores */
  bool divides;

  /* Returns the score of the lane's i-th expert. */
  __device__ float
  score (const LigRouterParams &p, int i) const
  {
    return p.score == LIG_SCORE_SOFTMAX ? softmax[i] : score_of (p, logits[i]);
  }
};

/* Reads a row. Experts that do not exist have no share in any sum. */
template <int PER>
__device__ inline void
read_row (
  const Vector &x, int64_t row, int experts, int lane, const LigRouterParams &p, Row<PER> &r)
{
  float max = -FLT_MAX, sum = 0, scores = 0;
#pragma unroll
  for (int i = 0; i < PER; i++) {
    r.logits[i] = lane + 32 * i < experts ? x[row * experts + lane + 32 * i] : -INFINITY;
    max = fmaxf (max, r.logits[i]);
  }
  fold_lanes (32, Larger{}, max);
#pragma unroll
  for (int i = 0; i < PER; i++) {
    bool inside = lane + 32 * i < experts;
    r.softmax[i] = inside ? lig_exp (r.logits[i] - max) : 0;
    sum += r.softmax[i];
  }
  fold_lanes (32, Sum{}, sum);
  r.lse = max + logf (sum);
  r.divides = p.score != LIG_SCORE_SOFTMAX && p.top_k > 1;
#pragma unroll
  for (int i = 0; i < PER; i++) {
    r.softmax[i] /= sum;
    if (r.divides && lane + 32 * i < experts)
      scores += score_of (p, r.logits[i]);
  }
  fold_lanes (32, Sum{}, scores);
  r.norm = r.divides ? scores + 1e-20f : 1;
}

/* Returns the expert with the largest key, of equals the lowest number, among the lanes' keys. */
template <int PER>
__device__ inline int
find_largest (const uint32_t (&keys)[PER], int lane)
{
  uint32_t own = TAKEN;
  int index = INT32_MAX;
#pragma unroll
  for (int i = 0; i < PER; i++)
    if (keys[i] > own) {
      own = keys[i];
      index = lane + 32 * i;
    }
  uint32_t best = __reduce_max_sync (0xffffffffu, own);
  return (int) __reduce_min_sync (0xffffffffu,
                                  own == best ? (unsigned) index : (unsigned) INT32_MAX);
}

/* Marks an expert as taken. Returns its key, in all lanes. */
template <int PER>
__device__ inline uint32_t
take (uint32_t (&keys)[PER], int lane, int expert)
{
  uint32_t key = 0;
#pragma unroll
  for (int i = 0; i < PER; i++)
    if (lane + 32 * i == expert) {
      key = keys[i];
      keys[i] = TAKEN;
    }
  return __shfl_sync (0xffffffffu, key, expert % 32);
}

/* Marks as taken the experts outside of the groups with the largest sums of their best keys.
 * `groups` has a place for each group. */
template <int PER>
__device__ inline void
leave_groups (
  uint32_t (&keys)[PER], int lane, int experts, const LigRouterParams &p, uint32_t *groups)
{
  int each = experts / p.groups, best = min (p.top_k / p.group_top_k, each);
  for (int group = 0; group < p.groups; group++) {
    uint32_t own[PER];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < PER; i++)
      own[i] = (lane + 32 * i) / each == group ? keys[i] : (uint32_t) TAKEN;
    for (int j = 0; j < best; j++)
      sum += value_of (take (own, lane, find_largest (own, lane)));
    if (lane == 0)
      groups[group] = key_of (sum);
  }
  for (int j = 0; j < p.group_top_k; j++) {
    __syncwarp ();
    uint32_t own = TAKEN;
    int index = INT32_MAX;
    for (int group = lane; group < p.groups; group += 32)
      if (groups[group] > own) {
        own = groups[group];
        index = group;
      }
    uint32_t largest = __reduce_max_sync (0xffffffffu, own);
    unsigned chosen =
      __reduce_min_sync (0xffffffffu, own == largest ? (unsigned) index : (unsigned) INT32_MAX);
    if (lane == 0 && chosen < (unsigned) p.groups)
      groups[chosen] = TAKEN;
  }
  __syncwarp ();
#pragma unroll
  for (int i = 0; i < PER; i++)
    if (lane + 32 * i < experts && groups[(lane + 32 * i) / each] != TAKEN)
      keys[i] = TAKEN;
}

/* The operands and the sizes of a router; each output may be absent. */
struct Router {
  Vector x, correction;
  float *weights;
  int32_t *chosen;
  int64_t rows, share; /* the rows of a threadblock */
  int experts, parts;
  LigRouterParams params;
  /* The sums of each part: its rows that selected each expert, [parts, experts], the sums of the
   * scores, and those of the squared log-sum-exps. Null: they are not needed. */
  int *counts;
  float *scores, *squares;
};

/* Selects the experts of a row, in the order of selection. */
template <int PER>
__device__ inline void
choose (const Router &r, const Row<PER> &row, int lane, uint32_t *groups, uint16_t *chosen)
{
  const LigRouterParams &p = r.params;
  uint32_t keys[PER];
#pragma unroll
  for (int i = 0; i < PER; i++) {
    int expert = lane + 32 * i;
    float value = is_local (p) ? row.logits[i] : row.score (p, i);
    if (r.correction.data && expert < r.experts)
      value += r.correction[expert];
    keys[i] = expert < r.experts ? key_of (value) : (uint32_t) TAKEN;
  }
  if (p.groups > 1)
    leave_groups (keys, lane, r.experts, p, groups);
  for (int j = 0; j < p.top_k; j++) {
    int expert = find_largest (keys, lane);
    take (keys, lane, expert);
    if (lane == 0)
      chosen[j] = (uint16_t) expert;
  }
  __syncwarp ();
}

/* Computes the weights of the chosen experts, and writes both. */
template <int PER>
__device__ inline void
weigh (const Router &r, int64_t index, const Row<PER> &row, int lane, const uint16_t *chosen)
{
  const LigRouterParams &p = r.params;
  const bool local = is_local (p);
  float max = -FLT_MAX, sum = 0;
  auto logit = [&] (int j) { return r.x[index * r.experts + chosen[j]]; };
  for (int j = lane; local && j < p.top_k; j += 32)
    max = fmaxf (max, logit (j));
  fold_lanes (32, Larger{}, max);
  float whole = row.lse;
  auto score = [&] (int j) {
    return local                          ? lig_exp (logit (j) - max)
           : p.score == LIG_SCORE_SOFTMAX ? lig_exp (logit (j) - whole)
                                          : score_of (p, logit (j));
  };
  for (int j = lane; j < p.top_k; j += 32)
    sum += score (j);
  fold_lanes (32, Sum{}, sum);
  float divisor = local ? sum : p.normalize && p.top_k > 1 ? sum + 1e-20f : 1;
  for (int j = lane; j < p.top_k; j += 32) {
    if (r.weights)
      r.weights[index * p.top_k + j] = score (j) / divisor * p.scale;
    if (r.chosen)
      r.chosen[index * p.top_k + j] = chosen[j];
  }
}

/* Processes the rows of a part. */
template <int PER>
__global__ void
__launch_bounds__ (Block<PER>::WARPS * 32) route (Router r)
{
  constexpr int WARPS = Block<PER>::WARPS, EXPERTS = Block<PER>::EXPERTS;
  __shared__ uint16_t chosen[WARPS][EXPERTS];
  __shared__ uint32_t groups[WARPS][EXPERTS];
  __shared__ int counts[EXPERTS];
  __shared__ float squares_of[WARPS];
  int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  int64_t first = (int64_t) blockIdx.x * r.share, end = min (first + r.share, r.rows);
  float sums[PER] = {}, squares = 0;
  for (int e = (int) threadIdx.x; e < r.experts; e += WARPS * 32)
    counts[e] = 0;
  __syncthreads ();
  for (int64_t index = first + warp; index < end; index += WARPS) {
    Row<PER> row;
    read_row (r.x, index, r.experts, lane, r.params, row);
    choose (r, row, lane, groups[warp], chosen[warp]);
    weigh (r, index, row, lane, chosen[warp]);
    for (int j = lane; j < r.params.top_k; j += 32)
      atomicAdd (&counts[chosen[warp][j]], 1);
#pragma unroll
    for (int i = 0; i < PER; i++)
      sums[i] += row.score (r.params, i) / row.norm;
    squares += row.lse * row.lse;
    __syncwarp ();
  }
  if (!r.counts)
    return;
  /* The warps' sums of scores, in their order; the marks of groups are not needed anymore. */
  float *scores = reinterpret_cast<float *> (groups), square = 0;
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < PER; i++)
    if (lane + 32 * i < r.experts)
      scores[warp * EXPERTS + lane + 32 * i] = sums[i];
  if (lane == 0)
    squares_of[warp] = squares;
  __syncthreads ();
  for (int e = (int) threadIdx.x; e < r.experts; e += WARPS * 32) {
    float sum = 0;
    for (int w = 0; w < WARPS; w++)
      sum += scores[w * EXPERTS + e];
    r.scores[(int64_t) blockIdx.x * r.experts + e] = sum;
    r.counts[(int64_t) blockIdx.x * r.experts + e] = counts[e];
  }
  for (int w = 0; w < WARPS; w++)
    square += squares_of[w];
  if (threadIdx.x == 0)
    r.squares[blockIdx.x] = square;
}

/* Adds the sums of the parts in order: each expert's are shared by some threads. */
static __global__ void
__launch_bounds__ (FINISHING) finish (Router r, float *load, float *losses)
{
  __shared__ double scores[FINISHING], counts[FINISHING];
  int width = 32;
  while (width < r.experts)
    width *= 2;
  int expert = (int) threadIdx.x % width, slice = (int) threadIdx.x / width;
  int slices = FINISHING / width;
  double score = 0, count = 0, squares = 0;
  if (expert < r.experts)
#pragma unroll 8
    for (int part = slice; part < r.parts; part += slices) {
      score += (double) r.scores[(int64_t) part * r.experts + expert];
      count += (double) r.counts[(int64_t) part * r.experts + expert];
    }
  scores[threadIdx.x] = score;
  counts[threadIdx.x] = count;
  __syncthreads ();
  double product = 0;
  if (slice == 0 && expert < r.experts) {
    for (int s = 1; s < slices; s++) {
      score += scores[s * width + expert];
      count += counts[s * width + expert];
    }
    if (load)
      load[expert] = (float) count;
    product = count / ((double) r.rows * r.params.top_k) * (score / (double) r.rows);
  }
  for (int part = (int) threadIdx.x; part < r.parts; part += FINISHING)
    squares += (double) r.squares[part];
  product = block_total (product);
  squares = block_total (squares);
  if (threadIdx.x == 0 && losses) {
    losses[0] = (float) (product * r.experts);
    losses[1] = (float) (squares / (double) r.rows);
  }
}

/* The operands of the gradient. */
struct Gradient {
  const float *dweights, *loss; /* each may be absent */
  Vector x;
  const int32_t *chosen;
  const float *load;
  Target dx;
  int64_t rows;
  int experts;
  LigRouterParams params;
};

/* Sets the gradients of the weights of a lane's experts, and which of them are chosen. Numbers that
 * are not experts are ignored. */
template <int PER>
__device__ inline uint32_t
spread (const Gradient &g, int64_t index, int lane, float (&dweights)[PER])
{
  uint32_t chosen = 0;
  const int k = g.params.top_k;
#pragma unroll
  for (int i = 0; i < PER; i++)
    dweights[i] = 0;
  for (int j = 0; j < k; j++) {
    int expert = g.chosen[index * k + j];
    float value = g.dweights[index * k + j];
    if (expert < 0 || expert >= g.experts || expert % 32 != lane)
      continue;
    chosen |= 1u << expert / 32;
#pragma unroll
    for (int i = 0; i < PER; i++)
      dweights[i] += expert / 32 == i ? value : 0;
  }
  return chosen;
}

/* Sets the gradients of the scores of a row; with a softmax over the chosen experts, sets those of
 * the logits in `direct`. */
template <int PER>
__device__ inline void
turn_weights (
  const Gradient &g, int64_t index, int lane, const Row<PER> &row, float *slopes, float *direct)
{
  const LigRouterParams &p = g.params;
  const bool local = is_local (p), normalized = local || (p.normalize && p.top_k > 1);
  float dweights[PER], scores[PER], max = -FLT_MAX, sum = 0, mean = 0;
  uint32_t chosen = spread (g, index, lane, dweights);
#pragma unroll
  for (int i = 0; i < PER; i++)
    max = chosen >> i & 1 ? fmaxf (max, row.logits[i]) : max;
  fold_lanes (32, Larger{}, max);
#pragma unroll
  for (int i = 0; i < PER; i++) {
    bool inside = chosen >> i & 1;
    scores[i] = !inside ? 0 : local ? lig_exp (row.logits[i] - max) : row.score (p, i);
    sum += scores[i];
  }
  fold_lanes (32, Sum{}, sum);
  float divisor = local ? sum : normalized ? sum + 1e-20f : 1;
#pragma unroll
  for (int i = 0; i < PER; i++) {
    scores[i] /= divisor;
    mean += normalized && (chosen >> i & 1) ? scores[i] * dweights[i] : 0;
  }
  fold_lanes (32, Sum{}, mean);
#pragma unroll
  for (int i = 0; i < PER; i++)
    if (chosen >> i & 1) {
      float slope = p.scale * (dweights[i] - mean);
      if (local)
        direct[i] += scores[i] * slope;
      else
        slopes[i] += slope / divisor;
    }
}

/* Adds to the gradients of the scores those of the load-balancing loss, times `factor`. */
template <int PER>
__device__ inline void
add_balance (const Gradient &g, int lane, const Row<PER> &row, float factor, float *slopes)
{
  float mean = 0;
#pragma unroll
  for (int i = 0; i < PER; i++)
    if (row.divides && lane + 32 * i < g.experts)
      mean += g.load[lane + 32 * i] * score_of (g.params, row.logits[i]) / row.norm;
  fold_lanes (32, Sum{}, mean);
#pragma unroll
  for (int i = 0; i < PER; i++)
    if (lane + 32 * i < g.experts)
      slopes[i] += factor * (g.load[lane + 32 * i] - mean) / row.norm;
}

/* Replaces the gradients of the scores by those of the logits. */
template <int PER>
__device__ inline void
turn_scores (const LigRouterParams &p, const Row<PER> &row, float *slopes)
{
  float mean = 0;
  if (p.score == LIG_SCORE_SOFTMAX) {
#pragma unroll
    for (int i = 0; i < PER; i++)
      mean += row.softmax[i] * slopes[i];
    fold_lanes (32, Sum{}, mean);
  }
#pragma unroll
  for (int i = 0; i < PER; i++)
    slopes[i] = p.score == LIG_SCORE_SOFTMAX ? row.softmax[i] * (slopes[i] - mean)
                : p.score == LIG_SCORE_SIGMOID
                  ? slopes[i] * lig_sigmoid_slope (row.logits[i])
                  : slopes[i] * lig_sigmoid (row.logits[i]) /
                      fmaxf (2 * sqrtf (softplus (row.logits[i])), FLT_MIN);
}

/* Computes dx. */
template <int PER>
__global__ void
__launch_bounds__ (WARPS * 32) route_back (Gradient g)
{
  const LigRouterParams &p = g.params;
  int lane = (int) threadIdx.x % 32;
  float loss = g.loss ? *g.loss : 0, rows = (float) g.rows;
  float balance = loss * p.aux * (float) g.experts / (rows * rows * (float) p.top_k);
  for (int64_t index = (int64_t) blockIdx.x * WARPS + threadIdx.x / 32; index < g.rows;
       index += (int64_t) gridDim.x * WARPS) {
    Row<PER> row;
    float slopes[PER] = {}, direct[PER] = {};
    read_row (g.x, index, g.experts, lane, p, row);
    if (g.dweights)
      turn_weights (g, index, lane, row, slopes, direct);
    if (g.loss && p.aux != 0)
      add_balance (g, lane, row, balance, slopes);
    turn_scores (p, row, slopes);
    float squared = g.loss && p.z != 0 ? loss * p.z * 2 * row.lse / rows : 0;
#pragma unroll
    for (int i = 0; i < PER; i++)
      if (lane + 32 * i < g.experts)
        g.dx.set (index * g.experts + lane + 32 * i,
                  slopes[i] + direct[i] + squared * row.softmax[i]);
  }
}

/* Calls `f` with the number of experts per lane, the size of an array. */
template <class F>
static LigStatus
dispatch_experts (int64_t experts, F f)
{
  if (experts <= 32)
    return f (std::integral_constant<int, 1>{});
  if (experts <= 64)
    return f (std::integral_constant<int, 2>{});
  if (experts <= 128)
    return f (std::integral_constant<int, 4>{});
  if (experts <= 256)
    return f (std::integral_constant<int, 8>{});
  if (experts <= 512)
    return f (std::integral_constant<int, 16>{});
  return f (std::integral_constant<int, 32>{});
}

/* Returns whether the params fit the number of experts. */
static bool
params_fit (const LigRouterParams *p, int64_t experts)
{
  if (!p || experts < 1 || experts > LIG_MAX_EXPERTS || p->top_k < 1 || p->top_k > experts ||
      p->groups < 1 || experts % p->groups)
    return false;
  return p->groups == 1 || (p->group_top_k >= 1 && p->group_top_k <= p->groups &&
                            p->top_k <= experts / p->groups * p->group_top_k);
}

/* Divides the rows into parts of at least `share`, and places their sums in the workspace if they
 * are needed. */
static void
place_sums (const LigLaunch *launch, Router *r, int64_t share)
{
  int64_t parts;
  while ((parts = (r->rows + share - 1) / share) > MAX_PARTS)
    share *= 2;
  r->share = share;
  r->parts = (int) parts;
  if (!launch->operands[4].data && !launch->operands[5].data)
    return;
  r->counts = (int *) launch->workspace;
  r->scores = (float *) (r->counts + parts * r->experts);
  r->squares = r->scores + parts * r->experts;
}

/* Moves the corrections towards equal loads. Each warp adds all loads, in the same order. */
__global__ void
balance (const float *load, const float *norm, float *correction, int experts, float step)
{
  double sum = 0;
  if (norm && !isfinite (*norm))
    return;
  for (int e = (int) threadIdx.x % 32; e < experts; e += 32)
    sum += (double) load[e];
  fold_lanes (32, Sum{}, sum);
  for (int e = (int) threadIdx.x; e < experts; e += (int) blockDim.x) {
    double times = (double) load[e] * experts;
    correction[e] += times < sum ? step : times > sum ? -step : 0;
  }
}
} /* namespace router */
} /* namespace lig */

using namespace lig;

/* Selects the experts of each row; computes their weights, the load and the losses. */
extern "C" LigStatus
lig_cuda_router (LigLaunch *launch)
{
  using namespace router;
  const LigOperand *o = launch->operands, *x = &o[0];
  const LigRouterParams *params = (const LigRouterParams *) launch->params;
  if (!params_fit (params, x->columns) || !lig_dtype_is_floating (x->dtype) ||
      !is_type (&o[2], LIG_FP32) || !is_type (&o[3], LIG_INT32) || !is_type (&o[4], LIG_FP32) ||
      !is_type (&o[5], LIG_FP32))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  if (x->size <= 0)
    return LIG_OK;
  Router r = {};
  r.x = vector (x);
  r.correction = vector (&o[1]);
  r.weights = (float *) o[2].data;
  r.chosen = (int32_t *) o[3].data;
  r.rows = rows (x);
  r.experts = (int) x->columns;
  r.params = *params;
  LigStatus status = dispatch_experts (r.experts, [launch, &r] (auto per) {
    using B = Block<decltype (per)::value>;
    place_sums (launch, &r, B::WARPS * B::EACH);
    route<decltype (per)::value><<<r.parts, B::WARPS * 32, 0, stream (launch)>>> (r);
    return LIG_LAUNCHED (launch);
  });
  if (status != LIG_OK || !r.counts)
    return status;
  finish<<<1, FINISHING, 0, stream (launch)>>> (r, (float *) o[4].data, (float *) o[5].data);
  return LIG_LAUNCHED (launch);
}

/* Computes the gradient of the logits. */
extern "C" LigStatus
lig_cuda_router_backward (LigLaunch *launch)
{
  using namespace router;
  const LigOperand *o = launch->operands, *x = &o[2];
  const LigRouterParams *params = (const LigRouterParams *) launch->params;
  if (!params_fit (params, x->columns) || !lig_dtype_is_floating (x->dtype) ||
      !lig_dtype_is_floating (o[5].dtype) || !is_type (&o[0], LIG_FP32) ||
      !is_type (&o[1], LIG_FP32) || o[3].dtype != LIG_INT32 || o[4].dtype != LIG_FP32)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  if (x->size <= 0)
    return LIG_OK;
  Gradient g = {(const float *) o[0].data,
                (const float *) o[1].data,
                vector (x),
                (const int32_t *) o[3].data,
                (const float *) o[4].data,
                target (&o[5]),
                rows (x),
                (int) x->columns,
                *params};
  return dispatch_experts (g.experts, [=] (auto per) {
    route_back<decltype (per)::value>
      <<<blocks_for (launch, g.rows, WARPS, 16), WARPS * 32, 0, stream (launch)>>> (g);
    return LIG_LAUNCHED (launch);
  });
}

/* Moves the correction of each expert by a step, up or down. */
extern "C" LigStatus
lig_cuda_router_balance (LigLaunch *launch)
{
  using namespace router;
  const LigOperand *load = &launch->operands[0], *norm = &launch->operands[1];
  const LigOperand *correction = &launch->operands[2];
  const LigRouterBalanceParams *params = (const LigRouterBalanceParams *) launch->params;
  if (!params || load->dtype != LIG_FP32 || !is_type (norm, LIG_FP32) ||
      correction->dtype != LIG_FP32 || load->size != correction->size ||
      load->size > LIG_MAX_EXPERTS)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  if (load->size <= 0)
    return LIG_OK;
  balance<<<1, FINISHING, 0, stream (launch)>>> (
    (const float *) load->data, (const float *) norm->data, (float *) correction->data,
    (int) load->size, params->balance);
  return LIG_LAUNCHED (launch);
}
