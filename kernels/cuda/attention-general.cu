/* SPDX-License-Identifier: MIT */
/* Attention over packed rows for any type, alignment and parameter, in fp32, with a head dim of up
 * to 256: the same tiling as on tensor cores, with 16 x 16 threads, each of which computes a few
 * rows and columns of a tile. */
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/common/reduce.cuh"

namespace lig
{
/* The tile sizes of a kernel: the head dim is padded to D, a tile has R rows. Thread (x, y) has the
 * rows y + 16 i and the columns x + 16 j of a tile of scores, and the columns 64 c + 4 x to 64 c +
 * 4 x + 3 of a tile of features. */
template <int D_, int R_> struct Plain {
  static constexpr int D = D_, R = R_, I = R / 16, C = D / 64, PITCH = D + 4, WEIGHTS = R + 4;
  static constexpr int SIZE = R * PITCH;
  /* Returns the bytes of `count` tiles of features and one of weights. */
  static constexpr size_t
  bytes (int count)
  {
    return sizeof (float) * (size_t) (count * SIZE + R * WEIGHTS);
  }
};

__device__ inline int
thread_x ()
{
  return (int) threadIdx.x % 16;
}
__device__ inline int
thread_y ()
{
  return (int) threadIdx.x / 16;
}

/* Loads a tile of features; rows from `limit` on and columns from `features` on are zero-filled. */
template <class P>
__device__ inline void
fill_tile (
  float *tile, const Heads &from, int64_t row, int first, int limit, int column, int features)
{
  Vector source = {from.data, from.dtype};
  for (int i = (int) threadIdx.x; i < P::R * P::D; i += THREADS) {
    int r = i / P::D, c = i % P::D;
    bool inside = first + r < limit && c < features;
    tile[r * P::PITCH + c] = inside ? source[(row + first + r) * from.stride + column + c] : 0;
  }
}

/* Computes the thread's dot products of rows of both tiles. */
template <class P>
__device__ inline void
dot_rows (float (&to)[P::I][P::I], const float *a, const float *b)
{
#pragma unroll
  for (int i = 0; i < P::I; i++)
#pragma unroll
    for (int j = 0; j < P::I; j++)
      to[i][j] = 0;
#pragma unroll 2
  for (int d = 0; d < P::D; d += 4) {
    float4 left[P::I], right[P::I];
#pragma unroll
    for (int i = 0; i < P::I; i++) {
      left[i] = *reinterpret_cast<const float4 *> (a + (thread_y () + 16 * i) * P::PITCH + d);
      right[i] = *reinterpret_cast<const float4 *> (b + (thread_x () + 16 * i) * P::PITCH + d);
    }
#pragma unroll
    for (int i = 0; i < P::I; i++)
#pragma unroll
      for (int j = 0; j < P::I; j++)
        to[i][j] += left[i].x * right[j].x + left[i].y * right[j].y + left[i].z * right[j].z +
                    left[i].w * right[j].w;
  }
}

/* Accumulates the product of the tile of weights and a tile of features. */
template <class P>
__device__ inline void
add_product (float (&to)[P::I][P::C][4], const float *weights, const float *tile)
{
#pragma unroll 4
  for (int k = 0; k < P::R; k++) {
    float left[P::I];
#pragma unroll
    for (int i = 0; i < P::I; i++)
      left[i] = weights[(thread_y () + 16 * i) * P::WEIGHTS + k];
#pragma unroll
    for (int c = 0; c < P::C; c++) {
      float4 right =
        *reinterpret_cast<const float4 *> (tile + k * P::PITCH + 64 * c + 4 * thread_x ());
#pragma unroll
      for (int i = 0; i < P::I; i++) {
        to[i][c][0] += left[i] * right.x;
        to[i][c][1] += left[i] * right.y;
        to[i][c][2] += left[i] * right.z;
        to[i][c][3] += left[i] * right.w;
      }
    }
  }
}

/* Stores the thread's weights in the tile of weights. */
template <class P>
__device__ inline void
keep_weights (float *weights, const float (&from)[P::I][P::I])
{
#pragma unroll
  for (int i = 0; i < P::I; i++)
#pragma unroll
    for (int j = 0; j < P::I; j++)
      weights[(thread_y () + 16 * i) * P::WEIGHTS + thread_x () + 16 * j] = from[i][j];
}

/* Writes the thread's part of a tile of features, each row multiplied by its factor. */
template <class P>
__device__ inline void
write_tile (const Heads &to,
            int64_t row,
            int first,
            int limit,
            int column,
            int features,
            const float (&values)[P::I][P::C][4],
            const float (&factors)[P::I])
{
  Target target = {to.data, to.dtype};
  if (!to.data)
    return;
#pragma unroll
  for (int i = 0; i < P::I; i++) {
    int r = first + thread_y () + 16 * i;
#pragma unroll
    for (int c = 0; c < P::C; c++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        if (r < limit && 64 * c + 4 * thread_x () + e < features)
          target.set ((row + r) * to.stride + column + 64 * c + 4 * thread_x () + e,
                      values[i][c][e] * factors[i]);
  }
}

/* One head of one row of the batch. */
struct Head {
  const Attention &a;
  Sight sight;
  int row, head;
  const int32_t *documents;
  float slope, scale; /* scale: of the weights that dropout keeps */
  uint64_t threshold, seed, micro_step;

  __device__
  Head (const Attention &all, int number, int of)
      : a (all), sight (all, number), row (number), head (of), documents (nullptr)
  {
    const LigAttentionParams &p = a.params;
    if (a.documents)
      documents = a.documents + (int64_t) row * p.length;
    slope = lig_attention_own_slope (&p, head);
    threshold = lig_dropout_threshold (p.dropout);
    scale = p.dropout < 1 ? 1 / (1 - p.dropout) : 0;
    seed = p.dropout > 0 ? a.tick->seed : 0;
    micro_step = p.dropout > 0 ? a.tick->micro_step : 0;
  }
  __device__ bool
  sees (int i, int j) const
  {
    return sight.sees (i, j) && (!documents || documents[i] == documents[j]);
  }
  /* Returns the score for a product, and sets its derivative. */
  __device__ float
  score (int i, int j, float product, float *derivative) const
  {
    const LigAttentionParams &p = a.params;
    float score = product * p.scale;
    *derivative = p.scale;
    if (p.softcap > 0) {
      float bent = lig_tanh (score / p.softcap);
      score = p.softcap * bent;
      *derivative *= 1 - bent * bent;
    }
    return p.alibi ? score - slope * fabsf ((float) (j - i - sight.shift)) : score;
  }
  /* Returns whether dropout drops a weight. */
  __device__ bool
  drops (int i, int j) const
  {
    const LigAttentionParams &p = a.params;
    uint64_t e = lig_attention_first_weight (&p, a.rows_before + row, head) +
                 (uint64_t) lig_attention_query_position (&p, i) * lig_attention_width (&p) +
                 lig_attention_key_position (&p, j);
    uint32_t words[4];
    lig_random_words (seed, e / 4, p.path_hash, micro_step, words);
    int lane = (int) (e % 4);
    uint32_t word = lane < 2 ? (lane == 0 ? words[0] : words[1]) : lane == 2 ? words[2] : words[3];
    return word < threshold;
  }
  /* Returns a bitmask of the thread's weights that dropout drops. The loop is not unrolled, because
   * the random number generation would dominate the code size. */
  template <class P, bool KEYS_DOWN>
  __device__ uint32_t
  dropped (int queries_from, int keys_from) const
  {
    uint32_t bits = 0;
    if (a.params.dropout <= 0)
      return 0;
#pragma unroll 4
    for (int n = 0; n < P::I * P::I; n++) {
      int down = thread_y () + 16 * (n / P::I), across = thread_x () + 16 * (n % P::I);
      bits |= (uint32_t) drops (queries_from + (KEYS_DOWN ? across : down),
                                keys_from + (KEYS_DOWN ? down : across))
              << n;
    }
    return bits;
  }
};

/* Converts the thread's products to powers relative to the running maximum; `total` is the thread's
 * part of their sum. Rescales the accumulators. */
template <class P>
__device__ inline void
soften_plain (const Head &h,
              int first,
              int keys_from,
              float (&scores)[P::I][P::I],
              float (&sums)[P::I][P::C][4],
              float (&max)[P::I],
              float (&total)[P::I])
{
  const uint32_t bits = h.template dropped<P, false> (first, keys_from);
#pragma unroll
  for (int i = 0; i < P::I; i++) {
    int query = first + thread_y () + 16 * i;
    float top = max[i], unused;
#pragma unroll
    for (int j = 0; j < P::I; j++) {
      int key = keys_from + thread_x () + 16 * j;
      scores[i][j] = h.sees (query, key) ? h.score (query, key, scores[i][j], &unused) : -INFINITY;
      top = fmaxf (top, scores[i][j]);
    }
    fold_lanes (16, Larger{}, top);
    float base = top == -INFINITY ? 0 : top;
    float factor = max[i] == -INFINITY ? 0 : lig_exp (max[i] - base);
    max[i] = top;
    total[i] *= factor;
#pragma unroll
    for (int j = 0; j < P::I; j++) {
      float power = scores[i][j] == -INFINITY ? 0 : lig_exp (scores[i][j] - base);
      total[i] += power;
      scores[i][j] = bits >> (i * P::I + j) & 1 ? 0 : power * h.scale;
    }
#pragma unroll
    for (int c = 0; c < P::C; c++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        sums[i][c][e] *= factor;
  }
}

/* Computes y and lse of R queries of a head. */
template <class P>
__global__ void
__launch_bounds__ (THREADS) attend_plainly (const __grid_constant__ Attention a)
{
  extern __shared__ float4 plain[];
  float *q = reinterpret_cast<float *> (plain), *k = q + P::SIZE, *weights = k + P::SIZE;
  const LigAttentionParams &p = a.params;
  Head h (a, (int) blockIdx.x / p.heads, (int) blockIdx.x % p.heads);
  int first = ((int) gridDim.y - 1 - (int) blockIdx.y) * P::R, features = p.features;
  int column = h.head / (p.heads / p.kv_heads) * features;
  int64_t at = (int64_t) h.row * p.length;
  int end = first < h.sight.queries ? h.sight.end_key (first + P::R) : 0;
  float sums[P::I][P::C][4] = {}, max[P::I], total[P::I] = {}, scores[P::I][P::I];
  for (int i = 0; i < P::I; i++)
    max[i] = -INFINITY;
  fill_tile<P> (q, a.q, at, first, h.sight.queries, h.head * features, features);
  for (int j = h.sight.first_key (first) / P::R * P::R; j < end; j += P::R) {
    int64_t keys_at = key_row (a, h.row, j);
    __syncthreads ();
    fill_tile<P> (k, a.k, keys_at, j, h.sight.keys, column, features);
    __syncthreads ();
    dot_rows<P> (scores, q, k);
    soften_plain<P> (h, first, j, scores, sums, max, total);
    keep_weights<P> (weights, scores);
    __syncthreads ();
    fill_tile<P> (k, a.v, keys_at, j, h.sight.keys, column, features);
    __syncthreads ();
    add_product<P> (sums, weights, k);
  }
#pragma unroll
  for (int i = 0; i < P::I; i++) {
    int query = first + thread_y () + 16 * i;
    fold_lanes (16, Sum{}, total[i]);
    bool blind = total[i] == 0;
    if (a.lse && thread_x () == 0 && query < p.length)
      lig_attention_store (a.lse, count_logarithms (a), place_of (a, h.row, h.head, query),
                           blind ? 0 : (double) max[i] + (double) logf (total[i]));
    total[i] = blind ? 0 : 1 / total[i];
  }
  write_tile<P> (a.y, at, first, p.length, h.head * features, features, sums, total);
}

/* Converts the thread's products q k and dy v to weights, with dropout applied, and to the
 * gradients of the products q k. Rows are keys if KEYS_DOWN. */
template <class P, bool KEYS_DOWN>
__device__ inline void
bend (const Head &h,
      int queries_from,
      int keys_from,
      float (&scores)[P::I][P::I],
      float (&slopes)[P::I][P::I])
{
  const float4 *rows = h.a.rows + place_of (h.a, h.row, h.head, 0);
  const uint32_t bits = h.template dropped<P, KEYS_DOWN> (queries_from, keys_from);
#pragma unroll
  for (int i = 0; i < P::I; i++)
#pragma unroll
    for (int j = 0; j < P::I; j++) {
      int down = thread_y () + 16 * i, across = thread_x () + 16 * j;
      int query = queries_from + (KEYS_DOWN ? across : down);
      int key = keys_from + (KEYS_DOWN ? down : across);
      float weight = 0, slope = 0;
      if (h.sees (query, key)) {
        float derivative, score = h.score (query, key, scores[i][j], &derivative);
        float4 row = rows[query];
        float power = lig_exp ((score - row.x) - row.z);
        float kept = bits >> (i * P::I + j) & 1 ? 0 : h.scale;
        weight = power * kept;
        slope = power * (kept * slopes[i][j] - row.y) * derivative;
      }
      scores[i][j] = weight;
      slopes[i][j] = slope;
    }
}

/* Computes dk and dv of R keys. */
template <class P>
__global__ void
__launch_bounds__ (THREADS) attend_back_keys_plainly (const __grid_constant__ Attention a)
{
  extern __shared__ float4 plain[];
  float *k = reinterpret_cast<float *> (plain), *v = k + P::SIZE, *q = v + P::SIZE;
  float *dy = q + P::SIZE, *weights = dy + P::SIZE;
  const LigAttentionParams &p = a.params;
  int kv = (int) blockIdx.x % p.kv_heads, row = (int) blockIdx.x / p.kv_heads;
  int first = (int) blockIdx.y * P::R, features = p.features, group = p.heads / p.kv_heads;
  int64_t at = (int64_t) row * p.length, keys_at = (int64_t) row * p.memory_length;
  Sight s (a, row);
  int end = first < s.keys ? s.end_query (first + P::R) : 0;
  float dk[P::I][P::C][4] = {}, dv[P::I][P::C][4] = {}, ones[P::I];
  fill_tile<P> (k, a.k, keys_at, first, s.keys, kv * features, features);
  fill_tile<P> (v, a.v, keys_at, first, s.keys, kv * features, features);
  for (int head = kv * group; head < (kv + 1) * group; head++) {
    Head h (a, row, head);
    for (int i = s.first_query (first) / P::R * P::R; i < end; i += P::R) {
      float scores[P::I][P::I], slopes[P::I][P::I];
      __syncthreads ();
      fill_tile<P> (q, a.q, at, i, s.queries, head * features, features);
      fill_tile<P> (dy, a.dy, at, i, s.queries, head * features, features);
      __syncthreads ();
      dot_rows<P> (scores, k, q);
      dot_rows<P> (slopes, v, dy);
      bend<P, true> (h, i, first, scores, slopes);
      keep_weights<P> (weights, scores);
      __syncthreads ();
      add_product<P> (dv, weights, dy);
      __syncthreads ();
      keep_weights<P> (weights, slopes);
      __syncthreads ();
      add_product<P> (dk, weights, q);
    }
  }
  for (int i = 0; i < P::I; i++)
    ones[i] = 1;
  write_tile<P> (a.dk, keys_at, first, p.memory_length, kv * features, features, dk, ones);
  write_tile<P> (a.dv, keys_at, first, p.memory_length, kv * features, features, dv, ones);
}

/* Computes dq of R queries. */
template <class P>
__global__ void
__launch_bounds__ (THREADS) attend_back_queries_plainly (const __grid_constant__ Attention a)
{
  extern __shared__ float4 plain[];
  float *q = reinterpret_cast<float *> (plain), *dy = q + P::SIZE, *k = dy + P::SIZE;
  float *v = k + P::SIZE, *weights = v + P::SIZE;
  const LigAttentionParams &p = a.params;
  Head h (a, (int) blockIdx.x / p.heads, (int) blockIdx.x % p.heads);
  int first = ((int) gridDim.y - 1 - (int) blockIdx.y) * P::R, features = p.features;
  int column = h.head / (p.heads / p.kv_heads) * features;
  int64_t at = (int64_t) h.row * p.length, keys_at = (int64_t) h.row * p.memory_length;
  int end = first < h.sight.queries ? h.sight.end_key (first + P::R) : 0;
  float dq[P::I][P::C][4] = {}, ones[P::I];
  fill_tile<P> (q, a.q, at, first, h.sight.queries, h.head * features, features);
  fill_tile<P> (dy, a.dy, at, first, h.sight.queries, h.head * features, features);
  for (int j = h.sight.first_key (first) / P::R * P::R; j < end; j += P::R) {
    float scores[P::I][P::I], slopes[P::I][P::I];
    __syncthreads ();
    fill_tile<P> (k, a.k, keys_at, j, h.sight.keys, column, features);
    fill_tile<P> (v, a.v, keys_at, j, h.sight.keys, column, features);
    __syncthreads ();
    dot_rows<P> (scores, q, k);
    dot_rows<P> (slopes, dy, v);
    bend<P, false> (h, first, j, scores, slopes);
    keep_weights<P> (weights, slopes);
    __syncthreads ();
    add_product<P> (dq, weights, k);
  }
  for (int i = 0; i < P::I; i++)
    ones[i] = 1;
  write_tile<P> (a.dq, at, first, p.length, h.head * features, features, dq, ones);
}

/* Launches a kernel over tiles of R of `length` positions of `heads` heads. */
template <class P, class Kernel>
static LigStatus
launch_plain (
  LigLaunch *launch, Kernel kernel, const Attention &a, int heads, int length, int tiles)
{
  cudaError_t error = cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int) P::bytes (tiles));
  if (error != cudaSuccess)
    return LIG_FAIL (launch, lig_cuda_status (launch->device, error, "attention: shared memory"),
                     "attention: the device has too little shared memory");
  dim3 grid ((unsigned) (a.batch * heads), (unsigned) ((length + P::R - 1) / P::R));
  kernel<<<grid, THREADS, P::bytes (tiles), stream (launch)>>> (a);
  return LIG_LAUNCHED (launch);
}

/* Calls f with the tile sizes for that head dim. */
template <class F>
static LigStatus
dispatch_plain (LigLaunch *launch, int features, F f)
{
  if (features <= 64)
    return f (Plain<64, 64>{});
  if (features <= 128)
    return f (Plain<128, 32>{});
  if (features <= 256)
    return f (Plain<256, 32>{});
  return LIG_FAIL (launch, LIG_UNSUPPORTED, "attention: the head dim exceeds 256; use more heads");
}

LigStatus
attention_general (LigLaunch *launch, const Attention &a)
{
  return dispatch_plain (launch, a.params.features, [=, &a] (auto plain) {
    using P = decltype (plain);
    return launch_plain<P> (launch, attend_plainly<P>, a, a.params.heads, a.params.length, 2);
  });
}

LigStatus
attention_backward_general (LigLaunch *launch, const Attention &a)
{
  return dispatch_plain (launch, a.params.features, [=, &a] (auto plain) {
    using P = decltype (plain);
    const LigAttentionParams &p = a.params;
    LigStatus status = LIG_OK;
    if (a.dk.data)
      status =
        launch_plain<P> (launch, attend_back_keys_plainly<P>, a, p.kv_heads, p.memory_length, 4);
    if (a.dq.data && status == LIG_OK)
      status = launch_plain<P> (launch, attend_back_queries_plainly<P>, a, p.heads, p.length, 4);
    return status;
  });
}
} /* namespace lig */
