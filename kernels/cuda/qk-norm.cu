/* SPDX-License-Identifier: MIT */
/* Normalization of each query and key head of packed rows. Lower bound: each operand crosses the
 * memory bus once, values only if not in place. A team of lanes of one warp processes a head. The
 * gradients of weights and biases are sums over rows and heads: a team accumulates some columns in
 * registers over all heads of its part, a threadblock combines its teams, and add_parts () combines
 * the threadblocks, all in a fixed order. */
#include "kernels/cuda/common/columns.cuh"
#include "kernels/cuda/common/walk.cuh"
#include "kernels/cuda/norm.cuh"

namespace lig
{
enum { MAX_COLUMNS = 1024 };

struct QkNorm {
  int64_t rows, share; /* share: rows of one part of the backward pass */
  int heads, kv_heads, features, lanes;
  float weight, eps; /* weight: of an element in a mean; 1 for l2, which sums */
  bool centered;
  Target x, y, dy; /* y is the output in the forward pass, dx in the backward pass */
  Vector gains[2], biases[2];
  const float *means, *rstds; /* of the backward pass */
  float *mean, *rstd;         /* of the forward pass */
  float *partials;            /* [parts, 4, features]: weights and biases of queries, then of
                                 keys */
};

/* Returns the first element of a head of a row. */
__device__ inline int64_t
head_at (const QkNorm &q, int64_t row, int head)
{
  return (row * (q.heads + 2 * q.kv_heads) + head) * q.features;
}

/* Copies the values of a threadblock's rows [first, end), W elements at a time. */
template <class A>
__device__ inline void
copy_values (const QkNorm &q, const Target &from, const Target &to, int64_t first, int64_t end)
{
  constexpr int W = A::W;
  int units = q.kv_heads * q.features / W;
  for (int64_t i = threadIdx.x; i < (end - first) * units; i += THREADS) {
    int64_t at = head_at (q, first + i / units, q.heads + q.kv_heads) + i % units * W;
    A::write (to, at, A::read (from, at));
  }
}

/* Loads W elements of a vector; an absent one consists of `missing`. */
template <int W>
__device__ inline void
load_or (const Vector &vector, int column, float missing, float (&values)[W])
{
  if (vector.data)
    load_columns<W> (vector, column, values);
  else
#pragma unroll
    for (int i = 0; i < W; i++)
      values[i] = missing;
}

/* Computes mean and rstd of the team's head, of which each lane holds PACKS times W elements. */
template <int PACKS, int W>
__device__ inline float2
statistics (const QkNorm &q, int lane, const float (&x)[PACKS][W])
{
  float mean = 0, squares = 0, lost = 0;
  if (q.centered) {
    const float first = __shfl_sync (0xffffffff, x[0][0], 0, q.lanes);
#pragma unroll
    for (int p = 0; p < PACKS; p++)
      if ((p * q.lanes + lane) * W < q.features)
#pragma unroll
        for (int i = 0; i < W; i++)
          mean += x[p][i] - first;
    fold_lanes (q.lanes, Sum{}, mean);
    mean = move_mean (first, mean * q.weight, &lost);
  }
#pragma unroll
  for (int p = 0; p < PACKS; p++)
    if ((p * q.lanes + lane) * W < q.features)
#pragma unroll
      for (int i = 0; i < W; i++)
        squares += (x[p][i] - mean) * (x[p][i] - mean);
  fold_lanes (q.lanes, Sum{}, squares);
  return make_float2 (mean, 1 / sqrtf (variance_of (squares * q.weight, lost) + q.eps));
}

/* Normalizes. A threadblock loops over rows, its teams over the heads. */
template <class A, int PACKS>
__global__ void
__launch_bounds__ (THREADS) qk_forward (QkNorm q)
{
  constexpr int W = A::W;
  int normed = q.heads + q.kv_heads, lane = (int) threadIdx.x & (q.lanes - 1);
  int teams = THREADS / q.lanes;
  int64_t all = q.rows * normed, step = (int64_t) gridDim.x * teams;
  int64_t team = (int64_t) blockIdx.x * teams + threadIdx.x / q.lanes;
  int64_t turns = (all + step - 1) / step;
  for (int64_t t = 0; t < turns; t++) {
    int64_t item = t * step + team, row = item / normed;
    bool live = item < all;
    int head = (int) (item % normed), kind = head >= q.heads;
    int64_t at = head_at (q, row, head);
    float x[PACKS][W] = {};
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
      int column = (p * q.lanes + lane) * W;
      if (live && column < q.features)
        A::widen (A::read (q.x, at + column), q.x, x[p]);
    }
    float2 s = statistics (q, lane, x);
    if (live && lane == 0) {
      if (q.mean)
        q.mean[item] = s.x;
      if (q.rstd)
        q.rstd[item] = s.y;
    }
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
      int column = (p * q.lanes + lane) * W;
      if (live && q.y.data && column < q.features) {
        float gain[W], bias[W];
        load_or<W> (q.gains[kind], column, 1, gain);
        load_or<W> (q.biases[kind], column, 0, bias);
#pragma unroll
        for (int i = 0; i < W; i++)
          x[p][i] = (x[p][i] - s.x) * s.y * gain[i] + bias[i];
        A::write (q.y, at + column, A::narrow (x[p], q.y));
      }
    }
  }
  if (q.y.data && q.y.data != q.x.data) {
    int64_t share = (q.rows + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share;
    copy_values<A> (q, q.x, q.y, first, first + share < q.rows ? first + share : q.rows);
  }
}

/* Combines a threadblock's teams, which share columns, and writes a vector of partial sums. */
template <int PACKS, int W>
__device__ inline void
keep_team_sums (const QkNorm &q, int vector, float (&sums)[PACKS][W])
{
  __shared__ float slots[THREADS / 32][MAX_COLUMNS];
  int lane = (int) threadIdx.x & (q.lanes - 1), warp = (int) threadIdx.x / 32;
  __syncthreads ();
#pragma unroll
  for (int p = 0; p < PACKS; p++) {
    fold_strided (q.lanes, 32, Sum{}, sums[p]);
    int column = (p * q.lanes + lane) * W;
    if (threadIdx.x % 32 < q.lanes && column < q.features)
#pragma unroll
      for (int i = 0; i < W; i++)
        slots[warp][column + i] = sums[p][i];
  }
  __syncthreads ();
  for (int i = (int) threadIdx.x; i < q.features; i += THREADS) {
    float sum = slots[0][i];
    for (int w = 1; w < THREADS / 32; w++)
      sum += slots[w][i];
    q.partials[((int64_t) blockIdx.x * 4 + vector) * q.features + i] = sum;
  }
}

/* Computes dx of the query heads, or of the key heads, of a threadblock's rows [first, end), and
 * the sums for their weights and biases. */
template <class A, int PACKS>
__device__ inline void
qk_heads (const QkNorm &q, int kind, int64_t first, int64_t end)
{
  constexpr int W = A::W;
  int lane = (int) threadIdx.x & (q.lanes - 1), teams = THREADS / q.lanes;
  int heads = kind ? q.kv_heads : q.heads, normed = q.heads + q.kv_heads;
  int64_t all = (end - first) * heads;
  float dgain[PACKS][W] = {}, dbias[PACKS][W] = {};
  for (int64_t base = 0; base < all; base += teams) {
    int64_t item = base + threadIdx.x / q.lanes, row = first + item / heads;
    int head = (int) (item % heads) + (kind ? q.heads : 0);
    bool live = item < all;
    int64_t at = head_at (q, row, head), place = row * normed + head;
    float mean = live && q.means && q.centered ? q.means[place] : 0;
    float rstd = live ? q.rstds[place] : 0, sum = 0, product = 0;
    float x[PACKS][W] = {}, g[PACKS][W] = {};
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
      int column = (p * q.lanes + lane) * W;
      if (live && column < q.features) {
        float gain[W];
        A::widen (A::read (q.x, at + column), q.x, x[p]);
        A::widen (A::read (q.dy, at + column), q.dy, g[p]);
        load_or<W> (q.gains[kind], column, 1, gain);
#pragma unroll
        for (int i = 0; i < W; i++) {
          x[p][i] = (x[p][i] - mean) * rstd;
          dgain[p][i] += g[p][i] * x[p][i];
          dbias[p][i] += g[p][i];
          g[p][i] *= gain[i];
          sum += g[p][i];
          product += g[p][i] * x[p][i];
        }
      }
    }
    fold_lanes (q.lanes, Sum{}, sum, product);
    sum = q.centered ? sum * q.weight : 0;
    product *= q.weight;
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
      int column = (p * q.lanes + lane) * W;
      if (live && q.y.data && column < q.features) {
#pragma unroll
        for (int i = 0; i < W; i++)
          g[p][i] = rstd * (g[p][i] - sum - x[p][i] * product);
        A::write (q.y, at + column, A::narrow (g[p], q.y));
      }
    }
  }
  keep_team_sums (q, 2 * kind, dgain);
  keep_team_sums (q, 2 * kind + 1, dbias);
}

template <class A, int PACKS>
__global__ void
__launch_bounds__ (THREADS) qk_backward (QkNorm q)
{
  int64_t first = blockIdx.x * q.share, end = first + q.share < q.rows ? first + q.share : q.rows;
#pragma unroll 1
  for (int kind = 0; kind < 2; kind++)
    qk_heads<A, PACKS> (q, kind, first, end);
  if (q.y.data && q.y.data != q.dy.data)
    copy_values<A> (q, q.dy, q.y, first, end);
}

/* Fills in the fields that both passes share, and chooses the lanes per head for W elements at a
 * time. */
static LigStatus
prepare (QkNorm *q, LigLaunch *launch, const LigOperand *x, int W)
{
  const LigQkNormParams *params = (const LigQkNormParams *) launch->params;
  if (!params || params->features < 1)
    return LIG_FAIL (launch, LIG_FAILED, "qk-norm: needs its params");
  if (params->features > MAX_COLUMNS)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "qk-norm: a head has more than 1024 features; reduce them");
  q->heads = params->heads;
  q->kv_heads = params->kv_heads;
  q->features = params->features;
  q->rows = x->size / ((int64_t) (q->heads + 2 * q->kv_heads) * q->features);
  q->eps = params->eps;
  q->weight = params->kind == LIG_QK_L2 ? 1 : 1 / (float) q->features;
  q->centered = params->kind == LIG_QK_LAYER_NORM;
  for (q->lanes = 1; q->lanes < 32 && q->lanes * W < q->features;)
    q->lanes *= 2;
  return LIG_OK;
}

/* Calls f (access, packs) with a suitable access and number of accesses per lane. */
template <class F>
static LigStatus
choose_path (LigLaunch *launch, const LigOperand *x, bool packs, int features, F f)
{
  int each = (features + 31) / 32;
  if (!packs)
    return each <= 4 ? f (Single{}, std::integral_constant<int, 4>{})
                     : f (Single{}, std::integral_constant<int, 32>{});
  return dispatch (launch, x->dtype, [=] (auto one) {
    return f (Packed<decltype (one)>{}, std::integral_constant<int, 1>{});
  });
}

/* Returns whether operands and vectors allow packs, one per lane: longer heads are rare. */
static bool
whole_packs (const LigLaunch *launch, int count, int features)
{
  int width = launch->operands[0].dtype == LIG_FP32 ? 4 : 8;
  return all_aligned (launch, count) && features % width == 0 && features <= 32 * width;
}
} /* namespace lig */

using namespace lig;

/* Computes y, mean and rstd. */
extern "C" LigStatus
lig_cuda_qk_norm (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[0], *y = &o[5];
  QkNorm q = {};
  if (!all_floating (launch, 6))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "qk-norm: not a floating type; convert to fp32, fp16 or bf16");
  LigStatus status = prepare (&q, launch, x, 1);
  if (status != LIG_OK || q.rows < 1)
    return status;
  bool packs = whole_packs (launch, 6, q.features) && (!y->data || y->dtype == x->dtype);
  prepare (&q, launch, x, !packs ? 1 : x->dtype == LIG_FP32 ? 4 : 8);
  q.x = target (x);
  q.y = target_like (y, x);
  for (int kind = 0; kind < 2; kind++) {
    q.gains[kind] = vector (&o[1 + 2 * kind]);
    q.biases[kind] = vector (&o[2 + 2 * kind]);
  }
  q.mean = (float *) o[6].data;
  q.rstd = (float *) o[7].data;
  int64_t threads = q.rows * (q.heads + q.kv_heads) * q.lanes;
  int blocks = blocks_for (launch, threads, THREADS, 32);
  return choose_path (launch, x, packs, q.features, [=] (auto access, auto count) {
    qk_forward<decltype (access), decltype (count)::value>
      <<<blocks, THREADS, 0, stream (launch)>>> (q);
    return LIG_LAUNCHED (launch);
  });
}

/* Computes dx and the gradients of weights and biases. */
extern "C" LigStatus
lig_cuda_qk_norm_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *dy = &o[0], *x = &o[1], *dx = &o[6];
  QkNorm q = {};
  if (!all_floating (launch, 11))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "qk-norm: not a floating type; convert to fp32, fp16 or bf16");
  LigStatus status = prepare (&q, launch, x, 1);
  if (status != LIG_OK || q.rows < 1)
    return status;
  bool packs = whole_packs (launch, 7, q.features) && dy->dtype == x->dtype &&
               (!dx->data || dx->dtype == x->dtype);
  prepare (&q, launch, x, !packs ? 1 : x->dtype == LIG_FP32 ? 4 : 8);
  q.x = target (x);
  q.dy = target (dy);
  q.y = target_like (dx, x);
  q.gains[0] = vector (&o[2]);
  q.gains[1] = vector (&o[3]);
  q.means = (const float *) o[4].data;
  q.rstds = (const float *) o[5].data;
  q.partials = (float *) launch->workspace;
  int64_t max = max_parts (q.features, 4);
  int64_t parts = (int64_t) launch->device->multiprocessors * 4;
  parts = parts < max ? parts : max;
  q.share = (q.rows + parts - 1) / parts;
  parts = (q.rows + q.share - 1) / q.share;
  status = choose_path (launch, x, packs, q.features, [=] (auto access, auto count) {
    qk_backward<decltype (access), decltype (count)::value>
      <<<(unsigned) parts, THREADS, 0, stream (launch)>>> (q);
    return LIG_LAUNCHED (launch);
  });
  for (int i = 0; i < 4 && status == LIG_OK; i++)
    status = add_parts (launch, q.partials + (int64_t) i * q.features, (int) parts,
                        (int64_t) 4 * q.features, q.features, &o[7 + i]);
  return status;
}
