/* SPDX-License-Identifier: MIT */
/* Merges attention over two sets of keys, as in Ring Attention (Liu and others, 2023): each part is
 * weighted by its share of the sum of exponentials. Lower bound: each operand crosses the memory
 * bus once. */
#include "kernels/attention.h"
#include "kernels/cuda/common/access.cuh"

namespace lig
{
/* Columns are counted in vectors of A::W elements; a head has `width` of them. */
struct Merge {
  int64_t size, length, first, count, columns, width, heads;
};

/* The log-sum-exps of x, of the part and of both. */
struct Sums {
  const float *own, *other;
  int64_t owns, others; /* their numbers */
  float *whole;
};

/* Computes one vector of y. All vectors of a head read the log-sum-exps of x, whose memory may be
 * that of the result, so that a separate kernel computes the latter afterwards. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) merge (Merge m, Sums sums, Target x, Target part, Target y)
{
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  if (i >= m.size)
    return;
  int64_t row = i / m.columns, column = i % m.columns, batch = row / m.length;
  int64_t place = row % m.length, from = place - m.first,
          group = batch * m.heads + column / m.width;
  float values[A::W];
  A::widen (A::read (x, i * A::W), x, values);
  if (from >= 0 && from < m.count) {
    double own = lig_attention_load (sums.own, sums.owns, group * m.length + place);
    double other = lig_attention_load (sums.other, sums.others, group * m.count + from);
    double max = fmax (own, other);
    float a = expf ((float) (own - max)), b = expf ((float) (other - max));
    float more[A::W], first = a / (a + b), second = b / (a + b);
    A::widen (A::read (part, ((batch * m.count + from) * m.columns + column) * A::W), part, more);
#pragma unroll
    for (int w = 0; w < A::W; w++)
      values[w] = first * values[w] + second * more[w];
  }
  A::write (y, i * A::W, A::narrow (values, y));
}

/* Computes the log-sum-exp of each query and head; `whole` may be `own`. */
__global__ void
__launch_bounds__ (THREADS) merge_sums (Merge m, int64_t count, Sums sums)
{
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  if (i >= count)
    return;
  int64_t group = i / m.length, from = i % m.length - m.first;
  double own = lig_attention_load (sums.own, sums.owns, i);
  if (from >= 0 && from < m.count) {
    double other = lig_attention_load (sums.other, sums.others, group * m.count + from);
    double max = fmax (own, other);
    own = max + (double) logf (expf ((float) (own - max)) + expf ((float) (other - max)));
  }
  lig_attention_store (sums.whole, count, i, own);
}

static unsigned
blocks_of (int64_t units)
{
  return (unsigned) ((units + THREADS - 1) / THREADS);
}

static LigStatus
check (LigLaunch *launch)
{
  auto p = (const LigMergeParams *) launch->params;
  const LigOperand *o = launch->operands;
  if (!all_floating (launch, 6) || o[1].dtype != LIG_FP32 || o[3].dtype != LIG_FP32)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "merge: not a floating type; convert the input");
  if (!p || p->heads < 1 || p->features < 1 || p->first < 0 || p->count < 1 ||
      p->length < p->count || p->first > p->length - p->count ||
      o[0].columns != (int64_t) p->heads * p->features || o[2].columns != o[0].columns ||
      rows (&o[0]) % p->length != 0 || o[1].size != 2 * rows (&o[0]) * p->heads ||
      rows (&o[2]) != rows (&o[0]) / p->length * p->count ||
      o[3].size != 2 * rows (&o[2]) * p->heads)
    return LIG_FAIL (launch, LIG_FAILED,
                     "merge: the part does not fit the rows; compile the plan again");
  return LIG_OK;
}
} /* namespace lig */

using namespace lig;

/* Computes y and lse, each of which may be absent. */
extern "C" LigStatus
lig_cuda_attention_merge (LigLaunch *launch)
{
  auto p = (const LigMergeParams *) launch->params;
  const LigOperand *o = launch->operands;
  LigStatus status = check (launch);
  if (status != LIG_OK)
    return status;
  Sums sums = {(const float *) o[1].data, (const float *) o[3].data, o[1].size / 2, o[3].size / 2,
               (float *) o[5].data};
  Merge m = {0, p->length, p->first, p->count, o[0].columns, p->features, p->heads};
  if (o[4].data) {
    int width = o[4].dtype == LIG_FP32 ? 4 : 8;
    bool packs = packable ({&o[4], &o[0], &o[2]}) && p->features % width == 0;
    status = dispatch_access (launch, o[4].dtype, packs, [=] (auto access) {
      using A = decltype (access);
      Merge units = m;
      units.size = o[4].size / A::W;
      units.columns /= A::W;
      units.width /= A::W;
      merge<A><<<blocks_of (units.size), THREADS, 0, stream (launch)>>> (
        units, sums, target (&o[0]), target (&o[2]), target (&o[4]));
      return LIG_LAUNCHED (launch);
    });
  }
  if (status != LIG_OK || !o[5].data)
    return status;
  merge_sums<<<blocks_of (sums.owns), THREADS, 0, stream (launch)>>> (m, sums.owns, sums);
  return LIG_LAUNCHED (launch);
}
