/* SPDX-License-Identifier: MIT */
/* Attention sinks: a learned number per head joins the sum of exponentials of the softmax, but has
 * no value (Xiao and others, 2023; GPT-OSS, 2025). Lower bound of each kernel: each operand crosses
 * the memory bus once. */
#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/columns.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/log-sums.h"
#include <ligature/params-sinks.h>

namespace lig
{
/* `size` and `columns` of rows, and the `width` of a head, are counted in vectors of A::W
 * elements; `lanes` share a head of a row, and a threadblock has `share` rows. */
struct Sinks {
  int64_t size, length, columns, width, rows, share;
  int heads, lanes;
  const float *lse;
  int64_t count; /* of log-sum-exps */
  Vector sinks;
};

/* Returns the index in lse of a head of a row. */
__device__ inline int64_t
place_in (const Sinks &s, int64_t row, int64_t head)
{
  return (row / s.length * s.heads + head) * s.length + row % s.length;
}

/* Computes one vector of y. All vectors of a head read its lse, whose memory may be that of the
 * result, so that a separate kernel computes the latter afterwards. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) weigh (Sinks s, Target x, Target y)
{
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  if (i >= s.size)
    return;
  int64_t head = i % s.columns / s.width;
  double own = lig_attention_load (s.lse, s.count, place_in (s, i / s.columns, head));
  float values[A::W], kept = lig_attention_kept (own, s.sinks[head]);
  A::widen (A::read (x, i * A::W), x, values);
#pragma unroll
  for (int w = 0; w < A::W; w++)
    values[w] *= kept;
  A::write (y, i * A::W, A::narrow (values, y));
}

/* Adds the sink to each log-sum-exp; `to` may be s.lse. */
__global__ void
__launch_bounds__ (THREADS) join (Sinks s, float *to)
{
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  if (i >= s.count)
    return;
  double own = lig_attention_load (s.lse, s.count, i);
  lig_attention_store (to, s.count, i,
                       lig_attention_with_sink (own, s.sinks[i / s.length % s.heads]));
}

/* Computes the sums of a threadblock's rows, of which each warp has some heads. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) sum_sinks (Sinks s, Target dy, Target y, float *partials)
{
  int64_t first = (int64_t) blockIdx.x * s.share;
  int64_t end = first + s.share < s.rows ? first + s.share : s.rows;
  int lane = (int) threadIdx.x % 32, team = lane / s.lanes, teams = 32 / s.lanes;
  for (int head = (int) threadIdx.x / 32; head < s.heads; head += THREADS / 32) {
    float sum = 0, sink = s.sinks[head];
    for (int64_t base = first; base < end; base += teams) {
      int64_t row = base + team;
      float product = 0;
      for (int64_t at = lane % s.lanes; row < end && at < s.width; at += s.lanes) {
        float a[A::W], b[A::W];
        int64_t element = (row * s.columns + head * s.width + at) * A::W;
        A::widen (A::read (dy, element), dy, a);
        A::widen (A::read (y, element), y, b);
#pragma unroll
        for (int w = 0; w < A::W; w++)
          product += a[w] * b[w];
      }
      fold_lanes (s.lanes, Sum{}, product);
      if (row < end) {
        double own = lig_attention_load (s.lse, s.count, place_in (s, row, head));
        sum -= expf ((float) ((double) sink - own)) * product;
      }
    }
    fold_strided (s.lanes, 32, Sum{}, sum);
    if (lane == 0)
      partials[(int64_t) blockIdx.x * s.heads + head] = sum;
  }
}

static unsigned
blocks_of (int64_t units)
{
  return (unsigned) ((units + THREADS - 1) / THREADS);
}

/* Checks the operands: rows of y, their lse and the sinks; and describes them. */
static LigStatus
prepare (
  Sinks *s, LigLaunch *launch, const LigOperand *y, const LigOperand *lse, const LigOperand *sinks)
{
  auto p = (const LigSinksParams *) launch->params;
  if (!all_floating (launch, 5) || lse->dtype != LIG_FP32)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "sinks: not a floating type; convert the input");
  if (!p || p->heads < 1 || p->features < 1 || p->length < 1 || sinks->size != p->heads ||
      y->columns != (int64_t) p->heads * p->features || rows (y) % p->length != 0 ||
      lse->size != 2 * rows (y) * p->heads)
    return LIG_FAIL (launch, LIG_FAILED, "sinks: they do not fit the rows; compile the plan again");
  *s = Sinks{y->size,
             p->length,
             y->columns,
             p->features,
             rows (y),
             0,
             p->heads,
             1,
             (const float *) lse->data,
             lse->size / 2,
             vector (sinks)};
  return LIG_OK;
}

/* Counts in vectors of `width` elements. */
static Sinks
in_vectors (Sinks s, int width)
{
  s.size /= width;
  s.columns /= width;
  s.width /= width;
  while (s.lanes < 32 && s.lanes < s.width)
    s.lanes *= 2;
  return s;
}

/* Returns whether the heads of operands of this type consist of whole vectors. */
static bool
has_vectors (const Sinks &s, LigDtype dtype)
{
  return s.width % (dtype == LIG_FP32 ? 4 : 8) == 0;
}
} /* namespace lig */

using namespace lig;

/* Computes y and lse, each of which may be absent. */
extern "C" LigStatus
lig_cuda_attention_sinks (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Sinks s;
  LigStatus status = prepare (&s, launch, &o[0], &o[1], &o[2]);
  if (status == LIG_OK && o[3].data) {
    bool packs = packable ({&o[3], &o[0]}) && has_vectors (s, o[3].dtype);
    status = dispatch_access (launch, o[3].dtype, packs, [=] (auto access) {
      using A = decltype (access);
      Sinks units = in_vectors (s, A::W);
      weigh<A><<<blocks_of (units.size), THREADS, 0, stream (launch)>>> (units, target (&o[0]),
                                                                         target (&o[3]));
      return LIG_LAUNCHED (launch);
    });
  }
  if (status != LIG_OK || !o[4].data)
    return status;
  join<<<blocks_of (s.count), THREADS, 0, stream (launch)>>> (s, (float *) o[4].data);
  return LIG_LAUNCHED (launch);
}

/* Computes dsinks [H]. */
extern "C" LigStatus
lig_cuda_attention_sinks_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Sinks s;
  LigStatus status = prepare (&s, launch, &o[1], &o[2], &o[3]);
  if (status != LIG_OK)
    return status;
  int64_t max = max_parts (s.heads, 1), parts = (int64_t) launch->device->multiprocessors * 4;
  parts = parts < max ? parts : max;
  if (parts < 1 || o[0].size != o[1].size)
    return LIG_FAIL (launch, LIG_FAILED, "sinks: they do not fit the rows; compile the plan again");
  s.share = (s.rows + parts - 1) / parts;
  parts = (s.rows + s.share - 1) / s.share;
  float *partials = (float *) launch->workspace;
  bool packs = packable ({&o[1], &o[0]}) && has_vectors (s, o[1].dtype);
  status = dispatch_access (launch, o[1].dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Sinks units = in_vectors (s, A::W);
    sum_sinks<A><<<(unsigned) parts, THREADS, 0, stream (launch)>>> (units, target (&o[0]),
                                                                     target (&o[1]), partials);
    return LIG_LAUNCHED (launch);
  });
  if (status != LIG_OK)
    return status;
  return add_parts (launch, partials, (int) parts, s.heads, s.heads, &o[4]);
}
