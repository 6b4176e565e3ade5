/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels that depend on token positions: rotary embeddings, position embeddings,
 * slices of rows. See <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdint.h>

/**
 * LigRotaryScaling:
 * @LIG_ROTARY_UNSCALED: the frequencies are used as they are
 * @LIG_ROTARY_LINEAR: the frequencies are divided by the factor
 * @LIG_ROTARY_LLAMA3: as in Llama 3.1: the frequencies of long wavelengths are divided by the
 *   factor, those of short ones are not, those between are interpolated
 * @LIG_ROTARY_YARN: YaRN (Peng and others, 2023): the same, but interpolated by the index of the
 * pair
 *
 * The scaling of rotary frequencies for sequences longer than those in training.
 */
typedef enum {
  LIG_ROTARY_UNSCALED,
  LIG_ROTARY_LINEAR,
  LIG_ROTARY_LLAMA3,
  LIG_ROTARY_YARN
} LigRotaryScaling;

/**
 * LigRotaryParams:
 * @heads: the number of query heads H
 * @kv_heads: the number of key and value heads G; a row of x is [H + 2 G, D], or [H, D] with
 *   @kv_heads 0
 * @features: the head dim D
 * @length: the sequence length T; the position of row r of x is r % T
 * @rotated: the number of leading features of a head that are rotated; even
 * @interleaved: whether the pairs are (2 i, 2 i + 1) instead of (i, i + rotated / 2)
 * @scaling: a #LigRotaryScaling
 * @original: llama3, yarn: the context length of training
 * @base: the frequency of pair i is base^(-2 i / rotated)
 * @factor: the factor of the scaling
 * @low: llama3, yarn: frequencies of wavelengths of at least original / low are divided by the
 * factor
 * @high: llama3, yarn: frequencies of wavelengths of at most original / high are not
 * @ranks: the number of context parallel ranks, see lig_position(); less than 2: the sequence is
 *   not sharded
 * @rank: the index of this rank among them
 * @truncate: yarn: whether the range of pairs that are interpolated is extended to whole numbers
 * @magnitude: a factor of the rotated features; 0: 1
 *
 * Parameters of rotary and rotary_backward (Su and others, 2021), which rotate the queries and keys
 * of packed rows and copy the values. A pair (a, b) becomes (a cos - b sin, b cos + a sin). The
 * frequency of a pair is computed in double and rounded to fp32, as is the angle, its product with
 * the position, in accordance with the models trained with rotary embeddings.
 */
typedef struct {
  int32_t heads;
  int32_t kv_heads;
  int32_t features;
  int32_t length;
  int32_t rotated;
  int32_t interleaved;
  int32_t scaling;
  int32_t original;
  float base;
  float factor;
  float low;
  float high;
  int32_t ranks;
  int32_t rank;
  int32_t truncate;
  float magnitude;
} LigRotaryParams;

/**
 * LigPositionParams:
 * @length: the sequence length T; the position of row r of x is r % T; default: the number of rows
 *   of the table
 * @ranks: the number of context parallel ranks, see lig_position(); less than 2: the sequence is
 *   not sharded
 * @rank: the index of this rank among them
 *
 * Parameters of position_embedding, its backward and embedding_position.
 */
typedef struct {
  int64_t length;
  int32_t ranks;
  int32_t rank;
} LigPositionParams;

/**
 * LigHalvesParams:
 * @length: the sequence length, even
 * @columns: the number of columns of `first` and `second`, which are the leading columns of x
 *
 * Parameters of split_halves and join_halves.
 */
typedef struct {
  int64_t length;
  int64_t columns;
} LigHalvesParams;

/**
 * LigSliceParams:
 * @length: the sequence length
 * @first: the first position of the slice
 * @count: the number of positions
 * @column: the first column of the slice
 *
 * Parameters of slice and add_slice. The slice has as many columns as its operand.
 */
typedef struct {
  int64_t length;
  int64_t first;
  int64_t count;
  int64_t column;
} LigSliceParams;

/**
 * LigArrangeParams:
 * @length: the number of tokens of each sequence that one rank has, even
 * @ranks: the number of context parallel ranks
 * @rank: the index of this rank
 * @causal: whether each result ends at the end of this rank's block
 *
 * Parameters of arrange_halves and its backward.
 */
typedef struct {
  int64_t length;
  int32_t ranks;
  int32_t rank;
  int32_t causal;
} LigArrangeParams;
