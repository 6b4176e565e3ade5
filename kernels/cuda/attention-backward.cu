/* SPDX-License-Identifier: MIT */
/* Attention over packed rows, backward, on tensor cores. With P = exp (scores - lse) and dP = dy
 * v^T, the gradient of the scores is dS = P (dP - D), where D is the sum of dy y over a row. One
 * kernel keeps a tile of keys and accumulates dv = P^T dy and dk = dS^T q over all queries of all
 * heads that share them; another keeps a tile of queries and accumulates dq = dS k over all keys.
 * Each recomputes the scores: 7 matmuls instead of 5, but the summation order is fixed (no
 * atomics), and only D is kept in memory. */
#include "kernels/attention-scratch.h"
#include "kernels/cuda/attention-backward.cuh"
#include "kernels/cuda/common/access.cuh"

namespace lig
{
/* The number of lanes that compute D of a row of a head. */
enum { ROW_LANES = 16 };

/* Computes Attention.rows. */
template <class A>
__global__ void
__launch_bounds__ (THREADS)
  weigh_rows (const __grid_constant__ Attention a, Target dy, Target y, int64_t count)
{
  constexpr int W = A::W;
  const LigAttentionParams &p = a.params;
  int64_t item = ((int64_t) blockIdx.x * THREADS + threadIdx.x) / ROW_LANES;
  int lane = (int) threadIdx.x % ROW_LANES;
  float sum = 0;
  for (int column = lane * W; item < count && column < p.features; column += ROW_LANES * W) {
    float values[W], others[W];
    A::widen (A::read (dy, item * p.features + column), dy, values);
    A::widen (A::read (y, item * p.features + column), y, others);
#pragma unroll
    for (int i = 0; i < W; i++)
      sum += values[i] * others[i];
  }
  fold_lanes (ROW_LANES, Sum{}, sum);
  if (item >= count || lane > 0)
    return;
  int64_t position = item / p.heads, head = item % p.heads, row = position / p.length;
  int query = (int) (position % p.length);
  int64_t at = (row * p.heads + head) * p.length + query;
  bool blind = Sight (a, (int) row).blind (query);
  float2 lse = pair_product (make_float2 (a.lse[at], a.lse[count + at]), a.inverse);
  a.rows[at] = blind ? make_float4 (INFINITY, 0, 0, 0) : make_float4 (lse.x, sum, lse.y, 0);
}

/* The smallest rounding error that is corrected: an error of the weights of 3e-6. */
constexpr float SEEN = 4e-6f;

/* Attention.rows of COUNT queries of a head, and separately their rounding errors. */
template <int COUNT> struct Rows {
  float2 rows[COUNT]; /* loaded as pairs of 16 bytes */
  float lost[COUNT];
  /* Loads them; queries past the end see nothing. */
  __device__ void
  copy (const Attention &a, int64_t row, int head, int first)
  {
    const int query = first + (int) threadIdx.x;
    if (threadIdx.x >= COUNT)
      return;
    const float4 values = query < a.params.length ? a.rows[place_of (a, row, head, query)]
                                                  : make_float4 (INFINITY, 0, 0, 0);
    rows[threadIdx.x] = make_float2 (values.x, values.y);
    lost[threadIdx.x] = values.z;
  }
  /* Returns to all lanes of a warp whether the rounding error of one of the queries has to be
   * corrected. */
  __device__ bool
  lose () const
  {
    bool any = false;
#pragma unroll
    for (int i = 0; i < COUNT; i += 32)
      any |= fabsf (lost[i + (int) threadIdx.x % 32]) > SEEN;
    return __any_sync (~0u, any);
  }
};

/* Computes dk and dv of S::ROWS keys. */
template <class T, int D, bool EXTRA, class S>
__global__ void
__launch_bounds__ (FAST_THREADS, EXTRA ? 2 : S::BLOCKS)
  attend_back_keys (const __grid_constant__ Attention a)
{
  constexpr int SIZE = S::BLOCK * D / 8, STEP_SIZE = S::STEP * D / 8;
  extern __shared__ uint4 memory[];
  __shared__ __align__ (16) Rows<S::BLOCK> rows[2];
  const LigAttentionParams &p = a.params;
  int kv = (int) blockIdx.x % p.kv_heads, row = (int) blockIdx.x / p.kv_heads;
  int features = p.features, group = p.heads / p.kv_heads, column = kv * features;
  int first = (int) blockIdx.y * S::ROWS, mine = (int) threadIdx.x / 32 * S::MINE;
  int64_t at = (int64_t) row * p.length, keys_at = (int64_t) row * p.memory_length;
  Sight s (a, row);
  Documents documents (a, row, first, S::ROWS);
  int end = first < s.keys ? (s.end_query (first + S::ROWS) + S::BLOCK - 1) / S::BLOCK : 0;
  int begin = documents.template next<S::BLOCK> (s.first_query (first) / S::BLOCK, end);
  Tile<D> keys[2] = {{memory}, {memory + S::ROWS * D / 8}};
  uint4 *stages = memory + 2 * S::ROWS * D / 8;
  auto copy = [&] (int stage, int head, int block) {
    Tile<D> q = {stages + 2 * stage * SIZE}, dy = {stages + (2 * stage + 1) * SIZE};
    q.template copy<T, S::BLOCK, FAST_THREADS> (a.q, at, block * S::BLOCK, s.queries,
                                                head * features, features);
    dy.template copy<T, S::BLOCK, FAST_THREADS> (a.dy, at, block * S::BLOCK, s.queries,
                                                 head * features, features);
    rows[stage].copy (a, row, head, block * S::BLOCK);
  };
  keys[0].template copy<T, S::ROWS, FAST_THREADS> (a.k, keys_at, first, s.keys, column, features);
  keys[1].template copy<T, S::ROWS, FAST_THREADS> (a.v, keys_at, first, s.keys, column, features);
  int head = kv * group, last = begin < end ? head + group : head, block = begin;
  if (head < last)
    copy (0, head, block);
  commit_copies ();
  float scale = EXTRA ? 1 : p.scale;
  Sums16<S::TILES, D> dk, dv;
  dk.clear ();
  dv.clear ();
#pragma unroll 1
  for (int stage = 0; head < last; stage ^= 1) {
    await_copies<0> ();
    __syncthreads ();
    const bool far = rows[stage].lose ();
    int next = documents.template next<S::BLOCK> (block + 1, end), next_head = head;
    if (next >= end) {
      next = begin;
      next_head++;
    }
    if (next_head < last)
      copy (stage ^ 1, next_head, next);
    commit_copies ();
#pragma unroll 1
    for (int step = 0; step < S::BLOCK / S::STEP; step++) {
      int query = block * S::BLOCK + step * S::STEP;
      Tile<D> queries[2] = {{stages + 2 * stage * SIZE + step * STEP_SIZE},
                            {stages + (2 * stage + 1) * SIZE + step * STEP_SIZE}};
      if (s.meet (query, S::STEP, first + mine, S::MINE))
        add_queries<T, EXTRA, S> (dk, dv, keys, queries, rows[stage].rows + step * S::STEP,
                                  far ? rows[stage].lost + step * S::STEP : nullptr, s, documents,
                                  Extras (a, s, row, head), Place{mine, query, first + mine},
                                  scale * LOG2_E);
    }
    head = next_head;
    block = next;
  }
  await_copies<0> ();
  __syncthreads ();
#pragma unroll
  for (int m = 0; m < S::TILES; m++) {
    keys[0].template keep<T> (mine + 16 * m, dk.v[m], p.scale, p.scale);
    keys[1].template keep<T> (mine + 16 * m, dv.v[m], 1, 1);
  }
  keys[0].template write<T, S::MINE> (a.dk, keys_at, mine, first, p.memory_length, column,
                                      features);
  keys[1].template write<T, S::MINE> (a.dv, keys_at, mine, first, p.memory_length, column,
                                      features);
}

/* Computes dq of S::ROWS queries. */
template <class T, int D, bool EXTRA, class S>
__global__ void
__launch_bounds__ (FAST_THREADS, EXTRA ? 2 : S::BLOCKS)
  attend_back_queries (const __grid_constant__ Attention a)
{
  constexpr int SIZE = S::BLOCK * D / 8, STEP_SIZE = S::STEP * D / 8;
  extern __shared__ uint4 memory[];
  __shared__ Rows<S::ROWS> rows;
  const LigAttentionParams &p = a.params;
  int head = (int) blockIdx.x % p.heads, row = (int) blockIdx.x / p.heads, features = p.features;
  int first = ((int) gridDim.y - 1 - (int) blockIdx.y) * S::ROWS;
  int column = head / (p.heads / p.kv_heads) * features, mine = (int) threadIdx.x / 32 * S::MINE;
  int64_t at = (int64_t) row * p.length, keys_at = (int64_t) row * p.memory_length;
  Sight s (a, row);
  Documents documents (a, row, first, S::ROWS);
  int end = first < s.queries ? (s.end_key (first + S::ROWS) + S::BLOCK - 1) / S::BLOCK : 0;
  int block = documents.template next<S::BLOCK> (s.first_key (first) / S::BLOCK, end);
  Tile<D> queries[2] = {{memory}, {memory + S::ROWS * D / 8}};
  uint4 *stages = memory + 2 * S::ROWS * D / 8;
  auto copy = [&] (int stage, int number) {
    Tile<D> k = {stages + 2 * stage * SIZE}, v = {stages + (2 * stage + 1) * SIZE};
    k.template copy<T, S::BLOCK, FAST_THREADS> (a.k, keys_at, number * S::BLOCK, s.keys, column,
                                                features);
    v.template copy<T, S::BLOCK, FAST_THREADS> (a.v, keys_at, number * S::BLOCK, s.keys, column,
                                                features);
  };
  queries[0].template copy<T, S::ROWS, FAST_THREADS> (a.q, at, first, s.queries, head * features,
                                                      features);
  queries[1].template copy<T, S::ROWS, FAST_THREADS> (a.dy, at, first, s.queries, head * features,
                                                      features);
  rows.copy (a, row, head, first);
  if (block < end)
    copy (0, block);
  commit_copies ();
  float scale = EXTRA ? 1 : p.scale;
  Sums16<S::TILES, D> dq;
  float2 lane_rows[S::TILES][2];
  dq.clear ();
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < 2 * S::TILES; i++)
    lane_rows[i / 2][i % 2] = rows.rows[mine + (int) threadIdx.x % 32 / 4 + 8 * i];
#pragma unroll 1
  for (int stage = 0; block < end; stage ^= 1) {
    await_copies<0> ();
    __syncthreads ();
    int next = documents.template next<S::BLOCK> (block + 1, end);
    if (next < end)
      copy (stage ^ 1, next);
    commit_copies ();
#pragma unroll 1
    for (int step = 0; step < S::BLOCK / S::STEP; step++) {
      int key = block * S::BLOCK + step * S::STEP;
      Tile<D> keys[2] = {{stages + 2 * stage * SIZE + step * STEP_SIZE},
                         {stages + (2 * stage + 1) * SIZE + step * STEP_SIZE}};
      if (s.meet (first + mine, S::MINE, key, S::STEP))
        add_keys<T, EXTRA, S> (dq, queries, keys, lane_rows, s, documents, Extras (a, s, row, head),
                               Place{mine, first + mine, key}, scale * LOG2_E);
    }
    block = next;
  }
  await_copies<0> ();
  __syncthreads ();
#pragma unroll
  for (int m = 0; m < S::TILES; m++) {
    /* The per-query sums correct the rounding errors of the weights. */
    const float *lost = rows.lost + mine + 16 * m + (int) threadIdx.x % 32 / 4;
    queries[0].template keep<T> (mine + 16 * m, dq.v[m], p.scale * exp2f (-lost[0]),
                                 p.scale * exp2f (-lost[8]));
  }
  queries[0].template write<T, S::MINE> (a.dq, at, mine, first, p.length, head * features,
                                         features);
}

/* Launches a kernel of the backward pass over the tiles of `length` positions of `heads` heads. */
template <class S, class Kernel>
static LigStatus
launch_back (
  LigLaunch *launch, Kernel kernel, const Attention &a, int heads, int length, int columns)
{
  LigStatus status = allow_memory (launch, kernel, S::bytes (columns));
  dim3 grid ((unsigned) (a.batch * heads), (unsigned) ((length + S::ROWS - 1) / S::ROWS));
  if (status != LIG_OK)
    return status;
  kernel<<<grid, FAST_THREADS, S::bytes (columns), stream (launch)>>> (a);
  return LIG_LAUNCHED (launch);
}

LigStatus
attention_backward_fast (LigLaunch *launch, const Attention &a)
{
  return dispatch_heads (a, [&] (auto one, auto width, auto extra) {
    using T = decltype (one);
    constexpr int D = decltype (width)::value;
    constexpr bool EXTRA = decltype (extra)::value;
    using Keys = KeySizes<D>;
    using Queries = QuerySizes<D>;
    const LigAttentionParams &p = a.params;
    LigStatus status = LIG_OK;
    if (a.dk.data)
      status = launch_back<Keys> (launch, attend_back_keys<T, D, EXTRA, Keys>, a, p.kv_heads,
                                  p.memory_length, D);
    if (a.dq.data && status == LIG_OK)
      status = launch_back<Queries> (launch, attend_back_queries<T, D, EXTRA, Queries>, a, p.heads,
                                     p.length, D);
    return status;
  });
}

/* Launches weigh_rows. */
static LigStatus
weigh (LigLaunch *launch, const Attention &a)
{
  const LigOperand *dy = &launch->operands[0], *y = &launch->operands[5];
  bool packs = packable ({dy, y}) && a.params.features % (dy->dtype == LIG_FP32 ? 4 : 8) == 0;
  int64_t count = dy->size / a.params.features;
  return dispatch_access (launch, dy->dtype, packs, [=, &a] (auto access) {
    int64_t blocks = (count * ROW_LANES + THREADS - 1) / THREADS;
    weigh_rows<decltype (access)>
      <<<(unsigned) blocks, THREADS, 0, stream (launch)>>> (a, target (dy), target (y), count);
    return LIG_LAUNCHED (launch);
  });
}
} /* namespace lig */

using namespace lig;

/* Computes dx and dmemory with the built-in kernels. */
static LigStatus
attend_back_alone (LigLaunch *launch)
{
  Attention a;
  LigStatus status = attention_prepare (&a, launch, true);
  if (status != LIG_OK)
    return status;
  const LigAttentionParams &p = a.params;
  size_t count = (size_t) a.batch * (size_t) p.heads * (size_t) p.length;
  size_t bytes = count * LIG_ATTENTION_OWN;
  a.rows = (float4 *) (bytes <= LIG_WORKSPACE_SIZE ? launch->workspace : launch->scratch);
  if (!a.rows)
    return LIG_FAIL (launch, LIG_OUT_OF_MEMORY, "attention: needs its scratch memory");
  status = weigh (launch, a);
  if (status != LIG_OK)
    return status;
  return attention_is_fast (a) ? attention_backward_fast (launch, a)
                               : attention_backward_general (launch, a);
}

/* Computes dx and dmemory, with cuDNN where that is faster. */
extern "C" LigStatus
lig_cuda_attention_backward (LigLaunch *launch)
{
  return lig_attention_choose (launch, true, attend_back_alone);
}
