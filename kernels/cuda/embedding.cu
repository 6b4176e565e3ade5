/* SPDX-License-Identifier: MIT */
/* Embedding: y[i,:] = weight[x[i],:] for int32 x [M], weight [V, N] and y [M, N]; and its gradient,
 * dweight[v,:] = sum of dy[i,:] over the i with x[i] = v. Lower bound of both: each row of y or dy
 * crosses the memory bus once, and each row of dweight.
 *
 * For the gradient the positions are stably sorted by token, so that all positions of a token form
 * a run. The sorted positions are split into segments of equal length, regardless of the runs: a
 * segment sums its runs in order and leaves partial sums of those that do not begin or do not end
 * in it; a second kernel combines these in order. So neither a very frequent token nor a sparsely
 * used vocabulary takes longer, and the sum is deterministic.
 *
 * Checking for tokens outside the vocabulary on the GPU would force a synchronization: instead the
 * token's row of y is NaN, and its row of dy is ignored. If the table is sharded over ranks, the
 * rows of other ranks' tokens are zero in y and ignored in dy. */
#include "kernels/cuda/embedding-gather.cuh"
#include <ligature/params-loss.h>

#include <cub/device/device_radix_sort.cuh>

namespace lig
{
enum { WARPS = THREADS / 32 };
/* The number of tokens that are sorted at a time. With more tokens dweight is rounded once per
 * chunk of this size, as if the chunks were micro-batches. */
enum { MAX_TOKENS = 1 << 20 };
/* The number of tokens up to which a single threadblock sorts them. */
enum { FEW_TOKENS = 2048, SORT_THREADS = 1024 };
/* The shortest segment; the number of threads from which segments become longer; the number of rows
 * that a threadblock clears; the number of segments of a run up to which a single warp combines
 * them. */
enum { SHORTEST = 32, ENOUGH_THREADS = 1 << 19, ROWS_CLEARED = 64, SHORT_RUN = 16 };
/* The mark in the position of a token outside the table. */
constexpr uint32_t OUTSIDE = 1u << 31;

/* The workspace holds two copies of tokens and positions, the memory of the sort, then partial
 * sums. */
constexpr size_t SORT_BYTES = 1 << 20;
constexpr size_t PARTIALS_AT = 4 * sizeof (uint32_t) * MAX_TOKENS + SORT_BYTES;
constexpr size_t PARTIALS_BYTES = LIG_WORKSPACE_SIZE - PARTIALS_AT;

/* Prepares the sort of tokens by their rows. Tokens outside the table are sorted to the first row,
 * but their positions are marked. */
__global__ void
__launch_bounds__ (THREADS)
  number_tokens (const int32_t *x, int count, Table table, uint32_t *tokens, uint32_t *positions)
{
  int at = (int) (blockIdx.x * THREADS + threadIdx.x);
  if (at >= count)
    return;
  int64_t row = table.row (x[at]);
  tokens[at] = row < 0 ? 0 : (uint32_t) row;
  positions[at] = row < 0 ? (uint32_t) at | OUTSIDE : (uint32_t) at;
}

/* Prepares and sorts in a single threadblock (bitonic sort, Batcher, 1968). A token and its
 * position form one number, so that no two are equal and the sort is stable. */
__global__ void
__launch_bounds__ (SORT_THREADS)
  sort_few (const int32_t *x, int count, Table table, uint32_t *tokens, uint32_t *positions)
{
  __shared__ uint64_t sorted[FEW_TOKENS];
  int size = 2;
  while (size < count)
    size *= 2;
  for (int i = (int) threadIdx.x; i < size; i += SORT_THREADS) {
    int64_t row = i < count ? table.row (x[i]) : UINT32_MAX;
    uint32_t position = row < 0 ? (uint32_t) i | OUTSIDE : i < count ? (uint32_t) i : 0;
    sorted[i] = (uint64_t) (row < 0 ? 0 : row) << 32 | position;
  }
  for (int k = 2; k <= size; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads ();
      for (int pair = (int) threadIdx.x; pair < size / 2; pair += SORT_THREADS) {
        int low = (pair & ~(j - 1)) << 1 | (pair & (j - 1)), high = low | j;
        uint64_t a = sorted[low], b = sorted[high];
        if ((a > b) == ((low & k) == 0)) {
          sorted[low] = b;
          sorted[high] = a;
        }
      }
    }
  __syncthreads ();
  for (int i = (int) threadIdx.x; i < count; i += SORT_THREADS) {
    tokens[i] = (uint32_t) (sorted[i] >> 32);
    positions[i] = (uint32_t) sorted[i];
  }
}

/* The sorted tokens, as rows of the table, and the destination of the sums. */
struct Runs {
  const uint32_t *tokens, *positions;
  float *partials; /* two rows per segment: of a run that began before it, of one that continues
                      after it */
  int count, length, segments;
  int64_t columns;
  Table table;
  bool accumulate;
  __device__ float *
  partial (int segment, bool last, int64_t column) const
  {
    return partials + ((int64_t) segment * 2 + last) * columns + column;
  }
};

/* Writes a chunk of a row of dweight, added to the old values if `accumulate`. */
template <class U, int N>
__device__ inline void
write_sums (U *to, float (&sums)[N], bool accumulate)
{
  Chunk<U, N> out;
  if (accumulate) {
    float old[N];
    unpack (load_chunk<N> (to), old);
#pragma unroll
    for (int i = 0; i < N; i++)
      sums[i] += old[i];
  }
  pack (sums, out);
  store_chunk (to, out);
}

/* Writes partial sums. */
template <int N>
__device__ inline void
keep_sums (float *to, const float (&sums)[N])
{
  Chunk<float, N> out;
  pack (sums, out);
  store_chunk (to, out);
}

/* Clears those rows of dweight, out of ROWS_CLEARED, that have no tokens. */
template <class U, int N>
__device__ inline void
clear_rows (const Runs &runs, U *dweight, int64_t first)
{
  __shared__ bool found[ROWS_CLEARED];
  if (threadIdx.x < ROWS_CLEARED) {
    int64_t row = first + threadIdx.x;
    int low = 0, high = runs.count;
    while (low < high) {
      int middle = (low + high) / 2;
      if (runs.tokens[middle] < row)
        low = middle + 1;
      else
        high = middle;
    }
    found[threadIdx.x] = row >= runs.table.rows || (low < runs.count && runs.tokens[low] == row);
  }
  __syncthreads ();
  Chunk<U, N> zero;
  float zeros[N] = {};
  pack (zeros, zero);
  for (int i = (int) threadIdx.x / 32; i < ROWS_CLEARED; i += WARPS)
    if (!found[i])
      for (int64_t at = threadIdx.x % 32 * N; at < runs.columns; at += 32 * N)
        store_chunk (dweight + (first + i) * runs.columns + at, zero);
}

/* Sums N columns of a segment per thread. The tokens of the next rows are loaded while the current
 * rows are added. Threadblocks from `summing` on clear the rows that have no tokens. */
template <class T, class U, int N>
__global__ void
__launch_bounds__ (THREADS) sum_runs (Runs runs, const T *dy, U *dweight, int summing)
{
  if ((int) blockIdx.x >= summing) {
    clear_rows<U, N> (runs, dweight, (int64_t) ((int) blockIdx.x - summing) * ROWS_CLEARED);
    return;
  }
  int64_t units = runs.columns / N, thread = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  int segment = (int) (thread / units);
  int64_t column = thread % units * N;
  if (segment >= runs.segments)
    return;
  int begin = segment * runs.length;
  int end = runs.count - begin < runs.length ? runs.count : begin + runs.length;
  uint32_t token = runs.tokens[begin];
  bool begun = begin > 0 && runs.tokens[begin - 1] == token;
  float sums[N] = {};
  Chunk<uint32_t, ROWS_AT_ONCE> next_tokens = load_chunk<ROWS_AT_ONCE> (runs.tokens + begin);
  Chunk<uint32_t, ROWS_AT_ONCE> next_positions = load_chunk<ROWS_AT_ONCE> (runs.positions + begin);
  for (int at = begin; at < end; at += ROWS_AT_ONCE) {
    Chunk<uint32_t, ROWS_AT_ONCE> tokens = next_tokens, positions = next_positions;
    Chunk<T, N> rows[ROWS_AT_ONCE];
#pragma unroll
    for (int u = 0; u < ROWS_AT_ONCE; u++)
      if (at + u < end && !(positions.v[u] & OUTSIDE))
        rows[u] = load_chunk<N> (dy + positions.v[u] * runs.columns + column);
    if (at + ROWS_AT_ONCE < end) {
      next_tokens = load_chunk<ROWS_AT_ONCE> (runs.tokens + at + ROWS_AT_ONCE);
      next_positions = load_chunk<ROWS_AT_ONCE> (runs.positions + at + ROWS_AT_ONCE);
    }
#pragma unroll
    for (int u = 0; u < ROWS_AT_ONCE; u++) {
      if (at + u >= end)
        break;
      if (tokens.v[u] != token) {
        if (begun)
          keep_sums (runs.partial (segment, false, column), sums);
        else
          write_sums (dweight + token * runs.columns + column, sums, runs.accumulate);
        begun = false;
        token = tokens.v[u];
#pragma unroll
        for (int i = 0; i < N; i++)
          sums[i] = 0;
      }
      if (positions.v[u] & OUTSIDE)
        continue;
      float row[N];
      unpack (rows[u], row);
#pragma unroll
      for (int i = 0; i < N; i++)
        sums[i] += row[i];
    }
  }
  bool goes_on = end < runs.count && runs.tokens[end] == token;
  if (begun || goes_on)
    keep_sums (runs.partial (segment, !begun, column), sums);
  else
    write_sums (dweight + token * runs.columns + column, sums, runs.accumulate);
}

/* Returns the last segment of the run that begins in this segment and continues in the next; 0
 * if none does. */
__device__ inline int
last_segment (const Runs &runs, int segment)
{
  if (segment + 1 >= runs.segments)
    return 0;
  int begin = segment * runs.length, next = begin + runs.length;
  uint32_t token = runs.tokens[next];
  if (runs.tokens[next - 1] != token || (begin > 0 && runs.tokens[begin - 1] == token))
    return 0;
  int low = segment + 1, high = runs.segments - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (runs.tokens[middle * runs.length] == token)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* Adds the partial sums of the segments [first, end), whose run began before. */
template <int N>
__device__ inline void
add_partials (const Runs &runs, int first, int end, int64_t column, float (&sums)[N])
{
#pragma unroll 4
  for (int segment = first; segment < end; segment++) {
    float part[N];
    unpack (load_chunk<N> (runs.partial (segment, false, column)), part);
#pragma unroll
    for (int i = 0; i < N; i++)
      sums[i] += part[i];
  }
}

/* Completes the runs that cross segments: one warp per run, N columns per lane. All warps of the
 * threadblock share a run of many segments. */
template <class U, int N>
__global__ void
__launch_bounds__ (THREADS) join_runs (Runs runs, U *dweight, int64_t tiles)
{
  __shared__ int lasts[WARPS];
  __shared__ float shares[WARPS][32 * N];
  int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  int first = (int) (blockIdx.x / tiles) * WARPS, mine = first + warp;
  int64_t column = (blockIdx.x % tiles * 32 + lane) * N;
  bool inside = column < runs.columns;
  int last = last_segment (runs, mine);
  if (lane == 0)
    lasts[warp] = last;
  if (inside && last > 0 && last - mine <= SHORT_RUN) {
    float sums[N];
    unpack (load_chunk<N> (runs.partial (mine, true, column)), sums);
    add_partials (runs, mine + 1, last + 1, column, sums);
    write_sums (dweight + runs.tokens[last * runs.length] * runs.columns + column, sums,
                runs.accumulate);
  }
  __syncthreads ();
  for (int i = 0; i < WARPS; i++) {
    int begin = first + i + 1, many = lasts[i] - begin + 1;
    if (lasts[i] == 0 || many <= SHORT_RUN)
      continue;
    int share = (many + WARPS - 1) / WARPS, from = begin + warp * share;
    int to = from + share < begin + many ? from + share : begin + many;
    float sums[N] = {};
    if (inside)
      add_partials (runs, from, to, column, sums);
#pragma unroll
    for (int c = 0; c < N; c++)
      shares[warp][c * 32 + lane] = sums[c];
    __syncthreads ();
    if (warp == 0 && inside) {
      unpack (load_chunk<N> (runs.partial (first + i, true, column)), sums);
      for (int w = 0; w < WARPS; w++)
#pragma unroll
        for (int c = 0; c < N; c++)
          sums[c] += shares[w][c * 32 + lane];
      write_sums (dweight + runs.tokens[begin * runs.length] * runs.columns + column, sums,
                  runs.accumulate);
    }
    __syncthreads ();
  }
}

/* Sorts the tokens of one chunk of x. */
static LigStatus
sort_tokens (LigLaunch *launch, const int32_t *x, Runs *runs)
{
  uint32_t *buffer = (uint32_t *) launch->workspace;
  cub::DoubleBuffer<uint32_t> tokens (buffer, buffer + MAX_TOKENS);
  cub::DoubleBuffer<uint32_t> positions (buffer + 2 * MAX_TOKENS, buffer + 3 * MAX_TOKENS);
  cudaStream_t on = stream (launch);
  if (runs->count <= FEW_TOKENS)
    sort_few<<<1, SORT_THREADS, 0, on>>> (x, runs->count, runs->table, tokens.Current (),
                                          positions.Current ());
  else {
    int blocks = (runs->count + THREADS - 1) / THREADS, bits = 1;
    size_t bytes = 0;
    while (bits < 32 && (int64_t) 1 << bits < runs->table.rows)
      bits++;
    number_tokens<<<blocks, THREADS, 0, on>>> (x, runs->count, runs->table, tokens.Current (),
                                               positions.Current ());
    cudaError_t error =
      cub::DeviceRadixSort::SortPairs (nullptr, bytes, tokens, positions, runs->count, 0, bits, on);
    if (error == cudaSuccess && bytes > SORT_BYTES)
      return LIG_FAIL (launch, LIG_FAILED,
                       "embedding: the sort needs more memory than the workspace has");
    if (error == cudaSuccess)
      error = cub::DeviceRadixSort::SortPairs (buffer + 4 * MAX_TOKENS, bytes, tokens, positions,
                                               runs->count, 0, bits, on);
    if (error != cudaSuccess)
      return LIG_FAIL (launch,
                       lig_cuda_status (launch->device, error, "embedding: radix sort failed"),
                       "embedding: radix sort failed");
  }
  runs->tokens = tokens.Current ();
  runs->positions = positions.Current ();
  return LIG_OK;
}

/* Chooses the shortest segments whose partial sums fit the workspace and that need no more threads
 * than are useful. */
static void
cut_segments (Runs *runs, int64_t units)
{
  int64_t segment_bytes = 2 * runs->columns * (int64_t) sizeof (float);
  for (runs->length = SHORTEST;; runs->length *= 2) {
    int64_t segments = ((int64_t) runs->count + runs->length - 1) / runs->length;
    runs->segments = (int) segments;
    if (segments <= 1 || (segments * segment_bytes <= (int64_t) PARTIALS_BYTES &&
                          segments * units <= ENOUGH_THREADS))
      return;
  }
}

/* Adds the gradient of one chunk of at most MAX_TOKENS tokens. */
template <class T, class U, int N>
static LigStatus
add_part (LigLaunch *launch, Runs runs, const int32_t *x, const T *dy, U *dweight)
{
  int64_t units = runs.columns / N;
  cut_segments (&runs, units);
  if (runs.count > 0) {
    LigStatus status = sort_tokens (launch, x, &runs);
    if (status != LIG_OK)
      return status;
  }
  int64_t summing = ((int64_t) runs.segments * units + THREADS - 1) / THREADS;
  int64_t clearing = runs.accumulate ? 0 : (runs.table.rows + ROWS_CLEARED - 1) / ROWS_CLEARED;
  if (summing + clearing > INT32_MAX)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "embedding: rows are too long for the workspace; reduce the features");
  if (summing + clearing > 0)
    sum_runs<T, U, N><<<(unsigned) (summing + clearing), THREADS, 0, stream (launch)>>> (
      runs, dy, dweight, (int) summing);
  if (runs.segments > 1) {
    constexpr int V = N > 1 ? 4 : 1;
    int64_t tiles = (runs.columns + 32 * V - 1) / (32 * V);
    int64_t blocks = (runs.segments + WARPS - 1) / WARPS * tiles;
    join_runs<U, V><<<(unsigned) blocks, THREADS, 0, stream (launch)>>> (runs, dweight, tiles);
  }
  return LIG_LAUNCHED (launch);
}

/* Returns the shard of the vocabulary that a table has, according to the launch's params. */
static Table
table_of (const LigLaunch *launch, const LigOperand *table)
{
  const LigVocabularyPart *part = (const LigVocabularyPart *) launch->params;
  if (part && part->count > 0)
    return {part->first, rows (table), part->count};
  return {0, rows (table), rows (table)};
}

/* Computes dweight in chunks of at most MAX_TOKENS tokens. */
template <class T, class U, int N>
static LigStatus
add_all (LigLaunch *launch)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dweight = &launch->operands[2];
  Runs runs = {};
  runs.partials = (float *) ((char *) launch->workspace + PARTIALS_AT);
  runs.columns = dweight->columns;
  runs.table = table_of (launch, dweight);
  runs.accumulate = launch->accumulate;
  int64_t first = 0;
  do {
    int64_t rest = x->size - first;
    runs.count = (int) (rest < MAX_TOKENS ? rest : MAX_TOKENS);
    LigStatus status =
      add_part<T, U, N> (launch, runs, (const int32_t *) x->data + first,
                         (const T *) dy->data + first * runs.columns, (U *) dweight->data);
    if (status != LIG_OK)
      return status;
    runs.accumulate = true;
    first += runs.count;
  } while (first < x->size);
  return LIG_OK;
}

/* Whether this combination of the types of table and rows is frequent enough for a vectorized path:
 * equal types, or an fp32 table. */
template <class OfTable, class OfRows>
constexpr bool are_usual = std::is_same_v<OfTable, OfRows> || std::is_same_v<OfTable, float>;

/* Calls `f` with values of both element types. */
template <class F>
static LigStatus
dispatch_pair (LigLaunch *launch, LigDtype table, LigDtype rows, F f)
{
  return dispatch (launch, table, [=] (auto one) {
    return dispatch (launch, rows, [=] (auto other) { return f (one, other); });
  });
}

/* Returns whether the rows of both operands consist of aligned chunks of `width` elements. */
static bool
packed (const LigOperand *a, const LigOperand *b, int64_t columns, int width)
{
  return columns % width == 0 && aligned (a) && aligned (b);
}
} /* namespace lig */

using namespace lig;

/* Computes y = weight[x], plus position[row % T] if there are positions. */
static LigStatus
gather (LigLaunch *launch,
        Table table,
        const LigOperand *y,
        const LigOperand *position,
        LigPositionParams p)
{
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  if (x->dtype != LIG_INT32)
    return LIG_FAIL (launch, LIG_FAILED,
                     "token outside the vocabulary; correct the data or enlarge the vocabulary");
  if (y->size == 0)
    return LIG_OK;
  Vector positions = position ? vector (position) : Vector{nullptr, LIG_FP32};
  return dispatch_pair (launch, weight->dtype, y->dtype, [=] (auto one, auto other) {
    using From = decltype (one);
    using To = decltype (other);
    constexpr int N = shared_width<From, To>;
    if constexpr (are_usual<From, To>)
      if (packed (weight, y, y->columns, N) && (!position || aligned (position))) {
        int64_t units = y->columns / N;
        int lanes = 1;
        while (lanes < 32 && lanes < units)
          lanes *= 2;
        int blocks =
          blocks_for (launch, (x->size + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE * lanes, THREADS, 64);
        gather_rows<From, To, N><<<blocks, THREADS, 0, stream (launch)>>> (
          (const int32_t *) x->data, (const From *) weight->data, (To *) y->data, x->size, table,
          y->columns, lanes, positions, p);
        return LIG_LAUNCHED (launch);
      }
    gather_each<<<blocks_for (launch, y->size, THREADS, 64), THREADS, 0, stream (launch)>>> (
      (const int32_t *) x->data, target (weight), target (y), x->size, table, y->columns, positions,
      p);
    return LIG_LAUNCHED (launch);
  });
}

/* Computes y. */
extern "C" LigStatus
lig_cuda_embedding (LigLaunch *launch)
{
  Table table = table_of (launch, &launch->operands[1]);
  return gather (launch, table, &launch->operands[2], nullptr, {1, 0, 0});
}

/* Computes y = weight[x] + position[row % T], with the roundings of the two unfused kernels. */
extern "C" LigStatus
lig_cuda_embedding_position (LigLaunch *launch)
{
  const LigOperand *position = &launch->operands[2], *y = &launch->operands[3];
  LigPositionParams p = positions_of (launch, y, position);
  if (p.length == 0)
    return LIG_FAILED;
  int64_t vocabulary = rows (&launch->operands[1]);
  return gather (launch, {0, vocabulary, vocabulary}, y, position, p);
}

/* Computes dweight. */
extern "C" LigStatus
lig_cuda_embedding_backward (LigLaunch *launch)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dweight = &launch->operands[2];
  if (x->dtype != LIG_INT32)
    return LIG_FAIL (launch, LIG_FAILED,
                     "token outside the vocabulary; correct the data or enlarge the vocabulary");
  return dispatch_pair (launch, dweight->dtype, dy->dtype, [=] (auto one, auto other) {
    using T = decltype (other);
    using U = decltype (one);
    constexpr int N = shared_width<T, U>;
    if constexpr (are_usual<U, T>)
      if (packed (dy, dweight, dweight->columns, N))
        return add_all<T, U, N> (launch);
    return add_all<T, U, 1> (launch);
  });
}
