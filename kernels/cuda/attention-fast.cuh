/* SPDX-License-Identifier: MIT */
/* Shared code of the attention kernels on tensor cores: the blocks of the other operand that a tile
 * has to visit, and the masked elements of a block. */
#pragma once

#include "kernels/cuda/attention-tiles.cuh"
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/common/reduce.cuh"

namespace lig
{
enum { FAST_THREADS = 128, FAST_WARPS = FAST_THREADS / 32 };

struct Lesser {
  __device__ int
  operator() (int a, int b) const
  {
    return min (a, b);
  }
};
struct Greater {
  __device__ int
  operator() (int a, int b) const
  {
    return max (a, b);
  }
};

/* The documents of a row of the batch, and the document range of a tile. Blocks without any
 * document of that range are skipped. */
struct Documents {
  const int32_t *of; /* null: none */
  int length, low, high;

  /* Returns the range of the `count` positions from `first` on to every thread. */
  __device__
  Documents (const Attention &a, int row, int first, int count)
      : of (nullptr), length (a.params.length), low (INT32_MAX), high (INT32_MIN)
  {
    if (!a.documents)
      return;
    of = a.documents + (int64_t) row * length;
    for (int i = first + (int) threadIdx.x % 32; i < first + count && i < length; i += 32) {
      low = min (low, of[i]);
      high = max (high, of[i]);
    }
    fold_lanes (32, Lesser{}, low);
    fold_lanes (32, Greater{}, high);
  }

  /* Returns the first of the blocks [block, end) of BLOCK positions that may be visible, or `end`.
   * Every thread calls it. */
  template <int BLOCK>
  __device__ int
  next (int block, int end) const
  {
    for (; of && block < end; block++) {
      int at = block * BLOCK + (int) threadIdx.x;
      bool meets = (int) threadIdx.x < BLOCK && at < length && low <= of[at] && of[at] <= high;
      if (__syncthreads_or (meets))
        break;
    }
    return block;
  }

  __device__ bool
  differ (int i, int j) const
  {
    return of && i < length && j < length && of[i] != of[j];
  }
};

/* Replaces the masked elements of the warp's scores by `value`: rows are queries from i on and
 * columns keys from j on, or vice versa if KEYS_DOWN. */
template <bool KEYS_DOWN, int MT, int N>
__device__ inline void
hide (Sums16<MT, N> &scores, const Sight &s, const Documents &documents, int i, int j, float value)
{
  int g = (int) threadIdx.x % 32 / 4, t = (int) threadIdx.x % 4;
#pragma unroll
  for (int m = 0; m < MT; m++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int down = (KEYS_DOWN ? j : i) + 16 * m + 8 * h + g;
      int low = KEYS_DOWN ? s.first_query (down) : s.first_key (down);
      int end = KEYS_DOWN ? s.end_query (down + 1) : s.end_key (down + 1);
      bool counts = down < (KEYS_DOWN ? s.keys : s.queries) && low < end;
      unsigned span = counts ? (unsigned) (end - low) : 0;
      unsigned from = (unsigned) ((KEYS_DOWN ? i : j) + 2 * t - low);
#pragma unroll
      for (int n = 0; n < N / 8; n++)
#pragma unroll
        for (int c = 0; c < 2; c++)
          if (from + 8 * n + c >= span)
            scores.v[m][n][2 * h + c] = value;
      if (documents.of)
#pragma unroll
        for (int n = 0; n < N / 8; n++)
#pragma unroll
          for (int c = 0; c < 2; c++)
            if (documents.differ (down, (KEYS_DOWN ? i : j) + 2 * t + 8 * n + c))
              scores.v[m][n][2 * h + c] = value;
    }
}

/* Calls f (value, query, key) for the lane's elements of the warp's scores, in the same numbering
 * as hide (). */
template <bool KEYS_DOWN, int MT, int N, class F>
__device__ inline void
each_score (Sums16<MT, N> &scores, int i, int j, F f)
{
  int g = (int) threadIdx.x % 32 / 4, t = (int) threadIdx.x % 4;
#pragma unroll
  for (int m = 0; m < MT; m++)
#pragma unroll
    for (int n = 0; n < N / 8; n++)
#pragma unroll
      for (int c = 0; c < 4; c++) {
        int down = 16 * m + g + c / 2 * 8, across = 8 * n + 2 * t + c % 2;
        f (scores.v[m][n][c], i + (KEYS_DOWN ? across : down), j + (KEYS_DOWN ? down : across));
      }
}

/* The rarely used parameters of a head: softcap, ALiBi and dropout. */
struct Extras {
  float scale, softcap, slope, kept;
  const LigAttentionParams &params;
  int shift;
  uint32_t path_hash;
  uint64_t first, threshold, seed, micro_step; /* first: the index of the head's first weight */

  __device__
  Extras (const Attention &a, const Sight &s, int row, int head)
      : params (a.params)
  {
    const LigAttentionParams &p = params;
    scale = p.scale;
    softcap = p.softcap;
    slope = lig_attention_own_slope (&p, head);
    kept = p.dropout < 1 ? 1 / (1 - p.dropout) : 0;
    shift = s.shift;
    path_hash = p.path_hash;
    first = lig_attention_first_weight (&p, a.rows_before + row, head);
    threshold = lig_dropout_threshold (p.dropout);
    seed = p.dropout > 0 ? a.tick->seed : 0;
    micro_step = p.dropout > 0 ? a.tick->micro_step : 0;
  }
  /* Returns the score for a product. `cap` is set to its derivative, without the scale. */
  __device__ float
  score (float product, int i, int j, float *cap) const
  {
    float score = product * scale;
    *cap = 1;
    if (softcap > 0) {
      float bent = lig_tanh (score / softcap);
      *cap = 1 - bent * bent;
      score = softcap * bent;
    }
    return score - slope * fabsf ((float) (j - i - shift));
  }
  /* Returns whether dropout drops a weight. */
  __device__ bool
  drops (int i, int j) const
  {
    uint32_t words[4];
    if (threshold == 0)
      return false;
    uint64_t number =
      first + (uint64_t) lig_attention_query_position (&params, i) * lig_attention_width (&params) +
      lig_attention_key_position (&params, j);
    lig_random_words (seed, number / 4, path_hash, micro_step, words);
    uint32_t low = number % 2 ? words[1] : words[0], high = number % 2 ? words[3] : words[2];
    return (number % 4 < 2 ? low : high) < threshold;
  }
};

/* The running maximum and the sum of powers of each of the lane's rows, of MT times 16. */
template <int MT> struct Soft {
  float max[MT][2], total[MT][2];
  __device__ void
  clear ()
  {
#pragma unroll
    for (int i = 0; i < MT * 2; i++) {
      max[i / 2][i % 2] = -INFINITY;
      total[i / 2][i % 2] = 0;
    }
  }
};

/* Converts scores to powers of 2 relative to the running maximum, and rescales the accumulators. */
template <int MT, int N, int D>
__device__ inline void
soften (Soft<MT> &soft, Sums16<MT, N> &scores, Sums16<MT, D> &sums, float scale)
{
#pragma unroll
  for (int m = 0; m < MT; m++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      float max = soft.max[m][h], total = 0;
#pragma unroll
      for (int n = 0; n < N / 8; n++)
        max = fmaxf (max, fmaxf (scores.v[m][n][2 * h], scores.v[m][n][2 * h + 1]));
      fold_lanes (4, Larger{}, max);
      float base = max == -INFINITY ? 0 : max * scale;
      float factor = lig_quick_power (__fmaf_rn (soft.max[m][h], scale, -base));
#pragma unroll
      for (int n = 0; n < N / 8; n++)
#pragma unroll
        for (int c = 2 * h; c < 2 * h + 2; c++) {
          scores.v[m][n][c] = lig_quick_power (__fmaf_rn (scores.v[m][n][c], scale, -base));
          total += scores.v[m][n][c];
        }
      soft.max[m][h] = max;
      soft.total[m][h] = soft.total[m][h] * factor + total;
#pragma unroll
      for (int n = 0; n < D / 8; n++) {
        sums.v[m][n][2 * h] *= factor;
        sums.v[m][n][2 * h + 1] *= factor;
      }
    }
}

/* Returns the natural logarithm of a sum of powers relative to the maximum score, whose exponent
 * soften() has rounded. */
__device__ inline float2
logarithm (float max, float total, float scale, float2 unit)
{
  return pair_product (pair_sum (max * scale, log2f (total)), unit);
}

/* Returns a bitmask of the thread's scores that dropout drops, in the order of each_score (). The
 * loop is not unrolled, because the random number generation would dominate the code size. */
template <bool KEYS_DOWN, int MT, int N>
__device__ inline uint64_t
dropped (const Extras &extras, int i, int j)
{
  int g = (int) threadIdx.x % 32 / 4, t = (int) threadIdx.x % 4;
  uint64_t bits = 0;
  static_assert (MT * N / 2 <= 64, "a bit for each score");
#pragma unroll 1
  for (int tile = 0; tile < MT * N / 8; tile++)
#pragma unroll
    for (int c = 0; c < 4; c++) {
      int down = 16 * (tile / (N / 8)) + g + c / 2 * 8,
          across = 8 * (tile % (N / 8)) + 2 * t + c % 2;
      bool drops = extras.drops (i + (KEYS_DOWN ? across : down), j + (KEYS_DOWN ? down : across));
      bits |= (uint64_t) drops << (4 * tile + c);
    }
  return bits;
}

/* Returns the bit of a score. */
template <int N>
__device__ inline bool
bit_of (uint64_t bits, int m, int n, int c)
{
  return bits >> ((m * (N / 8) + n) * 4 + c) & 1;
}

/* Calls f with each of the thread's scores and its bit. */
template <int MT, int N, class F>
__device__ inline void
each_dropped (Sums16<MT, N> &scores, uint64_t bits, F f)
{
#pragma unroll
  for (int m = 0; m < MT; m++)
#pragma unroll
    for (int n = 0; n < N / 8; n++)
#pragma unroll
      for (int c = 0; c < 4; c++)
        f (scores.v[m][n][c], bit_of<N> (bits, m, n, c));
}

/* Raises a kernel's limit of dynamic shared memory, and prefers shared memory to L1 cache, so that
 * several threadblocks fit on an SM. */
template <class Kernel>
inline LigStatus
allow_memory (LigLaunch *launch, Kernel kernel, size_t bytes)
{
  cudaError_t error =
    cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute (kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared);
  if (error == cudaSuccess)
    return LIG_OK;
  return LIG_FAIL (launch, lig_cuda_status (launch->device, error, "attention: shared memory"),
                   "attention: the device has too little shared memory");
}

/* Returns whether scores are more than scaled products. */
inline bool
has_extras (const LigAttentionParams &p)
{
  return p.softcap > 0 || p.dropout > 0 || p.alibi;
}

/* Calls f with a value of the 16-bit type, with the padded head dim, and with whether there are
 * Extras. */
template <class F>
inline LigStatus
dispatch_heads (const Attention &a, F f)
{
  const LigAttentionParams &p = a.params;
  auto with_type = [&] (auto width, auto extra) {
    return a.q.dtype == LIG_FP16 ? f (half{}, width, extra) : f (bf16{}, width, extra);
  };
  auto with_width = [&] (auto extra) {
    return p.features <= 64 ? with_type (std::integral_constant<int, 64>{}, extra)
                            : with_type (std::integral_constant<int, 128>{}, extra);
  };
  return has_extras (p) ? with_width (std::true_type{}) : with_width (std::false_type{});
}
} /* namespace lig */
