/* SPDX-License-Identifier: MIT */
/* Steps of the communication lane, which overlap those after them: which steps have to wait for
 * them, and how long their operands stay in memory. */
#include "engine/compile/draft.h"
#include "engine/compile/lower.h"

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

/* The last steps of the communication lane that write and read each value, by roots; or -1. */
typedef struct {
  int *writers, *readers;
} Touched;

static void
touch (const LigDraft *draft, int index, const Touched *last)
{
  const LigDraftStep *step = lig_step (draft, index);
  for (int i = 0; i < step->n_operands; i++) {
    int root = lig_draft_root (draft, step->values[i]);
    if (root >= 0)
      (i < step->n_inputs ? last->readers : last->writers)[root] = index;
  }
}

/* Returns the last step of the communication lane whose operands the step needs, or -1. */
static int
find_awaited (const LigDraft *draft, const LigDraftStep *step, const Touched *last)
{
  int awaits = -1;
  for (int i = 0; i < step->n_operands; i++) {
    int root = lig_draft_root (draft, step->values[i]);
    if (root < 0)
      continue;
    awaits = MAX (awaits, last->writers[root]);
    if (i >= step->n_inputs)
      awaits = MAX (awaits, last->readers[root]);
  }
  return awaits;
}

void
lig_find_awaits (LigDraft *draft)
{
  guint n_values = draft->values->len;
  g_autofree int *writers = g_new (int, n_values + 1), *readers = g_new (int, n_values + 1);
  const Touched last = {writers, readers};
  int done = -1; /* the last step that the main lane has waited for */
  for (guint i = 0; i < n_values; i++)
    writers[i] = readers[i] = -1;
  for (int i = 0; i < (int) draft->steps->len; i++) {
    LigDraftStep *step = lig_step (draft, i);
    step->awaits = -1;
    if (joins_all (draft, i))
      done = i;
    if (step->lane == LIG_LANE_COMMUNICATION) {
      touch (draft, i, &last);
      continue;
    }
    int awaits = find_awaited (draft, step, &last);
    if (awaits > done)
      step->awaits = done = awaits;
  }
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
