/* SPDX-License-Identifier: MIT */
/* Steps of the communication lane, which overlap those after them: which steps have to wait for
 * them, and how long their operands stay in memory. */
#include "engine/compile/draft.h"
#include "engine/compile/lower.h"
#include "engine/compile/sharding.h"

void
lig_lower_beside (LigLowering *self,
                  const char *kernel,
                  const char *bindings,
                  const void *params,
                  gsize params_size)
{
  guint first = self->steps->len;
  lig_lower_kernel (self, kernel, bindings, params, params_size);
  for (guint i = first; i < self->steps->len; i++)
    g_array_index (self->steps, LigDraftStep, i).lane = LIG_LANE_COMMUNICATION;
}

/* Returns whether the main lane waits for all other lanes before the step. */
static gboolean
joins_all (const LigDraft *draft, int index)
{
  return index == draft->first_update || !lig_step (draft, index)->kernel;
}

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

/* Returns whether a step needs operands of an exchange before it. Exchanges of the same ranks have
 * to begin in the same order on all of them. */
static gboolean
needs (const LigDraft *draft, const LigDraftStep *step, const LigDraftStep *exchange)
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

/* Finds the last exchange that the step waits for. `open` has those that nothing waited for; as
 * they run one after another, those before it have ended, too. */
static void
find_awaited (const LigDraft *draft, LigDraftStep *steps, LigDraftStep *step, GArray *open)
{
  for (guint k = open->len; k-- > 0;)
    if (needs (draft, step, &steps[g_array_index (open, int, k)])) {
      step->awaits = g_array_index (open, int, k);
      g_array_remove_range (open, 0, k + 1);
      return;
    }
}

static void
find_awaits (const LigDraft *draft, LigDraftStep *steps, guint count, int joined)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (int));
  for (int i = 0; i < (int) count; i++) {
    steps[i].awaits = -1;
    if (i == joined || !steps[i].kernel)
      g_array_set_size (open, 0);
    if (steps[i].lane == LIG_LANE_COMMUNICATION)
      g_array_append_val (open, i);
    else
      find_awaited (draft, steps, &steps[i], open);
  }
}

void
lig_find_awaits (LigDraft *draft)
{
  find_awaits (draft, (LigDraftStep *) (gpointer) draft->steps->data, draft->steps->len,
               draft->first_update);
}

void
lig_find_awaits_in (const LigDraft *draft, LigDraftStep *steps, guint count)
{
  find_awaits (draft, steps, count, -1);
}

/* Steps of the communication lane that are next to each other wait for one another by themselves,
 * so that the later ones may already have the memory. */
static int
end_of_exchange (const LigDraft *draft, int index)
{
  int end = index, exchanges = 0;
  for (; end + 1 < (int) draft->steps->len && !joins_all (draft, end + 1); end++) {
    const LigDraftStep *next = lig_step (draft, end + 1);
    if (next->awaits >= index)
      return end - exchanges;
    exchanges = next->lane == LIG_LANE_COMMUNICATION ? exchanges + 1 : 0;
  }
  return end;
}

int
lig_end_of_step (const LigDraft *draft, int index)
{
  const LigLane lane = lig_step (draft, index)->lane;
  if (lane == LIG_LANE_COMMUNICATION)
    return end_of_exchange (draft, index);
  while (lane == LIG_LANE_SIDE && index + 1 < (int) draft->steps->len &&
         !joins_all (draft, index + 1) && lig_step (draft, index + 1)->lane != LIG_LANE_SIDE)
    index++;
  return index;
}
