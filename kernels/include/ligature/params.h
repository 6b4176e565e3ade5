/* SPDX-License-Identifier: MIT */
/* Parameters of the built-in kernels: plain structs of at most LIG_MOST_PARAMS bytes that the plan
 * copies into each step and hands to the kernel as LigLaunch.params. A kernel that is launched
 * without them uses the defaults named here. The struct of a kernel of one's own is any other such
 * struct. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * LigNormParams:
 * @eps: the number added to the variance, for l2_normalization to the sum of squares, before its
 *   root; default 1e-5, for l2_normalization 1e-6
 * @zero_centered: whether the gain is 1 + weight instead of weight; default false
 *
 * Parameters of layer_norm, rms_norm, their backward and fused forms, and of l2_normalization,
 * which uses @eps alone.
 */
typedef struct {
  float eps;
  bool zero_centered;
} LigNormParams;

/**
 * LigClampedParams:
 * @limit: the largest gate, and the largest magnitude of the linear half; default 7
 * @alpha: the factor of the gate inside the sigmoid; default 1.702
 * @offset: the number added to the clamped linear half; default 1
 *
 * Parameters of clamped_swiglu and its backward and fused forms.
 */
typedef struct {
  float limit;
  float alpha;
  float offset;
} LigClampedParams;

/**
 * LigScaleParams:
 * @factor: the factor; default 1
 *
 * Parameters of scale, y = factor x, and of the linear kernels, whose matrix product is multiplied
 * by the factor before anything is added to it.
 */
typedef struct {
  float factor;
} LigScaleParams;

/**
 * LigDropoutParams:
 * @probability: the probability that an element becomes 0, from 0 to 1; the others are multiplied
 *   by 1 / (1 - probability); default 0.1
 * @path_hash: the hash of the op's path, of which the lower 32 bits are part of the Philox counter;
 *   default 0
 * @block: the elements of one of the two blocks of positions of a sample that a rank of a context
 *   group has; 0: the elements are those of whole samples
 * @ranks: the ranks of that group
 * @rank: the number of this rank in it
 *
 * Parameters of dropout. An element is kept if its 32-bit Philox word is at least
 * probability * 2^32. The backward pass runs the same kernel and so draws the same words.
 */
typedef struct {
  float probability;
  uint64_t path_hash;
  int64_t block;
  int32_t ranks;
  int32_t rank;
} LigDropoutParams;

/**
 * LigDropPathParams:
 * @probability: the probability that a whole sample becomes 0, from 0 to 1; the others are
 *   multiplied by 1 / (1 - probability); default 0.1
 * @path_hash: as in #LigDropoutParams
 * @samples: the number of samples, the length of the first axis; the elements of one are contiguous
 *
 * Parameters of drop_path (Huang and others, 2016). Sample n is kept if word n % 4 of the Philox
 * counter (n / 4, path_hash, micro-step) is at least probability * 2^32. The backward pass runs the
 * same kernel and so draws the same words.
 */
typedef struct {
  float probability;
  uint64_t path_hash;
  int64_t samples;
} LigDropPathParams;

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
 * frequency of the pair is computed in double and rounded to fp32, and so is its product with the
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
 * LigQkNorm:
 * @LIG_QK_RMS: divided by the root of the mean square, times a gain
 * @LIG_QK_L2: divided by the root of the sum of squares
 * @LIG_QK_LAYER_NORM: mean 0 and variance 1, times a gain, plus a bias
 *
 * How qk_norm normalizes the features of a head.
 */
typedef enum { LIG_QK_RMS, LIG_QK_L2, LIG_QK_LAYER_NORM } LigQkNorm;

/**
 * LigQkNormParams:
 * @heads: the number of query heads H
 * @kv_heads: the number of key and value heads G; a row of x is [H + 2 G, D]
 * @features: the features D of a head
 * @kind: a #LigQkNorm
 * @eps: the number added before the root
 *
 * Parameters of qk_norm and qk_norm_backward, which normalize each query and key head of packed
 * rows (Dehghani and others, 2023) and leave the values.
 */
typedef struct {
  int32_t heads;
  int32_t kv_heads;
  int32_t features;
  int32_t kind;
  float eps;
} LigQkNormParams;

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

/**
 * LigVocabularyPart:
 * @first: the first row of the vocabulary that this rank of a tensor group has, or its first class
 * @count: the number of all ranks' rows or classes; 0: this rank has all
 *
 * The part of a vocabulary that is divided among ranks; it is as long as the table, or as the rows
 * of logits. Parameters of embedding and embedding_backward: other rows of the table count as
 * zeros, which add up to the whole over the ranks, and their gradients are left to the other ranks.
 */
typedef struct {
  int64_t first, count;
} LigVocabularyPart;

/**
 * LigCrossEntropyParams:
 * @ignored: the target of rows that are not counted; default -100
 * @label_smoothing: the probability that is spread evenly over all classes, in [0, 1); default 0
 * @part: the classes that the logits are of
 *
 * Parameters of cross_entropy, cross_entropy_backward, accuracy, and the kernels of their parts.
 * accuracy uses @ignored alone, cross_entropy and accuracy need logits of all classes.
 */
typedef struct {
  int64_t ignored;
  float label_smoothing;
  LigVocabularyPart part;
} LigCrossEntropyParams;

/**
 * LigScaling:
 * @scale: the factor by which the next backward pass multiplies the gradients that enter it
 * @carried: the factor by which the present gradients were multiplied
 * @good: the number of updates since the scale changed
 * @row: the number of latest updates in succession that wrote nothing
 * @skipped: the number of all updates that wrote nothing
 * @norm: the norm of the last update's gradients, divided by the factor that they carried
 *
 * The state of loss scaling, kept from update to update: an fp32 operand of these fields, in the
 * device's memory. scale_gradient sets @carried, gradient_norm the other fields; sgd and adamw read
 * them.
 */
typedef struct {
  float scale;
  float carried;
  float good;
  float row;
  float skipped;
  float norm;
} LigScaling;

/**
 * LIG_SCALING_FIELDS:
 *
 * The number of elements of the operand that holds a #LigScaling.
 */
#define LIG_SCALING_FIELDS ((int) (sizeof (LigScaling) / sizeof (float)))

/**
 * LIG_FIRST_SCALE:
 *
 * The initial value of a dynamic scale (Micikevicius et al., 2018). It doubles after
 * %LIG_SCALE_INTERVAL updates without overflow and halves after each overflow, and stays between
 * %LIG_LEAST_SCALE and %LIG_MOST_SCALE.
 */
#define LIG_FIRST_SCALE 0x1p16f
/**
 * LIG_LEAST_SCALE:
 *
 * The smallest dynamic scale.
 */
#define LIG_LEAST_SCALE 0x1p-24f
/**
 * LIG_MOST_SCALE:
 *
 * The largest dynamic scale.
 */
#define LIG_MOST_SCALE 0x1p24f
/**
 * LIG_SCALE_INTERVAL:
 *
 * The number of updates without overflow after which a dynamic scale doubles.
 */
#define LIG_SCALE_INTERVAL 2000

/**
 * LigScalingParams:
 * @fixed: for scale_gradient the factor, or 0 for the dynamic scale; for gradient_norm 0 to adapt
 *   that scale, any other number to leave it
 *
 * Parameters of scale_gradient and gradient_norm. Without them scale_gradient uses the scale of its
 * operand, and gradient_norm leaves it.
 */
typedef struct {
  float fixed;
} LigScalingParams;

/**
 * LigSgdParams:
 * @momentum: the part of m that is kept; default 0
 * @weight_decay: the part of the weight that is added to its gradient; default 0
 *
 * Parameters of sgd: g += weight_decay p; m = momentum m + g; p -= learning_rate m.
 */
typedef struct {
  float momentum;
  float weight_decay;
} LigSgdParams;

/**
 * LigAdamwParams:
 * @beta1: the part of the mean of gradients that is kept; default 0.9
 * @beta2: the part of the mean of squared gradients that is kept; default 0.999
 * @eps: the number added to the root of the second mean; default 1e-8
 * @weight_decay: the part of the weight, times the learning rate, that is taken off; default 0
 *
 * Parameters of adamw (Loshchilov and Hutter, 2019): weight decay is decoupled, both means are
 * corrected for their bias towards 0.
 */
typedef struct {
  float beta1, beta2, eps;
  float weight_decay;
} LigAdamwParams;

/**
 * LigScales:
 * @LIG_SCALES_TENSOR: one scale for the whole matrix
 * @LIG_SCALES_ROW: one for each row
 * @LIG_SCALES_BLOCK: one for each 128 elements of a row, the last ones fewer; the scales are stored
 *   as [ceil (columns / 128), rows]
 * @LIG_SCALES_TILE: one for each tile of 128 by 128 elements; the scales are stored as [ceil (rows
 * / 128), ceil (columns / 128) rounded up to a multiple of 4], the rest zero
 * @LIG_SCALES_MX: one for each 32 elements of a row, a power of two in a byte (e8m0) whose exponent
 *   is biased by 127; stored as [rows rounded up to a multiple of 128, ceil (columns / 32) rounded
 *   up to a multiple of 4]. Only plans for described devices have them
 * @LIG_SCALES_NV: one for each 16 elements of a row, in a byte (e4m3), stored as those of
 *   @LIG_SCALES_MX but for the 16; an fp32 number for the whole matrix follows. Two elements of 4
 *   bits (e2m1) share a byte. Only plans for described devices have them
 *
 * The scales of a quantized matrix, fp32 numbers by which its elements are multiplied to get their
 * values back. A transposed matrix has those of its own rows and columns.
 */
typedef enum {
  LIG_SCALES_TENSOR,
  LIG_SCALES_ROW,
  LIG_SCALES_BLOCK,
  LIG_SCALES_TILE,
  LIG_SCALES_MX,
  LIG_SCALES_NV
} LigScales;

/**
 * LIG_SCALES_EDGE:
 *
 * The length of a block, and of each side of a tile, that has a scale of its own.
 */
#define LIG_SCALES_EDGE 128

/**
 * LigQuantizeParams:
 * @format: the #LigDtype of the quantized elements
 * @row: the #LigScales of the matrix as it is
 * @transposed: those of its transpose
 * @powers: whether scales are rounded down to powers of two; default false
 *
 * Parameters of quantize. Values beyond the largest of the format are saturated, as
 * TransformerEngine saturates them, but for infinity in fp16: it becomes NaN, so that the loss
 * scale of a training notices a gradient that overflowed.
 */
typedef struct {
  int32_t format;
  int32_t row, transposed;
  bool powers;
} LigQuantizeParams;

/**
 * LigProducerParams:
 * @quantize: those of quantize
 * @function: the number of the activation, or of the gated unit, in the order of the lists of
 *   kernels
 * @clamped: the parameters of clamped_swiglu; others ignore them
 * @norm: the parameters of norm_quantize; others ignore them
 *
 * Parameters of the kernels that compute values and write their quantized copies.
 */
typedef struct {
  LigQuantizeParams quantize;
  int32_t function;
  LigClampedParams clamped;
  LigNormParams norm;
} LigProducerParams;

/**
 * LigFp8Params:
 * @factor: the factor of the product, as in #LigScaleParams
 * @left: the #LigScales of the first operand
 * @right: those of the second
 * @fast: whether partial sums may be kept with fewer bits than fp32 has, where that is faster
 *
 * Parameters of linear_fp8.
 */
typedef struct {
  float factor;
  int32_t left, right;
  bool fast;
} LigFp8Params;

/**
 * LigReduction:
 * @LIG_REDUCE_SUM: the sum over all peers: on the CPU in fp32, rounded once; NCCL rounds each sum
 * of two
 * @LIG_REDUCE_MEAN: the sum divided by the number of peers
 * @LIG_REDUCE_MAX: the largest element; NaN is not among the candidates
 *
 * The result of a collective that reduces.
 */
typedef enum { LIG_REDUCE_SUM, LIG_REDUCE_MEAN, LIG_REDUCE_MAX } LigReduction;

/**
 * LigRankGroup:
 * @LIG_GROUP_DATA: the processes that have the same parameters and other rows of the batch
 * @LIG_GROUP_CONTEXT: those that have the same parameters and rows, and other positions of them
 * @LIG_GROUP_TENSOR: those that have the same rows and other parts of the parameters
 * @LIG_GROUP_ALL: all processes
 * @LIG_GROUP_REPLICAS: those that have the same parameters, of the data and context groups together
 *
 * The processes with which one of them exchanges.
 */
typedef enum {
  LIG_GROUP_DATA,
  LIG_GROUP_CONTEXT,
  LIG_GROUP_TENSOR,
  LIG_GROUP_ALL,
  LIG_GROUP_REPLICAS,
  LIG_N_GROUPS
} LigRankGroup;

/**
 * LigCollectiveParams:
 * @peers: the number of processes that take part
 * @reduction: a #LigReduction, of the kernels that reduce
 * @group: the #LigRankGroup whose processes take part, by which the peers of a launch are chosen
 *
 * Parameters of all_reduce, all_gather, reduce_scatter and take_part. The last three divide the
 * rows of the whole evenly, in the order of the peers.
 */
typedef struct {
  int32_t peers;
  int32_t reduction;
  int32_t group;
} LigCollectiveParams;

/**
 * LigRingParams:
 * @exchange: the processes
 * @skipped: the number of processes between this one and the one that it sends to; 0: the next one
 *
 * Parameters of ring_exchange: process i sends to process (i + 1 + @skipped) mod peers.
 */
typedef struct {
  LigCollectiveParams exchange;
  int32_t skipped;
} LigRingParams;

/**
 * LigHistoryParams:
 * @margin: the power of two by which scales stay below the largest possible ones
 * @most_recent: whether a scale follows from the last amax alone, not from the greatest of the
 *   history
 * @formats: the #LigDtype of the quantizers in turn: of an input, of a weight, of a gradient
 *
 * Parameters of update_scales.
 */
typedef struct {
  int32_t margin;
  bool most_recent;
  int32_t formats[3];
} LigHistoryParams;
