/* SPDX-License-Identifier: MIT */
/* Schedules the update: the gradients' global norm, then the optimizer over the parameters with
 * weight decay and over the others, or only over this rank's share of them; then the ops that
 * change parameters themselves. */
#include "engine/compile/update.h"

#include "engine/graph/gradients.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"
#include "engine/lower/kernels.h"
#include "engine/lower/lower.h"
#include "engine/parallel/reduce.h"
#include "engine/parallel/shares.h"
#include <ligature/kernels.h>
#include <ligature/optimizer.h>
#include <ligature/state-arrays.h>

/* The parts of the state arrays that one update changes, and its parameters. */
typedef struct {
  const LigOptimizerInfo *info;
  LigOptimizer optimizer;
  gint64 first, count;
  gint64 stored; /* offset into the array of parameters; -1: only the masters exist */
} Region;

static double
get_param (const Region *region, const char *name)
{
  for (const LigParam *param = region->info->params; param->name; param++)
    if (g_str_equal (param->name, name))
      return lig_optimizer_get (&region->optimizer, param);
  return 0;
}

/* Returns the array that an operand of the kernel refers to, or -1 if the state has none. */
static int
find_array (const LigGraph *graph, const Region *region, const char *operand)
{
  if (g_str_equal (operand, "master"))
    return graph->request->parameter_dtype == LIG_FP32 ? -1 : (int) LIG_STATE_MASTER;
  for (const LigOptimizerArray *array = region->info->arrays; array && array->name; array++)
    if (g_str_equal (operand, array->operand ? array->operand : array->name))
      return array->needs && get_param (region, array->needs) == 0
               ? -1
               : lig_state_find_array (array->name);
  return lig_state_find_array (operand);
}

static int
operand_value (LigGraph *graph, const Region *region, const char *operand)
{
  if (g_str_equal (operand, "norm"))
    return graph->ends.gradient_norm;
  if (g_str_equal (operand, "scaling"))
    return graph->ends.scaling;
  int array = find_array (graph, region, operand);
  if (array == LIG_STATE_PARAMETERS)
    return region->stored < 0 ? -1 : lig_array_value (graph, array, region->stored, region->count);
  gint64 first =
    array > LIG_STATE_GRADIENTS ? lig_kept_place (graph, region->first) : region->first;
  return array < 0 ? -1 : lig_array_value (graph, array, first, region->count);
}

static void
update_region (LigGraph *graph, gint64 first, gint64 count, gint64 stored, gboolean decays)
{
  Region region = {.optimizer = *graph->request->options.optimizer,
                   .first = first,
                   .count = count,
                   .stored = stored};
  region.info = lig_optimizer_info_find (region.optimizer.name, NULL);
  const LigKernel *kernel = lig_kernel_find (region.info->kernel);
  int inputs, values[LIG_MAX_OPERANDS], operands = lig_signature_count (kernel->signature, &inputs);
  for (int i = 0; i < operands; i++) {
    char name[32];
    lig_signature_name (kernel->signature, i, name);
    values[i] = operand_value (graph, &region, name);
  }
  if (!decays && region.info->decay)
    lig_optimizer_set (&region.optimizer, region.info->decay, 0, NULL);
  lig_step_append (graph, graph->steps, LIG_PASS_UPDATE, -1, region.info->kernel, values,
                   region.optimizer.params, region.info->params_size);
}

/* Updates the parameters from `first` to `end`, in regions that are entirely in the array of
 * parameters or entirely outside it. */
static void
update_regions (LigGraph *graph, gint64 first, gint64 end, gboolean decays)
{
  g_autoptr (GArray) order = lig_parameters_by_offset (graph);
  gint64 stored = -1;
  gboolean begun = FALSE;
  for (guint i = 0; i < order->len; i++) {
    const LigParameter *parameter = lig_parameter (graph, g_array_index (order, int, i));
    gint64 at = parameter->offset;
    if (at < first || at >= end || lig_shape_size (&parameter->shape) == 0)
      continue;
    if (begun && (parameter->stored < 0) != (stored < 0)) {
      update_region (graph, first, at - first, stored, decays);
      first = at;
      begun = FALSE;
    }
    stored = begun ? stored : parameter->stored;
    begun = TRUE;
  }
  update_region (graph, first, end - first, stored, decays);
}

/* Returns the parameters with the fixed loss scale, or 0 if it is adjusted during training. */
static LigScalingParams
scaling_params (const LigGraph *graph)
{
  double fixed = graph->request->options.optimizer->loss_scale;
  return (LigScalingParams){graph->ends.scales ? (float) fixed : 1};
}

void
lig_schedule_scaling (LigGraph *graph)
{
  for (guint i = 0; i < graph->gradients->scalings->len; i++) {
    const LigConversion *given = &g_array_index (graph->gradients->scalings, LigConversion, i);
    LigScalingParams params = scaling_params (graph);
    int values[] = {given->from, given->to, lig_graph_scaling (graph)};
    lig_step_append (graph, graph->steps, LIG_PASS_BACKWARD, -1, "scale_gradient", values, &params,
                     sizeof params);
  }
}

/* Schedules the norm of a range of values, without the loss scale if `scaling` is negative. */
static void
schedule_norm (LigGraph *graph, int of, int norm, int scaling)
{
  LigScalingParams params = scaling_params (graph);
  int values[] = {of, norm, scaling};
  lig_step_append (graph, graph->steps, LIG_PASS_UPDATE, -1, "gradient_norm", values, &params,
                   sizeof params);
}

static int
add_norms (LigGraph *graph, gint64 count, const char *name)
{
  LigShape shape;
  lig_shape_init (&shape, count > 1 ? 1 : 0, count);
  return lig_graph_add_value (graph, LIG_VALUE_COMPUTED, &shape, LIG_FP32, -1, "%s", name);
}

/* Returns the ranks over which gradients are sharded: those of a tensor-parallel group, or those
 * that share the experts; LIG_N_GROUPS if none are. */
static LigRankGroup
find_sharding (const LigGraph *graph, LigParameterKind *kind)
{
  static const LigRankGroup groups[LIG_N_PARAMETER_KINDS] = {
    [LIG_PARAMETER_SHARDED] = LIG_GROUP_TENSOR, [LIG_PARAMETER_EXPERT] = LIG_GROUP_EXPERT};
  for (*kind = LIG_PARAMETER_SHARDED; *kind < LIG_N_PARAMETER_KINDS; (*kind)++) {
    const LigElements *ranges = graph->layout->ranges[*kind];
    if (ranges[TRUE].first < ranges[TRUE].end || ranges[FALSE].first < ranges[FALSE].end)
      return groups[*kind];
  }
  return LIG_N_GROUPS;
}

/* Returns the gradients whose norm this rank computes: all, except that gradients that are equal on
 * all ranks of the group count only on its first rank. */
static LigElements
find_own_gradients (const LigGraph *graph, LigRankGroup group, LigParameterKind kind)
{
  const LigElements *sharded = graph->layout->ranges[kind];
  return lig_device_get_rank (graph->request->device, group) == 0
           ? (LigElements){0, graph->layout->elements}
           : (LigElements){sharded[TRUE].first, sharded[FALSE].end};
}

/* Schedules the norms of several ranges of gradients into one value, which it returns; its norm is
 * that of all of them. */
static int
schedule_norms (LigGraph *graph, const GArray *ranges)
{
  int norms = add_norms (graph, ranges->len, "norms-of-shares");
  for (guint i = 0; i < ranges->len; i++) {
    LigElements range = g_array_index (ranges, LigElements, i);
    int norm = add_norms (graph, 1, "norm-of-share");
    lig_value (graph, norm)->alias = norms;
    lig_value (graph, norm)->alias_offset = (gint64) (i * sizeof (float));
    schedule_norm (
      graph, lig_array_value (graph, LIG_STATE_GRADIENTS, range.first, range.end - range.first),
      norm, -1);
  }
  return norms;
}

/* Returns the value whose norm is that of the gradients of this rank; without gradients it is
 * empty. */
static int
find_own_norm (LigGraph *graph, LigElements own)
{
  g_autoptr (GArray) ranges = lig_own_ranges (graph, own);
  LigElements only = {0, 0};
  if (ranges->len > 1)
    return schedule_norms (graph, ranges);
  if (ranges->len == 1)
    only = g_array_index (ranges, LigElements, 0);
  return lig_array_value (graph, LIG_STATE_GRADIENTS, only.first, only.end - only.first);
}

/* Schedules the global norm; if gradients are sharded, it is the norm of the norms of their
 * parts. */
static void
schedule_global_norm (LigGraph *graph)
{
  LigParameterKind kind;
  LigRankGroup over = find_sharding (graph, &kind);
  gboolean shared = graph->layout->shares->len > 0;
  /* Shares of divided experts are those of different ranks, like those of other parameters. */
  gboolean sharded = over != LIG_N_GROUPS && !(shared && over == LIG_GROUP_EXPERT);
  graph->ends.gradient_norm = add_norms (graph, 1, "gradient-norm");
  lig_value (graph, graph->ends.gradient_norm)->kept_to_end = TRUE;
  int of = find_own_norm (graph, sharded ? find_own_gradients (graph, over, kind)
                                         : (LigElements){0, graph->layout->elements});
  if (sharded || shared) {
    LigRankGroup group = !shared   ? over
                         : sharded ? LIG_GROUP_ALL
                                   : lig_device_get_replicas (graph->request->device);
    int part = add_norms (graph, 1, "own-norm");
    int all = add_norms (graph, lig_device_get_n_ranks (graph->request->device, group), "norms");
    schedule_norm (graph, of, part, -1);
    lig_gather_norms (graph, part, all, group);
    of = all;
  }
  schedule_norm (graph, of, graph->ends.gradient_norm, lig_graph_scaling (graph));
}

/* Updates this rank's shares; the next one is updated while one is gathered. */
static void
update_shares (LigGraph *graph)
{
  for (guint i = 0; i < graph->layout->shares->len; i++) {
    const LigShare share = g_array_index (graph->layout->shares, LigShare, i);
    update_region (graph, share.own.first, share.own.end - share.own.first, share.own.first,
                   share.all.first < graph->layout->decayed);
    lig_gather_parameters (graph, &share);
  }
}

void
lig_schedule_update (LigGraph *graph)
{
  lig_reduce_summed (graph);
  schedule_global_norm (graph);
  if (graph->layout->shares->len > 0) {
    update_shares (graph);
    return;
  }
  if (graph->layout->decayed > 0)
    update_regions (graph, 0, graph->layout->decayed, TRUE);
  if (graph->layout->elements > graph->layout->decayed)
    update_regions (graph, graph->layout->decayed, graph->layout->elements, FALSE);
}

/* Returns whether the op changes a parameter of its own. */
static gboolean
has_own_update (const LigGraph *graph, const LigPart *part)
{
  for (int i = 0; i < part->n_parameters; i++)
    if (!(part->tied >> i & 1) &&
        lig_parameter (graph, lig_value (graph, part->parameters[i])->parameter)->own_update)
      return TRUE;
  return FALSE;
}

gboolean
lig_schedule_own_updates (LigGraph *graph, GError **error)
{
  for (int i = 0; i < (int) graph->parts->len; i++) {
    LigPlanGroup group = {.pass = LIG_PASS_UPDATE, .first = i, .count = 1, .n_elements = 1};
    guint first = graph->steps->len;
    if (has_own_update (graph, lig_part (graph, i)) &&
        (!lig_lower_group (graph, &group, LIG_PASS_UPDATE, graph->steps, NULL, error) ||
         !lig_check_kernels (graph, &group, graph->steps, first, error)))
      return FALSE;
  }
  return TRUE;
}
