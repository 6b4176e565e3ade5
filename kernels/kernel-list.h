/* SPDX-License-Identifier: MIT */
/* All built-in kernels. kernels.h describes name, signature and work. LIG_EACH (name, signature,
 * work) sets .ignores_tick = true; LIG_EACH_WITH (name, signature, work, fields) sets exactly the
 * given fields of LigKernel, so it has to give ignores_tick, too. Without .scratch a kernel needs
 * no scratch memory, and without .flops its operations follow from `work` and its operands; the
 * functions for both are in kernels/demands.c. The kernels that follow LIG_FAMILY (family) are
 * defined in kernels/cpu/FAMILY.c and kernels/cuda/FAMILY.cu, with `-` for `_`, or in files whose
 * names continue with a hyphen (norm-backward.c); tests/lint/families.py checks this. Include this
 * file with LIG_EACH defined; a backend that lacks a function of the list fails to link. */
#ifndef LIG_FAMILY
#define LIG_FAMILY(name)
#endif
#ifndef LIG_EACH_WITH
#define LIG_EACH_WITH(name, signature, work, ...) LIG_EACH (name, signature, work)
#endif
#include "kernels/activations.h"

LIG_FAMILY (pointwise)
/* Element-wise operations on any shape. dropout and drop_path serve both passes. */
LIG_EACH (convert, "x -> y=x", 1)
LIG_EACH (add, "a b -> y=a|b", 1)
LIG_EACH (scale, "x -> y=x", 1)
LIG_EACH_WITH (dropout, "x -> y=x", 12, .ignores_tick = false)
LIG_EACH_WITH (drop_path, "x -> y=x", 2, .ignores_tick = false)

LIG_FAMILY (bias)
/* Adds a vector [N] to the rows of x [M, N]; its gradient is the sum of dy over rows. */
LIG_EACH (bias, "x bias -> y=x", 1)
LIG_EACH (bias_backward, "dy -> dbias", 1)

LIG_FAMILY (activation)
/* Element-wise activations. `sum` is x + bias, the input of the activation, which the backward pass
 * reads as x, except that the backward pass of relu reads y. */
#define LIG_ACTIVATION(alone, backward, biased, biased_backward, work, back, read) \
  LIG_EACH (alone, "x -> y=x", work) \
  LIG_EACH (backward, "dy " #read " -> dx=dy|" #read, back) \
  LIG_EACH (biased, "x bias -> sum=x y=x", work + 1) \
  LIG_EACH (biased_backward, "dy " #read " -> dx=dy|" #read " dbias", back + 1)
LIG_EACH_ACTIVATION (LIG_ACTIVATION)
#undef LIG_ACTIVATION

LIG_FAMILY (gated)
/* Gated units compute y = act (a) * b, where a row of x [M, 2 N] is [a, b] and y is [M, N]. */
#define LIG_GATED(alone, backward, biased, biased_backward, work, back, gate) \
  LIG_EACH (alone, "x -> y", work) \
  LIG_EACH (backward, "dy x -> dx=x", back) \
  LIG_EACH (biased, "x bias -> sum=x y", work + 1) \
  LIG_EACH (biased_backward, "dy x -> dx=x dbias", back + 1)
LIG_EACH_GATED (LIG_GATED)
LIG_EACH_GATED_WITH_PARAMS (LIG_GATED)
#undef LIG_GATED

LIG_FAMILY (scaled)
/* Units whose output is multiplied by a number per row: y = scales[row] unit (x), and their
 * gradients; dscales is the sum of dy unit (x) over the columns of a row. scales and dscales are
 * fp32. */
#define LIG_SCALED(name, backward, unit, parts, work, back) \
  LIG_EACH (name, "x scales -> y", work) \
  LIG_EACH (backward, "dy x scales -> dx=x dscales", back)
LIG_EACH_SCALED (LIG_SCALED)
#undef LIG_SCALED

LIG_FAMILY (norm)
/* Normalizations of rows: a row has the length of weight [N], for l2_normalization that of the last
 * axis. mean and rstd are fp32, one number per row. `sum` is x + extra, rounded to its type;
 * `branch` is added to the norm's input gradient. */
LIG_EACH (layer_norm, "x weight bias -> y=x mean rstd", 8)
LIG_EACH (layer_norm_backward, "dy x weight mean rstd -> dx=dy|x dweight dbias", 14)
LIG_EACH (layer_norm_backward_add,
          "dy branch x weight mean rstd -> dx=dy|branch|x dweight dbias",
          15)
LIG_EACH (add_layer_norm, "x extra weight bias -> sum=x|extra y=x|extra mean rstd", 9)
LIG_EACH (rms_norm, "x weight -> y=x rstd", 4)
LIG_EACH (rms_norm_backward, "dy x weight rstd -> dx=dy|x dweight", 10)
LIG_EACH (rms_norm_backward_add, "dy branch x weight rstd -> dx=dy|branch|x dweight", 11)
LIG_EACH (add_rms_norm, "x extra weight -> sum=x|extra y=x|extra rstd", 5)
LIG_EACH (l2_normalization, "x -> y=x rstd", 4)
LIG_EACH (l2_normalization_backward, "dy x rstd -> dx=dy|x", 8)

LIG_FAMILY (linear)
/* Matmuls of x [M, K], weight [N, K] and y [M, N], each multiplied by LigScaleParams.factor before
 * bias, extra or branch are added. `sum` is the input of gelu. A kernel may round an fp32 bias to
 * the type of a 16-bit y before adding it. */
LIG_EACH_WITH (linear,
               "x weight -> y",
               LIG_MATMUL_OVER_COLUMNS,
               .ignores_tick = true,
               .scratch = lig_linear_scratch)
LIG_EACH_WITH (linear_bias,
               "x weight bias -> y",
               LIG_MATMUL_OVER_COLUMNS,
               .ignores_tick = true,
               .scratch = lig_linear_scratch)
LIG_EACH (linear_bias_gelu, "x weight bias? -> sum y", LIG_MATMUL_OVER_COLUMNS)
LIG_EACH (linear_bias_relu, "x weight bias? -> y", LIG_MATMUL_OVER_COLUMNS)
LIG_EACH (linear_bias_add, "x weight bias? extra -> y", LIG_MATMUL_OVER_COLUMNS)
LIG_EACH_WITH (linear_backward_input,
               "dy weight -> dx",
               LIG_MATMUL_COLUMNS_BY_ROWS,
               .ignores_tick = true,
               .scratch = lig_linear_input_scratch)
LIG_EACH (linear_backward_input_add, "dy weight branch -> dx", LIG_MATMUL_COLUMNS_BY_ROWS)
/* dbias = the sum of dy over rows. */
LIG_EACH (linear_backward_input_bias, "dy weight -> dx dbias", LIG_MATMUL_COLUMNS_BY_ROWS)
/* dx = gelu' (x) (dy weight), where x is the activation's input; dbias = the sum of dx over
 * rows. */
LIG_EACH (linear_backward_input_gelu, "dy weight x -> dx dbias", LIG_MATMUL_COLUMNS_BY_ROWS)
/* The same, plus dlast = the sum of dy over rows. */
LIG_EACH (linear_backward_input_gelu_bias,
          "dy weight x -> dx dbias dlast",
          LIG_MATMUL_COLUMNS_BY_ROWS)
LIG_EACH_WITH (linear_backward_weight,
               "dy x -> dweight",
               LIG_MATMUL_OVER_ROWS,
               .ignores_tick = true,
               .scratch = lig_linear_weight_scratch)
LIG_EACH_WITH (linear_backward_weight_bias,
               "dy x -> dweight dbias",
               LIG_MATMUL_OVER_ROWS,
               .ignores_tick = true,
               .scratch = lig_linear_weight_scratch)
/* The matmul of quantized operands a [M, K] and b [N, K], y = factor a b^T + bias + extra, with the
 * scales of LigFp8Params; if y is a parameter's gradient and the launch accumulates, the result is
 * added to y. */
LIG_EACH_WITH (linear_fp8,
               "a b a_scale b_scale bias? extra? -> y",
               LIG_MATMUL_OVER_COLUMNS,
               .ignores_tick = true,
               .flops = lig_quantized_flops)
/* The quantized copy of gelu (factor a b^T + bias), with a known per-tensor scale. */
LIG_EACH (linear_fp8_gelu,
          "a b a_scale b_scale bias? scale -> row row_scale",
          LIG_MATMUL_OVER_COLUMNS)

LIG_FAMILY (grouped)
/* Matmuls of groups of rows, each with its own weight: row i of x [R, K] is in group g if
 * offsets[g]
 * <= i < offsets[g + 1], and y_i = x_i weight[g]^T + bias[g], where weight is [G, N, K] and bias
 * [G, N]; with `scales` fp32 [R], the bias is multiplied by scales[i]. offsets are int32 [G + 1],
 * read as if each were at least the one before it and at most R. Rows before the first group and
 * after the last one are 0 in y, dx and dscales, and are not read. See LigGroupedParams. dbias is
 * the sum of dy over the rows of each group, dscales[i] is the product of dy_i and the bias. */
LIG_EACH_WITH (grouped_linear,
               "x weight offsets bias? scales? -> y",
               LIG_MATMUL_OVER_COLUMNS,
               .ignores_tick = true,
               .numbers = lig_grouped_numbers,
               .traits = LIG_KERNEL_GROUPED,
               .flops = lig_grouped_flops)
LIG_EACH_WITH (grouped_backward_input,
               "dy weight offsets -> dx",
               LIG_MATMUL_OVER_COLUMNS,
               .ignores_tick = true,
               .numbers = lig_grouped_numbers,
               .traits = LIG_KERNEL_GROUPED,
               .flops = lig_grouped_flops)
LIG_EACH_WITH (grouped_backward_weight,
               "dy x offsets bias? scales? -> dweight dbias dscales",
               LIG_MATMUL_OVER_COLUMNS,
               .ignores_tick = true,
               .numbers = lig_grouped_numbers,
               .traits = LIG_KERNEL_GROUPED,
               .flops = lig_grouped_weight_flops)
/* The same of quantized operands: y_i = factor a_i b[g]^T + bias[g], where a is [R, K] and b [G, N,
 * K], which has the scales of a matrix per group, one after the other. See LigGroupedFp8Params. */
LIG_EACH_WITH (grouped_fp8,
               "a b a_scale b_scale offsets bias? scales? -> y",
               LIG_MATMUL_OVER_COLUMNS,
               .ignores_tick = true,
               .numbers = lig_grouped_numbers,
               .traits = LIG_KERNEL_GROUPED,
               .flops = lig_grouped_fp8_flops)
/* grouped_linear with a gated unit after the matmul, whose input is `sum` [R, N] and whose output y
 * is [R, N / 2], times factors[i], fp32 [R], if present; and the gradient of a gated unit before a
 * matmul: x [R, 2 N] is the unit's input, dy weight[g] the gradient of its output, and dfactors[i]
 * the sum over the columns of that gradient times the unit's output without its factor. See
 * LigGroupedGatedParams. */
LIG_EACH_WITH (grouped_linear_gated,
               "x weight offsets bias? scales? factors? -> sum y",
               LIG_MATMUL_OVER_COLUMNS,
               .ignores_tick = true,
               .numbers = lig_grouped_numbers,
               .traits = LIG_KERNEL_GROUPED,
               .flops = lig_grouped_flops,
               .scratch = lig_grouped_gated_scratch)
LIG_EACH_WITH (grouped_gated_backward_input,
               "dy weight offsets x factors? -> dx=x dfactors",
               LIG_MATMUL_OVER_COLUMNS,
               .ignores_tick = true,
               .numbers = lig_grouped_numbers,
               .traits = LIG_KERNEL_GROUPED,
               .flops = lig_grouped_flops,
               .scratch = lig_grouped_gated_backward_scratch)

LIG_FAMILY (experts)
/* A router selects k experts for each row of logits x [M, G]: experts are int32 [M, k] in the order
 * of selection, the best first and of equals the lowest number, weights fp32 [M, k]; see
 * LigRouterParams. correction [G] is added to the scores for the selection only. load, fp32 [G], is
 * the number of rows that selected each expert; losses are fp32 [2]: G times the sum over experts
 * of load / (M k) times the expert's mean score, the load-balancing loss, and the mean of the
 * squared log-sum-exp of the logits, the z-loss. For the first one, scores are over all experts,
 * and sigmoids and square roots are divided by their sum plus 1e-20 if k > 1. */
LIG_EACH (router, "x correction? -> weights experts load losses", 12)
/* dx, given the gradient of the weights; plus, given the gradient of the plan's loss, that of aux
 * times the load-balancing loss and z times the z-loss, with load held constant. */
LIG_EACH_WITH (router_backward,
               "dweights? loss? x experts load -> dx",
               16,
               .ignores_tick = true,
               .numbers = lig_router_numbers)
/* Moves the correction of each expert, fp32 [G] and updated in place, by balance: up if its load,
 * fp32 [G], is below the mean of all loads, down if it is above. If the norm of the gradients is
 * not finite, the update was skipped, and nothing changes. See LigRouterBalanceParams. */
LIG_EACH (router_balance, "load norm? -> correction", 3)
/* Sorts rows by expert: for each of the k experts of row t of x [n, K], in the order of experts,
 * then of t, then of the choice j, y [R, K] has a copy of x_t at row places[t, j]. The rows of
 * expert e begin at offsets[e], int32 [G + 1]; scales[places[t, j]] = weights[t, j], fp32 [R].
 * Other rows of y, and their scales, are 0. A row that is dropped, or whose expert is not in the
 * range, has the place -1. dropped, fp32 [1], is the number of the former. See LigPermuteParams. */
LIG_EACH_WITH (permute,
               "x experts weights? -> y offsets places scales dropped",
               0,
               .ignores_tick = true,
               .numbers = lig_permute_numbers)
/* dx_t is the sum of dy[places[t, j]] in the order of j, dweights[t, j] = dscales[places[t, j]]. */
LIG_EACH_WITH (permute_backward,
               "dy? dscales? places -> dx dweights",
               1,
               .ignores_tick = true,
               .numbers = lig_place_numbers)
/* The inverse: y_t is the sum of weights[t, j] x[places[t, j]] in the order of j, in fp32; absent
 * weights are 1. Places differ from one another, unless they are -1; rows of dx that no place names
 * are 0. */
LIG_EACH_WITH (
  unpermute, "x places weights? -> y", 2, .ignores_tick = true, .numbers = lig_place_numbers)
LIG_EACH_WITH (unpermute_backward,
               "dy x? places weights? -> dx dweights",
               3,
               .ignores_tick = true,
               .numbers = lig_place_numbers)
/* The exclusive sums of sizes x [G], each rounded up to a multiple of LigRowOffsetsParams.align:
 * y [G + 1]; negative sizes count as 0, and sums are at most the largest int32. */
LIG_EACH (row_offsets, "x -> y", 1)
/* The places of rows that ranks exchange. Each rank sends the rows of expert e, which begin at
 * offsets[e], int32 [G + 1], to rank e / (G / ranks), at most `limit` to each rank: they are copied
 * into pieces of `limit` rows, one for each rank. places[i], int32, is that of row i in the pieces,
 * or -1 for a row that is not sent: the last ones of a rank that gets more, and those of no expert.
 * sizes, int32 [G], are the rows of each expert that are sent; overflow, fp32 [ranks], are those
 * for each rank that are not. Given the sizes that arrived from each rank, [ranks, G / ranks], rows
 * are sorted by expert, then by rank: places[i] is that of row i in the pieces that arrived, -1
 * after the last row, and offsets, [G / ranks + 1], are the first rows of the experts. */
LIG_EACH_WITH (exchange_sent,
               "offsets -> places sizes overflow",
               1,
               .ignores_tick = true,
               .numbers = lig_exchange_numbers)
LIG_EACH_WITH (exchange_received,
               "sizes -> places offsets",
               1,
               .ignores_tick = true,
               .numbers = lig_exchange_numbers)
/* Moves fp32 numbers of rows: y[i] = x[places[i]], or with `scatter` y[places[i]] = x[i]; others
 * are 0. See LigExchangeParams. */
LIG_EACH_WITH (
  exchange_numbers, "x? places -> y", 1, .ignores_tick = true, .numbers = lig_place_numbers)

LIG_FAMILY (quantize)
/* Quantized copies of x [M, K]: `row` is [M, K], `transposed` [K, M], each with its own scales, see
 * LigQuantizeParams; y is x with the rounding of `row`. A per-tensor scale is given by `scale`, or
 * else computed from the amax. `recorded` becomes the maximum of its old value and the amax of x;
 * dbias is the sum of x over rows. If x is several matrices, one below the other, `transposed` has
 * the transposed copy of each, one below the other, and each has its own scales; then there
 * are no other operands. */
LIG_EACH (quantize, "x scale? -> row row_scale transposed transposed_scale recorded y=x dbias", 3)
/* Quantized copies of a value that is computed in the same pass over memory, by the function of
 * LigProducerParams: an activation of x or of sum = x + bias, a gated unit of x = [a, b], and their
 * gradients, whose sum over rows is dbias; `rounded` has the values with the rounding of `row`. */
LIG_EACH (activation_quantize,
          "x bias? scale? -> sum=x y=x row row_scale transposed transposed_scale recorded rounded",
          13)
LIG_EACH (activation_backward_quantize,
          "dy x bias? scale? -> dx=dy|x dbias row row_scale transposed transposed_scale recorded "
          "rounded",
          17)
LIG_EACH (gated_quantize,
          "x scale? -> y row row_scale transposed transposed_scale recorded rounded",
          7)
LIG_EACH (gated_backward_quantize,
          "dy x scale? -> dx dbias row row_scale transposed transposed_scale recorded rounded",
          11)
/* Quantized copies of y = (x - mean) rstd gain + bias, gain = weight or 1 + weight, given the mean
 * and rstd of each row; `rounded` has the values with the rounding of `row`. */
LIG_EACH (
  norm_quantize,
  "x weight bias? mean? rstd scale? -> y row row_scale transposed transposed_scale recorded "
  "rounded",
  7)
/* Quantized copies of dx, the gradient of a layer norm, or of an rms norm if mean is absent, plus
 * branch; dlast is the sum of dx over rows. */
LIG_EACH (
  norm_backward_quantize,
  "dy branch? x weight mean? rstd scale? -> dx=dy|branch|x dweight dbias dlast row row_scale "
  "transposed transposed_scale recorded rounded",
  18)
/* The scales and amax histories of quantizers, one per row: {scale, amax, history}. If the norm of
 * the gradients is not finite, the update was skipped, and only the amaxes are cleared. */
LIG_EACH (update_scales, "norm? -> quantizers", 2)

LIG_FAMILY (embedding)
/* Gathers rows of weight [V, N] by the int32 indices in x. The gradient is summed in a fixed order.
 * Both support a sharded table, see LigVocabularyPart. */
LIG_EACH (embedding, "x weight -> y", 1)
LIG_EACH (embedding_backward, "dy x -> dweight", 1)
/* y = x + weight[position], where weight is [L, N] and row r of x has the position r % T, and its
 * gradient, the sum over the rows of each position, which is zero for positions from T on. */
LIG_EACH (position_embedding, "x weight -> y=x", 1)
LIG_EACH (position_embedding_backward, "dy -> dweight", 1)
/* Both at once: y = weight[x], rounded to the type of y, plus position[r % T]. */
LIG_EACH (embedding_position, "x weight position -> y", 2)
/* The same for texts in progress: row r of x has the position starts[r / T] + r % T, at most the
 * last one of the table. starts is int32, one number for each T rows. */
LIG_EACH (position_embedding_at, "x weight starts -> y=x", 1)

LIG_FAMILY (rotary)
/* Rotates the query and key heads of packed rows by position-dependent angles; the values are
 * copied. The gradient is rotated back. */
LIG_EACH (rotary, "x -> y=x", 6)
LIG_EACH (rotary_backward, "dy -> dx=dy", 6)
/* The same for texts in progress: row r of x has the position starts[r / T] + r % T. */
LIG_EACH (rotary_at, "x starts -> y=x", 6)

LIG_FAMILY (halves)
/* Splits each sequence into two halves: the first P columns of x [B T, N] become `first` and
 * `second` [B T / 2, P], where P is LigHalvesParams.columns, and the other columns become `rest`
 * [B T, N - P]. join_halves is the inverse; absent inputs count as 0. */
LIG_EACH (split_halves, "x -> first second rest", 0)
LIG_EACH (join_halves, "first? second? rest? -> x", 0)
/* Arranges the gathered tokens of all context parallel ranks, x [R B T, N], in sequence order: y
 * for the rank's first block of tokens, `second` for its second one; and the sum of their
 * gradients. */
LIG_EACH (arrange_halves, "x -> y second", 0)
LIG_EACH (arrange_halves_backward, "dy? dsecond? -> dx", 1)

LIG_FAMILY (slice)
/* A slice of the positions and columns of each sequence, see LigSliceParams: y is a slice of x; and
 * y is x, or 0 if that is absent, with the slice added at its place. The types of the sum may
 * differ. */
LIG_EACH (slice, "x -> y", 0)
LIG_EACH (add_slice, "x? slice -> y=x", 1)

LIG_FAMILY (qk_norm)
/* Normalizes each query and key head of packed rows [M, (H + 2 G) D]; the values are copied. The
 * weights query and key and their biases have D elements; absent ones are 1 and 0. mean and rstd
 * are fp32 [M, H + G]; mean is 0 except for LIG_QK_LAYER_NORM. */
LIG_EACH (qk_norm, "x query? query_bias? key? key_bias? -> y=x mean rstd", 8)
LIG_EACH (qk_norm_backward,
          "dy x query? key? mean? rstd -> dx=dy|x dquery dquery_bias dkey dkey_bias",
          14)

LIG_FAMILY (attention)
/* Attention over packed rows: x is [B T, (H + 2 G) D], or [B T, H D] with memory [B S, 2 G D], y is
 * [B T, H D], lse is fp32 [2 B, H, T]: the log-sum-exp of the scores of a query and, in the second
 * half, its rounding error. lengths are int32 [B], documents int32 [B, T]. See
 * LigAttentionParams. */
LIG_EACH_WITH (attention,
               "x memory? lengths? documents? -> y lse",
               LIG_WORK_BY_PARAMS,
               .ignores_tick = false,
               .traits = LIG_KERNEL_ATTENTION | LIG_KERNEL_WAVES,
               .flops = lig_attention_flops,
               .scratch = lig_attention_forward_scratch)
LIG_EACH_WITH (attention_backward,
               "dy x memory? lengths? documents? y lse -> dx dmemory",
               LIG_WORK_BY_PARAMS,
               .ignores_tick = false,
               .traits = LIG_KERNEL_ATTENTION_BACKWARD | LIG_KERNEL_WAVES,
               .flops = lig_attention_backward_flops,
               .scratch = lig_attention_backward_scratch)
/* Attention of texts in progress: row b of x [B T, (H + 2 G) D] has the last T of the first
 * lengths[b] positions of text b. Their keys and values are written to slot slots[b] of cache
 * [slots, S, 2 G D], and their queries see those that it then has. lengths and slots are int32 [B].
 * A slot of a multiple of LIG_CACHE_UNIT positions is a ring, which must have the window of the
 * first query; of another slot, positions from S on are not written and not seen.
 * LigAttentionParams.mask is LIG_MASK_CAUSAL_BOTTOM_RIGHT; or, for cross attention, LIG_MASK_NONE:
 * x is [B T, H D], and all queries see the first lengths[b] positions, which are in the cache
 * already. lse is that of the queries, like that of attention. */
LIG_EACH_WITH (attention_cached,
               "x lengths slots -> y cache lse",
               LIG_WORK_BY_PARAMS,
               .ignores_tick = true,
               .flops = lig_attention_cached_flops)
/* Merges attention over two sets of keys, given y and lse of each; the part may have only some of
 * the queries, see LigMergeParams. The types of x, part and y may differ. */
LIG_EACH_WITH (attention_merge,
               "x x_lse part part_lse -> y=x lse=x_lse",
               4,
               .ignores_tick = true,
               .traits = LIG_KERNEL_WAVES)
/* Adds exp (sinks[h]) to the sum of exponentials of head h, given y and lse without it: y is x
 * times the weight that the keys keep. attention_backward of the results yields the gradients of
 * queries, keys and values; dsinks [H] is the sum over queries of -exp (sinks[h] - lse) times the
 * sum of dy y over the features of the head. See LigSinksParams. */
LIG_EACH_WITH (attention_sinks,
               "x x_lse sinks -> y=x lse=x_lse",
               1,
               .ignores_tick = true,
               .traits = LIG_KERNEL_WAVES)
LIG_EACH_WITH (attention_sinks_backward,
               "dy y lse sinks -> dsinks",
               2,
               .ignores_tick = true,
               .traits = LIG_KERNEL_WAVES)

LIG_FAMILY (sample)
/* Draws a token for each row of logits [B, V]. settings are int32 [B, 10], a LigSampleSettings
 * each; seen is uint8 [slots, V]: whether a text has each token; chances are int32 [B, 12]: the
 * token that was drawn and the most probable ones, each with its probability, a LigSampleChance
 * each; tokens, int32 [B], are the drawn ones again, if present. See kernels/sample.h. */
LIG_EACH (sample, "logits settings seen? -> chances tokens", 16)

LIG_FAMILY (loss)
/* Losses over rows of x [M, C]. y, dy, correct and count are fp32 scalars. lse is fp32 [M, 2]: the
 * maximum of each row, and the logarithm of the sum of exponentials relative to it, kept apart
 * because their sum would lose digits of the latter if values are large. targets are int32 [M] for
 * cross_entropy and accuracy, and shaped like x for mean_squared_error. correct is the number of
 * rows whose largest logit is the target, count the number of rows that are not ignored. */
LIG_EACH (cross_entropy, "x targets -> y lse count", 6)
LIG_EACH (cross_entropy_backward, "dy x targets lse count -> dx=x", 6)
/* Fused LM head and cross-entropy, which never materializes the full logits: weight is [C, K], bias
 * [C]. gx, gweight and gbias are the gradients of the sum of the losses, each computed unless
 * absent; the backward kernel multiplies them by dy / count. */
LIG_EACH_WITH (linear_cross_entropy,
               "x weight bias? targets -> y count gx gweight gbias",
               LIG_WORK_BY_PARAMS,
               .ignores_tick = true,
               .flops = lig_joint_flops,
               .scratch = lig_joint_scratch)
LIG_EACH (linear_cross_entropy_backward, "dy count gx? gweight? gbias? -> dx=gx dweight dbias", 1)
/* This rank's share of the mean over the rows of several ranks, from the mean over its `own` rows:
 * y = mean own / count, where count is the average number of rows per rank. */
LIG_EACH (cross_entropy_weigh, "mean own count -> y", 2)
LIG_EACH (accuracy, "x targets -> correct count", 1)
/* The same for ranks whose logits x are shards of the classes, see LigVocabularyPart. A row of
 * `part` [M, 4] has the maximum m, the sum of exp (x - m), the sum of x - m (0 without label
 * smoothing), and the logit of the target, which is 0 if another rank has it. `parts` [T M, 4] are
 * the parts of T ranks. The gradient is that of cross_entropy_backward. For the accuracy `part` is
 * [M, 3]: the maximum, the logit of the target, and 1 if the shard has the target and it is not the
 * first maximum, or if a logit is NaN. */
LIG_EACH (cross_entropy_part, "x targets -> part", 6)
LIG_EACH (cross_entropy_join, "parts targets -> y lse count", 4)
LIG_EACH (accuracy_part, "x targets -> part", 1)
LIG_EACH (accuracy_join, "parts targets -> correct count", 1)
LIG_EACH (mean_squared_error, "x targets -> y", 3)
LIG_EACH (mean_squared_error_backward, "dy x targets -> dx=x|targets dtargets=x|targets", 3)

LIG_FAMILY (optimizer)
/* Each launch updates many parameters: a contiguous part of the arrays of the state, such as all
 * parameters with weight decay. norm is the fp32 global norm of the gradients before clipping,
 * divided by the loss scale that they carry; master has the fp32 weights of 16-bit parameters;
 * scaling is a LigScaling. All outputs except y and norm are updated in place. If the norm is not
 * finite, sgd and adamw skip the update. The types of gradients and parameters may differ. */
LIG_EACH (scale_gradient, "x -> y scaling", 1)
LIG_EACH (gradient_norm, "gradients -> norm scaling", 2)
LIG_EACH_WITH (sgd,
               "gradients norm? scaling? -> parameters momentum master",
               4,
               .ignores_tick = false)
LIG_EACH_WITH (adamw,
               "gradients norm? scaling? -> parameters mean variance master",
               12,
               .ignores_tick = false)

LIG_FAMILY (collective)
/* Collectives, launched by all participating processes: y is x reduced over the peers of the launch
 * (all_reduce), the rows of all peers (all_gather), or this peer's share of the rows of the
 * reduction (reduce_scatter). The share may be stored within the whole. shard_rows copies this
 * peer's share of the rows of x and does not communicate. ring_exchange sends x to one peer and
 * receives y from another; all_to_all sends an equal part of x to each peer, and y has the parts
 * that it receives, in the order of the peers; add_parts sums equal parts of x and does not
 * communicate. */
LIG_EACH_WITH (all_reduce,
               "x -> y=x",
               1,
               .ignores_tick = true,
               .communicates = true,
               .collective = 1 + LIG_ALL_REDUCE,
               .scratch = lig_collective_scratch)
LIG_EACH_WITH (all_gather,
               "x -> y",
               0,
               .ignores_tick = true,
               .communicates = true,
               .collective = 1 + LIG_ALL_GATHER)
LIG_EACH_WITH (reduce_scatter,
               "x -> y",
               1,
               .ignores_tick = true,
               .communicates = true,
               .collective = 1 + LIG_REDUCE_SCATTER,
               .scratch = lig_collective_scratch)
LIG_EACH_WITH (shard_rows, "x -> y", 0, .ignores_tick = true, .communicates = true)
LIG_EACH_WITH (ring_exchange,
               "x -> y",
               0,
               .ignores_tick = true,
               .communicates = true,
               .collective = 1 + LIG_RING_EXCHANGE)
LIG_EACH_WITH (all_to_all,
               "x -> y",
               0,
               .ignores_tick = true,
               .communicates = true,
               .collective = 1 + LIG_ALL_TO_ALL)
LIG_EACH_WITH (add_parts, "x -> y", 1, .ignores_tick = true)

#undef LIG_FAMILY
#undef LIG_EACH_WITH
