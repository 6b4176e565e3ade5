/* SPDX-License-Identifier: MIT */
/* Attention of texts in progress over a cache. A few new tokens leave most of a tile of 128 queries
 * empty, and their time is that of reading the keys and values: there the query heads that share a
 * key head are the rows of one tile of 16, a row's keys are split over the threadblocks of a
 * cluster, and each warp attends to 16 keys of a block of 64 on its own. The parts are merged in
 * the order of warps and splits through the cluster's shared memory. The number of splits depends
 * only on the number of rows and the capacity, so that the launch can be captured and a row's bits
 * do not depend on the others. */
#include "kernels/cuda/attention-fast.cuh"
#include "kernels/cuda/common/cluster.cuh"
#include "kernels/cuda/common/early.cuh"

namespace lig
{
enum { SPAN = 64, STAGES = 3, FEW = 16, WARP_KEYS = SPAN / FAST_WARPS, MAX_SPLITS = 8 };

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
  }
}

/* Computes y of the few queries of a row that share a key head. */
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
  Tile<D> q = {memory};
  uint4 *stages = memory + FEW * Tile<D>::CHUNKS;
  int block = s.first_key (0) / SPAN, end = (s.end_key (p.length) + SPAN - 1) / SPAN;
  int each = (max (end - block, 0) + (int) gridDim.x - 1) / (int) gridDim.x;
  block += (int) blockIdx.x * each;
  end = min (end, block + each);
  auto copy = [&] (int number) {
    Tile<D> keys = {stages + number % STAGES * 2 * SIZE}, values = {keys.data + SIZE};
    int64_t keys_at = key_row (a, row, number * SPAN);
    keys.template copy<T, SPAN, FAST_THREADS> (a.k, keys_at, number * SPAN, s.keys, column,
                                               p.features);
    values.template copy<T, SPAN, FAST_THREADS> (a.v, keys_at, number * SPAN, s.keys, column,
                                                 p.features);
  };
  copy_few<T, D> (a, q, row, kv_head, group, count);
  for (int i = 0; i < STAGES - 1; i++) {
    if (block + i < end)
      copy (block + i);
    commit_copies ();
  }
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
  const LigOperand *x = &launch->operands[0], *cache = &launch->operands[1];
  const LigOperand *y = &launch->operands[4];
  if (!p || p->heads < 1 || p->kv_heads < 1 || p->heads % p->kv_heads != 0 || p->features < 1 ||
      p->length < 1 || p->memory_length < 1 || p->memory_length > MAX_POSITIONS)
    return LIG_FAIL (launch, LIG_FAILED,
                     "attention: the parameters do not fit each other; correct them");
  if (!lig_dtype_is_floating (x->dtype) || !lig_dtype_is_floating (y->dtype) ||
      cache->dtype != x->dtype)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: not one floating type; convert to fp32, fp16 or bf16");
  int64_t queries = (int64_t) p->heads * p->features, keys = (int64_t) p->kv_heads * p->features;
  int64_t columns = queries + 2 * keys, slot = p->memory_length * 2 * keys;
  if (x->size % (columns * p->length) != 0 || cache->size % slot != 0 || cache->size < slot)
    return LIG_FAIL (launch, LIG_FAILED,
                     "attention: the parameters do not fit the rows; correct them");
  *a = Attention{};
  a->params = *p;
  if (p->window > FAR)
    a->params.window = 0;
  a->memory = true;
  a->batch = (int) (x->size / (columns * p->length));
  a->lengths = (const int32_t *) launch->operands[2].data;
  a->slots = (const int32_t *) launch->operands[3].data;
  a->n_slots = (int) (cache->size / slot);
  a->tick = launch->tick;
  a->q = heads_of (x, 0, columns);
  a->k = heads_of (cache, 0, 2 * keys);
  a->v = heads_of (cache, keys, 2 * keys);
  a->y = heads_of (y, 0, queries);
  const float scale = has_extras (*p) ? 1 : p->scale;
  const double unit = attention_is_fast (*a) ? (double) scale / (double) (scale * LOG2_E) : 1;
  a->unit = pair_of (unit);
  a->inverse = pair_of (1 / unit);
  return LIG_OK;
}

} /* namespace lig */

using namespace lig;

/* Computes y of texts in progress. */
extern "C" LigStatus
lig_cuda_attention_cached (LigLaunch *launch)
{
  Attention a;
  LigStatus status = prepare_cached (&a, launch);
  if (status != LIG_OK)
    return status;
  if (are_few (launch, a))
    return attention_few (launch, a);
  return attention_is_fast (a) ? attention_fast (launch, a) : attention_general (launch, a);
}
