/* SPDX-License-Identifier: MIT */
/* Attention of packed rows, backward, on tensor cores. With P = exp (scores - lse) and dP = dy v^T
 * the gradient of the scores is dS = P (dP - D), where D is the sum of dy y over a row. One kernel
 * keeps 64 keys and adds up dv = P^T dy and dk = dS^T q over all queries of all heads that share
 * them; another keeps 64 queries and adds up dq = dS k over all keys. Each computes the scores
 * anew: 7 products instead of 5, but every sum has a fixed order and nothing is kept in memory but
 * D. */
#include "kernels/cuda/attention-fast.cuh"
#include "kernels/cuda/common/access.cuh"

namespace lig
{
constexpr float LOG2_E = 1.44269504f;
/* Lanes that add up D of a row of a head. */
enum { ROW_LANES = 16, MINE = BLOCK / FAST_WARPS };

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
  a.rows[at] = make_float2 (blind ? INFINITY : a.lse[at] * LOG2_E, blind ? 0 : sum);
}

/* Reads Attention.rows of BLOCK queries of a head; those behind the last see nothing. */
__device__ inline void
copy_rows (float2 *to, const Attention &a, int64_t row, int head, int first)
{
  int i = first + (int) threadIdx.x;
  if (threadIdx.x < BLOCK)
    to[threadIdx.x] = i < a.params.length
                        ? a.rows[(row * a.params.heads + head) * a.params.length + i]
                        : make_float2 (INFINITY, 0);
}

/* Computes dk and dv of 64 keys. */
template <class T, int D>
__global__ void
__launch_bounds__ (FAST_THREADS, D == 64 ? 3 : 2)
  attend_back_keys (const __grid_constant__ Attention a)
{
  constexpr int SIZE = BLOCK * D / 8;
  extern __shared__ uint4 memory[];
  __shared__ float2 rows[2][BLOCK];
  const LigAttentionParams &p = a.params;
  int kv = (int) blockIdx.x % p.kv_heads, row = (int) blockIdx.x / p.kv_heads;
  int features = p.features, group = p.heads / p.kv_heads, column = kv * features;
  int first = (int) blockIdx.y * BLOCK, mine = (int) threadIdx.x / 32 * MINE;
  int64_t at = (int64_t) row * p.length, keys_at = (int64_t) row * p.memory_length;
  float scale = p.scale * LOG2_E;
  Sight s (a, row);
  Documents documents (a, row, first, BLOCK);
  int end = first < s.keys ? (s.end_query (first + BLOCK) + BLOCK - 1) / BLOCK : 0;
  int begin = documents.next (s.first_query (first) / BLOCK, end);
  Tile<D> k = {memory}, v = {memory + SIZE};
  auto tile = [&] (int stage, int which) {
    return Tile<D>{memory + (2 + 2 * stage + which) * SIZE};
  };
  auto copy = [&] (int stage, int head, int block) {
    tile (stage, 0).template copy<T, BLOCK, FAST_THREADS> (a.q, at, block * BLOCK, s.queries,
                                                           head * features, features);
    tile (stage, 1).template copy<T, BLOCK, FAST_THREADS> (a.dy, at, block * BLOCK, s.queries,
                                                           head * features, features);
    copy_rows (rows[stage], a, row, head, block * BLOCK);
  };
  k.template copy<T, BLOCK, FAST_THREADS> (a.k, keys_at, first, s.keys, column, features);
  v.template copy<T, BLOCK, FAST_THREADS> (a.v, keys_at, first, s.keys, column, features);
  int head = kv * group, last = begin < end ? head + group : head, block = begin;
  if (head < last)
    copy (0, head, block);
  commit_copies ();
  Sums16<1, D> dk, dv;
  dk.clear ();
  dv.clear ();
#pragma unroll 1
  for (int stage = 0; head < last; stage ^= 1) {
    await_copies<0> ();
    __syncthreads ();
    int next = documents.next (block + 1, end), next_head = head;
    if (next >= end) {
      next = begin;
      next_head++;
    }
    if (next_head < last)
      copy (stage ^ 1, next_head, next);
    commit_copies ();
    Sums16<1, BLOCK> powers, slopes;
    powers.clear ();
    add_scores<T> (powers, k, mine, tile (stage, 0));
    const float4 *pairs = reinterpret_cast<const float4 *> (rows[stage]) + threadIdx.x % 4;
#pragma unroll
    for (int n = 0; n < BLOCK / 8; n++) {
      float4 pair = pairs[4 * n];
#pragma unroll
      for (int c = 0; c < 4; c++)
        powers.v[0][n][c] =
          lig_quick_power (__fmaf_rn (powers.v[0][n][c], scale, c % 2 ? -pair.z : -pair.x));
    }
    if (documents.of || !s.clear (block * BLOCK, BLOCK, first, BLOCK))
      hide<true> (powers, s, documents, block * BLOCK, first + mine, 0);
    add_weighted<T> (dv, powers, tile (stage, 1));
    slopes.clear ();
    add_scores<T> (slopes, v, mine, tile (stage, 1));
#pragma unroll
    for (int n = 0; n < BLOCK / 8; n++) {
      float4 pair = pairs[4 * n];
#pragma unroll
      for (int c = 0; c < 4; c++)
        slopes.v[0][n][c] = powers.v[0][n][c] * (slopes.v[0][n][c] - (c % 2 ? pair.w : pair.y));
    }
    add_weighted<T> (dk, slopes, tile (stage, 0));
    head = next_head;
    block = next;
  }
  await_copies<0> ();
  __syncthreads ();
  k.template keep<T> (mine, dk.v[0], p.scale, p.scale);
  v.template keep<T> (mine, dv.v[0], 1, 1);
  k.template write<T, MINE> (a.dk, keys_at, mine, first, p.memory_length, column, features);
  v.template write<T, MINE> (a.dv, keys_at, mine, first, p.memory_length, column, features);
}

/* Computes dq of 64 queries. */
template <class T, int D>
__global__ void
__launch_bounds__ (FAST_THREADS, D == 64 ? 4 : 2)
  attend_back_queries (const __grid_constant__ Attention a)
{
  constexpr int SIZE = BLOCK * D / 8;
  extern __shared__ uint4 memory[];
  __shared__ float2 rows[BLOCK];
  const LigAttentionParams &p = a.params;
  int head = (int) blockIdx.x % p.heads, row = (int) blockIdx.x / p.heads, features = p.features;
  int first = ((int) gridDim.y - 1 - (int) blockIdx.y) * BLOCK;
  int column = head / (p.heads / p.kv_heads) * features, mine = (int) threadIdx.x / 32 * MINE;
  int64_t at = (int64_t) row * p.length, keys_at = (int64_t) row * p.memory_length;
  float scale = p.scale * LOG2_E;
  Sight s (a, row);
  Documents documents (a, row, first, BLOCK);
  int end = first < s.queries ? (s.end_key (first + BLOCK) + BLOCK - 1) / BLOCK : 0;
  int block = documents.next (s.first_key (first) / BLOCK, end);
  Tile<D> q = {memory}, dy = {memory + SIZE};
  auto tile = [&] (int stage, int which) {
    return Tile<D>{memory + (2 + 2 * stage + which) * SIZE};
  };
  auto copy = [&] (int stage, int number) {
    tile (stage, 0).template copy<T, BLOCK, FAST_THREADS> (a.k, keys_at, number * BLOCK, s.keys,
                                                           column, features);
    tile (stage, 1).template copy<T, BLOCK, FAST_THREADS> (a.v, keys_at, number * BLOCK, s.keys,
                                                           column, features);
  };
  q.template copy<T, BLOCK, FAST_THREADS> (a.q, at, first, s.queries, head * features, features);
  dy.template copy<T, BLOCK, FAST_THREADS> (a.dy, at, first, s.queries, head * features, features);
  copy_rows (rows, a, row, head, first);
  if (block < end)
    copy (0, block);
  commit_copies ();
  Sums16<1, D> dq;
  dq.clear ();
  __syncthreads ();
  float2 low = rows[mine + (int) threadIdx.x % 32 / 4];
  float2 high = rows[mine + (int) threadIdx.x % 32 / 4 + 8];
#pragma unroll 1
  for (int stage = 0; block < end; stage ^= 1) {
    await_copies<0> ();
    __syncthreads ();
    int next = documents.next (block + 1, end);
    if (next < end)
      copy (stage ^ 1, next);
    commit_copies ();
    Sums16<1, BLOCK> powers, slopes;
    powers.clear ();
    slopes.clear ();
    add_scores<T> (powers, q, mine, tile (stage, 0));
    add_scores<T> (slopes, dy, mine, tile (stage, 1));
#pragma unroll
    for (int n = 0; n < BLOCK / 8; n++)
#pragma unroll
      for (int c = 0; c < 4; c++)
        slopes.v[0][n][c] =
          lig_quick_power (__fmaf_rn (powers.v[0][n][c], scale, c < 2 ? -low.x : -high.x)) *
          (slopes.v[0][n][c] - (c < 2 ? low.y : high.y));
    if (documents.of || !s.clear (first, BLOCK, block * BLOCK, BLOCK))
      hide<false> (slopes, s, documents, first + mine, block * BLOCK, 0);
    add_weighted<T> (dq, slopes, tile (stage, 0));
    block = next;
  }
  await_copies<0> ();
  __syncthreads ();
  q.template keep<T> (mine, dq.v[0], p.scale, p.scale);
  q.template write<T, MINE> (a.dq, at, mine, first, p.length, head * features, features);
}

LigStatus
attention_backward_fast (LigLaunch *launch, const Attention &a)
{
  return dispatch_heads (a, [&] (auto one, auto width) {
    using T = decltype (one);
    constexpr int D = decltype (width)::value;
    size_t bytes = (size_t) 6 * BLOCK * D * 2;
    const LigAttentionParams &p = a.params;
    LigStatus status = allow_memory (launch, attend_back_keys<T, D>, bytes);
    if (status == LIG_OK)
      status = allow_memory (launch, attend_back_queries<T, D>, bytes);
    if (status != LIG_OK)
      return status;
    dim3 keys ((unsigned) (a.batch * p.kv_heads),
               (unsigned) ((p.memory_length + BLOCK - 1) / BLOCK));
    dim3 queries ((unsigned) (a.batch * p.heads), (unsigned) ((p.length + BLOCK - 1) / BLOCK));
    if (a.dk.data)
      attend_back_keys<T, D><<<keys, FAST_THREADS, bytes, stream (launch)>>> (a);
    if (a.dq.data)
      attend_back_queries<T, D><<<queries, FAST_THREADS, bytes, stream (launch)>>> (a);
    return LIG_LAUNCHED (launch);
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

/* Computes dx and dmemory by the kernels of this family. */
static LigStatus
attend_back_alone (LigLaunch *launch)
{
  Attention a;
  LigStatus status = attention_prepare (&a, launch, true);
  if (status != LIG_OK)
    return status;
  size_t bytes =
    (size_t) a.batch * (size_t) a.params.heads * (size_t) a.params.length * sizeof (float2);
  a.rows = (float2 *) (bytes <= LIG_WORKSPACE_SIZE ? launch->workspace : launch->scratch);
  if (!a.rows)
    return LIG_FAIL (launch, LIG_OUT_OF_MEMORY, "attention: needs its scratch memory");
  status = weigh (launch, a);
  if (status != LIG_OK)
    return status;
  return attention_is_fast (a) ? attention_backward_fast (launch, a)
                               : attention_backward_general (launch, a);
}

/* Computes dx and dmemory, by cuDNN where that is faster. */
extern "C" LigStatus
lig_cuda_attention_backward (LigLaunch *launch)
{
  return lig_attention_choose (launch, true, attend_back_alone);
}
