/* SPDX-License-Identifier: MIT */
/* Shared code of the attention kernels: the matrices of heads inside packed rows, the keys that a
 * tile of queries sees, and the launches that attention.cu and attention-backward.cu choose
 * from. */
#pragma once

#include "kernels/attention.h"
#include "kernels/cuda/attention/choose.h"
#include "kernels/cuda/common/cuda.cuh"

namespace lig
{
/* One matrix per head inside packed rows: row r of head h begins at offset `stride` r + features h,
 * in elements, from `data`. Null data: absent. */
struct Heads {
  void *data;
  int64_t stride;
  LigDtype dtype;
  template <class T>
  __device__ T *
  at (int64_t row, int64_t column) const
  {
    return (T *) data + row * stride + column;
  }
};

struct Attention {
  LigAttentionParams params;
  int batch;
  Heads q, k, v, y, dy, dq, dk, dv;
  const int32_t *lengths, *documents; /* null: none */
  const int32_t *slots;               /* null, or the index of each row's keys and values */
  int n_slots;
  float *lse;   /* [2 B, H, T] */
  float4 *rows; /* [B, H, T]: lse in `unit`, which is infinite if the query sees no key; the sum of
                   dy y; the rounding error of lse in `unit`; unused */
  /* The unit of the logarithms in `rows`, relative to natural logarithms, and its inverse, as
   * pairs. */
  float2 unit, inverse;
  const LigTick *tick;
  int64_t rows_before; /* rows of the batch in the processes before this one */
  bool memory;
};

/* Means no limit; larger than any row length. */
constexpr int FAR = 1 << 30;
/* The longest row: a grid has at most 65535 threadblocks in y, of 32 positions or more each. */
constexpr int MAX_POSITIONS = 65535 * 32;

/* The visibility of a row: query i below `queries` sees key j below `keys` if i + shift - before <=
 * j <= i + shift + after. */
struct Sight {
  int queries, keys, shift, before, after;
  __device__
  Sight (const Attention &a, int row)
  {
    const LigAttentionParams &p = a.params;
    keys = p.memory_length;
    queries = p.length;
    if (a.lengths) {
      bool ring = a.slots && keys % LIG_CACHE_UNIT == 0;
      keys = max (0, ring ? a.lengths[row] : min (a.lengths[row], keys));
      queries = a.memory ? queries : min (keys, queries);
    }
    shift = p.mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT ? keys - queries : 0;
    before = p.window > 0 ? p.window - 1 : FAR;
    after = p.mask != LIG_MASK_NONE ? 0 : before;
  }
  __device__ bool
  sees (int i, int j) const
  {
    return i < queries && j < keys && i + shift - before <= j && j <= i + shift + after;
  }
  /* Returns whether query i sees no key. Documents do not matter, because a query sees itself in
   * its own. */
  __device__ bool
  blind (int i) const
  {
    return i >= queries || max (0, i + shift - before) >= min (keys, i + shift + after + 1);
  }
  /* Returns the first key that queries from i on may see, and the end of the keys that queries
   * below `end` may see. */
  __device__ int
  first_key (int i) const
  {
    return max (0, i + shift - before);
  }
  __device__ int
  end_key (int end) const
  {
    return min (keys, min (end, queries) + shift + after);
  }
  /* The same for the queries that may see keys from j on, or below `end`. */
  __device__ int
  first_query (int j) const
  {
    return max (0, j - shift - after);
  }
  __device__ int
  end_query (int end) const
  {
    return min (queries, min (end, keys) - shift + before);
  }
  /* Returns whether each valid query of [i, i + m) sees all of the keys [j, j + n). */
  __device__ bool
  clear (int i, int m, int j, int n) const
  {
    return j + n <= keys && min (i + m, queries) - 1 + shift - before <= j &&
           j + n - 1 <= i + shift + after;
  }
  /* Returns whether any of the queries [i, i + m) sees any of the keys [j, j + n). */
  __device__ bool
  meet (int i, int m, int j, int n) const
  {
    return i < queries && j < keys && first_key (i) < j + n && end_key (i + m) > j;
  }
};

/* The scores of the kernels on tensor cores are exponents of 2: `scale`, with Extras 1, is part of
 * this factor with its rounding. */
constexpr float LOG2_E = 1.44269504f;

/* A pair represents a number as the sum of a rounded float and the rest: 48 bits, for GPUs where
 * double is slow. */
inline float2
pair_of (double number)
{
  float rounded = (float) number;
  return make_float2 (rounded, (float) (number - (double) rounded));
}
__device__ inline float2
pair_sum (float a, float b)
{
  float sum = __fadd_rn (a, b), part = __fsub_rn (sum, a);
  return make_float2 (sum, __fadd_rn (__fsub_rn (a, __fsub_rn (sum, part)), __fsub_rn (b, part)));
}
__device__ inline float2
pair_product (float2 a, float2 b)
{
  float product = __fmul_rn (a.x, b.x);
  float rest = __fmaf_rn (a.x, b.x, -product) + (a.x * b.y + a.y * b.x);
  float rounded = __fadd_rn (product, rest);
  return make_float2 (rounded, __fsub_rn (rest, __fsub_rn (rounded, product)));
}

/* Returns the row of the keys and values relative to which a tile from key `first` on is at its
 * number: a slot of a cache is a ring, of which a tile is in one turn. */
__device__ inline int64_t
key_row (const Attention &a, int row, int first)
{
  if (!a.slots)
    return (int64_t) row * a.params.memory_length;
  int64_t place = max (0, min (a.slots[row], a.n_slots - 1));
  return (place - first / a.params.memory_length) * a.params.memory_length;
}

/* Returns the number of log-sum-exps, and the index of a query's in lse. */
__device__ inline int64_t
count_logarithms (const Attention &a)
{
  return (int64_t) a.batch * a.params.heads * a.params.length;
}
__device__ inline int64_t
place_of (const Attention &a, int64_t row, int head, int query)
{
  return (row * a.params.heads + head) * a.params.length + query;
}

/* Returns the matrices of heads from `column` on in rows of `columns` elements. */
inline Heads
heads_of (const LigOperand *operand, int64_t column, int64_t columns)
{
  if (!operand->data)
    return Heads{nullptr, 0, operand->dtype};
  return Heads{(char *) operand->data + column * (int64_t) lig_dtype_size (operand->dtype), columns,
               operand->dtype};
}

/* Fills in the matrices of the forward pass, or, with `backward`, of both passes. */
LigStatus attention_prepare (Attention *a, LigLaunch *launch, bool backward);

/* Launches the kernels on tensor cores; returns LIG_UNSUPPORTED without a reason if they do not
 * support the case. */
LigStatus attention_fast (LigLaunch *launch, const Attention &a);
LigStatus attention_backward_fast (LigLaunch *launch, const Attention &a);

/* Launches the kernels for any type, alignment and parameter, with a head dim of up to 256. */
LigStatus attention_general (LigLaunch *launch, const Attention &a);
LigStatus attention_backward_general (LigLaunch *launch, const Attention &a);

/* Returns whether the kernels on tensor cores support the case. */
inline bool
attention_is_fast (const Attention &a)
{
  const LigAttentionParams &p = a.params;
  const Heads *all[] = {&a.q, &a.k, &a.v, &a.y, &a.dy, &a.dq, &a.dk, &a.dv};
  for (const Heads *heads : all)
    if (heads->data && (((uintptr_t) heads->data & 15) != 0 || heads->dtype != a.q.dtype))
      return false;
  return a.q.dtype != LIG_FP32 && p.features % 8 == 0 && p.features <= 128;
}
} /* namespace lig */
