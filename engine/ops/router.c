/* SPDX-License-Identifier: MIT */
/* Selects experts for each row of logits, and the weights of their outputs. Two losses can be added
 * to that of the sequence, by their gradients: one that balances the load of the experts (Fedus and
 * others, 2021, Switch Transformers) and one that keeps the logits small (Zoph and others, 2022,
 * ST-MoE). A correction balances the load without a loss: it enters only the selection, and each
 * update moves it (Wang and others, 2024, Auxiliary-loss-free load balancing). */
#include "engine/ops/experts.h"

#include <ligature/params-collective.h>

#include <inttypes.h>

typedef struct {
  LigRouterParams kernel;
  gint64 top_k, groups, group_top_k;
  float scale, aux, z, balance;
  bool normalize, correction;
} RouterParams;

enum { WEIGHTS, EXPERTS };
enum { LOAD, LOSSES };
enum { CORRECTION };

static const LigParam params[] = {
  LIG_INT (RouterParams,
           top_k,
           "top-k",
           N_ ("Top k"),
           N_ ("Number of experts that are selected for each row"),
           1,
           LIG_MAX_EXPERTS,
           2,
           LIG_PARAM_POSITIONAL),
  LIG_ROUTER_PARAMS (RouterParams),
  {LIG_PARAM_OUTPUT, "weights", N_ ("Weights"),
   N_ ("Channel of the weights of the selected experts; default: returned to the caller"), 0, 0, 0,
   0, WEIGHTS, NULL},
  {LIG_PARAM_OUTPUT, "experts", N_ ("Experts"),
   N_ ("Channel of the numbers of the selected experts; default: returned to the caller"), 0, 0, 0,
   0, EXPERTS, NULL},
  {.name = NULL},
};

static const LigParamGroup shown_groups[] = {LIG_ROUTER_GROUPS, {.title = NULL}};

static const LigParameterInfo parameters[] = {
  {.name = "correction", .init = LIG_INIT_ZEROS, .own_update = TRUE}, {.name = NULL}};

static gboolean
check_experts (const LigInfer *self, gint64 experts, GError **error)
{
  const RouterParams *values = self->params;
  const LigExpertChoice choice = {experts, values->top_k, values->groups, values->group_top_k};
  const char *param;
  gint64 value;
  if (experts > LIG_MAX_EXPERTS) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input has %" PRId64 " features, one for each expert; expected at most %d"),
                 experts, LIG_MAX_EXPERTS);
    return FALSE;
  }
  if (lig_check_choice (&choice, _ ("the number of experts"), &param, &value, error))
    return TRUE;
  return lig_infer_suggest (self, param, value, error);
}

/* Adds the correction, if the router has one. A step is a difference of scores, so that it needs
 * scores of a known scale that do not depend on those of other experts. */
static gboolean
add_correction (LigInfer *self, const RouterParams *values, gint64 experts, GError **error)
{
  const char *score = lig_infer_param_name (self, "score");
  const char *cause = lig_infer_param_name (self, values->balance > 0 ? "balance" : "correction");
  self->n_parameters = values->correction || values->balance > 0;
  lig_shape_init (&self->parameters[CORRECTION], 1, experts);
  if (self->n_parameters == 0 || values->kernel.score != LIG_SCORE_SOFTMAX)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s is softmax, with a correction expected sigmoid or sqrt-softplus; set one of "
                  "them, or omit %s"),
               score, cause);
  return FALSE;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  RouterParams *values = (RouterParams *) self->params;
  LigRouterParams *kernel = &values->kernel;
  if (!lig_check_has_axis (self, error))
    return FALSE;
  gint64 experts = lig_shape_columns (&self->x);
  if (!check_experts (self, experts, error) || !add_correction (self, values, experts, error))
    return FALSE;
  kernel->top_k = (int32_t) values->top_k;
  kernel->groups = (int32_t) values->groups;
  kernel->group_top_k = values->groups > 1 ? (int32_t) values->group_top_k : 1;
  kernel->normalize = values->normalize;
  kernel->scale = values->scale;
  kernel->aux = values->aux;
  kernel->z = values->z;
  self->extra_outputs[WEIGHTS] = self->x;
  self->extra_outputs[WEIGHTS].axes[self->x.n_axes - 1] = values->top_k;
  self->extra_outputs[EXPERTS] = self->extra_outputs[WEIGHTS];
  self->extra_output_dtypes[WEIGHTS] = LIG_FP32;
  self->extra_output_dtypes[EXPERTS] = LIG_INT32;
  self->extra_output_ranges[EXPERTS] = (LigRange){0, (gint32) experts - 1, 0};
  lig_shape_init (&self->kept[LOAD], 1, experts);
  lig_shape_init (&self->kept[LOSSES], 1, (gint64) 2);
  return TRUE;
}

/* The load is the mean over the ranks that have other rows, so that the mean of their gradients is
 * that of all rows. */
/* The load is the mean over the ranks that have other rows, of a tensor group as of the batch. */
static void
lower_forward (LigLowering *lowering)
{
  const LigCollectiveParams tensor = {lig_lower_count_parts (lowering, "x"), LIG_REDUCE_MEAN,
                                      LIG_GROUP_TENSOR};
  gboolean shared = tensor.peers > 1, replicas = lig_lower_has_replicas (lowering);
  lig_lower_alias (lowering, "y", "x");
  if (shared || replicas)
    lig_lower_value_like (lowering, "own", "load");
  if (shared && replicas)
    lig_lower_value_like (lowering, "group", "load");
  lig_lower_kernel (lowering, "router", shared || replicas ? "load=own" : NULL, NULL, 0);
  if (shared)
    lig_lower_kernel (lowering, "all_reduce", replicas ? "x=own y=group" : "x=own y=load", &tensor,
                      sizeof tensor);
  if (replicas)
    lig_lower_average (lowering, shared ? "x=group y=load" : "x=own y=load");
}

/* The gradients of ranks of a tensor group that have other rows are added, so that each has its
 * share of the means of the losses. */
static void
lower_backward (LigLowering *lowering)
{
  LigRouterParams values = *(const LigRouterParams *) lig_lower_params (lowering, 0);
  const char *loss = values.aux != 0 || values.z != 0 ? "$loss_gradient" : "-";
  gboolean passes = lig_lower_has (lowering, "dy");
  g_autofree char *bindings = g_strdup_printf ("loss=%s%s", loss, passes ? " dx=own" : "");
  values.aux /= (float) lig_lower_count_parts (lowering, "x");
  values.z /= (float) lig_lower_count_parts (lowering, "x");
  if (passes)
    lig_lower_value_like (lowering, "own", "dx");
  lig_lower_kernel (lowering, "router_backward", bindings, &values, sizeof values);
  if (passes)
    lig_lower_kernel (lowering, "add", "a=dy b=own y=dx", NULL, 0);
}

static void
lower_update (LigLowering *lowering)
{
  const RouterParams *values = lig_lower_params (lowering, 0);
  const LigRouterBalanceParams step = {values->balance};
  if (step.balance != 0)
    lig_lower_kernel (lowering, "router_balance", "norm=$gradient_norm", &step, sizeof step);
}

LIG_DEFINE_OP (router) = {
  LIG_OP_INFO_SIZES,
  .name = "router",
  .title = N_ ("Router"),
  .category = N_ ("Experts"),
  .summary = N_ ("Selects experts for each row, and the weights of their outputs"),
  .formula = "experts = top k of score (x), weights = score (x)[experts] / sum; y = x",
  .example = "router (2, score=sigmoid) @ 6x8",
  .params = params,
  .groups = shown_groups,
  .params_size = sizeof (RouterParams),
  .kernel_params_size = sizeof (LigRouterParams),
  .extra_outputs = "weights experts",
  .parameters = parameters,
  .computes = "load losses",
  .saves = "x experts load",
  .watches = "load losses",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .lower_update = lower_update,
  .shardings = LIG_COMPUTES_ROWS,
  .no_onnx =
    N_ ("works on rows that are routed to experts, for which ONNX has no grouped operators"),
};
