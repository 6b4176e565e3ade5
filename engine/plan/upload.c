/* SPDX-License-Identifier: MIT */
/* The copy of a batch to the device, which the lane of copies makes beside the step before it. A
 * sequence without a loss is a part of a model, whose input is computed where it runs. */
#include "engine/plan/plan-private.h"
#include <ligature/figures.h>

static double
bytes_of (const LigDraft *draft, int value)
{
  const LigValue *of = lig_value (draft, value);
  return (double) lig_shape_size (&of->shape) * (double) lig_dtype_size (of->dtype);
}

static gboolean
ends_with_loss (const LigDraft *draft)
{
  guint count = draft->parts->len;
  return count > 0 && lig_part (draft, (int) count - 1)->info->flags & LIG_OP_LOSS;
}

void
lig_figures_of_upload (LigPlan *plan, LigUpload *upload)
{
  const LigDraft *draft = plan->draft;
  const LigTimedPlan timed = {.plan = plan};
  LigFigures step;
  double rate = lig_device_get_facts (draft->device)->upload;
  *upload = (LigUpload){0};
  if (rate <= 0 || !ends_with_loss (draft))
    return;
  upload->bytes = bytes_of (draft, draft->input_value);
  for (guint i = 0; i < draft->callers_inputs->len; i++)
    upload->bytes += bytes_of (draft, g_array_index (draft->callers_inputs, int, i));
  lig_figures_of_step (&timed, NULL, &step);
  upload->seconds = upload->bytes / rate;
  if (step.predicted > 0)
    upload->exposed = MAX (upload->seconds - step.predicted, 0);
}
