/* SPDX-License-Identifier: MIT */
/* Finds the axes whose lengths the caller of a graph can choose, by compiling the sequence with
 * other lengths: ops and their params then decide, without a rule for each of them here. */
#include "engine/onnx/model.h"
#include "engine/plan/plan-private.h"
#include <ligature/compile.h>
#include <ligature/sequence.h>

/* Returns whether both plans have the same parameters. */
static gboolean
share_parameters (LigPlan *a, LigPlan *b)
{
  if (a->layout->parameters->len != b->layout->parameters->len || a->ops->len != b->ops->len)
    return FALSE;
  for (guint i = 0; i < a->ops->len; i++) {
    const LigPlanPort *one, *other;
    for (int slot = 0; (one = lig_plan_op_get_port (lig_plan_op (a, i), LIG_PORT_PARAMETER, slot));
         slot++) {
      other = lig_plan_op_get_port (lig_plan_op (b, i), LIG_PORT_PARAMETER, slot);
      if (!other || !lig_shape_equal (&lig_plan_value (a, one->value)->shape,
                                      &lig_plan_value (b, other->value)->shape))
        return FALSE;
    }
  }
  return TRUE;
}

/* Compiles the sequence with another length of an axis of its input, and of the first axis if it is
 * not 0 (transfer full) (nullable). */
static LigPlan *
compile_with (LigPlan *plan, int axis, gint64 length, gint64 first)
{
  LigShape input;
  LigDtype dtype;
  g_autoptr (LigSequence) sequence = lig_sequence_copy (lig_plan_get_sequence (plan));
  lig_plan_get_input (plan, &input, &dtype);
  if (first > 0)
    input.axes[0] = first;
  input.axes[axis] = length;
  lig_sequence_set_input (sequence, &input, dtype);
  g_autoptr (LigPlan) other = lig_plan_compile_unfused (sequence, lig_plan_get_device (plan),
                                                        lig_plan_get_options (plan), NULL);
  return other && share_parameters (plan, other) ? g_steal_pointer (&other) : NULL;
}

/* Compiles with a length, if the axis may have it in a batch of one, too: rows of a reshape can be
 * cut from several samples. */
static LigPlan *
compile_apart (LigPlan *plan, int axis, gint64 length)
{
  g_autoptr (LigPlan) single = axis > 0 ? compile_with (plan, axis, length, 1) : NULL;
  return axis > 0 && !single ? NULL : compile_with (plan, axis, length, 0);
}

/* Compiles with a longer or a shorter axis: a table of positions limits it, and the longest text is
 * often the one in the file. A length that has to be a multiple of some number stays fixed. */
static LigPlan *
compile_other (LigPlan *plan, int axis, gint64 length)
{
  LigPlan *longer = length < G_MAXINT32 ? compile_apart (plan, axis, length + 1) : NULL;
  return longer || length < 2 ? longer : compile_apart (plan, axis, length - 1);
}

/* Names the lengths that differ in the other plan; those that are not the changed one itself get an
 * empty name. */
static void
compare (GArray *ends, LigPlan *other, const int *values, const char *name, gint64 length)
{
  for (guint i = 0; i < ends->len; i++) {
    LigOnnxEnd *end = &g_array_index (ends, LigOnnxEnd, i);
    const LigShape *shape = &lig_plan_value (other, values[i])->shape;
    for (int axis = 0; axis < end->shape.n_axes && axis < shape->n_axes; axis++)
      if (shape->axes[axis] != end->shape.axes[axis])
        end->lengths[axis] = !end->lengths[axis] && shape->axes[axis] == length ? name : "";
  }
}

/* Lists the values of the other plan that correspond to the ends. */
static int *
list_ends (int first, const GArray *extra)
{
  int *values = g_new (int, extra->len + 1);
  values[0] = first;
  for (guint i = 0; i < extra->len; i++)
    values[i + 1] = g_array_index (extra, int, i);
  return values;
}

void
lig_onnx_find_lengths (LigOnnx *self)
{
  LigShape input;
  LigDtype dtype;
  lig_plan_get_input (self->plan, &input, &dtype);
  /* The last axis of floating values is that of features, on which nodes depend. */
  int count = lig_dtype_is_floating (dtype) ? input.n_axes - 1 : input.n_axes;
  for (int axis = 0; axis < count; axis++) {
    static const char *const names[] = {"batch", "sequence"};
    g_autoptr (LigPlan) other = compile_other (self->plan, axis, input.axes[axis]);
    if (!other || other->ends.extra_inputs->len + 1 != self->inputs->len ||
        other->ends.extra_outputs->len + 1 != self->outputs->len)
      continue;
    g_autofree char *own = g_strdup_printf ("axis.%d", axis);
    const char *name = g_string_chunk_insert_const (
      self->names, axis < (int) G_N_ELEMENTS (names) ? names[axis] : own);
    g_autofree int *in = list_ends (other->ends.input, other->ends.extra_inputs);
    g_autofree int *out = list_ends (other->ends.output, other->ends.extra_outputs);
    gint64 length = lig_plan_value (other, other->ends.input)->shape.axes[axis];
    compare (self->inputs, other, in, name, length);
    compare (self->outputs, other, out, name, length);
  }
}
