/* SPDX-License-Identifier: MIT */
/* The permutation of rows by expert, and the sums of the sizes of groups. Lower bound: each row of
 * a token and each of its copies cross the memory bus once.
 *
 * The choices (t, j) of experts are sorted by counting, stably: each warp counts those of a part of
 * the choices by expert; for each expert, a warp turns the counts of the parts into the number of
 * choices before them; then each warp gives its choices places. Integers are counted, so the result
 * does not depend on the order of the threads. A warp then copies the row of a token. */
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/experts-move.cuh"

namespace lig
{
namespace permute
{
/* The warps of a threadblock that sorts; the fewest choices of a part, and the most parts. */
enum { WARPS = 4, SHORTEST = 128, MAX_PARTS = 2048 };
/* A sort of choices. The workspace has `before`, [experts, parts]: the choices of an expert in a
 * part, then those in all parts before; `found`, the choices of each expert; `starts`, the first
 * row of each expert and the end of the last; `kept`, the rows of each. */
struct Sort {
  const int32_t *chosen;
  Vector weights;
  int64_t count, share; /* the choices; those of a part, a multiple of 32 */
  int64_t rows;         /* of the result */
  int experts, parts;
  LigPermuteParams params;
  int *before, *found, *starts, *kept;
  int32_t *offsets, *places; /* each may be absent, and so may `scales` and `dropped` */
  float *scales, *dropped;
};

/* Returns the expert of a choice; -1: none. */
__device__ inline int
expert_of (const Sort &s, int64_t choice, int64_t end)
{
  int expert = choice < end ? s.chosen[choice] : -1;
  return expert >= 0 && expert < s.experts ? expert : -1;
}

/* Counts the choices of each part by expert. */
static __global__ void
__launch_bounds__ (WARPS * 32) count_choices (Sort s)
{
  __shared__ int counts[WARPS][LIG_MAX_EXPERTS];
  int *own = counts[threadIdx.x / 32], lane = (int) threadIdx.x % 32;
  int part = (int) (blockIdx.x * WARPS + threadIdx.x / 32);
  if (part >= s.parts)
    return;
  int64_t first = part * s.share, end = min (first + s.share, s.count);
  for (int e = lane; e < s.experts; e += 32)
    own[e] = 0;
  __syncwarp ();
#pragma unroll 4
  for (int64_t i = first + lane; i < end; i += 32) {
    int expert = expert_of (s, i, end);
    if (expert >= 0)
      atomicAdd (&own[expert], 1);
  }
  __syncwarp ();
  for (int e = lane; e < s.experts; e += 32)
    s.before[(int64_t) e * s.parts + part] = own[e];
}

/* Replaces the counts of each expert by their exclusive sums: one warp per expert, whose lanes have
 * AT_ONCE counts in flight. */
static __global__ void
__launch_bounds__ (WARPS * 32) sum_counts (Sort s)
{
  constexpr int AT_ONCE = 8;
  int expert = (int) (blockIdx.x * WARPS + threadIdx.x / 32), lane = (int) threadIdx.x % 32;
  if (expert >= s.experts)
    return;
  int *counts = s.before + (int64_t) expert * s.parts, total = 0;
  for (int base = lane; base - lane < s.parts; base += 32 * AT_ONCE) {
    int own[AT_ONCE], sum[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++)
      sum[u] = own[u] = base + 32 * u < s.parts ? counts[base + 32 * u] : 0;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2)
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
        int other = __shfl_up_sync (0xffffffffu, sum[u], apart);
        sum[u] += lane >= apart ? other : 0;
      }
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      if (base + 32 * u < s.parts)
        counts[base + 32 * u] = total + sum[u] - own[u];
      total += __shfl_sync (0xffffffffu, sum[u], 31);
    }
  }
  if (lane == 0)
    s.found[expert] = total;
}

/* Returns the rows of an expert that are kept, if there is room for them. */
__device__ inline int64_t
wanted (const Sort &s, int expert)
{
  int64_t found = s.found[expert];
  return s.params.limit > 0 ? min (found, (int64_t) s.params.limit) : found;
}

/* Sets the first row of each expert, the end of the last, and the rows of each in shared memory,
 * and in one threadblock in global memory. */
__device__ inline void
set_starts (const Sort &s, int *starts, int *kept)
{
  int64_t align = s.params.align;
  if (threadIdx.x == 0)
    starts[0] = 0;
  scan_block (
    s.experts, 0, Total{},
    [&] (int64_t e) { return (wanted (s, (int) e) + align - 1) / align * align; },
    [&] (int64_t e, int64_t end) { starts[e + 1] = (int) min (end, s.rows); });
  for (int e = (int) threadIdx.x; e <= s.experts; e += (int) blockDim.x) {
    if (e < s.experts)
      kept[e] = (int) min (wanted (s, e), (int64_t) (starts[e + 1] - starts[e]));
    if (blockIdx.x > 0)
      continue;
    s.starts[e] = starts[e];
    if (s.offsets)
      s.offsets[e] = starts[e];
    if (e < s.experts)
      s.kept[e] = kept[e];
  }
  __syncthreads ();
}

/* Writes the number of choices that no expert has room for. A threadblock calls it. */
__device__ inline void
count_dropped (const Sort &s, const int *kept)
{
  int dropped = 0;
  for (int e = (int) threadIdx.x; e < s.experts; e += (int) blockDim.x)
    dropped += s.found[e] - kept[e];
  dropped = block_total (dropped);
  if (threadIdx.x == 0)
    *s.dropped = (float) dropped;
}

/* Gives the choices of each part their places. Equal experts among 32 neighbouring choices get
 * consecutive ones. */
static __global__ void
__launch_bounds__ (WARPS * 32) place_choices (Sort s)
{
  __shared__ int starts[LIG_MAX_EXPERTS + 1], kept[LIG_MAX_EXPERTS];
  __shared__ int counts[WARPS][LIG_MAX_EXPERTS];
  int *used = counts[threadIdx.x / 32], lane = (int) threadIdx.x % 32;
  int part = (int) (blockIdx.x * WARPS + threadIdx.x / 32);
  set_starts (s, starts, kept);
  if (s.dropped && blockIdx.x == 0)
    count_dropped (s, kept);
  if (part >= s.parts)
    return;
  int64_t first = part * s.share, end = min (first + s.share, s.count);
  for (int e = lane; e < s.experts; e += 32)
    used[e] = s.before[(int64_t) e * s.parts + part];
  __syncwarp ();
  for (int64_t base = first; base < end; base += 32) {
    int64_t i = base + lane;
    int expert = expert_of (s, i, end), place = -1;
    unsigned equal = __match_any_sync (0xffffffffu, expert);
    int rank = __popc (equal & ((1u << lane) - 1));
    if (expert >= 0) {
      int index = used[expert] + rank;
      place = index < kept[expert] ? starts[expert] + index : -1;
    }
    __syncwarp ();
    if (expert >= 0 && rank == 0)
      used[expert] += __popc (equal);
    __syncwarp ();
    if (i < end && s.places)
      s.places[i] = place;
    if (s.scales && place >= 0)
      s.scales[place] = s.weights.data ? s.weights[i] : 1;
  }
}

/* Copies the rows of a warp's tokens to their places. */
template <class U>
__device__ inline void
copy_tokens (const Move &m, const U *x, U *y, int64_t first, int64_t step)
{
  constexpr int DEPTH = 4;
  int lane = (int) threadIdx.x % 32;
  for (int64_t token = first; token < m.tokens; token += step) {
    const U *from = x + token * m.units;
    for (int64_t base = lane; base < m.units; base += 32 * DEPTH) {
      U units[DEPTH];
#pragma unroll
      for (int u = 0; u < DEPTH; u++)
        if (base + 32 * u < m.units)
          units[u] = __ldcs (from + base + 32 * u);
#pragma unroll 2
      for (int j = 0; j < m.top_k; j++) {
        int64_t place = m.place (token, j);
        if (place < 0)
          continue;
        U *to = y + place * m.units + base;
#pragma unroll
        for (int u = 0; u < DEPTH; u++)
          if (base + 32 * u < m.units)
            to[32 * u] = units[u];
      }
    }
  }
}

/* Clears the rows of 32 neighbouring ones that the lanes mark. */
template <class U>
__device__ inline void
clear_marked (U *y, int64_t units, int64_t first, bool marked)
{
  int lane = (int) threadIdx.x % 32;
  for (unsigned left = __ballot_sync (0xffffffffu, marked); left; left &= left - 1) {
    U *row = y + (first + __ffs (left) - 1) * units;
    for (int64_t at = lane; at < units; at += 32)
      row[at] = U{};
  }
}

/* Returns whether no choice has a row of the sorted result. */
__device__ inline bool
is_free (const Sort &s, int64_t row)
{
  int low = 0, high = s.experts; /* the last start that is not after the row */
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (s.starts[middle] <= row)
      low = middle;
    else
      high = middle - 1;
  }
  return low == s.experts || row - s.starts[low] >= s.kept[low];
}

/* Copies tokens to their places. The first `clearing` threadblocks clear the other rows, and their
 * scales. `y` may be absent. */
template <class U>
__global__ void
__launch_bounds__ (THREADS) copy_rows (Sort s, Move m, const U *x, U *y, int clearing)
{
  int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  if ((int) blockIdx.x >= clearing) {
    copy_tokens (m, x, y, (int64_t) ((int) blockIdx.x - clearing) * MOVERS + warp,
                 (int64_t) ((int) gridDim.x - clearing) * MOVERS);
    return;
  }
  for (int64_t group = (int64_t) blockIdx.x * MOVERS + warp; group * 32 < s.rows;
       group += (int64_t) clearing * MOVERS) {
    int64_t row = group * 32 + lane;
    bool free = row < s.rows && is_free (s, row);
    if (s.scales && free)
      s.scales[row] = 0;
    if (y)
      clear_marked (y, m.units, group * 32, free);
  }
}

/* Computes exclusive sums of rounded sizes, in one threadblock. */
static __global__ void __launch_bounds__ (1024)
  sum_sizes (const int32_t *sizes, int64_t count, int64_t align, int32_t *y)
{
  if (threadIdx.x == 0)
    y[0] = 0;
  scan_block (
    count, 0, Total{},
    [=] (int64_t i) {
      int64_t size = sizes[i];
      return size > 0 ? (size + align - 1) / align * align : 0;
    },
    [=] (int64_t i, int64_t sum) { y[i + 1] = (int32_t) min (sum, (int64_t) INT32_MAX); });
}

/* Launches the copies in units of type U. */
template <class U>
static LigStatus
launch_copies (LigLaunch *launch, const Sort &sort, Move move, const LigOperand *x, void *y)
{
  move.units = x->columns * (int64_t) lig_dtype_size (x->dtype) / (int64_t) sizeof (U);
  int copying = y ? movers (launch, move.tokens) : 0;
  int clearing = y || sort.scales ? movers (launch, (sort.rows + 31) / 32) : 0;
  if (copying + clearing > 0)
    copy_rows<<<copying + clearing, THREADS, 0, stream (launch)>>> (sort, move, (const U *) x->data,
                                                                    (U *) y, copying);
  return LIG_LAUNCHED (launch);
}

/* Launches the copies in the largest units that rows consist of. */
static LigStatus
copy (
  LigLaunch *launch, const Sort &sort, const Move &move, const LigOperand *x, const LigOperand *y)
{
  size_t element = lig_dtype_size (x->dtype);
  size_t bits = (size_t) x->columns * element | (uintptr_t) x->data | (uintptr_t) y->data;
  if (bits % 16 == 0)
    return launch_copies<uint4> (launch, sort, move, x, y->data);
  if (element == 4)
    return launch_copies<uint32_t> (launch, sort, move, x, y->data);
  if (element == 2)
    return launch_copies<uint16_t> (launch, sort, move, x, y->data);
  return launch_copies<uint8_t> (launch, sort, move, x, y->data);
}

/* Divides the choices into parts and the workspace into arrays. Returns the bytes of the latter. */
static size_t
divide (const LigLaunch *launch, Sort *s)
{
  s->share = SHORTEST;
  while ((s->count + s->share - 1) / s->share > MAX_PARTS)
    s->share *= 2;
  s->parts = (int) ((s->count + s->share - 1) / s->share);
  s->before = (int *) launch->workspace;
  s->found = s->before + (int64_t) s->experts * s->parts;
  s->kept = s->found + s->experts;
  s->starts = s->kept + s->experts;
  return (size_t) ((char *) (s->starts + s->experts + 1) - (char *) launch->workspace);
}

/* Launches the sort. Absent places are put in the workspace. */
static LigStatus
sort_choices (LigLaunch *launch, Sort *s)
{
  size_t bytes = divide (launch, s);
  if (!s->places) {
    if (bytes + (size_t) s->count * sizeof *s->places > LIG_WORKSPACE_SIZE)
      return LIG_FAIL (launch, LIG_UNSUPPORTED,
                       "experts: too many rows for the workspace; use fewer tokens");
    s->places = (int32_t *) ((char *) launch->workspace + bytes);
  }
  int blocks = (s->parts + WARPS - 1) / WARPS;
  count_choices<<<blocks, WARPS * 32, 0, stream (launch)>>> (*s);
  sum_counts<<<(s->experts + WARPS - 1) / WARPS, WARPS * 32, 0, stream (launch)>>> (*s);
  place_choices<<<blocks, WARPS * 32, 0, stream (launch)>>> (*s);
  return LIG_LAUNCHED (launch);
}

} /* namespace permute */
} /* namespace lig */

using namespace lig;

/* Sorts rows by expert. */
extern "C" LigStatus
lig_cuda_permute (LigLaunch *launch)
{
  using namespace permute;
  const LigOperand *o = launch->operands, *x = &o[0], *experts = &o[1], *weights = &o[2];
  const LigOperand *y = &o[3], *scales = &o[6], *dropped = &o[7];
  Sort sort = {};
  sort.params =
    launch->params ? *(const LigPermuteParams *) launch->params : LigPermuteParams{1, 1, 0};
  int64_t tokens = x->columns > 0 ? rows (x) : 0;
  sort.rows = y->columns > 0 ? rows (y) : 0;
  if (sort.params.experts < 1 || sort.params.experts > LIG_MAX_EXPERTS || sort.params.align < 1 ||
      sort.rows > INT32_MAX || experts->size > INT32_MAX || experts->dtype != LIG_INT32 ||
      !is_type (&o[4], LIG_INT32) || !is_type (&o[5], LIG_INT32) || !is_type (scales, LIG_FP32) ||
      !is_type (weights, LIG_FP32) || !is_type (dropped, LIG_FP32) ||
      (y->data && y->dtype != x->dtype) || (tokens > 0 && experts->size % tokens))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  if (tokens == 0 || experts->size == 0)
    return LIG_OK;
  sort.chosen = (const int32_t *) experts->data;
  sort.weights = vector (weights);
  sort.count = experts->size;
  sort.experts = sort.params.experts;
  sort.offsets = (int32_t *) o[4].data;
  sort.places = (int32_t *) o[5].data;
  sort.scales = (float *) scales->data;
  sort.dropped = (float *) dropped->data;
  LigStatus status = sort_choices (launch, &sort);
  if (status != LIG_OK)
    return status;
  return copy (launch, sort, move_of (experts, sort.places, tokens, sort.rows), x, y);
}

/* Sums sizes, each rounded up. */
extern "C" LigStatus
lig_cuda_row_offsets (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigRowOffsetsParams *params = (const LigRowOffsetsParams *) launch->params;
  if (x->dtype != LIG_INT32 || y->dtype != LIG_INT32 || y->size != x->size + 1)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_MISFIT);
  permute::sum_sizes<<<1, 1024, 0, stream (launch)>>> (
    (const int32_t *) x->data, x->size, params && params->align > 1 ? params->align : 1,
    (int32_t *) y->data);
  return LIG_LAUNCHED (launch);
}
