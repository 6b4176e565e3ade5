/* SPDX-License-Identifier: MIT */
/* The update: the gradients' global norm, then the optimizer over the parameters that
 * decay and over the others. */
#include "engine/compile/update.h"

#include "engine/compile/lower.h"
#include <ligature/optimizer.h>
#include <ligature/state-arrays.h>

static int
array_value (LigDraft *draft, LigStateArray array, gint64 first, gint64 count)
{
  static const char *const names[] = {"parameters", "gradients", "master", "moment", "variance"};
  LigShape shape;
  lig_shape_init (&shape, 1, count);
  int value =
    lig_draft_add_value (draft, LIG_VALUE_STATE, &shape, lig_draft_array_dtype (draft, array), -1,
                         "%s[%" G_GINT64_FORMAT "]", names[array], first);
  lig_value (draft, value)->array = (int) array;
  lig_value (draft, value)->state_offset = first;
  return value;
}

static void
update_region (LigDraft *draft, gint64 first, gint64 count, gboolean decays)
{
  const LigOptimizer *optimizer = draft->options.optimizer;
  int master =
    draft->parameter_dtype == LIG_FP32 ? -1 : array_value (draft, LIG_STATE_MASTER, first, count);
  int gradients = array_value (draft, LIG_STATE_GRADIENTS, first, count);
  int parameters = array_value (draft, LIG_STATE_PARAMETERS, first, count);
  if (optimizer->kind == LIG_OPTIMIZER_SGD) {
    LigSgdParams params = optimizer->sgd;
    int moment = params.momentum == 0 ? -1 : array_value (draft, LIG_STATE_MOMENT, first, count);
    int values[] = {gradients, draft->gradient_norm, draft->scaling, parameters, moment, master};
    if (!decays)
      params.weight_decay = 0;
    lig_lower_plain (draft, draft->steps, LIG_PASS_UPDATE, -1, "sgd", values, &params,
                     sizeof params);
    return;
  }
  LigAdamwParams params = optimizer->adamw;
  int values[] = {gradients,
                  draft->gradient_norm,
                  draft->scaling,
                  parameters,
                  array_value (draft, LIG_STATE_MOMENT, first, count),
                  array_value (draft, LIG_STATE_VARIANCE, first, count),
                  master};
  if (!decays)
    params.weight_decay = 0;
  lig_lower_plain (draft, draft->steps, LIG_PASS_UPDATE, -1, "adamw", values, &params,
                   sizeof params);
}

/* A factor that stays, or 0 where it is found as the training goes on. */
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

void
lig_schedule_update (LigDraft *draft)
{
  LigShape scalar = {0};
  draft->gradient_norm =
    lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &scalar, LIG_FP32, -1, "gradient-norm");
  lig_value (draft, draft->gradient_norm)->kept_to_end = TRUE;
  LigScalingParams params = scaling_params (draft);
  int values[] = {array_value (draft, LIG_STATE_GRADIENTS, 0, draft->elements),
                  draft->gradient_norm, lig_draft_scaling (draft)};
  lig_lower_plain (draft, draft->steps, LIG_PASS_UPDATE, -1, "gradient_norm", values, &params,
                   sizeof params);
  if (draft->decayed > 0)
    update_region (draft, 0, draft->decayed, TRUE);
  if (draft->elements > draft->decayed)
    update_region (draft, draft->decayed, draft->elements - draft->decayed, FALSE);
}
