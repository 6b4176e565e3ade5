/* SPDX-License-Identifier: MIT */
/* The copy of a batch to the device, which runs in the copy lane concurrently with the previous
 * step. A sequence without a loss is a part of a model, whose input is computed on the device. */
#include "engine/plan/plan-private.h"
#include <ligature/figures.h>

static double
bytes_of (const LigPlan *plan, int value)
{
  const LigPlanValue *of = lig_plan_value (plan, value);
  return (double) lig_shape_size (&of->shape) * (double) lig_dtype_size (of->dtype);
}

static gboolean
ends_with_loss (const LigPlan *plan)
{
  guint count = plan->ops->len;
  return count > 0 && lig_plan_op (plan, (int) count - 1)->info->flags & LIG_OP_LOSS;
}

void
lig_figures_of_upload (LigPlan *plan, LigUpload *upload)
{
  const LigTimedPlan timed = {.plan = plan};
  LigFigures step;
  double rate = lig_device_get_facts (plan->request->device)->upload;
  *upload = (LigUpload){0};
  if (rate <= 0 || !ends_with_loss (plan))
    return;
  upload->bytes = bytes_of (plan, plan->ends.input);
  for (guint i = 0; i < plan->ends.extra_inputs->len; i++)
    upload->bytes += bytes_of (plan, g_array_index (plan->ends.extra_inputs, int, i));
  lig_figures_of_step (&timed, NULL, &step);
  upload->seconds = upload->bytes / rate;
  if (step.predicted > 0)
    upload->exposed = MAX (upload->seconds - step.predicted, 0);
}
