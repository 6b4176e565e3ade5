/* SPDX-License-Identifier: MIT */
/* The places of the rows that ranks with different experts exchange. Lower bound: each place is
 * written once; the numbers of the experts, at most LIG_MAX_EXPERTS, stay in caches. */
#include "kernels/cuda/experts.cuh"

namespace lig
{
namespace exchange
{
/* The rows that this rank sends. Each output may be absent. */
struct Sent {
  const int32_t *offsets;
  int32_t *places, *sizes;
  float *overflow;
  int64_t rows;
  int experts, own, ranks, limit; /* all experts, and those of a rank */

  /* Returns the first row of an expert. */
  __device__ int64_t
  first (int expert) const
  {
    int64_t at = offsets[expert];
    return at < 0 ? 0 : at < rows ? at : rows;
  }
};

/* Returns the last of `count` ascending numbers that is at most `row`; -1: none is. */
template <class F>
__device__ inline int
find_last (int count, int64_t row, F number)
{
  int low = -1, high = count;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    *(number (middle) <= row ? &low : &high) = middle;
  }
  return low;
}

static __global__ void
__launch_bounds__ (THREADS) place_sent (Sent s)
{
  int64_t step = (int64_t) gridDim.x * THREADS,
          thread = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  for (int64_t row = thread; s.places && row < s.rows; row += step) {
    int rank = find_last (s.ranks, row, [&] (int r) { return s.first (r * s.own); });
    int64_t at = rank >= 0 ? row - s.first (rank * s.own) : 0;
    bool sent = rank >= 0 && row < s.first ((rank + 1) * s.own) && at < s.limit;
    s.places[row] = sent ? (int32_t) (rank * (int64_t) s.limit + at) : -1;
  }
  for (int64_t e = thread; s.sizes && e < s.experts; e += step) {
    int64_t begin = s.first ((int) e / s.own * s.own);
    int64_t from = min (s.first ((int) e) - begin, (int64_t) s.limit);
    int64_t to = min (s.first ((int) e + 1) - begin, (int64_t) s.limit);
    s.sizes[e] = (int32_t) (to > from ? to - from : 0);
  }
  for (int64_t rank = thread; s.overflow && rank < s.ranks; rank += step) {
    int64_t all = s.first (((int) rank + 1) * s.own) - s.first ((int) rank * s.own);
    s.overflow[rank] = all > s.limit ? (float) (all - s.limit) : 0;
  }
}

/* The rows that arrived, in segments of one expert and one rank, sorted by expert. The workspace
 * has, for each segment, its first row in the pieces, and its first row in their order by expert,
 * with their end. */
struct Received {
  const int32_t *sizes;
  int32_t *places, *offsets;
  int32_t *from, *to;
  int own, ranks, limit;
};

/* Finds the segments, in one threadblock. */
static __global__ void __launch_bounds__ (1024) find_segments (Received r)
{
  int segments = r.own * r.ranks;
  for (int rank = (int) threadIdx.x; rank < r.ranks; rank += (int) blockDim.x) {
    int used = 0;
    for (int e = 0; e < r.own; e++) {
      int count = min (max (r.sizes[rank * r.own + e], 0), r.limit - used);
      r.from[e * r.ranks + rank] = rank * r.limit + used;
      r.to[e * r.ranks + rank + 1] = count;
      used += count;
    }
  }
  if (threadIdx.x == 0)
    r.to[0] = 0;
  __syncthreads ();
  scan_block (
    segments, 0, Total (), [&] (int64_t i) { return (int64_t) r.to[i + 1]; },
    [&] (int64_t i, int64_t sum) { r.to[i + 1] = (int32_t) sum; });
  __syncthreads ();
  for (int e = (int) threadIdx.x; r.offsets && e <= r.own; e += (int) blockDim.x)
    r.offsets[e] = r.to[e * r.ranks];
}

static __global__ void
__launch_bounds__ (THREADS) place_received (Received r)
{
  int segments = r.own * r.ranks;
  int64_t rows = r.ranks * (int64_t) r.limit, step = (int64_t) gridDim.x * THREADS;
  for (int64_t row = (int64_t) blockIdx.x * THREADS + threadIdx.x; row < rows; row += step) {
    int segment = find_last (segments, row, [&] (int i) { return (int64_t) r.to[i]; });
    bool filled = segment >= 0 && row < r.to[segments];
    r.places[row] = filled ? (int32_t) (r.from[segment] + (row - r.to[segment])) : -1;
  }
}

/* The numbers of rows that are moved; x may be absent. */
struct Numbers {
  const float *x;
  const int32_t *places;
  float *y, absent;
  int64_t count, end; /* the places, and their values */
  bool scatter;
};

static __global__ void
__launch_bounds__ (THREADS) move_numbers (Numbers n)
{
  int64_t step = (int64_t) gridDim.x * THREADS;
  for (int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x; i < n.count; i += step) {
    int64_t place = n.places[i];
    bool placed = place >= 0 && place < n.end;
    if (!n.scatter)
      n.y[i] = placed ? (n.x ? n.x[place] : n.absent) : 0;
    else if (placed)
      n.y[place] = n.x ? n.x[i] : n.absent;
  }
}

/* Returns whether the params divide a number of experts over ranks. */
static bool
fits (const LigExchangeParams *params, int64_t experts)
{
  return params && params->ranks > 0 && params->limit > 0 && experts >= params->ranks &&
         experts <= LIG_MAX_EXPERTS && experts % params->ranks == 0 &&
         params->ranks * (int64_t) params->limit <= INT32_MAX;
}
} /* namespace exchange */
} /* namespace lig */

using namespace lig;
using namespace lig::exchange;

/* Finds the places of the rows that this rank sends. */
extern "C" LigStatus
lig_cuda_exchange_sent (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *offsets = &o[0], *places = &o[1];
  const LigExchangeParams *params = (const LigExchangeParams *) launch->params;
  if (!fits (params, offsets->size - 1) || offsets->dtype != LIG_INT32 ||
      !is_type (places, LIG_INT32) || !is_type (&o[2], LIG_INT32) || !is_type (&o[3], LIG_FP32) ||
      (o[2].data && o[2].size != offsets->size - 1) || (o[3].data && o[3].size != params->ranks))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  Sent sent = {};
  sent.offsets = (const int32_t *) offsets->data;
  sent.places = (int32_t *) places->data;
  sent.sizes = (int32_t *) o[2].data;
  sent.overflow = (float *) o[3].data;
  sent.rows = places->size;
  sent.experts = (int) offsets->size - 1;
  sent.ranks = params->ranks;
  sent.own = sent.experts / sent.ranks;
  sent.limit = params->limit;
  int64_t most = places->size > sent.experts ? places->size : sent.experts;
  place_sent<<<blocks_for (launch, most, THREADS, 16), THREADS, 0, stream (launch)>>> (sent);
  return LIG_LAUNCHED (launch);
}

/* Finds the places of the rows that arrived, in the order of this rank's experts. */
extern "C" LigStatus
lig_cuda_exchange_received (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *sizes = &o[0], *places = &o[1], *offsets = &o[2];
  const LigExchangeParams *params = (const LigExchangeParams *) launch->params;
  if (!fits (params, sizes->size) || sizes->dtype != LIG_INT32 || !is_type (places, LIG_INT32) ||
      !is_type (offsets, LIG_INT32) ||
      (places->data && places->size != params->ranks * (int64_t) params->limit) ||
      (offsets->data && offsets->size != sizes->size / params->ranks + 1))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  Received received = {};
  received.sizes = (const int32_t *) sizes->data;
  received.places = (int32_t *) places->data;
  received.offsets = (int32_t *) offsets->data;
  received.from = (int32_t *) launch->workspace;
  received.to = received.from + sizes->size;
  received.ranks = params->ranks;
  received.own = (int) sizes->size / received.ranks;
  received.limit = params->limit;
  find_segments<<<1, 1024, 0, stream (launch)>>> (received);
  if (places->data)
    place_received<<<blocks_for (launch, places->size, THREADS, 16), THREADS, 0,
                     stream (launch)>>> (received);
  return LIG_LAUNCHED (launch);
}

/* Moves a number for each row. */
extern "C" LigStatus
lig_cuda_exchange_numbers (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *places = &launch->operands[1];
  const LigOperand *y = &launch->operands[2];
  const LigExchangeParams *params = (const LigExchangeParams *) launch->params;
  bool scatter = params && params->scatter;
  if (!is_type (x, LIG_FP32) || y->dtype != LIG_FP32 || places->dtype != LIG_INT32 ||
      (scatter ? x->data && places->size != x->size : places->size != y->size))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  if (scatter && cudaMemsetAsync (y->data, 0, (size_t) y->size * sizeof (float),
                                  (cudaStream_t) launch->stream) != cudaSuccess)
    return LIG_LAUNCHED (launch);
  int blocks = blocks_for (launch, places->size, THREADS, 16);
  Numbers numbers = {};
  numbers.x = (const float *) x->data;
  numbers.places = (const int32_t *) places->data;
  numbers.y = (float *) y->data;
  numbers.absent = params ? params->absent : 0;
  numbers.count = places->size;
  numbers.end = scatter ? y->size : x->data ? x->size : (int64_t) INT32_MAX;
  numbers.scatter = scatter;
  move_numbers<<<blocks, THREADS, 0, stream (launch)>>> (numbers);
  return LIG_LAUNCHED (launch);
}
