/* SPDX-License-Identifier: MIT */
/* Proposes edits that may remove a problem with shapes, types or channels, from the shapes of all
 * parts. lig_plan_check() tries each and keeps those that work. */
#include "engine/base/remedy.h"
#include "engine/graph/problems.h"
#include "engine/repair/check.h"

#include <string.h>

typedef struct {
  LigGraph *graph;
  LigGraphProblem *problem;
  const LigPart *part;
  int index;
} Proposal;

static void
propose (const Proposal *self,
         LigProblemFixKind kind,
         const char *path,
         const char *name,
         const char *value)
{
  g_ptr_array_add (self->problem->fixes, lig_problem_fix_new (kind, path, name, value));
}

static void
propose_number (const Proposal *self, const char *path, const char *name, gint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);
  propose (self, LIG_PROBLEM_FIX_SET, path, name, text);
}

static gint64
columns_of (const Proposal *self, int value)
{
  return lig_shape_columns (&lig_value (self->graph, value)->shape);
}

/* --- The number of features ---------------------------------------------------------------- */

/* Returns the required parameter of the written op that has the value: that of its features. */
static const LigParam *
find_size (const LigPart *part, gint64 columns)
{
  for (const LigParam *at = lig_op_get_info (part->plan.written)->params; at && at->name; at++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (at->kind != LIG_PARAM_INT || !(at->flags & LIG_PARAM_REQUIRED))
      continue;
    lig_op_get_value (part->plan.written, at, &value);
    if (g_value_get_int64 (&value) == columns)
      return at;
  }
  return NULL;
}

static void
propose_input (const Proposal *self, gint64 features, LigDtype dtype)
{
  LigShape shape;
  LigDtype present;
  lig_sequence_get_input (self->graph->request->sequence, &shape, &present);
  if (shape.n_axes == 0 || self->graph->request->uncertain_input)
    return;
  if (features > 0)
    shape.axes[shape.n_axes - 1] = features;
  else
    present = dtype;
  g_autofree char *text = lig_shape_to_string (&shape);
  g_autofree char *value = g_strdup_printf ("%s:%s", text, lig_dtype_name (present));
  propose (self, LIG_PROBLEM_FIX_SET_INPUT, NULL, NULL, value);
}

/* Proposes the edit that gives the output of a part so many features: of the op that sets their
 * number, or of the input. */
static void
propose_features (const Proposal *self, int from, gint64 features)
{
  for (int i = from; i >= 0; i--) {
    const LigPart *at = lig_part (self->graph, i);
    if (lig_part_loads_branch (at)) {
      if (at->input_parts[0] < 0)
        return;
      i = at->input_parts[0] + 1;
      continue;
    }
    gint64 columns = columns_of (self, at->y);
    const LigParam *size = find_size (at, columns);
    if (at->incomplete || features < 1 || features > G_MAXINT32)
      return;
    if (size) {
      propose_number (self, at->plan.path, size->name, features);
      return;
    }
    if (at->plan.info->flags & LIG_OP_GATED)
      features *= 2;
    else if (columns_of (self, at->x) != columns)
      return;
  }
  propose_input (self, features, LIG_FP32);
}

/* Parameters that repeat the number of features, and do not fit. Those that only a macro has, such
 * as the head dim, are not about the input of the part. */
static void
propose_own (const Proposal *self)
{
  gint64 columns = columns_of (self, self->part->x);
  GObjectClass *own = G_OBJECT_GET_CLASS (self->part->plan.op);
  for (const LigParam *at = lig_op_get_info (self->part->plan.written)->params; at && at->name;
       at++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if ((!(at->flags & LIG_PARAM_INFERRED) && at->kind != LIG_PARAM_SHAPE) ||
        !g_object_class_find_property (own, at->name))
      continue;
    if (!lig_op_get_value (self->part->plan.written, at, &value) || at->flags & LIG_PARAM_REQUIRED)
      continue;
    if (at->kind == LIG_PARAM_INT) {
      propose_number (self, self->part->plan.path, at->name, columns);
      propose_features (self, self->index - 1, g_value_get_int64 (&value));
    } else if (at->kind == LIG_PARAM_SHAPE) {
      const LigShape *shape = g_value_get_boxed (&value);
      propose (self, LIG_PROBLEM_FIX_SET, self->part->plan.path, at->name, NULL);
      propose_features (self, self->index - 1, lig_shape_columns (shape));
    }
  }
}

static void
propose_extra (const Proposal *self)
{
  for (int i = 0; i < self->part->n_inputs; i++) {
    int producer = self->part->input_parts[i];
    const char *channel = lig_op_get_extra_input_channel (self->part->plan.op, i);
    if (producer < 0 || !channel ||
        (self->part->plan.op != self->part->plan.written &&
         g_str_equal (lig_part (self->graph, producer)->plan.path, self->part->plan.path)))
      continue; /* a channel inside a macro is not the user's */
    gint64 extra = columns_of (self, self->part->extra_inputs[i]);
    gint64 columns = columns_of (self, self->part->x);
    if (extra != columns) {
      g_autofree char *linear = g_strdup_printf ("linear(%" G_GINT64_FORMAT ")", extra);
      propose_features (self, self->index - 1, extra);
      propose_features (self, producer, columns);
      propose (self, LIG_PROBLEM_FIX_INSERT_OP, self->part->plan.path, NULL, linear);
    }
    propose (self, LIG_PROBLEM_FIX_DISCONNECT, self->part->plan.path, channel, NULL);
  }
}

/* An axis of a shape may be computed from the number of elements. */
static void
propose_shape (const Proposal *self)
{
  for (const LigParam *at = lig_op_get_info (self->part->plan.written)->params; at && at->name;
       at++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (at->kind != LIG_PARAM_SHAPE || !(at->flags & LIG_PARAM_REQUIRED) ||
        !lig_op_get_value (self->part->plan.written, at, &value))
      continue;
    const LigShape *shape = g_value_get_boxed (&value);
    for (int open = 0; open < shape->n_axes; open++) {
      g_autoptr (GString) text = g_string_new ("[");
      for (int i = 0; i < shape->n_axes; i++)
        g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "",
                                i == open            ? G_GINT64_CONSTANT (-1)
                                : shape->axes[i] < 0 ? G_GINT64_CONSTANT (1)
                                                     : shape->axes[i]);
      g_string_append_c (text, ']');
      propose (self, LIG_PROBLEM_FIX_SET, self->part->plan.path, at->name, text->str);
    }
  }
}

static void
propose_for_shape (const Proposal *self)
{
  const LigPart *before = self->index > 0 ? lig_part (self->graph, self->index - 1) : NULL;
  gint64 columns = columns_of (self, self->part->x);
  propose_own (self);
  propose_extra (self);
  propose_shape (self);
  if (self->part->plan.info->flags & LIG_OP_GATED && columns % 2 != 0)
    propose_features (self, self->index - 1, columns + 1);
  if (before && before->plan.info->flags & LIG_OP_LOSS)
    propose (self, LIG_PROBLEM_FIX_REMOVE_OP, before->plan.path, before->plan.title, NULL);
}

/* --- Other problems ------------------------------------------------------------------------ */

static void
propose_for_type (const Proposal *self)
{
  gboolean integers = (self->part->plan.info->flags & LIG_OP_INTEGER_INPUT) != 0;
  for (int i = 0; i < self->index; i++)
    if (!(lig_part (self->graph, i)->plan.info->flags & LIG_OP_ANY_TYPE))
      return;
  propose_input (self, 0, integers ? LIG_INT32 : self->graph->request->compute);
}

/* A required parameter that is missing. A number may be the number of features or the sequence
 * length; else 1 fits most often. */
static void
propose_for_op (const Proposal *self)
{
  const LigShape *x = &lig_value (self->graph, self->part->x)->shape;
  gint64 columns = MAX (lig_shape_columns (x), 1);
  for (const LigParam *at = lig_op_get_info (self->part->plan.written)->params; at && at->name;
       at++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (!(at->flags & LIG_PARAM_REQUIRED) ||
        lig_op_get_value (self->part->plan.written, at, &value))
      continue;
    if (at->kind == LIG_PARAM_SHAPE) {
      g_autofree char *shape = g_strdup_printf ("[-1, %" G_GINT64_FORMAT "]", columns);
      propose (self, LIG_PROBLEM_FIX_SET, self->part->plan.path, at->name, shape);
      continue;
    }
    if (at->kind == LIG_PARAM_INT) {
      propose_number (self, self->part->plan.path, at->name, columns);
      if (x->n_axes > 1)
        propose_number (self, self->part->plan.path, at->name, x->axes[x->n_axes - 2]);
    }
    propose_number (self, self->part->plan.path, at->name, 1);
  }
}

static const char *
find_input (const LigPart *part, int slot)
{
  for (const LigParam *at = part->plan.info->params; at && at->name; at++)
    if (at->kind == LIG_PARAM_INPUT && at->offset == (gsize) slot)
      return at->name;
  return NULL;
}

/* Returns the only op above that has an extra output which the part can read: one without a reader,
 * else any. */
static const LigPart *
find_candidate (const Proposal *self)
{
  const LigPart *found[2] = {NULL, NULL};
  int count[2] = {0, 0};
  for (int i = 0; i < self->index; i++) {
    const LigPart *at = lig_part (self->graph, i);
    gsize length = strlen (at->scope);
    if (at->n_outputs == 0 || at->plan.written != at->plan.op ||
        self->part->plan.written != self->part->plan.op ||
        strncmp (at->scope, self->part->scope, length) != 0 ||
        (self->part->scope[length] != '/' && self->part->scope[length] != '\0'))
      continue;
    found[at->consumed[0]] = at;
    count[at->consumed[0]]++;
  }
  return count[0] == 1 ? found[0] : count[0] == 0 && count[1] == 1 ? found[1] : NULL;
}

static void
propose_for_reader (const Proposal *self)
{
  const LigPart *candidate = find_candidate (self);
  for (int i = 0; i < self->part->n_inputs; i++) {
    const char *channel = lig_op_get_extra_input_channel (self->part->plan.op, i);
    const char *name = find_input (self->part, i);
    if (self->part->input_parts[i] >= 0 || !channel || !name)
      continue;
    if (candidate)
      propose (self, LIG_PROBLEM_FIX_CONNECT, self->part->plan.path, name, candidate->plan.path);
    propose (self, LIG_PROBLEM_FIX_DISCONNECT, self->part->plan.path, channel, NULL);
  }
}

static gboolean
is_taken (const LigGraph *graph, const char *name)
{
  for (int i = 0; i < (int) graph->parts->len; i++)
    for (int k = 0; k < lig_part (graph, i)->n_outputs; k++)
      if (g_strcmp0 (lig_part (graph, i)->output_channels[k], name) == 0)
        return TRUE;
  return FALSE;
}

/* Generates new channel names. */
static void
name_channels (const Proposal *self)
{
  for (guint i = 0; i < self->problem->fixes->len; i++) {
    LigProblemFix *fix = self->problem->fixes->pdata[i];
    for (guint k = 2; fix->kind == LIG_PROBLEM_FIX_RENAME && !fix->value; k++) {
      fix->value = g_strdup_printf ("%s-%u", fix->name, k);
      if (is_taken (self->graph, fix->value))
        g_clear_pointer (&fix->value, g_free);
    }
  }
}

void
lig_propose_fixes (LigGraph *graph, LigGraphProblem *problem)
{
  if (problem->part < 0 || problem->part >= (int) graph->parts->len ||
      lig_part (graph, problem->part)->x < 0)
    return;
  Proposal self = {graph, problem, lig_part (graph, problem->part), problem->part};
  gint64 value;
  const char *param = lig_error_get_remedy (problem->error, &value);
  if (param)
    propose_number (&self, self.part->plan.path, param, value);
  switch (problem->error->domain == LIG_ERROR ? problem->error->code : -1) {
  case LIG_ERROR_SHAPE:
    propose_for_shape (&self);
    return;
  case LIG_ERROR_DTYPE:
    propose_for_type (&self);
    return;
  case LIG_ERROR_OP:
    propose_for_op (&self);
    return;
  case LIG_ERROR_CHANNEL:
    if (problem->fixes->len > 0)
      name_channels (&self);
    else
      propose_for_reader (&self);
    return;
  default:
    return;
  }
}
