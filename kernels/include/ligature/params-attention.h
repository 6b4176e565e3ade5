/* SPDX-License-Identifier: MIT */
/* Parameters of attention. See <ligature/params.h> for the rules of all
 * parameters. */
#pragma once

#include <stdint.h>

/* A slot of a cache with a multiple of this many positions S is a ring: position p is at place p %
 * S. A tile of keys is then in one turn of it. */
#define LIG_CACHE_UNIT 64

/**
 * LigAttentionMask:
 * @LIG_MASK_CAUSAL: query i sees the keys j with j <= i
 * @LIG_MASK_NONE: every query sees every key
 * @LIG_MASK_CAUSAL_BOTTOM_RIGHT: query i of T sees the keys j of S with j <= i + S - T; with
 *   lengths, S is the length of the row, and T too in self-attention
 *
 * The keys that a query sees, before the window, lengths and documents restrict them.
 */
typedef enum { LIG_MASK_CAUSAL, LIG_MASK_NONE, LIG_MASK_CAUSAL_BOTTOM_RIGHT } LigAttentionMask;

/**
 * LigAttentionParams:
 * @heads: the number of query heads H
 * @kv_heads: the number of key and value heads G, which divides H; query head h reads head h G / H
 * @features: the head dim D
 * @length: the number of queries T per row
 * @memory_length: the number of keys S per row; without memory as many as queries
 * @mask: a #LigAttentionMask
 * @window: 0, or the size of a sliding window: a query at position p (i, or i + S - T if the mask
 *   is bottom-right) sees only keys with p - window < j, and without a causal mask also j < p +
 *   window
 * @scale: the positive factor of the scores
 * @softcap: 0, or c: a score s becomes c tanh (s / c) after scaling
 * @dropout: the probability that a weight is set to 0 after the softmax; the others are divided by
 *   1 - dropout
 * @alibi: whether -slope |j - p| is added to the scores after the softcap, with the slope of head h
 *   from Press and others, 2022: 2^(-8 (h + 1) / n) for the first n heads, n the largest power of
 *   two up to H, then 2^(-4 (2 (h - n) + 1) / n)
 * @path_hash: the lower 32 bits of the hash of the op's path
 * @first_head: the index of the first query head among those of all processes
 * @all_heads: the number of query heads of all processes; 0: @heads
 * @whole: the length of the unsharded rows, of which the queries and keys are a part; 0: they are
 *   not sharded
 * @query_half: the number of queries to which the first @query_shift applies
 * @query_shift: the offset of the positions in the unsharded row from i, for the queries before
 *   @query_half and for the others
 * @key_half: the same as @query_half for the keys
 * @key_shift: the same as @query_shift for the keys
 *
 * Parameters of attention and attention_backward. The position p of query i is i, and i + S - T if
 * the mask is bottom-right, where S - T is 0 without memory and S is the length of the row with
 * lengths. A query sees the keys that none of the mask, the window, the lengths and the documents
 * hides: the mask and the window depend on its position; lengths hide the keys j >= lengths[b] and,
 * without memory, disable the queries from there on; documents hide the keys of other documents.
 *
 * The weight of query i and key j in head h of row b is kept if word e % 4 of the Philox counter (e
 * / 4, path_hash, micro-step) is at least dropout * 2^32, where e = ((b H + h) T + i) S + j and S
 * is @memory_length. There and in the slopes, H and h count the heads of all processes; and if
 * @whole is not 0, T and S equal @whole, and i and j are positions in the unsharded row. A query
 * that sees no key yields zeros, its lse is 0, and it has no gradient.
 */
typedef struct _LigAttentionParams {
  int32_t heads;
  int32_t kv_heads;
  int32_t features;
  int32_t length;
  int32_t memory_length;
  int32_t mask;
  int32_t window;
  float scale;
  float softcap;
  float dropout;
  int32_t alibi;
  uint32_t path_hash;
  int32_t first_head;
  int32_t all_heads;
  int32_t whole;
  int32_t query_half;
  int32_t query_shift[2];
  int32_t key_half;
  int32_t key_shift[2];
} LigAttentionParams;

/**
 * LigMergeParams:
 * @heads: the number of query heads
 * @features: the head dim
 * @length: the number of queries per row
 * @first: the first query of the other part
 * @count: the number of its queries
 *
 * Parameters of attention_merge. In both parts each query must see at least one key.
 */
typedef struct {
  int32_t heads;
  int32_t features;
  int64_t length;
  int64_t first;
  int64_t count;
} LigMergeParams;
