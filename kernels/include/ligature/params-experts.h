/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels of a mixture of experts: the router and the permutation of rows. See
 * <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdint.h>

/**
 * LIG_MAX_EXPERTS:
 *
 * The largest number of experts of a router, and of groups of a grouped matmul.
 */
#define LIG_MAX_EXPERTS 1024

/**
 * LigRouterScore:
 * @LIG_SCORE_SOFTMAX: the softmax of the logits
 * @LIG_SCORE_SIGMOID: the sigmoid of each logit
 * @LIG_SCORE_SQRT_SOFTPLUS: the square root of log (1 + exp (logit))
 *
 * How a router turns logits into the experts' weights.
 */
typedef enum { LIG_SCORE_SOFTMAX, LIG_SCORE_SIGMOID, LIG_SCORE_SQRT_SOFTPLUS } LigRouterScore;

/**
 * LigRouterFirst:
 * @LIG_FIRST_SELECT: experts are selected by their logits, and the softmax is over the selected
 * @LIG_FIRST_SCORE: the softmax is over all experts, which are selected by it
 *
 * The order of selection and softmax; other scores do not depend on it.
 */
typedef enum { LIG_FIRST_SELECT, LIG_FIRST_SCORE } LigRouterFirst;

/**
 * LigRouterParams:
 * @top_k: the number k of experts that are selected for each row
 * @score: a #LigRouterScore
 * @first: a #LigRouterFirst
 * @groups: the number of equal groups of consecutive experts; 1: no groups
 * @group_top_k: the number of groups from which experts are selected; divides @top_k
 * @normalize: whether the weights of a row are divided by their sum plus 1e-20 if k > 1
 * @scale: a factor of all weights, after normalization
 * @aux: the coefficient of the load-balancing loss
 * @z: the coefficient of the z-loss
 *
 * Parameters of router and router_backward.
 */
typedef struct {
  int32_t top_k;
  int32_t score;
  int32_t first;
  int32_t groups;
  int32_t group_top_k;
  int32_t normalize;
  float scale;
  float aux;
  float z;
} LigRouterParams;

/**
 * LigRouterBalanceParams:
 * @balance: the step by which each correction changes
 *
 * Parameters of router_balance.
 */
typedef struct {
  float balance;
} LigRouterBalanceParams;

/**
 * LigPermuteParams:
 * @experts: the number of experts
 * @align: the rows of each expert begin at a multiple of this number; at least 1
 * @limit: the largest number of rows of an expert, beyond which later rows are dropped; 0: no limit
 *
 * Parameters of permute.
 */
typedef struct {
  int32_t experts;
  int32_t align;
  int64_t limit;
} LigPermuteParams;

/**
 * LigGroupedParams:
 * @rows: the number of rows that are expected in groups, for predictions and measurements; 0: all
 *
 * Parameters of grouped_linear, grouped_backward_input and grouped_backward_weight.
 */
typedef struct {
  int64_t rows;
} LigGroupedParams;

/**
 * LigExchangeParams:
 * @ranks: the number of ranks that share the experts
 * @limit: the largest number of rows that a rank sends to another one
 * @scatter: for exchange_numbers: whether places are those of y instead of x
 * @absent: for exchange_numbers: the number of each row of an absent x
 *
 * Parameters of exchange_sent, exchange_received and exchange_numbers.
 */
typedef struct {
  int32_t ranks;
  int32_t limit;
  int32_t scatter;
  float absent;
} LigExchangeParams;

/**
 * LigRowOffsetsParams:
 * @align: sizes are rounded up to a multiple of this number; at least 1
 *
 * Parameters of row_offsets.
 */
typedef struct {
  int32_t align;
} LigRowOffsetsParams;
