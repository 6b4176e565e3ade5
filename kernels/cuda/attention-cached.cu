/* SPDX-License-Identifier: MIT */
/* Attention of texts in progress over a cache, to which it adds their new keys and values. A few
 * new tokens leave most of a tile of 128 queries empty, and their time is that of reading the keys
 * and values: there the query heads that share a key head are the rows of one tile of 16, a row's
 * keys are split over the threadblocks of a cluster, and each warp attends to 16 keys of a block of
 * 64 on its own. The parts are merged in the order of warps and splits through the cluster's shared
 * memory. The number of splits depends only on the number of rows and the capacity, so that the
 * launch can be captured and a row's bits do not depend on the others. */
#include "kernels/cuda/attention-fast.cuh"
#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/cluster.cuh"
#include "kernels/cuda/common/early.cuh"

namespace lig
{
enum { SPAN = 64, STAGES = 3, FEW = 16, WARP_KEYS = SPAN / FAST_WARPS, MAX_SPLITS = 8 };

/* Returns whether a slot has a place for the position. */
__device__ inline bool
is_kept (const LigAttentionParams &p, int key)
{
  return key >= 0 && (key < p.memory_length || p.memory_length % LIG_CACHE_UNIT == 0);
}

/* The results of one warp or threadblock: sums relative to the maxima, which FEW rows have. */
template <int D> struct Partial {
  static constexpr int SIZE = FEW * D + 2 * FEW;
  float *data;
  __device__ float *
  sum (int row) const
  {
    return data + row * D;
  }
  __device__ float &
  max (int row) const
  {
    return data[FEW * D + row];
  }
  __device__ float &
  total (int row) const
  {
    return data[FEW * D + FEW + row];
  }
};

/* The bytes of shared memory: the queries, then stages of keys and values, later the partial
 * results of the warps and of the threadblock. */
template <int D>
constexpr size_t
few_bytes ()
{
  size_t stages = (size_t) STAGES * 2 * SPAN * D * 2;
  size_t partials = (size_t) (FAST_WARPS + 1) * Partial<D>::SIZE * sizeof (float);
  return (size_t) FEW * D * 2 + (stages > partials ? stages : partials);
}

/* Copies the queries of a key head: row m is query m / group of its head m % group. */
template <class T, int D>
__device__ inline void
copy_few (const Attention &a, const Tile<D> &q, int row, int kv_head, int group, int count)
{
  const LigAttentionParams &p = a.params;
  for (int i = (int) threadIdx.x; i < FEW * Tile<D>::CHUNKS; i += FAST_THREADS) {
    int m = i / Tile<D>::CHUNKS, chunk = i % Tile<D>::CHUNKS;
    bool live = m < count && chunk * 8 < p.features;
    int64_t from = live ? (int64_t) row * p.length + m / group : 0;
    int column = live ? (kv_head * group + m % group) * p.features + chunk * 8 : 0;
    copy_async (q.at (m, chunk), a.q.template at<T> (from, column), live);
  }
}

/* Converts the warp's dot products to scores of the keys from `key` on, -infinity where the query
 * does not see the key. */
template <bool EXTRA>
__device__ inline void
score_few (Sums16<1, WARP_KEYS> &scores,
           const Attention &a,
           const Sight &s,
           int row,
           int kv_head,
           int group,
           int count,
           int key)
{
  int g = (int) threadIdx.x % 32 / 4, t = (int) threadIdx.x % 4;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    int m = 8 * h + g, query = m / group;
    int low = s.first_key (query), end = m < count ? s.end_key (query + 1) : 0;
    Extras extras (a, s, row, kv_head * group + m % group);
#pragma unroll
    for (int n = 0; n < WARP_KEYS / 8; n++)
#pragma unroll
      for (int c = 0; c < 2; c++) {
        int j = key + 8 * n + 2 * t + c;
        float &score = scores.v[0][n][2 * h + c], unused;
        if constexpr (EXTRA)
          score = extras.score (score, query, j, &unused);
        if (j < low || j >= end)
          score = -INFINITY;
      }
  }
}

/* Stores the warp's results. */
template <int D>
__device__ inline void
keep_few (const Partial<D> &to, const Sums16<1, D> &sums, Soft<1> &soft, int count)
{
  int g = (int) threadIdx.x % 32 / 4, t = (int) threadIdx.x % 4;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    int m = 8 * h + g;
    fold_lanes (4, Sum{}, soft.total[0][h]);
    if (m >= count)
      continue;
    to.max (m) = soft.max[0][h];
    to.total (m) = soft.total[0][h];
#pragma unroll
    for (int n = 0; n < D / 8; n++)
      *reinterpret_cast<float2 *> (to.sum (m) + 8 * n + 2 * t) =
        make_float2 (sums.v[0][n][2 * h], sums.v[0][n][2 * h + 1]);
  }
}

/* Returns the factor of a part for the largest maximum. */
__device__ inline float
factor_of (float max, float largest, float scale)
{
  return max == -INFINITY ? 0 : lig_quick_power ((max - largest) * scale);
}

/* Merges the results of the warps. */
template <int D>
__device__ inline void
merge_warps (const Partial<D> &to, const Partial<D> &from, int count, float scale)
{
  for (int i = (int) threadIdx.x; i < count * D; i += FAST_THREADS) {
    int m = i / D, d = i % D;
    float largest = -INFINITY, sum = 0, total = 0;
#pragma unroll
    for (int w = 0; w < FAST_WARPS; w++)
      largest = fmaxf (largest, Partial<D>{from.data + w * Partial<D>::SIZE}.max (m));
#pragma unroll
    for (int w = 0; w < FAST_WARPS; w++) {
      Partial<D> part = {from.data + w * Partial<D>::SIZE};
      float factor = factor_of (part.max (m), largest, scale);
      sum += factor * part.sum (m)[d];
      total += factor * part.total (m);
    }
    to.sum (m)[d] = sum;
    if (d == 0) {
      to.max (m) = largest;
      to.total (m) = total;
    }
  }
}

/* Merges the results of the cluster's threadblocks, each of which writes a part of the outputs. */
template <class T, int D>
__device__ inline void
merge_splits (const Attention &a,
              const Partial<D> &mine,
              int row,
              int kv_head,
              int group,
              int count,
              float scale)
{
  const LigAttentionParams &p = a.params;
  int splits = (int) gridDim.x, step = splits * FAST_THREADS;
  for (int i = (int) blockIdx.x * FAST_THREADS + (int) threadIdx.x; i < count * D; i += step) {
    int m = i / D, d = i % D;
    float largest = -INFINITY, sum = 0, total = 0;
    for (int split = 0; split < splits; split++)
      largest = fmaxf (largest, read_cluster (&mine.max (m), split));
    for (int split = 0; split < splits; split++) {
      float factor = factor_of (read_cluster (&mine.max (m), split), largest, scale);
      sum += factor * read_cluster (&mine.sum (m)[d], split);
      total += factor * read_cluster (&mine.total (m), split);
    }
    if (d < p.features)
      *a.y.template at<T> ((int64_t) row * p.length + m / group,
                           (kv_head * group + m % group) * p.features + d) =
        narrow<T> (total == 0 ? 0 : sum / total);
    if (a.lse && d == 0) {
      int64_t at = place_of (a, row, kv_head * group + m % group, m / group);
      float2 lse = total == 0 ? make_float2 (0, 0) : logarithm (largest, total, scale, a.unit);
      a.lse[at] = lse.x;
      a.lse[count_logarithms (a) + at] = lse.y;
    }
  }
}

/* The new keys and values of a row, which follow its queries in x: `start` is the position of the
 * first one, `row` its row of x, and `column` that of the keys of a head. */
struct Fresh {
  int64_t row;
  int start, column;
};

/* Starts the asynchronous copy of a tile of keys, or of values `across` columns after them: new
 * ones are not in the cache yet. */
template <class T, int D>
__device__ inline void
copy_kept (const Tile<D> &to,
           const Attention &a,
           const Heads &kept,
           const Fresh &fresh,
           int across,
           int64_t keys_at,
           int first,
           int limit,
           int column)
{
  constexpr int STEP = FAST_THREADS / Tile<D>::CHUNKS;
  int chunk = (int) threadIdx.x % Tile<D>::CHUNKS, r = (int) threadIdx.x / Tile<D>::CHUNKS;
  bool inside = chunk * 8 < a.params.features;
#pragma unroll
  for (int i = 0; i < SPAN / STEP; i++, r += STEP) {
    int key = first + r;
    bool live = inside && key < limit;
    const T *from = key < fresh.start
                      ? kept.template at<T> (keys_at + key, column)
                      : a.q.template at<T> (fresh.row + key - fresh.start, fresh.column + across);
    copy_async (to.at (r, chunk), live ? from + chunk * 8 : kept.template at<T> (0, 0), live);
  }
}

/* Writes the new keys and values of a head to the cache. */
template <class T, int D>
__device__ inline void
keep_new (const Attention &a, const Fresh &fresh, int across, int row, int column)
{
  const LigAttentionParams &p = a.params;
  int chunks = p.features / 8, all = p.length * 2 * chunks;
  for (int i = (int) threadIdx.x; i < all; i += FAST_THREADS) {
    int chunk = i % chunks, value = i / chunks % 2, token = i / chunks / 2;
    int key = fresh.start + token;
    if (!is_kept (p, key))
      continue;
    const Heads &to = value ? a.v : a.k;
    *reinterpret_cast<uint4 *> (to.template at<T> (key_row (a, row, key) + key, column) +
                                chunk * 8) =
      *reinterpret_cast<const uint4 *> (
        a.q.template at<T> (fresh.row + token, fresh.column + value * across) + chunk * 8);
  }
}

/* Computes y and lse of the few queries of a row that share a key head. */
template <class T, int D, bool EXTRA>
__global__ void
__launch_bounds__ (FAST_THREADS, 2) attend_few (const __grid_constant__ Attention a)
{
  wait_for_previous ();
  let_next_begin ();
  constexpr int SIZE = SPAN * Tile<D>::CHUNKS;
  extern __shared__ uint4 memory[];
  const LigAttentionParams &p = a.params;
  int group = p.heads / p.kv_heads, count = group * p.length, warp = (int) threadIdx.x / 32;
  int kv_head = (int) blockIdx.y, row = (int) blockIdx.z, column = kv_head * p.features;
  Sight s (a, row);
  Fresh fresh = {(int64_t) row * p.length, s.keys - p.length, p.heads * p.features + column};
  int across = p.kv_heads * p.features;
  Tile<D> q = {memory};
  uint4 *stages = memory + FEW * Tile<D>::CHUNKS;
  int block = s.first_key (0) / SPAN, end = (s.end_key (p.length) + SPAN - 1) / SPAN;
  int each = (max (end - block, 0) + (int) gridDim.x - 1) / (int) gridDim.x;
  block += (int) blockIdx.x * each;
  end = min (end, block + each);
  auto copy = [&] (int number) {
    Tile<D> keys = {stages + number % STAGES * 2 * SIZE}, values = {keys.data + SIZE};
    int64_t keys_at = key_row (a, row, number * SPAN);
    copy_kept<T> (keys, a, a.k, fresh, 0, keys_at, number * SPAN, s.keys, column);
    copy_kept<T> (values, a, a.v, fresh, across, keys_at, number * SPAN, s.keys, column);
  };
  copy_few<T, D> (a, q, row, kv_head, group, count);
  for (int i = 0; i < STAGES - 1; i++) {
    if (block + i < end)
      copy (block + i);
    commit_copies ();
  }
  if (blockIdx.x == 0)
    keep_new<T, D> (a, fresh, across, row, column);
  float scale = (EXTRA ? 1 : p.scale) * LOG2_E;
  Sums16<1, D> sums;
  Soft<1> soft;
  sums.clear ();
  soft.clear ();
#pragma unroll 1
  for (; block < end; block++) {
    await_copies<STAGES - 2> ();
    __syncthreads ();
    if (block + STAGES - 1 < end)
      copy (block + STAGES - 1);
    commit_copies ();
    uint4 *stage = stages + block % STAGES * 2 * SIZE + warp * WARP_KEYS * Tile<D>::CHUNKS;
    Sums16<1, WARP_KEYS> scores;
    scores.clear ();
    add_scores<T> (scores, q, 0, Tile<D>{stage});
    score_few<EXTRA> (scores, a, s, row, kv_head, group, count, block * SPAN + warp * WARP_KEYS);
    soften (soft, scores, sums, scale);
    add_weighted<T> (sums, scores, Tile<D>{stage + SIZE});
  }
  await_copies<0> ();
  __syncthreads ();
  Partial<D> parts = {(float *) stages}, mine = {parts.data + FAST_WARPS * Partial<D>::SIZE};
  keep_few (Partial<D>{parts.data + warp * Partial<D>::SIZE}, sums, soft, count);
  __syncthreads ();
  merge_warps (mine, parts, count, scale);
  cluster_sync ();
  merge_splits<T> (a, mine, row, kv_head, group, count, scale);
  cluster_sync (); /* Until here the other threadblocks read this one's memory. */
}

/* Returns whether attend_few() supports the case. */
static bool
are_few (const LigLaunch *launch, const Attention &a)
{
  const LigAttentionParams &p = a.params;
  return launch->device->capability >= 90 && attention_is_fast (a) &&
         p.heads / p.kv_heads * p.length <= FEW && a.batch <= 65535 && p.kv_heads <= 65535;
}

static LigStatus
attention_few (LigLaunch *launch, const Attention &a)
{
  int pairs = a.batch * a.params.kv_heads, splits = 1;
  while (splits < MAX_SPLITS && 2 * splits * SPAN <= a.params.memory_length &&
         (int64_t) 2 * splits * pairs <= 2 * launch->device->multiprocessors)
    splits *= 2;
  return dispatch_heads (a, [&] (auto one, auto width, auto extra) {
    using T = decltype (one);
    constexpr int D = decltype (width)::value;
    auto *kernel = attend_few<T, D, decltype (extra)::value>;
    LigStatus status = allow_memory (launch, kernel, few_bytes<D> ());
    if (status != LIG_OK)
      return status;
    dim3 blocks ((unsigned) splits, (unsigned) a.params.kv_heads, (unsigned) a.batch);
    return launch_early (launch, true, kernel, blocks, dim3 (FAST_THREADS), few_bytes<D> (), splits,
                         a);
  });
}

/* Describes the queries of packed rows and the keys of a cache. */
static LigStatus
prepare_cached (Attention *a, LigLaunch *launch)
{
  const LigAttentionParams *p = (const LigAttentionParams *) launch->params;
  const LigOperand *x = &launch->operands[0], *cache = &launch->operands[4];
  const LigOperand *y = &launch->operands[3];
  if (!p || p->heads < 1 || p->kv_heads < 1 || p->heads % p->kv_heads != 0 || p->features < 1 ||
      p->length < 1 || p->memory_length < 1 || p->memory_length > MAX_POSITIONS)
    return LIG_FAIL (launch, LIG_FAILED,
                     "attention: the parameters do not fit each other; correct them");
  if (!lig_dtype_is_floating (x->dtype) || !lig_dtype_is_floating (y->dtype) ||
      cache->dtype != x->dtype)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: not one floating type; convert to fp32, fp16 or bf16");
  int64_t queries = (int64_t) p->heads * p->features, keys = (int64_t) p->kv_heads * p->features;
  int64_t columns = queries + (p->mask == LIG_MASK_NONE ? 0 : 2 * keys),
          slot = p->memory_length * 2 * keys;
  if (x->size % (columns * p->length) != 0 || cache->size % slot != 0 || cache->size < slot)
    return LIG_FAIL (launch, LIG_FAILED,
                     "attention: the parameters do not fit the rows; correct them");
  *a = Attention{};
  a->params = *p;
  if (p->window > FAR)
    a->params.window = 0;
  a->memory = true;
  a->batch = (int) (x->size / (columns * p->length));
  a->lengths = (const int32_t *) launch->operands[1].data;
  a->slots = (const int32_t *) launch->operands[2].data;
  a->n_slots = (int) (cache->size / slot);
  a->tick = launch->tick;
  a->q = heads_of (x, 0, columns);
  a->k = heads_of (cache, 0, 2 * keys);
  a->v = heads_of (cache, keys, 2 * keys);
  a->y = heads_of (y, 0, queries);
  a->lse = (float *) launch->operands[5].data;
  const float scale = has_extras (*p) ? 1 : p->scale;
  const double unit = attention_is_fast (*a) ? (double) scale / (double) (scale * LOG2_E) : 1;
  a->unit = pair_of (unit);
  a->inverse = pair_of (1 / unit);
  return LIG_OK;
}

/* Columns are counted in vectors of A::W elements; `column` is the first one that is kept. */
struct Append {
  int64_t size, columns, column, width;
};

/* Copies each vector of the last columns of a row to its place in the cache. */
template <class A>
__global__ void
__launch_bounds__ (THREADS)
  append (const __grid_constant__ Attention a, Append p, Target x, Target cache)
{
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  if (i >= p.size)
    return;
  int64_t row = i / p.width;
  int text = (int) (row / a.params.length);
  int key = a.lengths[text] - a.params.length + (int) (row % a.params.length);
  if (!is_kept (a.params, key))
    return;
  int64_t from = row * p.columns + p.column + i % p.width;
  int64_t to = (key_row (a, text, key) + key) * p.width + i % p.width;
  A::write (cache, to * A::W, A::read (x, from * A::W));
}

static LigStatus
append_all (LigLaunch *launch, const Attention &a)
{
  const LigOperand *x = &launch->operands[0], *cache = &launch->operands[4];
  int64_t kept = 2 * (int64_t) a.params.kv_heads * a.params.features;
  int64_t columns = kept + (int64_t) a.params.heads * a.params.features;
  int64_t width = x->dtype == LIG_FP32 ? 4 : 8;
  bool packs = packable ({x, cache}) && columns % width == 0 && kept % width == 0;
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Append one = {x->size / columns * kept / A::W, columns / A::W, (columns - kept) / A::W,
                  kept / A::W};
    int64_t blocks = (one.size + THREADS - 1) / THREADS;
    append<A>
      <<<(unsigned) blocks, THREADS, 0, stream (launch)>>> (a, one, target (x), target (cache));
    return LIG_LAUNCHED (launch);
  });
}

} /* namespace lig */

using namespace lig;

/* Computes y and lse of texts in progress, and adds their keys and values to the cache. */
extern "C" LigStatus
lig_cuda_attention_cached (LigLaunch *launch)
{
  Attention a;
  LigStatus status = prepare_cached (&a, launch);
  if (status != LIG_OK)
    return status;
  if (a.params.mask != LIG_MASK_NONE) {
    if (are_few (launch, a))
      return attention_few (launch, a);
    status = append_all (launch, a);
    if (status != LIG_OK)
      return status;
  }
  return attention_is_fast (a) ? attention_fast (launch, a) : attention_general (launch, a);
}
