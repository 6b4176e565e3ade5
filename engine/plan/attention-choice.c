/* SPDX-License-Identifier: MIT */
/* Says which steps of attention cuDNN cannot compute. */
#include "engine/plan/plan-private.h"

#include "kernels/attention-refusal.h"

#include <string.h>

const char *
lig_plan_explain_attention (LigPlan *self, guint step)
{
  LigOperand x[4] = {{0}};
  g_return_val_if_fail (self && step < self->draft->steps->len, NULL);
  const LigDraftStep *from = lig_step (self->draft, (int) step);
  bool backward = from->kernel && strcmp (from->kernel->name, "attention_backward") == 0;
  bool forward = from->kernel && strcmp (from->kernel->name, "attention") == 0;
  if ((!forward && !backward) || lig_device_get_facts (self->draft->device)->capability == 0)
    return NULL;
  /* Presence is all that counts of the operands behind x. */
  for (int i = 0; i < 4; i++)
    x[i].data = from->values[i + backward] >= 0 ? x : NULL;
  x[0].dtype = lig_value (self->draft, from->values[backward])->dtype;
  return lig_attention_refusal (x, (const LigAttentionParams *) (gconstpointer) from->params,
                                backward);
}
