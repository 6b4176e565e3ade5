/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels that depend on positions: rotations, embeddings, parts of rows. See
 * <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdint.h>

/**
 * LigRotaryScaling:
 * @LIG_ROTARY_UNSCALED: the frequencies are used as they are
 * @LIG_ROTARY_LINEAR: the frequencies are divided by the factor
 * @LIG_ROTARY_LLAMA3: as in Llama 3.1: long waves are divided by the factor, short ones are not,
 *   those between are interpolated
 *
 * How the frequencies of rotary are scaled for texts longer than those of the training.
 */
typedef enum { LIG_ROTARY_UNSCALED, LIG_ROTARY_LINEAR, LIG_ROTARY_LLAMA3 } LigRotaryScaling;

/**
 * LigRotaryParams:
 * @heads: the number of query heads H
 * @kv_heads: the number of key and value heads G; a row of x is [H + 2 G, D], or [H, D] with
 *   @kv_heads 0
 * @features: the features D of a head
 * @length: the number of positions T of a row of the batch; the position of row r of x is r % T
 * @rotated: the number of features of a head that are rotated, from its first on; even
 * @interleaved: whether the pairs are (2 i, 2 i + 1) instead of (i, i + rotated / 2)
 * @scaling: a #LigRotaryScaling
 * @original: llama3: the length of the texts of the training
 * @base: the frequency of pair i is base^(-2 i / rotated)
 * @factor: the factor of the scaling
 * @low: llama3: the wave of length original / low and longer ones are divided by the factor
 * @high: llama3: the wave of length original / high and shorter ones are not
 * @ranks: the ranks that divide the positions of a row, see lig_position(); fewer than 2: one
 * @rank: the number of this rank among them
 *
 * Parameters of rotary and rotary_backward (Su and others, 2021), which turn the queries and keys
 * of packed rows and leave the values. A pair (a, b) becomes (a cos - b sin, b cos + a sin). The
 * frequency of the pair is computed in double and rounded to fp32, and so is its matmul with the
 * position, the angle, as in the models that were trained with it.
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
} LigRotaryParams;

/**
 * LigPositionParams:
 * @length: the number of positions T of a row of the batch; the position of row r of x is r % T;
 *   default the rows of the table
 * @ranks: the ranks that divide the positions of a row, see lig_position(); fewer than 2: one
 * @rank: the number of this rank among them
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
 * @length: the number of positions of a row of the batch, even
 * @columns: the columns of first and second, the first ones of x
 *
 * Parameters of split_halves and join_halves.
 */
typedef struct {
  int64_t length;
  int64_t columns;
} LigHalvesParams;

/**
 * LigSliceParams:
 * @length: the number of positions of a row of the batch
 * @first: the first position of the slice
 * @count: its number of positions
 * @column: its first column
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
 * @length: the number of positions of a row of the batch that one rank has, even
 * @ranks: the number of ranks that divide the positions
 * @rank: the number of this rank
 * @causal: whether each result ends with the positions of this rank's own block
 *
 * Parameters of arrange_halves and its backward.
 */
typedef struct {
  int64_t length;
  int32_t ranks;
  int32_t rank;
  int32_t causal;
} LigArrangeParams;
