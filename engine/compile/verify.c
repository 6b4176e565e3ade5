/* SPDX-License-Identifier: MIT */
/* Checks conditions that must hold after each pass. A violation is reported at the pass that caused
 * it; where kernels of a custom table can cause it, the error names the op or the fusion. */
#include "engine/compile/draft.h"
#include "engine/compile/parameters.h"
#include <ligature/kernels.h>

static gboolean
violated (GError **error, const char *pass, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP, "internal: after %s: %s", pass, text);
  return FALSE;
}

static gboolean
blame (GError **error, const LigDraft *draft, const char *name, int part, const char *format, ...)
  G_GNUC_PRINTF (5, 6);

/* Sets an error about the table called `name`, or about that of the part. */
static gboolean
blame (GError **error, const LigDraft *draft, const char *name, int part, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (part < 0)
    return violated (error, "schedule", "%s", text);
  const LigPart *at = lig_part (draft, part);
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP, "%s at %s: by its table, %s",
               name ? name : at->title, at->path, text);
  return lig_error_set_path (error, at->path);
}

/* Returns the name of the fusion that a step belongs to, or null. */
static const char *
fusion_of (const LigDraft *draft, const LigDraftStep *step)
{
  if (step->group < 0 || step->pass == LIG_PASS_UPDATE)
    return NULL;
  const LigFusion *fusion = lig_group (draft, step->pass, step->group)->fusion;
  return fusion ? fusion->name : NULL;
}

gboolean
lig_verify_parts (const LigDraft *draft, GError **error)
{
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    if (part->info->expand || part->info->flags & LIG_OP_BLOCK)
      return violated (error, "expand", "%s at %s is not a basic op", part->info->name, part->path);
    for (int j = 0; j < part->n_inputs; j++)
      if (part->input_parts[j] >= i)
        return violated (error, "expand", "extra input %d at %s comes from a later op", j,
                         part->path);
  }
  return TRUE;
}

gboolean
lig_verify_values (const LigDraft *draft, GError **error)
{
  int n = (int) draft->values->len;
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    if (part->x < 0 || part->y < 0 || part->x >= n || part->y >= n)
      return violated (error, "infer", "%s at %s has no input or output", part->title, part->path);
    if (i > 0 && part->x != lig_part (draft, i - 1)->y)
      return violated (error, "infer", "the input at %s is not the output before it", part->path);
    for (int j = 0; j < part->n_parameters; j++)
      if (draft->options.training && part->needs_backward && lig_part_trains (draft, part, j) &&
          lig_value (draft, part->parameters[j])->gradient < 0)
        return violated (error, "differentiate", "parameter %d at %s has no gradient", j,
                         part->path);
  }
  for (int i = 0; i < n; i++) {
    const LigValue *value = lig_value (draft, i);
    if (value->gradient >= 0 &&
        !lig_shape_equal (&value->shape, &lig_value (draft, value->gradient)->shape))
      return violated (error, "differentiate", "the gradient of %s has another shape", value->name);
  }
  return TRUE;
}

gboolean
lig_verify_groups (const LigDraft *draft, GError **error)
{
  for (int pass = 0; pass < 2; pass++) {
    int next = 0;
    for (int i = 0; i < (int) draft->groups[pass]->len; i++) {
      const LigGroup *group = lig_group (draft, pass, i);
      if (group->first < next || group->count < 1)
        return violated (error, "fuse", "the group at %s overlaps another one of the %s pass",
                         lig_part (draft, group->first)->path, lig_pass_name (pass));
      if (pass == LIG_PASS_FORWARD && group->first != next)
        return violated (error, "fuse", "the op at %s belongs to no group",
                         lig_part (draft, next)->path);
      next = group->first + group->count;
      for (int j = group->first + 1; j < next; j++)
        if (lig_part (draft, j)->fence)
          return violated (error, "fuse", "a group crosses the fence before %s",
                           lig_part (draft, j)->path);
    }
  }
  return TRUE;
}

/* Checks that each operand is written, by a step or by the caller, before a step reads it. */
gboolean
lig_verify_steps (const LigDraft *draft, GError **error)
{
  g_autofree gboolean *written = g_new0 (gboolean, draft->values->len);
  for (int i = 0; i < (int) draft->values->len; i++) {
    LigValueRole role = lig_value (draft, i)->role;
    written[i] = role != LIG_VALUE_COMPUTED && role != LIG_VALUE_GRADIENT &&
                 role != LIG_VALUE_PARAMETER_GRADIENT;
  }
  for (int i = 0; i < (int) draft->steps->len; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    const char *name = step->kernel ? step->kernel->name : "opaque";
    for (int j = 0; j < step->n_operands; j++) {
      int value = step->values[j];
      if (value < 0 && step->kernel && !step->empty && !step->ports->ports[j].optional)
        return blame (error, draft, fusion_of (draft, step), step->part,
                      "kernel %s lacks its operand %s", name, step->ports->ports[j].name);
      if (value < 0)
        continue;
      if (j < step->n_inputs && !written[lig_draft_root (draft, value)])
        return blame (error, draft, fusion_of (draft, step), step->part,
                      "kernel %s reads %s, which no kernel wrote before", name,
                      lig_value (draft, value)->name);
      if (j >= step->n_inputs)
        written[lig_draft_root (draft, value)] = TRUE;
    }
  }
  for (int i = 0; i < (int) draft->values->len; i++) {
    const LigValue *value = lig_value (draft, i);
    gboolean wanted = value->kept_to_end || value->role == LIG_VALUE_PARAMETER_GRADIENT;
    if (wanted && !written[lig_draft_root (draft, i)])
      return blame (error, draft, NULL, value->part, "no kernel writes %s, which is needed",
                    value->name);
  }
  return TRUE;
}

typedef struct {
  int step; /* step in which it begins or, negated order, ends */
  gboolean ends;
  const LigValue *value;
} Event;

static int
compare_events (gconstpointer a, gconstpointer b)
{
  const Event *x = a, *y = b;
  if (x->step != y->step)
    return x->step < y->step ? -1 : 1;
  return (int) x->ends - (int) y->ends; /* within one step all begin before any ends */
}

static int
compare_offsets (gconstpointer a, gconstpointer b, gpointer data)
{
  const LigValue *x = a, *y = b;
  if (x->offset != y->offset)
    return x->offset < y->offset ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* Returns whether the last step that reads `before` writes `after`, with a kernel that can work in
 * place. */
static gboolean
follows_in_place (const LigDraft *draft, const LigValue *before, const LigValue *after)
{
  if (before->last_step != after->first_step || before->last_step < 0 ||
      before->last_step >= (int) draft->steps->len || before->bytes != after->bytes)
    return FALSE;
  const LigDraftStep *step = lig_step (draft, before->last_step);
  for (int to = step->n_inputs; step->kernel && to < step->n_operands; to++) {
    int written = lig_draft_root (draft, step->values[to]);
    unsigned places = step->ports->ports[to].places;
    if (written < 0 || lig_value (draft, written) != after)
      continue;
    for (int from = 0; from < step->n_inputs; from++) {
      int read = lig_draft_root (draft, step->values[from]);
      if (places >> from & 1 && read >= 0 && lig_value (draft, read) == before)
        return TRUE;
    }
  }
  return FALSE;
}

static gboolean
collide (const LigDraft *draft, const LigValue *a, const LigValue *b)
{
  gboolean disjoint = a->offset >= b->offset + b->bytes || b->offset >= a->offset + a->bytes;
  return !disjoint && !(a->offset == b->offset &&
                        (follows_in_place (draft, a, b) || follows_in_place (draft, b, a)));
}

/* Checks that no two values that live at the same time share a byte. A sweep over time keeps the
 * live ones sorted by offset, so only neighbours need to be compared. */
gboolean
lig_verify_memory (const LigDraft *draft, GError **error)
{
  g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (Event));
  g_autoptr (GSequence) alive = g_sequence_new (NULL);
  for (int i = 0; i < (int) draft->values->len; i++) {
    const LigValue *value = lig_value (draft, i);
    if (value->offset < 0)
      continue;
    if (value->offset + value->bytes > draft->arena_bytes)
      return violated (error, "allocate", "%s ends beyond the arena", value->name);
    Event begin = {value->first_step, FALSE, value}, end = {value->last_step, TRUE, value};
    g_array_append_val (events, begin);
    g_array_append_val (events, end);
  }
  g_array_sort (events, compare_events);
  for (guint i = 0; i < events->len; i++) {
    const Event *event = &g_array_index (events, Event, i);
    if (event->ends) {
      GSequenceIter *at = g_sequence_lookup (alive, (gpointer) event->value, compare_offsets, NULL);
      if (at)
        g_sequence_remove (at);
      continue;
    }
    GSequenceIter *at =
      g_sequence_insert_sorted (alive, (gpointer) event->value, compare_offsets, NULL);
    GSequenceIter *before = g_sequence_iter_is_begin (at) ? NULL : g_sequence_iter_prev (at);
    GSequenceIter *after = g_sequence_iter_next (at);
    const LigValue *left = before ? g_sequence_get (before) : NULL;
    const LigValue *right = g_sequence_iter_is_end (after) ? NULL : g_sequence_get (after);
    if (left && collide (draft, left, event->value))
      return violated (error, "allocate", "%s and %s overlap", left->name, event->value->name);
    if (right && collide (draft, right, event->value))
      return violated (error, "allocate", "%s and %s overlap", right->name, event->value->name);
  }
  return TRUE;
}
