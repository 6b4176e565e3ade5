/* SPDX-License-Identifier: MIT */
/* Finds the exchanges that steps wait for. An exchange in the communication lane begins when the
 * steps before it have ended; a later step waits for it only if one of the two writes memory that
 * the other one uses. Exchanges of the lane run one after another, so that waiting for one is
 * waiting for those before it. */
#include "engine/compile/draft.h"
#include "engine/compile/sharding.h"

/* Returns whether two values have bytes in common. */
static gboolean
overlap (const LigDraft *draft, int a, int b)
{
  if (a < 0 || b < 0 || lig_draft_root (draft, a) != lig_draft_root (draft, b))
    return FALSE;
  const LigValue *x = lig_value (draft, a), *y = lig_value (draft, b);
  return x->alias_offset < y->alias_offset + y->bytes &&
         y->alias_offset < x->alias_offset + x->bytes;
}

/* Exchanges of the same ranks have to begin in the same order on all of them. */
static gboolean
depends (const LigDraft *draft, const LigDraftStep *step, const LigDraftStep *exchange)
{
  LigRankGroup group = lig_step_group (step);
  if (group < LIG_N_GROUPS && group == lig_step_group (exchange))
    return TRUE;
  for (int i = 0; i < step->n_operands; i++)
    for (int j = i < step->n_inputs ? exchange->n_inputs : 0; j < exchange->n_operands; j++)
      if (overlap (draft, step->values[i], exchange->values[j]))
        return TRUE;
  return FALSE;
}

void
lig_find_waits (const LigDraft *draft, LigDraftStep *steps, guint count)
{
  gboolean all = count > 0 && steps == lig_step (draft, 0);
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (int));
  for (int i = 0; i < (int) count; i++) {
    LigDraftStep *step = &steps[i];
    step->awaits = -1;
    /* All lanes are joined there. */
    if ((all && i == draft->first_update) || !step->kernel)
      g_array_set_size (open, 0);
    if (step->lane == LIG_LANE_COMMUNICATION) {
      g_array_append_val (open, i);
      continue;
    }
    for (guint k = open->len; k-- > 0 && step->awaits < 0;)
      if (depends (draft, step, &steps[g_array_index (open, int, k)])) {
        step->awaits = g_array_index (open, int, k);
        g_array_remove_range (open, 0, k + 1);
      }
  }
}
