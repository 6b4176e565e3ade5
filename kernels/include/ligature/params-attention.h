/* SPDX-License-Identifier: MIT */
/* Parameters of attention. See <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdint.h>

/**
 * LigAttentionMask:
 * @LIG_MASK_CAUSAL: query i sees the keys j with j <= i
 * @LIG_MASK_NONE: every query sees every key
 * @LIG_MASK_CAUSAL_BOTTOM_RIGHT: query i of T sees the keys j of S with j <= i + S - T; with
 *   lengths, S is the length of the row, and so is T if the queries have the same lengths
 *
 * The keys that a query sees, before the window, lengths and documents restrict them.
 */
typedef enum { LIG_MASK_CAUSAL, LIG_MASK_NONE, LIG_MASK_CAUSAL_BOTTOM_RIGHT } LigAttentionMask;

/**
 * LigAttentionParams:
 * @heads: the number of query heads H
 * @kv_heads: the number of key and value heads G, which divides H; query head h reads head h G / H
 * @features: the features D of a head
 * @length: the number of queries T of a row
 * @memory_length: the number of keys S of a row; that of the queries without memory
 * @mask: a #LigAttentionMask
 * @window: 0, or the number of keys that a query sees at most, its own position p (i, or i + S - T
 *   if the mask is bottom-right) included: p - window < j; without a causal mask also
 *   j < p + window
 * @scale: the factor of the scores, above 0
 * @softcap: 0, or c: a score s becomes c tanh (s / c) after scaling
 * @dropout: the probability that a weight becomes 0 after the softmax; the others are divided by
 *   1 - dropout
 * @alibi: whether -slope |j - p| is added to the scores after the softcap, with the slope of head h
 *   from Press and others, 2022: 2^(-8 (h + 1) / n) for the first n heads, n the largest power of
 *   two up to H, then 2^(-4 (2 (h - n) + 1) / n)
 * @path_hash: the lower 32 bits of the hash of the op's path
 * @first_head: the number of the first query head among those of all processes
 * @all_heads: the query heads of all processes; 0: as many as @heads
 * @whole: the positions of whole rows, of which the queries and keys are some; 0: all of them
 * @query_half: the number of queries that @query_shift begins with
 * @query_shift: by how much the positions in the whole row are greater than i, of the queries
 *   before @query_half and of the others
 * @key_half: likewise of the keys
 * @key_shift: likewise
 *
 * Parameters of attention and attention_backward. The position p of query i is i, and i + S - T if
 * the mask is bottom-right, where S - T is 0 without memory and S is the length of the row with
 * lengths. A query sees the keys that the mask, the window, the lengths and the documents all
 * leave: the mask and the window by its position, the lengths hide the keys j >= lengths[b] and,
 * without memory, the queries from there on, and documents hide the keys of other documents.
 *
 * The weight of query i and key j in head h of row b is kept if word e % 4 of the Philox counter
 * (e / 4, path_hash, micro-step) is at least dropout * 2^32, where e = ((b H + h) T + i) S + j and
 * S is @memory_length. There and in the slopes, H and h count the heads of all processes; and if
 * @whole is not 0, T and S are that, and i and j the positions in the whole row. A query that sees
 * no key yields zeros, its lse is 0, and it has no gradient.
 */
typedef struct {
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
 * @features: the features of a head
 * @length: the number of queries of a row
 * @first: the first query that the other part has
 * @count: the number of queries that it has
 *
 * Parameters of attention_merge. Each query of both parts has to have seen a key.
 */
typedef struct {
  int32_t heads;
  int32_t features;
  int64_t length;
  int64_t first;
  int64_t count;
} LigMergeParams;
