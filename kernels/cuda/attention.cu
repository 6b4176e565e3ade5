/* SPDX-License-Identifier: MIT */
/* Attention over packed rows, forward. On tensor cores as in FlashAttention-2 (Dao, 2023): a
 * threadblock of four warps processes 128 queries of a head, 32 per warp, and iterates over blocks
 * of 64 keys and values, copying the next block while it computes on the current one. Scores stay
 * in registers; accumulators are rescaled when the running maximum of a query increases. Blocks
 * that are fully masked by the mask, the window, the lengths or the documents are skipped. */
#include "kernels/cuda/attention-fast.cuh"
#include "kernels/cuda/common/access.cuh"

namespace lig
{
enum { BLOCK = 64, QUERIES = 128, QUERY_TILES = QUERIES / 16 / FAST_WARPS };
/* Converts dot products to scores. */
__device__ inline void
bend (Sums16<QUERY_TILES, BLOCK> &scores, const Extras &extras, int query, int key)
{
  each_score<false> (scores, query, key, [&] (float &score, int i, int j) {
    float unused;
    score = extras.score (score, i, j, &unused);
  });
}

/* Applies dropout to weights. */
__device__ inline void
drop (Sums16<QUERY_TILES, BLOCK> &weights, const Extras &extras, int query, int key)
{
  if (extras.threshold > 0)
    each_dropped (weights, dropped<false, QUERY_TILES, BLOCK> (extras, query, key),
                  [&] (float &weight, bool drops) { weight = drops ? 0 : weight * extras.kept; });
}

/* Writes lse of the lane's queries of a head whose queries begin at `at`; a query that sees no key
 * has a total of 0. */
__device__ inline void
write_logarithms (
  const Attention &a, const Soft<QUERY_TILES> &soft, int64_t at, int first, float scale)
{
#pragma unroll
  for (int i = 0; i < 2 * QUERY_TILES; i++) {
    int query = first + 8 * i + (int) threadIdx.x % 32 / 4;
    float max = soft.max[i / 2][i % 2], total = soft.total[i / 2][i % 2];
    float2 lse = total == 0 ? make_float2 (0, 0) : logarithm (max, total, scale * LOG2_E, a.unit);
    if (query >= a.params.length)
      continue;
    a.lse[at + query] = lse.x;
    a.lse[count_logarithms (a) + at + query] = lse.y;
  }
}

/* Computes y and lse of 128 queries of a head. */
template <class T, int D, bool EXTRA>
__global__ void
__launch_bounds__ (FAST_THREADS, D == 64 && !EXTRA ? 3 : 2)
  attend (const __grid_constant__ Attention a)
{
  constexpr int SIZE = BLOCK * D / 8;
  extern __shared__ uint4 memory[];
  const LigAttentionParams &p = a.params;
  int head = (int) blockIdx.x % p.heads, row = (int) blockIdx.x / p.heads, features = p.features;
  int first = ((int) gridDim.y - 1 - (int) blockIdx.y) * QUERIES, warp = (int) threadIdx.x / 32;
  int column = head / (p.heads / p.kv_heads) * features, mine = warp * QUERY_TILES * 16;
  int64_t at = (int64_t) row * p.length;
  Sight s (a, row);
  Documents documents (a, row, first, QUERIES);
  int end = first < s.queries ? (s.end_key (first + QUERIES) + BLOCK - 1) / BLOCK : 0;
  int block = documents.next<BLOCK> (s.first_key (first) / BLOCK, end);
  Tile<D> q = {memory}, k[2], v[2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    k[i].data = memory + QUERIES * D / 8 + 2 * i * SIZE;
    v[i].data = k[i].data + SIZE;
  }
  auto copy = [&] (int stage, int number) {
    Tile<D> to = {k[0].data + 2 * stage * SIZE}, values = {v[0].data + 2 * stage * SIZE};
    int64_t keys_at = key_row (a, row, number * BLOCK);
    to.template copy<T, BLOCK, FAST_THREADS> (a.k, keys_at, number * BLOCK, s.keys, column,
                                              features);
    values.template copy<T, BLOCK, FAST_THREADS> (a.v, keys_at, number * BLOCK, s.keys, column,
                                                  features);
  };
  q.template copy<T, QUERIES, FAST_THREADS> (a.q, at, first, s.queries, head * features, features);
  if (block < end)
    copy (0, block);
  commit_copies ();
  float scale = EXTRA ? 1 : p.scale;
  Sums16<QUERY_TILES, D> sums;
  Soft<QUERY_TILES> soft;
  sums.clear ();
  soft.clear ();
#pragma unroll 1
  for (int stage = 0; block < end; stage ^= 1) {
    await_copies<0> ();
    __syncthreads ();
    int next = documents.next<BLOCK> (block + 1, end);
    if (next < end)
      copy (stage ^ 1, next);
    commit_copies ();
    Tile<D> keys = {k[0].data + 2 * stage * SIZE}, values = {v[0].data + 2 * stage * SIZE};
    if (s.meet (first + mine, QUERY_TILES * 16, block * BLOCK, BLOCK)) {
      Sums16<QUERY_TILES, BLOCK> scores;
      scores.clear ();
      add_scores<T> (scores, q, mine, keys);
      if constexpr (EXTRA)
        bend (scores, Extras (a, s, row, head), first + mine, block * BLOCK);
      if (documents.of || !s.clear (first + mine, QUERY_TILES * 16, block * BLOCK, BLOCK))
        hide<false> (scores, s, documents, first + mine, block * BLOCK, -INFINITY);
      soften (soft, scores, sums, scale * LOG2_E);
      if constexpr (EXTRA)
        drop (scores, Extras (a, s, row, head), first + mine, block * BLOCK);
      add_weighted<T> (sums, scores, values);
    }
    block = next;
  }
  await_copies<0> ();
  __syncthreads ();
#pragma unroll
  for (int m = 0; m < QUERY_TILES; m++) {
    float factor[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int query = first + mine + 16 * m + 8 * h + (int) threadIdx.x % 32 / 4;
      float &total = soft.total[m][h];
      fold_lanes (4, Sum{}, total);
      total = query < s.queries ? total : 0;
      factor[h] = total == 0 ? 0 : 1 / total;
    }
    q.template keep<T> (mine + 16 * m, sums.v[m], factor[0], factor[1]);
  }
  if (a.lse && threadIdx.x % 4 == 0)
    write_logarithms (a, soft, place_of (a, row, head, 0), first + mine, scale);
  if (a.y.data)
    q.template write<T, QUERY_TILES * 16> (a.y, at, mine, first, p.length, head * features,
                                           features);
}

LigStatus
attention_fast (LigLaunch *launch, const Attention &a)
{
  return dispatch_heads (a, [&] (auto one, auto width, auto extra) {
    using T = decltype (one);
    constexpr int D = decltype (width)::value;
    constexpr bool EXTRA = decltype (extra)::value;
    size_t bytes = (size_t) (QUERIES + 4 * BLOCK) * D * 2;
    LigStatus status = allow_memory (launch, attend<T, D, EXTRA>, bytes);
    dim3 grid ((unsigned) (a.batch * a.params.heads),
               (unsigned) ((a.params.length + QUERIES - 1) / QUERIES));
    if (status != LIG_OK)
      return status;
    attend<T, D, EXTRA><<<grid, FAST_THREADS, bytes, stream (launch)>>> (a);
    return LIG_LAUNCHED (launch);
  });
}

LigStatus
attention_prepare (Attention *a, LigLaunch *launch, bool backward)
{
  const LigAttentionParams *p = (const LigAttentionParams *) launch->params;
  const LigOperand *x = launch->operands + backward, *memory = x + 1, *after = x + 4;
  const LigOperand *y = after, *lse = after + 1, *dy = launch->operands;
  const LigOperand *dx = after + 2, *dmemory = after + 3;
  if (!p || p->heads < 1 || p->kv_heads < 1 || p->heads % p->kv_heads != 0 || p->features < 1 ||
      p->length < 1 || p->memory_length < 1)
    return LIG_FAIL (launch, LIG_FAILED,
                     "attention: the parameters do not fit each other; correct them");
  for (int i = 0; i < (backward ? 9 : 5); i++)
    if (launch->operands[i].data && !lig_dtype_is_floating (launch->operands[i].dtype) &&
        launch->operands + i != x + 2 && launch->operands + i != x + 3)
      return LIG_FAIL (launch, LIG_UNSUPPORTED,
                       "attention: not a floating type; convert to fp32, fp16 or bf16");
  if (p->length > MAX_POSITIONS || p->memory_length > MAX_POSITIONS)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: a row has more than 2097120 positions; use shorter rows");
  *a = Attention{};
  a->params = *p;
  if (p->window > FAR) /* A window that hides nothing. */
    a->params.window = 0;
  a->memory = memory->data != nullptr;
  int64_t features = p->features, queries = p->heads * features, keys = p->kv_heads * features;
  int64_t columns = a->memory ? queries : queries + 2 * keys, aside = a->memory ? 0 : queries;
  int64_t stride = a->memory ? 2 * keys : columns;
  const LigOperand *source = a->memory ? memory : x;
  if (x->size % (columns * p->length) != 0 ||
      source->size != x->size / (columns * p->length) * p->memory_length * stride)
    return LIG_FAIL (launch, LIG_FAILED,
                     "attention: the parameters do not fit the rows; correct them");
  a->batch = (int) (x->size / (columns * p->length));
  a->lengths = (const int32_t *) x[2].data;
  a->documents = (const int32_t *) x[3].data;
  a->tick = launch->tick;
  a->rows_before = (int64_t) launch->part * a->batch;
  a->q = heads_of (x, 0, columns);
  a->k = heads_of (source, aside, stride);
  a->v = heads_of (source, aside + keys, stride);
  a->y = heads_of (y, 0, queries);
  a->lse = (float *) lse->data;
  if (backward) {
    const LigOperand *gradients = a->memory ? dmemory : dx;
    a->dy = heads_of (dy, 0, queries);
    a->dq = heads_of (dx, 0, columns);
    a->dk = heads_of (gradients, aside, stride);
    a->dv = heads_of (gradients, aside + keys, stride);
  }
  const float scale = has_extras (*p) ? 1 : p->scale;
  const double unit = attention_is_fast (*a) ? (double) scale / (double) (scale * LOG2_E) : 1;
  a->unit = pair_of (unit);
  a->inverse = pair_of (1 / unit);
  if (a->memory && a->documents)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: documents require self-attention; omit the memory");
  return LIG_OK;
}
} /* namespace lig */

using namespace lig;

/* Computes y and lse with the built-in kernels. */
static LigStatus
attend_alone (LigLaunch *launch)
{
  Attention a;
  LigStatus status = attention_prepare (&a, launch, false);
  if (status != LIG_OK)
    return status;
  return attention_is_fast (a) ? attention_fast (launch, a) : attention_general (launch, a);
}

/* Computes y and lse, with cuDNN where that is faster. */
extern "C" LigStatus
lig_cuda_attention (LigLaunch *launch)
{
  return lig_attention_choose (launch, false, attend_alone);
}
