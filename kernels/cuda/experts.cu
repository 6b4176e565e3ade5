/* SPDX-License-Identifier: MIT */
/* The permutation of rows by expert, and the sums of the sizes of groups. Lower bound: each row of
 * a token and each of its copies cross the memory bus once.
 *
 * The choices (t, j) of experts are sorted by counting, stably: threadblocks count those of a part
 * of the choices by expert; then each adds the counts of the parts before its own, counts those of
 * its warps, and gives its choices places. Integers are counted, so the result does not depend on
 * the order of the threads. A warp then copies the row of a token. */
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/experts-move.cuh"

namespace lig
{
namespace permute
{
/* The warps of a threadblock that sorts; the fewest choices of a part; the most parts, and counts
 * of parts: each threadblock reads all of them. */
enum { WARPS = 8, SHORTEST = 512, MAX_PARTS = 512, MAX_COUNTS = 1 << 17 };

/* A sort of choices. The workspace has `counts`, [parts, experts]: the choices of an expert in a
 * part; `starts`, the first row of each expert and the end of the last; `kept`, the rows of
 * each. */
struct Sort {
  const int32_t *chosen;
  Vector weights;
  int64_t count, share; /* the choices; those of a part, a multiple of 32 WARPS */
  int64_t rows;         /* of the result */
  int experts, parts;
  LigPermuteParams params;
  int *counts, *starts, *kept;
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

/* Counts choices by expert in shared memory, by `threads` threads of which this is number
 * `thread`. */
__device__ inline void
count_range (const Sort &s, int64_t first, int64_t end, int *counts, int thread, int threads)
{
#pragma unroll 4
  for (int64_t i = first + thread; i < end; i += threads) {
    int expert = expert_of (s, i, end);
    if (expert >= 0)
      atomicAdd (&counts[expert], 1);
  }
}

/* Counts the choices of each part by expert. */
static __global__ void
__launch_bounds__ (WARPS * 32) count_choices (Sort s)
{
  __shared__ int counts[LIG_MAX_EXPERTS];
  int64_t first = (int64_t) blockIdx.x * s.share, end = min (first + s.share, s.count);
  for (int e = (int) threadIdx.x; e < s.experts; e += WARPS * 32)
    counts[e] = 0;
  __syncthreads ();
  count_range (s, first, end, counts, (int) threadIdx.x, WARPS * 32);
  __syncthreads ();
  for (int e = (int) threadIdx.x; e < s.experts; e += WARPS * 32)
    s.counts[(int64_t) blockIdx.x * s.experts + e] = counts[e];
}

/* Adds the counts of the parts: of all in `found`, of those before this threadblock's in `before`.
 * Each warp adds every eighth part. */
__device__ inline void
sum_parts (const Sort &s, int *found, int *before)
{
  int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  for (int e = lane; e < s.experts; e += 32) {
    int all = 0, earlier = 0;
#pragma unroll 8
    for (int part = warp; part < s.parts; part += WARPS) {
      int count = s.counts[part * s.experts + e];
      all += count;
      earlier += part < (int) blockIdx.x ? count : 0;
    }
    atomicAdd (&found[e], all);
    atomicAdd (&before[e], earlier);
  }
}

/* Returns the rows of an expert that are kept, if there is room for them. */
__device__ inline int64_t
wanted (const Sort &s, int64_t found)
{
  return s.params.limit > 0 ? min (found, (int64_t) s.params.limit) : found;
}

/* Sets the first row of each expert and the end of the last. */
__device__ inline void
set_starts (const Sort &s, const int *found, int *starts)
{
  int64_t align = s.params.align;
  if (threadIdx.x == 0)
    starts[0] = 0;
  scan_block (
    s.experts, 0, Total{},
    [&] (int64_t e) { return (wanted (s, found[e]) + align - 1) / align * align; },
    [&] (int64_t e, int64_t end) { starts[e + 1] = (int) min (end, s.rows); });
}

/* Replaces the choices of each expert by those that are kept. The first threadblock writes them,
 * the starts, and the number of choices that no expert has room for. */
__device__ inline void
keep (const Sort &s, int *found, const int *starts)
{
  bool writes = blockIdx.x == 0;
  int dropped = 0;
  for (int e = (int) threadIdx.x; e <= s.experts; e += (int) blockDim.x) {
    if (e < s.experts) {
      int kept = (int) min (wanted (s, found[e]), (int64_t) (starts[e + 1] - starts[e]));
      dropped += found[e] - kept;
      found[e] = kept;
      if (writes)
        s.kept[e] = kept;
    }
    if (writes)
      s.starts[e] = starts[e];
    if (writes && s.offsets)
      s.offsets[e] = starts[e];
  }
  if (writes && s.dropped) {
    dropped = block_total (dropped);
    if (threadIdx.x == 0)
      *s.dropped = (float) dropped;
  }
  __syncthreads ();
}

/* Gives the choices of a warp their places: `used` are those of each expert before. Equal experts
 * among 32 neighbouring choices get consecutive places. */
__device__ inline void
place_range (
  const Sort &s, int64_t first, int64_t end, const int *starts, const int *kept, int *used)
{
  int lane = (int) threadIdx.x % 32;
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

/* Gives the choices of each part their places. */
static __global__ void
__launch_bounds__ (WARPS * 32) place_choices (Sort s)
{
  __shared__ int starts[LIG_MAX_EXPERTS + 1], found[LIG_MAX_EXPERTS];
  __shared__ int used[WARPS][LIG_MAX_EXPERTS];
  int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  int64_t each = s.share / WARPS, first = (int64_t) blockIdx.x * s.share + warp * each;
  int64_t end = min (first + each, s.count);
  for (int e = (int) threadIdx.x; e < s.experts; e += WARPS * 32) {
    found[e] = 0;
    for (int w = 0; w < WARPS; w++)
      used[w][e] = 0;
  }
  __syncthreads ();
  sum_parts (s, found, used[0]);
  if (warp + 1 < WARPS)
    count_range (s, first, end, used[warp + 1], lane, 32);
  __syncthreads ();
  for (int e = (int) threadIdx.x; e < s.experts; e += WARPS * 32)
    for (int w = 1; w < WARPS; w++)
      used[w][e] += used[w - 1][e];
  set_starts (s, found, starts);
  keep (s, found, starts);
  place_range (s, first, end, starts, found, used[warp]);
}

/* Copies the rows of a warp's tokens to their places. */
template <class U>
__device__ inline void
copy_tokens (const Move &m, const U *x, U *y, int64_t first, int64_t step)
{
  constexpr int DEPTH = 8;
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

/* Clears the rows, and their scales, that no choice has: without alignment, those after the last
 * expert's. */
template <class U>
__device__ inline void
clear_rows (const Sort &s, U *y, int64_t units, int64_t first, int64_t step)
{
  int64_t begin = s.params.align > 1 ? 0 : s.starts[s.experts] / 32;
  int lane = (int) threadIdx.x % 32;
  for (int64_t group = begin + first; group * 32 < s.rows; group += step) {
    int64_t row = group * 32 + lane;
    bool free = row < s.rows && is_free (s, row);
    if (s.scales && free)
      s.scales[row] = 0;
    if (y)
      clear_marked (y, units, group * 32, free);
  }
}

/* Copies tokens to their places, by the first `copying` threadblocks; the others clear the other
 * rows. `y` may be absent. */
template <class U>
__global__ void
__launch_bounds__ (THREADS) copy_rows (Sort s, Move m, const U *x, U *y, int copying)
{
  int warp = (int) threadIdx.x / 32, block = (int) blockIdx.x;
  if (block < copying)
    copy_tokens (m, x, y, (int64_t) block * MOVERS + warp, (int64_t) copying * MOVERS);
  else
    clear_rows (s, y, m.units, (int64_t) (block - copying) * MOVERS + warp,
                (int64_t) ((int) gridDim.x - copying) * MOVERS);
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
  int64_t most = MAX_COUNTS / s->experts < MAX_PARTS ? MAX_COUNTS / s->experts : MAX_PARTS;
  s->share = SHORTEST;
  while ((s->count + s->share - 1) / s->share > most)
    s->share *= 2;
  s->parts = (int) ((s->count + s->share - 1) / s->share);
  s->counts = (int *) launch->workspace;
  s->kept = s->counts + (int64_t) s->experts * s->parts;
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
  count_choices<<<s->parts, WARPS * 32, 0, stream (launch)>>> (*s);
  place_choices<<<s->parts, WARPS * 32, 0, stream (launch)>>> (*s);
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
