/* SPDX-License-Identifier: MIT */
/* allocate: lifetimes of values become offsets in one arena. Pointwise steps may write where they
 * read if nobody reads there later; larger values find a place first. */
#include "engine/compile/draft.h"

#include <string.h>

#define ALIGNMENT 256

/* What occupies memory: a root value, or several that follow each other in place. */
typedef struct {
  gint64 bytes, offset;
  int first, last;
} Slot;

static gboolean
in_arena (const LigValue *value)
{
  return value->role != LIG_VALUE_PARAMETER && value->role != LIG_VALUE_PARAMETER_GRADIENT &&
         value->role != LIG_VALUE_STATE && value->role != LIG_VALUE_SCALING;
}

/* What a step beside others works on lives until it is joined: at the update, at an opaque op, or
 * at the end. */
static int
end_of_step (const LigDraft *draft, int index)
{
  if (!lig_step (draft, index)->beside)
    return index;
  while (index + 1 < (int) draft->steps->len && index + 1 != draft->first_update &&
         lig_step (draft, index + 1)->kernel && !lig_step (draft, index + 1)->beside)
    index++;
  return index;
}

static void
find_lifetimes (LigDraft *draft)
{
  for (int i = 0; i < (int) draft->values->len; i++) {
    LigValue *value = lig_value (draft, i);
    LigValue *root = lig_value (draft, lig_draft_root (draft, i));
    /* The caller writes these before each run and may run again without writing. */
    if (value->role == LIG_VALUE_INPUT || value->role == LIG_VALUE_EXTRA ||
        value->role == LIG_VALUE_GIVEN) {
      root->first_step = -1;
      root->last_step = G_MAXINT;
    }
    if (value->kept_to_end)
      root->last_step = G_MAXINT;
  }
  for (int i = 0; i < (int) draft->steps->len; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    int end = end_of_step (draft, i);
    for (int j = 0; j < step->n_operands; j++) {
      if (step->values[j] < 0)
        continue;
      LigValue *root = lig_value (draft, lig_draft_root (draft, step->values[j]));
      root->first_step = MIN (root->first_step, i);
      root->last_step = MAX (root->last_step, end);
    }
  }
}

/* Built-in kernels that are no products read each element of their first operand before they write
 * the same element of their first output. */
static int
reusable_input (const LigDraft *draft, int index)
{
  const LigDraftStep *step = lig_step (draft, index);
  if (!step->kernel || step->kernel->work <= 0 ||
      lig_kernel_find (step->kernel->name) != step->kernel || step->n_inputs >= step->n_operands ||
      step->values[0] < 0 || step->values[step->n_inputs] < 0)
    return -1;
  int from = lig_draft_root (draft, step->values[0]);
  int to = lig_draft_root (draft, step->values[step->n_inputs]);
  const LigValue *input = lig_value (draft, from), *output = lig_value (draft, to);
  gboolean fits = in_arena (input) && in_arena (output) && input->bytes == output->bytes &&
                  input->dtype == output->dtype && input->last_step == index &&
                  input->first_step >= 0 && output->first_step == index;
  /* Another operand that is the same memory would be read after it was written. */
  for (int i = 1; i < step->n_inputs && fits; i++)
    fits = step->values[i] < 0 || lig_draft_root (draft, step->values[i]) != from;
  return fits ? from : -1;
}

static GArray *
make_slots (LigDraft *draft, int *slots)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (Slot));
  for (int i = 0; i < (int) draft->values->len; i++) {
    const LigValue *value = lig_value (draft, i);
    slots[i] = -1;
    if (!in_arena (value) || value->alias >= 0 || value->last_step < 0 ||
        value->first_step == G_MAXINT)
      continue;
    Slot slot = {(value->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, -1, value->first_step,
                 value->last_step};
    slots[i] = (int) list->len;
    g_array_append_val (list, slot);
  }
  for (int i = 0; i < (int) draft->steps->len; i++) {
    int from = reusable_input (draft, i);
    if (from < 0)
      continue;
    const LigDraftStep *step = lig_step (draft, i);
    int to = lig_draft_root (draft, step->values[step->n_inputs]);
    Slot *kept = &g_array_index (list, Slot, slots[from]);
    Slot *gone = &g_array_index (list, Slot, slots[to]);
    kept->last = MAX (kept->last, gone->last);
    gone->bytes = 0;
    slots[to] = slots[from];
  }
  return list;
}

static int
by_size (gconstpointer a, gconstpointer b)
{
  const Slot *x = *(Slot *const *) a, *y = *(Slot *const *) b;
  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x < y ? -1 : x > y);
}

/* First fit among those already placed, which are kept in the order of their offsets. */
static void
place (GPtrArray *placed, Slot *slot)
{
  gint64 at = 0;
  guint position = placed->len;
  for (guint i = 0; i < placed->len; i++) {
    const Slot *other = placed->pdata[i];
    if (other->last < slot->first || slot->last < other->first)
      continue;
    if (other->offset >= at + slot->bytes)
      break;
    at = MAX (at, other->offset + other->bytes);
  }
  slot->offset = at;
  while (position > 0 && ((Slot *) placed->pdata[position - 1])->offset > at)
    position--;
  g_ptr_array_insert (placed, (int) position, slot);
}

static void
find_peak (LigDraft *draft, GArray *slots)
{
  guint count = draft->steps->len;
  g_autofree gint64 *change = g_new0 (gint64, count + 2);
  for (guint i = 0; i < slots->len; i++) {
    const Slot *slot = &g_array_index (slots, Slot, i);
    change[MAX (slot->first, 0)] += slot->bytes;
    if (slot->last < (int) count)
      change[slot->last + 1] -= slot->bytes;
  }
  gint64 alive = 0;
  for (guint i = 0; i <= count; i++) {
    alive += change[i];
    draft->live_peak = MAX (draft->live_peak, alive);
  }
}

gboolean
lig_allocate (LigDraft *draft, GError **error)
{
  g_autofree int *numbers = g_new (int, draft->values->len);
  find_lifetimes (draft);
  g_autoptr (GArray) slots = make_slots (draft, numbers);
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  g_autoptr (GPtrArray) placed = g_ptr_array_new ();
  for (guint i = 0; i < slots->len; i++)
    if (g_array_index (slots, Slot, i).bytes > 0)
      g_ptr_array_add (order, &g_array_index (slots, Slot, i));
  g_ptr_array_sort (order, by_size);
  for (guint i = 0; i < order->len; i++) {
    Slot *slot = order->pdata[i];
    place (placed, slot);
    if (slot->offset > G_MAXINT64 / 4 - slot->bytes) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                   "the plan's values take more than 2^61 bytes");
      return FALSE;
    }
    draft->arena_bytes = MAX (draft->arena_bytes, slot->offset + slot->bytes);
  }
  for (int i = 0; i < (int) draft->values->len; i++)
    if (numbers[i] >= 0)
      lig_value (draft, i)->offset = g_array_index (slots, Slot, numbers[i]).offset;
  find_peak (draft, slots);
  return TRUE;
}
