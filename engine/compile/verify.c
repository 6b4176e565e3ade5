/* SPDX-License-Identifier: MIT */
/* Checks conditions that must hold after each pass. A violation is reported at the pass that caused
 * it; where kernels of a custom table can cause it, the error names the op or the fusion. */
#include "engine/compile/verify.h"

#include "engine/graph/graph.h"
#include "engine/graph/op.h"
#include "engine/graph/value.h"
#include <ligature/fusion.h>
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
blame (GError **error, const LigGraph *graph, const char *name, int part, const char *format, ...)
  G_GNUC_PRINTF (5, 6);

/* Sets an error about the table called `name`, or about that of the part. */
static gboolean
blame (GError **error, const LigGraph *graph, const char *name, int part, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (part < 0)
    return violated (error, "schedule", "%s", text);
  const LigPart *at = lig_part (graph, part);
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP, "%s at %s: by its table, %s",
               name ? name : at->plan.title, at->plan.path, text);
  return lig_error_set_path (error, at->plan.path);
}

/* Returns the name of the fusion that a step belongs to, or null. */
static const char *
fusion_of (const LigGraph *graph, const LigGraphStep *step)
{
  if (step->plan.group < 0 || step->plan.pass == LIG_PASS_UPDATE)
    return NULL;
  const LigFusion *fusion = lig_group (graph, step->plan.pass, step->plan.group)->fusion;
  return fusion ? fusion->name : NULL;
}

gboolean
lig_verify_parts (const LigGraph *graph, GError **error)
{
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    if (part->plan.info->expand || part->plan.info->flags & LIG_OP_BLOCK)
      return violated (error, "expand", "%s at %s is not a basic op", part->plan.info->name,
                       part->plan.path);
    for (int j = 0; j < part->n_inputs; j++)
      if (part->input_parts[j] >= i)
        return violated (error, "expand", "extra input %d at %s comes from a later op", j,
                         part->plan.path);
  }
  return TRUE;
}

gboolean
lig_verify_values (const LigGraph *graph, GError **error)
{
  int n = (int) graph->values->len;
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    if (part->x < 0 || part->y < 0 || part->x >= n || part->y >= n)
      return violated (error, "infer", "%s at %s has no input or output", part->plan.title,
                       part->plan.path);
    if (i > 0 && part->x != lig_part (graph, i - 1)->y)
      return violated (error, "infer", "the input at %s is not the output before it",
                       part->plan.path);
    for (int j = 0; j < part->n_parameters; j++)
      if (graph->request->options.training && part->plan.needs_backward &&
          lig_part_trains (graph, part, j) && lig_value (graph, part->parameters[j])->gradient < 0)
        return violated (error, "differentiate", "parameter %d at %s has no gradient", j,
                         part->plan.path);
  }
  for (int i = 0; i < n; i++) {
    const LigPlanValue *value = lig_value (graph, i);
    if (value->gradient >= 0 &&
        !lig_shape_equal (&value->shape, &lig_value (graph, value->gradient)->shape))
      return violated (error, "differentiate", "the gradient of %s has another shape", value->name);
  }
  return TRUE;
}

gboolean
lig_verify_groups (const LigGraph *graph, GError **error)
{
  for (int pass = 0; pass < 2; pass++) {
    int next = 0;
    for (int i = 0; i < (int) graph->groups[pass]->len; i++) {
      const LigPlanGroup *group = lig_group (graph, pass, i);
      if (group->first < next || group->count < 1)
        return violated (error, "fuse", "the group at %s overlaps another one of the %s pass",
                         lig_part (graph, group->first)->plan.path, lig_pass_name (pass));
      if (pass == LIG_PASS_FORWARD && group->first != next)
        return violated (error, "fuse", "the op at %s belongs to no group",
                         lig_part (graph, next)->plan.path);
      next = group->first + group->count;
      for (int j = group->first + 1; j < next; j++)
        if (lig_part (graph, j)->plan.fence)
          return violated (error, "fuse", "a group crosses the fence before %s",
                           lig_part (graph, j)->plan.path);
    }
  }
  return TRUE;
}

/* Checks that each operand is written, by a step or by the caller, before a step reads it. */
gboolean
lig_verify_steps (const LigGraph *graph, GError **error)
{
  g_autofree gboolean *written = g_new0 (gboolean, graph->values->len);
  for (int i = 0; i < (int) graph->values->len; i++) {
    LigValueRole role = lig_value (graph, i)->role;
    written[i] = role != LIG_VALUE_COMPUTED && role != LIG_VALUE_GRADIENT &&
                 role != LIG_VALUE_PARAMETER_GRADIENT;
  }
  for (int i = 0; i < (int) graph->steps->len; i++) {
    const LigGraphStep *step = lig_step (graph, i);
    const char *name = step->plan.kernel ? step->plan.kernel->name : "opaque";
    for (int j = 0; j < step->plan.n_operands; j++) {
      int value = step->values[j];
      if (value < 0 && step->plan.kernel && !step->code.empty && !step->ports->ports[j].optional)
        return blame (error, graph, fusion_of (graph, step), step->plan.part,
                      "kernel %s lacks its operand %s", name, step->ports->ports[j].name);
      if (value < 0)
        continue;
      if (j < step->plan.n_inputs && !written[lig_graph_root (graph, value)])
        return blame (error, graph, fusion_of (graph, step), step->plan.part,
                      "kernel %s reads %s, which no kernel wrote before", name,
                      lig_value (graph, value)->name);
      if (j >= step->plan.n_inputs)
        written[lig_graph_root (graph, value)] = TRUE;
    }
  }
  for (int i = 0; i < (int) graph->values->len; i++) {
    const LigPlanValue *value = lig_value (graph, i);
    gboolean wanted = value->kept_to_end || value->role == LIG_VALUE_PARAMETER_GRADIENT;
    if (wanted && !written[lig_graph_root (graph, i)])
      return blame (error, graph, NULL, value->op, "no kernel writes %s, which is needed",
                    value->name);
  }
  return TRUE;
}

typedef struct {
  int step; /* step in which it begins or ends */
  gboolean ends;
  const LigPlanValue *value;
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
  const LigPlanValue *x = a, *y = b;
  if (x->offset != y->offset)
    return x->offset < y->offset ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* Returns whether the last step that reads `before` writes `after`, with a kernel that can work in
 * place. */
static gboolean
follows_in_place (const LigGraph *graph, const LigPlanValue *before, const LigPlanValue *after)
{
  if (before->last != after->first || before->last < 0 || before->last >= (int) graph->steps->len ||
      before->bytes != after->bytes)
    return FALSE;
  const LigGraphStep *step = lig_step (graph, before->last);
  for (int to = step->plan.n_inputs; step->plan.kernel && to < step->plan.n_operands; to++) {
    int written = lig_graph_root (graph, step->values[to]);
    unsigned places = step->ports->ports[to].places;
    if (written < 0 || lig_value (graph, written) != after)
      continue;
    for (int from = 0; from < step->plan.n_inputs; from++) {
      int read = lig_graph_root (graph, step->values[from]);
      if (places >> from & 1 && read >= 0 && lig_value (graph, read) == before)
        return TRUE;
    }
  }
  return FALSE;
}

static gboolean
collide (const LigGraph *graph, const LigPlanValue *a, const LigPlanValue *b)
{
  gboolean disjoint = a->offset >= b->offset + b->bytes || b->offset >= a->offset + a->bytes;
  return !disjoint && !(a->offset == b->offset &&
                        (follows_in_place (graph, a, b) || follows_in_place (graph, b, a)));
}

/* Checks that no two values that live at the same time share a byte. A sweep over time keeps the
 * live ones sorted by offset, so only neighbours need to be compared. */
gboolean
lig_verify_memory (const LigGraph *graph, GError **error)
{
  g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (Event));
  g_autoptr (GSequence) alive = g_sequence_new (NULL);
  for (int i = 0; i < (int) graph->values->len; i++) {
    const LigPlanValue *value = lig_value (graph, i);
    if (value->offset < 0)
      continue;
    if (value->offset + value->bytes > graph->arena_bytes)
      return violated (error, "allocate", "%s ends beyond the arena", value->name);
    Event begin = {value->first, FALSE, value}, end = {value->last, TRUE, value};
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
    const LigPlanValue *left = before ? g_sequence_get (before) : NULL;
    const LigPlanValue *right = g_sequence_iter_is_end (after) ? NULL : g_sequence_get (after);
    if (left && collide (graph, left, event->value))
      return violated (error, "allocate", "%s and %s overlap", left->name, event->value->name);
    if (right && collide (graph, right, event->value))
      return violated (error, "allocate", "%s and %s overlap", right->name, event->value->name);
  }
  return TRUE;
}
