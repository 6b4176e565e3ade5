/* SPDX-License-Identifier: MIT */
/* Routers: the choice of k experts for each row, the weights of the chosen ones, two auxiliary
 * losses: the load-balancing loss (Fedus and others, 2021, Switch Transformers) and the z-loss
 * (Zoph and others, 2022, ST-MoE); and the correction of the choice by the load. Everything is
 * computed in fp32. */
#include "kernels/cpu/rows.h"
#include "kernels/formulas.h"
#include <ligature/params-experts.h>

#define REJECTED \
  "router: operands that do not fit together, or more than 1024 experts; use fewer experts"

/* One row of logits and what follows from it. */
typedef struct {
  const LigRouterParams *params;
  int64_t experts;
  float logits[LIG_MAX_EXPERTS];
  float softmax[LIG_MAX_EXPERTS]; /* over all experts */
  float scores[LIG_MAX_EXPERTS];
  float lse;   /* the log-sum-exp of the logits */
  float total; /* by which the load-balancing loss divides the scores: their sum plus 1e-20, or 1 */
  bool divides; /* whether that is the sum */
} Row;

/* Returns log (1 + e^x). */
static float
softplus (float x)
{
  return (x > 0 ? x : 0) + log1pf (lig_exp (-fabsf (x)));
}

static void
read_row (Row *row, const LigOperand *x, int64_t index)
{
  int64_t n = row->experts;
  float max = -INFINITY, sum = 0, total = 0;
  lig_widen (x->dtype, lig_at (x, index * n), row->logits, (size_t) n);
  for (int64_t e = 0; e < n; e++)
    max = row->logits[e] > max ? row->logits[e] : max;
  max = max > -FLT_MAX ? max : -FLT_MAX;
  for (int64_t e = 0; e < n; e++)
    sum += row->softmax[e] = lig_exp (row->logits[e] - max);
  row->lse = max + logf (sum);
  for (int64_t e = 0; e < n; e++) {
    float x_e = row->logits[e];
    row->softmax[e] /= sum;
    row->scores[e] = row->params->score == LIG_SCORE_SOFTMAX   ? row->softmax[e]
                     : row->params->score == LIG_SCORE_SIGMOID ? lig_sigmoid (x_e)
                                                               : sqrtf (softplus (x_e));
    total += row->scores[e];
  }
  row->divides = row->params->score != LIG_SCORE_SOFTMAX && row->params->top_k > 1;
  row->total = row->divides ? total + 1e-20f : 1;
}

/* Returns the largest of the values that are not taken, the first of equal ones; NaN is the
 * smallest of all. */
static int64_t
take_largest (const float *values, int64_t count, bool *taken)
{
  int64_t best = -1;
  float largest = -INFINITY;
  for (int64_t i = 0; i < count; i++)
    if (!taken[i] && (best < 0 || values[i] > largest)) {
      best = i;
      largest = values[i] == values[i] ? values[i] : -INFINITY;
    }
  if (best >= 0)
    taken[best] = true;
  return best;
}

/* Marks as taken all experts outside the groups with the largest sums of their best experts. */
static void
leave_groups (const LigRouterParams *params, const float *values, int64_t count, bool *taken)
{
  bool chosen[LIG_MAX_EXPERTS] = {false}, used[LIG_MAX_EXPERTS] = {false};
  float sums[LIG_MAX_EXPERTS];
  int64_t each = count / params->groups, best = params->top_k / params->group_top_k;
  for (int64_t group = 0; group < params->groups; group++) {
    sums[group] = 0;
    for (int64_t i = 0; i < best && i < each; i++)
      sums[group] +=
        values[group * each + take_largest (values + group * each, each, used + group * each)];
  }
  for (int i = 0; i < params->group_top_k; i++)
    take_largest (sums, params->groups, chosen);
  for (int64_t i = 0; i < count; i++)
    taken[i] = !chosen[i / each];
}

/* Selects the experts of a row. */
static void
choose (const Row *row, const LigOperand *correction, int32_t *experts)
{
  const LigRouterParams *params = row->params;
  bool taken[LIG_MAX_EXPERTS] = {false};
  float values[LIG_MAX_EXPERTS];
  bool by_logits = params->score == LIG_SCORE_SOFTMAX && params->first == LIG_FIRST_SELECT;
  if (correction->data)
    lig_widen (correction->dtype, correction->data, values, (size_t) row->experts);
  for (int64_t e = 0; e < row->experts; e++)
    values[e] = (by_logits ? row->logits[e] : row->scores[e]) + (correction->data ? values[e] : 0);
  if (params->groups > 1)
    leave_groups (params, values, row->experts, taken);
  for (int j = 0; j < params->top_k; j++)
    experts[j] = (int32_t) take_largest (values, row->experts, taken);
}

/* Returns whether the softmax is over the selected experts only. */
static bool
is_local (const LigRouterParams *params)
{
  return params->score == LIG_SCORE_SOFTMAX && params->first == LIG_FIRST_SELECT;
}

/* Computes the softmax of the selected logits. */
static void
local_softmax (const Row *row, const int32_t *experts, float *weights)
{
  float max = -FLT_MAX, sum = 0;
  int k = row->params->top_k;
  for (int j = 0; j < k; j++)
    max = row->logits[experts[j]] > max ? row->logits[experts[j]] : max;
  for (int j = 0; j < k; j++)
    sum += weights[j] = lig_exp (row->logits[experts[j]] - max);
  for (int j = 0; j < k; j++)
    weights[j] /= sum;
}

/* Returns whether the scores of the selected experts are divided by their sum. */
static bool
is_normalized (const LigRouterParams *params)
{
  return is_local (params) || (params->normalize && params->top_k > 1);
}

/* Returns the number by which the scores of the selected experts are divided. */
static float
divisor (const Row *row, const int32_t *experts)
{
  float sum = 0;
  if (!is_normalized (row->params))
    return 1;
  for (int j = 0; j < row->params->top_k; j++)
    sum += row->scores[experts[j]];
  return sum + 1e-20f;
}

/* Computes the weights of the selected experts. */
static void
weigh (const Row *row, const int32_t *experts, float *weights)
{
  if (is_local (row->params)) {
    local_softmax (row, experts, weights);
  } else {
    float sum = divisor (row, experts);
    for (int j = 0; j < row->params->top_k; j++)
      weights[j] = row->scores[experts[j]] / sum;
  }
  for (int j = 0; j < row->params->top_k; j++)
    weights[j] *= row->params->scale;
}

/* The sums of a block of rows, one block after another: the rows that selected each expert, the
 * sums of its scores, and that of the squared log-sum-exps. */
typedef struct {
  double load[LIG_MAX_EXPERTS], scores[LIG_MAX_EXPERTS], squares;
} Sums;
_Static_assert(64 * sizeof (Sums) <= LIG_WORKSPACE_SIZE, "the sums do not fit the workspace");

static void
route_row (const LigLaunch *launch, Row *row, int64_t index, Sums *sums)
{
  const LigOperand *o = launch->operands;
  int32_t experts[LIG_MAX_EXPERTS];
  float weights[LIG_MAX_EXPERTS];
  int64_t k = row->params->top_k;
  read_row (row, &o[0], index);
  choose (row, &o[1], experts);
  weigh (row, experts, weights);
  if (o[2].data)
    memcpy ((float *) o[2].data + index * k, weights, (size_t) k * sizeof *weights);
  if (o[3].data)
    memcpy ((int32_t *) o[3].data + index * k, experts, (size_t) k * sizeof *experts);
  for (int64_t j = 0; j < k; j++)
    sums->load[experts[j]]++;
  for (int64_t e = 0; e < row->experts; e++)
    sums->scores[e] += (double) (row->scores[e] / row->total);
  sums->squares += (double) row->lse * (double) row->lse;
}

/* Sums over all blocks. */
static void
finish_sums (
  const LigLaunch *launch, const Sums *sums, LigPartition partition, int64_t rows, int64_t experts)
{
  const LigRouterParams *params = launch->params;
  float *load = launch->operands[4].data, *losses = launch->operands[5].data;
  double balance = 0, squares = 0;
  for (int64_t e = 0; e < experts; e++) {
    double count = 0, score = 0;
    for (int64_t i = 0; i < partition.blocks; i++) {
      count += sums[i].load[e];
      score += sums[i].scores[e];
    }
    if (load)
      load[e] = (float) count;
    balance += count / ((double) rows * params->top_k) * (score / (double) rows);
  }
  for (int64_t i = 0; i < partition.blocks; i++)
    squares += sums[i].squares;
  if (losses) {
    losses[0] = (float) (balance * (double) experts);
    losses[1] = (float) (squares / (double) rows);
  }
}

/* Returns whether the params fit the number of experts. */
static bool
params_fit (const LigRouterParams *params, int64_t experts)
{
  if (!params || experts > LIG_MAX_EXPERTS || params->top_k < 1 || params->top_k > experts ||
      params->groups < 1 || experts % params->groups)
    return false;
  return params->groups == 1 ||
         (params->group_top_k >= 1 && params->group_top_k <= params->groups &&
          params->top_k <= experts / params->groups * params->group_top_k);
}

/* Selects experts. */
LigStatus
LIG_CPU (router) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[0];
  const LigRouterParams *params = launch->params;
  const LigPartition partition = lig_partition (lig_rows (x), 1);
  Sums *sums = launch->workspace;
  if (!params_fit (params, x->columns) || !lig_dtype_is_floating (x->dtype) ||
      !lig_has_type (&o[2], LIG_FP32) || !lig_has_type (&o[3], LIG_INT32) ||
      !lig_has_type (&o[4], LIG_FP32) || !lig_has_type (&o[5], LIG_FP32))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t block = 0; block < partition.blocks; block++) {
    Row row = {.params = params, .experts = x->columns};
    int64_t first = block * partition.rows_per_block;
    memset (&sums[block], 0, sizeof sums[block]);
    for (int64_t i = first; i < lig_min (first + partition.rows_per_block, lig_rows (x)); i++)
      route_row (launch, &row, i, &sums[block]);
  }
  finish_sums (launch, sums, partition, lig_rows (x), x->columns);
  return LIG_OK;
}

/* Adds to `slopes`, the gradient of the scores, that of the weights. With a local softmax they are
 * those of the logits. */
static void
add_weights (const Row *row, const int32_t *experts, const float *dweights, float *slopes)
{
  const LigRouterParams *params = row->params;
  float weights[LIG_MAX_EXPERTS], mean = 0, sum = divisor (row, experts);
  bool local = is_local (params);
  if (local)
    local_softmax (row, experts, weights);
  for (int j = 0; j < params->top_k; j++) {
    weights[j] = local ? weights[j] : row->scores[experts[j]] / sum;
    mean += is_normalized (params) ? weights[j] * dweights[j] : 0;
  }
  for (int j = 0; j < params->top_k; j++) {
    float slope = params->scale * (dweights[j] - mean);
    slopes[experts[j]] += local ? weights[j] * slope : slope / sum;
  }
}

/* Replaces the gradient of scores by that of the logits. */
static void
turn_to_logits (const Row *row, float *slopes)
{
  float mean = 0;
  if (row->params->score == LIG_SCORE_SOFTMAX)
    for (int64_t e = 0; e < row->experts; e++)
      mean += row->softmax[e] * slopes[e];
  for (int64_t e = 0; e < row->experts; e++)
    slopes[e] *= row->params->score == LIG_SCORE_SOFTMAX ? row->softmax[e]
                 : row->params->score == LIG_SCORE_SIGMOID
                   ? lig_sigmoid_slope (row->logits[e])
                   : lig_sigmoid (row->logits[e]) / fmaxf (2 * row->scores[e], FLT_MIN);
  if (row->params->score == LIG_SCORE_SOFTMAX)
    for (int64_t e = 0; e < row->experts; e++)
      slopes[e] -= row->softmax[e] * mean;
}

/* Adds to the gradient of the scores that of the load-balancing loss. */
static void
add_balance (const Row *row, const float *load, float factor, float *slopes)
{
  float mean = 0;
  for (int64_t e = 0; e < row->experts && row->divides; e++)
    mean += load[e] * row->scores[e] / row->total;
  for (int64_t e = 0; e < row->experts; e++)
    slopes[e] += factor * (load[e] - mean) / row->total;
}

/* Computes the gradient of a row of logits. */
static void
backward_row (const LigLaunch *launch, Row *row, int64_t index, float loss, float *slopes)
{
  const LigOperand *o = launch->operands;
  const LigRouterParams *params = row->params;
  const int32_t *experts = (const int32_t *) o[3].data + index * params->top_k;
  const float *dweights = o[0].data ? (const float *) o[0].data + index * params->top_k : NULL;
  float rows = (float) lig_rows (&o[2]), local[LIG_MAX_EXPERTS] = {0};
  read_row (row, &o[2], index);
  memset (slopes, 0, (size_t) row->experts * sizeof *slopes);
  if (dweights)
    add_weights (row, experts, dweights, is_local (params) ? local : slopes);
  if (params->aux != 0)
    add_balance (row, o[4].data,
                 loss * params->aux * (float) row->experts / (rows * rows * (float) params->top_k),
                 slopes);
  turn_to_logits (row, slopes);
  for (int64_t e = 0; e < row->experts; e++)
    slopes[e] += local[e] + loss * params->z * 2 * row->lse / rows * row->softmax[e];
}

/* Returns whether each row's experts can be numbers of the router's. */
static bool
are_experts (const LigOperand *experts, int64_t count)
{
  for (int64_t i = 0; i < experts->size; i++)
    if (((const int32_t *) experts->data)[i] < 0 || ((const int32_t *) experts->data)[i] >= count)
      return false;
  return true;
}

/* Computes the gradient of the logits. */
LigStatus
LIG_CPU (router_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[2], *dx = &o[5];
  const LigRouterParams *params = launch->params;
  float loss = o[1].data ? *(const float *) o[1].data : 0;
  if (!params_fit (params, x->columns) || !lig_dtype_is_floating (x->dtype) ||
      !lig_has_type (&o[0], LIG_FP32) || !lig_has_type (&o[1], LIG_FP32) ||
      o[3].dtype != LIG_INT32 || o[4].dtype != LIG_FP32 || !are_experts (&o[3], x->columns))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < lig_rows (x); index++) {
    Row row = {.params = params, .experts = x->columns};
    float slopes[LIG_MAX_EXPERTS];
    backward_row (launch, &row, index, loss, slopes);
    float *to = lig_stage (dx, index * x->columns, slopes);
    if (to != slopes)
      memcpy (to, slopes, (size_t) x->columns * sizeof *slopes);
    lig_commit (dx, index * x->columns, x->columns, slopes);
  }
  return LIG_OK;
}

/* Moves the corrections towards equal loads (Wang and others, 2024, Auxiliary-loss-free load
 * balancing). A load is compared times the number of experts with the sum of all, which is exact
 * for whole numbers. */
LigStatus
LIG_CPU (router_balance) (LigLaunch *launch)
{
  const LigOperand *load = &launch->operands[0], *norm = &launch->operands[1];
  const LigOperand *correction = &launch->operands[2];
  const LigRouterBalanceParams *params = launch->params;
  const float *loads = load->data;
  float *corrections = correction->data;
  double sum = 0;
  if (!params || load->dtype != LIG_FP32 || !lig_has_type (norm, LIG_FP32) ||
      correction->dtype != LIG_FP32 || load->size != correction->size)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  if (norm->data && !isfinite (*(const float *) norm->data))
    return LIG_OK;
  for (int64_t e = 0; e < load->size; e++)
    sum += (double) loads[e];
  for (int64_t e = 0; e < load->size; e++) {
    double times = (double) loads[e] * (double) load->size;
    corrections[e] += times < sum ? params->balance : times > sum ? -params->balance : 0;
  }
  return LIG_OK;
}
