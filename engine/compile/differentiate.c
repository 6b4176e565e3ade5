/* SPDX-License-Identifier: MIT */
/* differentiate: finds the values that need a gradient, the ops that run backward, and the values
 * that forward must save for them. Each gradient is one value; if several ops contribute to it, a
 * sum is recorded. */
#include "engine/compile/compilation.h"
#include "engine/graph/gradients.h"
#include "engine/graph/op.h"
#include "engine/graph/problems.h"
#include "engine/graph/value.h"
#include <ligature/optimizer.h>

#include <glib/gi18n-lib.h>

static gboolean
part_needs_gradient (const LigGraph *graph, const LigPart *part)
{
  if (!lig_part_loads_branch (part) && lig_value_work (graph, part->x)->needs_gradient)
    return TRUE;
  for (int i = 0; i < part->n_parameters; i++)
    if (lig_part_trains (graph, part, i))
      return TRUE;
  for (int i = 0; i < part->n_inputs; i++)
    if (part->present[i] && lig_value_work (graph, part->extra_inputs[i])->needs_gradient)
      return TRUE;
  return FALSE;
}

static void
mark_output (LigGraph *graph, const LigPart *part, int output)
{
  lig_value_work (graph, output)->needs_gradient =
    part->plan.needs_backward && lig_dtype_is_floating (lig_value (graph, output)->dtype);
}

/* Marks values forward: a value needs a gradient if any value that it is computed from does. */
static void
mark_needs (LigGraph *graph)
{
  gboolean wanted = graph->request->options.input_gradient;
  int input = lig_part (graph, 0)->x;
  lig_value_work (graph, input)->needs_gradient =
    wanted && lig_dtype_is_floating (lig_value (graph, input)->dtype);
  for (guint i = 0; i < graph->ends.extra_inputs->len; i++) {
    int extra = g_array_index (graph->ends.extra_inputs, int, i);
    lig_value_work (graph, extra)->needs_gradient =
      wanted && lig_dtype_is_floating (lig_value (graph, extra)->dtype);
  }
  for (guint i = 0; i < graph->gradients->conversions->len; i++) {
    const LigConversion *at = &g_array_index (graph->gradients->conversions, LigConversion, i);
    lig_value_work (graph, at->to)->needs_gradient =
      lig_value_work (graph, at->from)->needs_gradient;
  }
  for (guint i = 0; i < graph->parts->len; i++) {
    LigPart *part = lig_part (graph, i);
    part->plan.needs_backward = part_needs_gradient (graph, part);
    mark_output (graph, part, part->y);
    for (int j = 0; j < part->n_outputs; j++)
      mark_output (graph, part, part->extra_outputs[j]);
  }
}

static int
add_gradient (LigGraph *graph, LigValueRole role, int of, int part, const char *name)
{
  LigShape shape = lig_value (graph, of)->shape;
  LigDtype dtype = role == LIG_VALUE_PARAMETER_GRADIENT ? graph->request->gradient_dtype
                                                        : lig_value (graph, of)->dtype;
  g_autofree char *own = g_strdup (name ? name : lig_value (graph, of)->name);
  return lig_graph_add_value (graph, role, &shape, dtype, part, "d%s", own);
}

/* Returns whether gradients are scaled: those of a loss are if one of their types has a small
 * exponent range, or if the caller gives a scale. The gradients of an output that is not a loss
 * have the caller's scale. */
static gboolean
scales_loss (const LigGraph *graph)
{
  const LigOptimizer *optimizer = graph->request->options.optimizer;
  double scale = optimizer ? optimizer->loss_scale : 1;
  gboolean narrow = lig_dtype_has (graph->request->compute, LIG_DTYPE_NARROW) ||
                    lig_dtype_has (graph->request->gradient_dtype, LIG_DTYPE_NARROW);
  return scale > 0 ? scale != 1
                   : narrow && lig_value (graph, graph->ends.output)->shape.n_axes == 0;
}

/* Adds a gradient that the caller provides, in the form that the backward pass reads. `given`
 * (nullable) is set to the value that the caller writes. */
static int
add_caller_gradient (LigGraph *graph, int of, int *given)
{
  int from = add_gradient (graph, LIG_VALUE_GIVEN, of, -1, NULL), to = from;
  if (graph->ends.scales) {
    LigPlanValue value = *lig_value (graph, from);
    g_autofree char *name = g_strdup (value.name);
    to = lig_graph_add_value (graph, LIG_VALUE_GRADIENT, &value.shape, value.dtype, -1, "scaled:%s",
                              name);
    LigConversion scaling = {from, to, -1};
    g_array_append_val (graph->gradients->scalings, scaling);
  }
  if (given)
    *given = from;
  return to;
}

/* Adds the gradient of an extra output, the sum of its readers' contributions. */
static void
gather (LigGraph *graph, int index, int slot, GArray *contributions)
{
  LigPart *part = lig_part (graph, index);
  int value = part->extra_outputs[slot];
  if (part->to_caller[slot] && lig_value_work (graph, value)->needs_gradient) {
    int given = add_caller_gradient (graph, value, NULL);
    g_array_append_val (contributions, given);
  }
  if (contributions->len == 1)
    lig_value (graph, value)->gradient = g_array_index (contributions, int, 0);
  if (contributions->len < 2)
    return;
  int target = add_gradient (graph, LIG_VALUE_GRADIENT, value, index, NULL);
  LigSum sum = {target, index, g_array_ref (contributions)};
  part->sums[slot] = (int) graph->gradients->sums->len;
  g_array_append_val (graph->gradients->sums, sum);
  lig_value (graph, value)->gradient = target;
}

static void
contribute (LigGraph *graph, int index, int slot, GPtrArray *contributions)
{
  LigPart *part = lig_part (graph, index);
  int value = part->extra_inputs[slot];
  if (!part->present[slot] || !lig_value_work (graph, value)->needs_gradient)
    return;
  g_autofree char *name = g_strdup_printf ("%s>%d", lig_value (graph, value)->name, index);
  int gradient = add_gradient (graph, LIG_VALUE_GRADIENT, value, index,
                               part->input_parts[slot] < 0 ? NULL : name);
  lig_part (graph, index)->extra_gradients[slot] = gradient;
  if (part->input_parts[slot] < 0) {
    lig_value (graph, value)->gradient = gradient;
    lig_value (graph, gradient)->kept_to_end = TRUE;
    return;
  }
  int key = part->input_parts[slot] * LIG_MAX_EXTRA + part->input_slots[slot];
  g_array_append_val ((GArray *) contributions->pdata[key], gradient);
}

static void
save_ports (LigGraph *graph, const LigPart *part)
{
  const LigPorts *saves = part->ports->saves;
  /* The backward pass of a quantized matmul reads copies of them, except the gradient of the
   * weights of groups. */
  if (lig_part_is_quantized (part) && !(part->plan.info->flags & LIG_OP_GROUPED))
    return;
  for (int i = 0; i < saves->count; i++) {
    const char *name = saves->ports[i].name;
    int kept = lig_ports_find (part->ports->computes, name);
    int extra = lig_ports_find (part->ports->extra_inputs, name);
    int output = lig_ports_find (part->ports->extra_outputs, name);
    int value = g_str_equal (name, "x")   ? part->x
                : g_str_equal (name, "y") ? part->y
                : kept >= 0               ? part->kept[kept]
                : extra >= 0              ? part->extra_inputs[extra]
                : output >= 0             ? part->extra_outputs[output]
                                          : -1;
    if (value >= 0)
      lig_value (graph, value)->saved = TRUE;
  }
}

/* Returns whether an output has a gradient. It has none if it ends a line whose branches only lead
 * to ops without derivatives. */
static gboolean
is_reached (const LigGraph *graph, const LigPart *part)
{
  gboolean reached = lig_value (graph, part->y)->gradient >= 0;
  for (int i = 0; i < part->n_outputs && !reached; i++)
    reached = lig_value (graph, part->extra_outputs[i])->gradient >= 0;
  return reached;
}

static void
differentiate_part (LigGraph *graph, int index, GPtrArray *contributions)
{
  for (int i = 0; i < lig_part (graph, index)->n_outputs; i++)
    gather (graph, index, i, contributions->pdata[index * LIG_MAX_EXTRA + i]);
  if (!is_reached (graph, lig_part (graph, index))) {
    lig_part (graph, index)->plan.needs_backward = FALSE;
    return;
  }
  int x = lig_part (graph, index)->x;
  if (lig_value_work (graph, x)->needs_gradient &&
      !lig_part_loads_branch (lig_part (graph, index))) {
    int dx = add_gradient (graph, LIG_VALUE_GRADIENT, x, index, NULL);
    lig_part (graph, index)->dx = dx;
    lig_value (graph, x)->gradient = dx;
  }
  for (int i = 0; i < lig_part (graph, index)->n_inputs; i++)
    contribute (graph, index, i, contributions);
  for (int i = 0; i < lig_part (graph, index)->n_parameters; i++) {
    int value = lig_part (graph, index)->parameters[i];
    if (!lig_part_trains (graph, lig_part (graph, index), i) ||
        lig_value (graph, value)->gradient >= 0)
      continue;
    int gradient = add_gradient (graph, LIG_VALUE_PARAMETER_GRADIENT, value, index, NULL);
    int parameter = lig_value (graph, value)->parameter;
    lig_value (graph, value)->gradient = gradient;
    lig_value (graph, gradient)->parameter = parameter;
    lig_value (graph, gradient)->state_offset = lig_parameter (graph, parameter)->offset;
  }
  save_ports (graph, lig_part (graph, index));
  if (lig_part (graph, index)->plan.info->opaque_backward) {
    /* A callback gets both x and y, because the values that it reads are unknown. */
    lig_value (graph, lig_part (graph, index)->x)->saved = TRUE;
    lig_value (graph, lig_part (graph, index)->y)->saved = TRUE;
  }
}

/* Checks that no gradient passes through an op without a backward. Ops of the embedding program may
 * lack one if nothing before them is trained. */
static gboolean
check_backward (LigGraph *graph, GError **error)
{
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    if (!part->plan.needs_backward || part->plan.info->backward ||
        part->plan.info->lower_backward || part->plan.info->opaque_backward)
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: a gradient has to pass through it, but it has no backward"),
                 part->plan.title, part->plan.path);
    lig_error_set_path (error, part->plan.path);
    if (!lig_graph_collect_problem (graph, i, error))
      return FALSE;
  }
  return TRUE;
}

/* Returns whether the caller gets a branch with a gradient. */
static gboolean
gives_branch (const LigGraph *graph)
{
  for (guint i = 0; i < graph->ends.extra_outputs->len; i++)
    if (lig_value_work (graph, g_array_index (graph->ends.extra_outputs, int, i))->needs_gradient)
      return TRUE;
  return FALSE;
}

gboolean
lig_differentiate (LigGraph *graph, GError **error)
{
  if (!graph->request->options.training)
    return TRUE;
  mark_needs (graph);
  gboolean wanted = lig_value_work (graph, graph->ends.output)->needs_gradient;
  if (!wanted && !gives_branch (graph)) {
    for (guint i = 0; i < graph->parts->len; i++)
      lig_part (graph, i)->plan.needs_backward = FALSE;
    return TRUE;
  }
  if (!check_backward (graph, error))
    return FALSE;
  g_autoptr (GPtrArray) contributions =
    g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (guint i = 0; i < graph->parts->len * LIG_MAX_EXTRA; i++)
    g_ptr_array_add (contributions, g_array_new (FALSE, FALSE, sizeof (int)));
  graph->ends.scales = scales_loss (graph);
  if (wanted) {
    int gradient = add_caller_gradient (graph, graph->ends.output, &graph->ends.output_gradient);
    lig_value (graph, graph->ends.output)->gradient = gradient;
  }
  for (int i = (int) graph->parts->len - 1; i >= 0; i--)
    if (lig_part (graph, i)->plan.needs_backward)
      differentiate_part (graph, i, contributions);
  graph->ends.input_gradient = lig_part (graph, 0)->dx;
  if (graph->ends.input_gradient >= 0)
    lig_value (graph, graph->ends.input_gradient)->kept_to_end = TRUE;
  return TRUE;
}
