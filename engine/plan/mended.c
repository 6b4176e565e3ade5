/* SPDX-License-Identifier: MIT */
/* The plan after edits that its verdicts offer, and with another choice of what is computed again.
 */
#include "engine/plan/plan-private.h"

/* Returns whether the edit moves the paths of other ops. */
static gboolean
moves_ops (const LigMend *mend)
{
  return mend->kind == LIG_MEND_INSERT_OP || mend->kind == LIG_MEND_REMOVE_OP;
}

LigPlan *
lig_plan_mend (LigPlan *self, const guint *numbers, guint count, GError **error)
{
  g_return_val_if_fail (self && (numbers || count == 0), NULL);
  const LigDraft *draft = self->draft;
  LigPlanOptions options = draft->options;
  g_autoptr (LigSequence) sequence = lig_sequence_copy (draft->sequence);
  /* Edits that move ops are made last, so that the paths of the others are right. */
  for (int moving = 0; moving < 2; moving++)
    for (guint i = 0; i < count; i++) {
      const LigMend *mend = lig_plan_find_mend (self, numbers[i], error);
      if (!mend)
        return NULL;
      if (moves_ops (mend) == moving && !lig_mend_apply (mend, sequence, error))
        return NULL;
    }
  options.tuning = NULL; /* its data may be gone */
  options.recall = TRUE;
  options.choices = NULL;
  return lig_plan_compile (sequence, draft->device, &options, error);
}

LigPlan *
lig_plan_with_recompute (LigPlan *self, LigRecompute recompute, GError **error)
{
  g_return_val_if_fail (self, NULL);
  LigPlanOptions options = self->draft->options;
  g_autofree char *choices = lig_plan_get_choices (self);
  options.tuning = NULL; /* its data may be gone */
  options.recall = TRUE;
  options.choices = choices;
  options.recompute = recompute;
  return lig_plan_compile (self->draft->sequence, self->draft->device, &options, error);
}
