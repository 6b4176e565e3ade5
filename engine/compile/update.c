/* SPDX-License-Identifier: MIT */
/* Schedules the update: the gradients' global norm, then the optimizer over the parameters with
 * weight decay and over the others, or over those that are this rank's share. */
#include "engine/compile/update.h"

#include "engine/compile/lower.h"
#include "engine/compile/owned.h"
#include "engine/compile/parameters.h"
#include "engine/compile/reduce.h"
#include <ligature/kernels.h>
#include <ligature/optimizer.h>
#include <ligature/state-arrays.h>

int
lig_array_value (LigDraft *draft, int array, gint64 first, gint64 count)
{
  LigShape shape;
  lig_shape_init (&shape, 1, count);
  int value = lig_draft_add_value (
    draft, LIG_VALUE_STATE, &shape, lig_draft_array_dtype (draft, array), -1,
    "%s[%" G_GINT64_FORMAT "]", lig_state_array_name ((LigStateArray) array), first);
  lig_value (draft, value)->array = array;
  lig_value (draft, value)->state_offset = first;
  return value;
}

/* The parts of the state arrays that one update works on, and its parameters. */
typedef struct {
  const LigOptimizerInfo *info;
  LigOptimizer optimizer;
  gint64 first, count;
  gint64 stored; /* offset into the array of parameters; -1: there are only the masters */
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
find_array (const LigDraft *draft, const Region *region, const char *operand)
{
  if (g_str_equal (operand, "master"))
    return draft->parameter_dtype == LIG_FP32 ? -1 : (int) LIG_STATE_MASTER;
  for (const LigOptimizerArray *array = region->info->arrays; array && array->name; array++)
    if (g_str_equal (operand, array->operand ? array->operand : array->name))
      return array->needs && get_param (region, array->needs) == 0
               ? -1
               : lig_state_find_array (array->name);
  return lig_state_find_array (operand);
}

static int
operand_value (LigDraft *draft, const Region *region, const char *operand)
{
  if (g_str_equal (operand, "norm"))
    return draft->gradient_norm;
  if (g_str_equal (operand, "scaling"))
    return draft->scaling;
  int array = find_array (draft, region, operand);
  if (array == LIG_STATE_PARAMETERS)
    return region->stored < 0 ? -1 : lig_array_value (draft, array, region->stored, region->count);
  gint64 first =
    array > LIG_STATE_GRADIENTS ? lig_kept_place (draft, region->first) : region->first;
  return array < 0 ? -1 : lig_array_value (draft, array, first, region->count);
}

static void
update_region (LigDraft *draft, gint64 first, gint64 count, gint64 stored, gboolean decays)
{
  Region region = {
    .optimizer = *draft->options.optimizer, .first = first, .count = count, .stored = stored};
  region.info = lig_optimizer_info_find (region.optimizer.name, NULL);
  const LigKernel *kernel = lig_kernel_find (region.info->kernel);
  int inputs, values[LIG_MAX_OPERANDS], operands = lig_signature_count (kernel->signature, &inputs);
  for (int i = 0; i < operands; i++) {
    char name[32];
    lig_signature_name (kernel->signature, i, name);
    values[i] = operand_value (draft, &region, name);
  }
  if (!decays && region.info->decay)
    lig_optimizer_set (&region.optimizer, region.info->decay, 0, NULL);
  lig_lower_plain (draft, draft->steps, LIG_PASS_UPDATE, -1, region.info->kernel, values,
                   region.optimizer.params, region.info->params_size);
}

/* Updates the parameters from `first` to `end`, in regions that all have elements in the array of
 * parameters or all have none. */
static void
update_regions (LigDraft *draft, gint64 first, gint64 end, gboolean decays)
{
  g_autoptr (GArray) order = lig_parameters_by_offset (draft);
  gint64 stored = -1;
  gboolean begun = FALSE;
  for (guint i = 0; i < order->len; i++) {
    const LigDraftParameter *parameter =
      &g_array_index (draft->parameters, LigDraftParameter, g_array_index (order, int, i));
    gint64 at = parameter->offset;
    if (at < first || at >= end || lig_shape_size (&parameter->shape) == 0)
      continue;
    if (begun && (parameter->stored < 0) != (stored < 0)) {
      update_region (draft, first, at - first, stored, decays);
      first = at;
      begun = FALSE;
    }
    stored = begun ? stored : parameter->stored;
    begun = TRUE;
  }
  update_region (draft, first, end - first, stored, decays);
}

/* Returns the parameters with the fixed loss scale, or 0 if it is adjusted during training. */
static LigScalingParams
scaling_params (const LigDraft *draft)
{
  double fixed = draft->options.optimizer->loss_scale;
  return (LigScalingParams){draft->scales ? (float) fixed : 1};
}

void
lig_schedule_scaling (LigDraft *draft)
{
  for (guint i = 0; i < draft->scalings->len; i++) {
    const LigConversion *given = &g_array_index (draft->scalings, LigConversion, i);
    LigScalingParams params = scaling_params (draft);
    int values[] = {given->from, given->to, lig_draft_scaling (draft)};
    lig_lower_plain (draft, draft->steps, LIG_PASS_BACKWARD, -1, "scale_gradient", values, &params,
                     sizeof params);
  }
}

/* Schedules the norm of a range of values, without the loss scale if `scaling` is negative. */
static void
schedule_norm (LigDraft *draft, int of, int norm, int scaling)
{
  LigScalingParams params = scaling_params (draft);
  int values[] = {of, norm, scaling};
  lig_lower_plain (draft, draft->steps, LIG_PASS_UPDATE, -1, "gradient_norm", values, &params,
                   sizeof params);
}

static int
add_norms (LigDraft *draft, gint64 count, const char *name)
{
  LigShape shape;
  lig_shape_init (&shape, count > 1 ? 1 : 0, count);
  return lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &shape, LIG_FP32, -1, "%s", name);
}

/* Returns the gradients whose norm this rank computes: all, but of those that are equal on the
 * ranks of a tensor group only the first rank's count. */
static LigDraftRange
find_own_gradients (const LigDraft *draft)
{
  const LigDraftRange *divided = draft->ranges[LIG_PARAMETER_DIVIDED];
  return lig_device_get_rank (draft->device, LIG_GROUP_TENSOR) == 0
           ? (LigDraftRange){0, draft->elements}
           : (LigDraftRange){divided[TRUE].first, divided[FALSE].end};
}

/* Schedules the norms of several ranges of gradients into one value, which it returns; it has the
 * same norm as all of them. */
static int
schedule_norms (LigDraft *draft, const GArray *ranges)
{
  int norms = add_norms (draft, ranges->len, "norms-of-shares");
  for (guint i = 0; i < ranges->len; i++) {
    LigDraftRange range = g_array_index (ranges, LigDraftRange, i);
    int norm = add_norms (draft, 1, "norm-of-share");
    lig_value (draft, norm)->alias = norms;
    lig_value (draft, norm)->alias_offset = (gint64) (i * sizeof (float));
    schedule_norm (
      draft, lig_array_value (draft, LIG_STATE_GRADIENTS, range.first, range.end - range.first),
      norm, -1);
  }
  return norms;
}

/* Returns the value whose norm is that of the gradients of this rank. Without any it is empty. */
static int
find_own_norm (LigDraft *draft, LigDraftRange own)
{
  g_autoptr (GArray) ranges = lig_own_ranges (draft, own);
  LigDraftRange only = {0, 0};
  if (ranges->len > 1)
    return schedule_norms (draft, ranges);
  if (ranges->len == 1)
    only = g_array_index (ranges, LigDraftRange, 0);
  return lig_array_value (draft, LIG_STATE_GRADIENTS, only.first, only.end - only.first);
}

/* Schedules the global norm; if gradients are divided among ranks, it is the norm of the norms of
 * their parts. */
static void
schedule_global_norm (LigDraft *draft)
{
  const LigDraftRange *kind = draft->ranges[LIG_PARAMETER_DIVIDED];
  gboolean divided = kind[TRUE].first<kind[FALSE].end, shared = draft->shares->len> 0;
  draft->gradient_norm = add_norms (draft, 1, "gradient-norm");
  lig_value (draft, draft->gradient_norm)->kept_to_end = TRUE;
  int of = find_own_norm (draft, divided ? find_own_gradients (draft)
                                         : (LigDraftRange){0, draft->elements});
  if (divided || shared) {
    LigRankGroup group = !shared   ? LIG_GROUP_TENSOR
                         : divided ? LIG_GROUP_ALL
                                   : lig_device_get_replicas (draft->device);
    int part = add_norms (draft, 1, "own-norm");
    int all = add_norms (draft, lig_device_get_n_ranks (draft->device, group), "norms");
    schedule_norm (draft, of, part, -1);
    lig_gather_norms (draft, part, all, group);
    of = all;
  }
  schedule_norm (draft, of, draft->gradient_norm, lig_draft_scaling (draft));
}

/* Updates this rank's shares. While one is gathered, the next is updated. */
static void
update_shares (LigDraft *draft)
{
  for (guint i = 0; i < draft->shares->len; i++) {
    const LigShare share = g_array_index (draft->shares, LigShare, i);
    update_region (draft, share.own.first, share.own.end - share.own.first, share.own.first,
                   share.all.first < draft->decayed);
    lig_gather_parameters (draft, &share);
  }
}

void
lig_schedule_update (LigDraft *draft)
{
  lig_reduce_summed (draft);
  schedule_global_norm (draft);
  if (draft->shares->len > 0) {
    update_shares (draft);
    return;
  }
  if (draft->decayed > 0)
    update_regions (draft, 0, draft->decayed, TRUE);
  if (draft->elements > draft->decayed)
    update_regions (draft, draft->decayed, draft->elements, FALSE);
}
