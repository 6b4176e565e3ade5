/* SPDX-License-Identifier: MIT */
/* allocate: turns lifetimes of values into offsets in one arena. A step may write in place if its
 * kernel can and no later step reads the input; larger values are placed first. */
#include "engine/compile/draft.h"
#include "engine/compile/place.h"

#include <glib/gi18n-lib.h>

#define ALIGNMENT 256

gboolean
lig_value_in_arena (const LigValue *value)
{
  return value->role != LIG_VALUE_PARAMETER && value->role != LIG_VALUE_PARAMETER_GRADIENT &&
         value->role != LIG_VALUE_STATE && value->role != LIG_VALUE_SCALING &&
         value->role != LIG_VALUE_QUANTIZERS;
}

/* Lets the value live from a step to the end of that. */
static void
use (LigValue *value, int step, int end)
{
  value->first_step = MIN (value->first_step, step);
  value->last_step = MAX (value->last_step, end);
  if (end > step)
    value->beside = MAX (value->beside, end);
}

static void
find_lifetimes (LigDraft *draft)
{
  lig_find_awaits (draft);
  for (int i = 0; i < (int) draft->values->len; i++) {
    lig_value (draft, i)->first_step = G_MAXINT;
    lig_value (draft, i)->last_step = lig_value (draft, i)->beside = -1;
  }
  for (int i = 0; i < (int) draft->values->len; i++) {
    LigValue *value = lig_value (draft, i);
    LigValue *root = lig_value (draft, lig_draft_root (draft, i));
    /* The caller writes these before a run and may run again without writing them. */
    if (value->role == LIG_VALUE_INPUT || value->role == LIG_VALUE_EXTRA ||
        value->role == LIG_VALUE_GIVEN) {
      root->first_step = -1;
      root->last_step = G_MAXINT;
    }
    if (value->kept_to_end)
      root->last_step = G_MAXINT;
  }
  /* Copies of parameters are kept until the parameters change. */
  for (int i = 0; i < draft->first_forward; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    for (int j = step->n_inputs; j < step->n_operands; j++) {
      if (step->values[j] < 0 || lig_value (draft, step->values[j])->brief)
        continue;
      LigValue *root = lig_value (draft, lig_draft_root (draft, step->values[j]));
      root->first_step = -1;
      root->last_step = G_MAXINT;
    }
  }
  for (int i = 0; i < (int) draft->steps->len; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    int end = lig_end_of_step (draft, i);
    for (int j = 0; j <= step->n_operands; j++) {
      int value = j < step->n_operands ? step->values[j] : step->scratch > 0 ? step->scratch : -1;
      if (value < 0)
        continue;
      use (lig_value (draft, lig_draft_root (draft, value)), i, end);
    }
  }
}

/* Returns whether output `to` of a step may use the memory of its input `from`: no later step reads
 * the input, none of another lane may still read it, and no other operand shares its memory. */
static gboolean
may_replace (const LigDraft *draft, int index, int from, int to)
{
  const LigDraftStep *step = lig_step (draft, index);
  if (step->values[from] < 0 || step->values[to] < 0)
    return FALSE;
  int old = lig_draft_root (draft, step->values[from]);
  int new = lig_draft_root (draft, step->values[to]);
  const LigValue *input = lig_value (draft, old), *output = lig_value (draft, new);
  gboolean fits = lig_value_in_arena (input) && lig_value_in_arena (output) &&
                  input->bytes == output->bytes && input->dtype == output->dtype &&
                  input->last_step == index && input->beside < index && input->first_step >= 0 &&
                  output->first_step == index;
  for (int i = 0; i < step->n_operands && fits; i++)
    if (i != from && i != to && step->values[i] >= 0) {
      int other = lig_draft_root (draft, step->values[i]);
      fits = other != old && other != new;
    }
  return fits;
}

/* Places outputs of a step in the extents of inputs, where its kernel's signature allows it. */
static void
reuse_inputs (LigDraft *draft, int index, GArray *extents, int *numbers)
{
  const LigDraftStep *step = lig_step (draft, index);
  unsigned taken = 0;
  for (int to = step->n_inputs; step->kernel && to < step->n_operands; to++) {
    unsigned places = step->ports->ports[to].places & ~taken;
    for (int from = 0; places >> from; from++) {
      if (!(places >> from & 1) || !may_replace (draft, index, from, to))
        continue;
      int old = lig_draft_root (draft, step->values[from]);
      int new = lig_draft_root (draft, step->values[to]);
      LigExtent *kept = &g_array_index (extents, LigExtent, numbers[old]);
      LigExtent *gone = &g_array_index (extents, LigExtent, numbers[new]);
      kept->last = MAX (kept->last, gone->last);
      gone->bytes = 0;
      numbers[new] = numbers[old];
      taken |= 1u << from;
      break;
    }
  }
}

GArray *
lig_find_extents (LigDraft *draft, int *slots)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (LigExtent));
  find_lifetimes (draft);
  for (int i = 0; i < (int) draft->values->len; i++) {
    const LigValue *value = lig_value (draft, i);
    slots[i] = -1;
    if (!lig_value_in_arena (value) || value->alias >= 0 || value->last_step < 0 ||
        value->first_step == G_MAXINT)
      continue;
    LigExtent slot = {(MIN (value->bytes, G_MAXINT64 / 2) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
                      value->first_step, value->last_step, 0};
    slots[i] = (int) list->len;
    g_array_append_val (list, slot);
  }
  for (int i = 0; i < (int) draft->steps->len; i++)
    reuse_inputs (draft, i, list, slots);
  return list;
}

gint64 *
lig_sum_extents (const LigDraft *draft, const GArray *slots, gint64 *peak)
{
  guint count = draft->steps->len;
  gint64 *change = g_new0 (gint64, count + 2);
  for (guint i = 0; i < slots->len; i++) {
    const LigExtent *slot = &g_array_index (slots, LigExtent, i);
    change[MAX (slot->first, 0)] += slot->bytes;
    if (slot->last < (int) count)
      change[slot->last + 1] -= slot->bytes;
  }
  *peak = 0;
  for (guint i = 0; i <= count; i++) {
    change[i] += i > 0 ? change[i - 1] : 0;
    *peak = MAX (*peak, change[i]);
  }
  return change;
}

gboolean
lig_allocate (LigDraft *draft, GError **error)
{
  g_autofree int *numbers = g_new (int, draft->values->len);
  g_autoptr (GArray) slots = lig_find_extents (draft, numbers);
  draft->arena_bytes =
    lig_place ((LigExtent *) (gpointer) slots->data, slots->len, (int) draft->steps->len);
  if (draft->arena_bytes < 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 _ ("the plan's values take more than 2^61 bytes"));
    return FALSE;
  }
  for (int i = 0; i < (int) draft->values->len; i++)
    if (numbers[i] >= 0)
      lig_value (draft, i)->offset = g_array_index (slots, LigExtent, numbers[i]).offset;
  g_free (lig_sum_extents (draft, slots, &draft->live_peak));
  return TRUE;
}
