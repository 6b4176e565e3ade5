/* SPDX-License-Identifier: MIT */
/* differentiate: finds the values that need a gradient, the ops that run backward, and the values
 * that forward has to keep for them. A gradient is one value; if several ops contribute to it, a
 * sum is recorded. */
#include "engine/compile/collect.h"
#include "engine/compile/parameters.h"
#include "engine/compile/quantizers.h"
#include <ligature/optimizer.h>

#include <glib/gi18n-lib.h>

static gboolean
part_needs_gradient (const LigDraft *draft, const LigPart *part)
{
  if (!lig_part_recalls (part) && lig_value (draft, part->x)->needs_gradient)
    return TRUE;
  for (int i = 0; i < part->n_parameters; i++)
    if (lig_part_trains (draft, part, i))
      return TRUE;
  for (int i = 0; i < part->n_inputs; i++)
    if (part->present[i] && lig_value (draft, part->extra_inputs[i])->needs_gradient)
      return TRUE;
  return FALSE;
}

static void
mark_output (LigDraft *draft, const LigPart *part, int output)
{
  LigValue *value = lig_value (draft, output);
  value->needs_gradient = part->needs_backward && lig_dtype_is_floating (value->dtype);
}

/* Marks values forward: a value needs a gradient if any value that it is computed from does. */
static void
mark_needs (LigDraft *draft)
{
  gboolean wanted = draft->options.input_gradient;
  LigValue *input = lig_value (draft, lig_part (draft, 0)->x);
  input->needs_gradient = wanted && lig_dtype_is_floating (input->dtype);
  for (guint i = 0; i < draft->callers_inputs->len; i++) {
    LigValue *extra = lig_value (draft, g_array_index (draft->callers_inputs, int, i));
    extra->needs_gradient = wanted && lig_dtype_is_floating (extra->dtype);
  }
  for (guint i = 0; i < draft->conversions->len; i++) {
    const LigConversion *at = &g_array_index (draft->conversions, LigConversion, i);
    lig_value (draft, at->to)->needs_gradient = lig_value (draft, at->from)->needs_gradient;
  }
  for (guint i = 0; i < draft->parts->len; i++) {
    LigPart *part = lig_part (draft, i);
    part->needs_backward = part_needs_gradient (draft, part);
    mark_output (draft, part, part->y);
    for (int j = 0; j < part->n_outputs; j++)
      mark_output (draft, part, part->extra_outputs[j]);
  }
}

static int
add_gradient (LigDraft *draft, LigValueRole role, int of, int part, const char *name)
{
  LigShape shape = lig_value (draft, of)->shape;
  LigDtype dtype =
    role == LIG_VALUE_PARAMETER_GRADIENT ? draft->gradient_dtype : lig_value (draft, of)->dtype;
  g_autofree char *own = g_strdup (name ? name : lig_value (draft, of)->name);
  return lig_draft_add_value (draft, role, &shape, dtype, part, "d%s", own);
}

/* Returns whether gradients are scaled: those of a loss are if one of their types has few
 * exponents, or if the caller gives a scale. An output that is no loss has gradients of the
 * caller's scale. */
static gboolean
scales_loss (const LigDraft *draft)
{
  const LigOptimizer *optimizer = draft->options.optimizer;
  double scale = optimizer ? optimizer->loss_scale : 1;
  gboolean narrow = lig_dtype_has (draft->compute, LIG_DTYPE_NARROW) ||
                    lig_dtype_has (draft->gradient_dtype, LIG_DTYPE_NARROW);
  return scale > 0 ? scale != 1
                   : narrow && lig_value (draft, draft->output_value)->shape.n_axes == 0;
}

/* Adds a gradient that the caller provides, as the backward pass reads it. `given` (nullable) is
 * set to the value that the caller writes. */
static int
add_given (LigDraft *draft, int of, int *given)
{
  int from = add_gradient (draft, LIG_VALUE_GIVEN, of, -1, NULL), to = from;
  if (draft->scales) {
    LigValue value = *lig_value (draft, from);
    g_autofree char *name = g_strdup (value.name);
    to = lig_draft_add_value (draft, LIG_VALUE_GRADIENT, &value.shape, value.dtype, -1, "scaled:%s",
                              name);
    LigConversion scaling = {from, to, -1};
    g_array_append_val (draft->scalings, scaling);
  }
  if (given)
    *given = from;
  return to;
}

/* Adds the gradient of an extra output, from the contributions of its readers. */
static void
gather (LigDraft *draft, int index, int slot, GArray *contributions)
{
  LigPart *part = lig_part (draft, index);
  int value = part->extra_outputs[slot];
  if (part->to_caller[slot] && lig_value (draft, value)->needs_gradient) {
    int given = add_given (draft, value, NULL);
    g_array_append_val (contributions, given);
  }
  if (contributions->len == 1)
    lig_value (draft, value)->gradient = g_array_index (contributions, int, 0);
  if (contributions->len < 2)
    return;
  int target = add_gradient (draft, LIG_VALUE_GRADIENT, value, index, NULL);
  LigSum sum = {target, index, g_array_ref (contributions)};
  part->sums[slot] = (int) draft->sums->len;
  g_array_append_val (draft->sums, sum);
  lig_value (draft, value)->gradient = target;
}

static void
contribute (LigDraft *draft, int index, int slot, GPtrArray *contributions)
{
  LigPart *part = lig_part (draft, index);
  int value = part->extra_inputs[slot];
  if (!part->present[slot] || !lig_value (draft, value)->needs_gradient)
    return;
  g_autofree char *name = g_strdup_printf ("%s>%d", lig_value (draft, value)->name, index);
  int gradient = add_gradient (draft, LIG_VALUE_GRADIENT, value, index,
                               part->input_parts[slot] < 0 ? NULL : name);
  lig_part (draft, index)->extra_gradients[slot] = gradient;
  if (part->input_parts[slot] < 0) {
    lig_value (draft, value)->gradient = gradient;
    lig_value (draft, gradient)->kept_to_end = TRUE;
    return;
  }
  int key = part->input_parts[slot] * LIG_MAX_EXTRA + part->input_slots[slot];
  g_array_append_val ((GArray *) contributions->pdata[key], gradient);
}

static void
save_ports (LigDraft *draft, const LigPart *part)
{
  const LigPorts *saves = part->ports->saves;
  /* The backward pass of a quantized product reads copies of them. */
  if (lig_part_is_quantized (part))
    return;
  for (int i = 0; i < saves->count; i++) {
    const char *name = saves->ports[i].name;
    int kept = lig_ports_find (part->ports->computes, name);
    int extra = lig_ports_find (part->ports->extra_inputs, name);
    int value = g_str_equal (name, "x")   ? part->x
                : g_str_equal (name, "y") ? part->y
                : kept >= 0               ? part->kept[kept]
                : extra >= 0              ? part->extra_inputs[extra]
                                          : -1;
    if (value >= 0)
      lig_value (draft, value)->saved = TRUE;
  }
}

/* Returns whether a gradient arrives at an output. None does at the end of a line whose branches
 * only lead to ops without derivatives. */
static gboolean
is_reached (const LigDraft *draft, const LigPart *part)
{
  gboolean reached = lig_value (draft, part->y)->gradient >= 0;
  for (int i = 0; i < part->n_outputs && !reached; i++)
    reached = lig_value (draft, part->extra_outputs[i])->gradient >= 0;
  return reached;
}

static void
differentiate_part (LigDraft *draft, int index, GPtrArray *contributions)
{
  for (int i = 0; i < lig_part (draft, index)->n_outputs; i++)
    gather (draft, index, i, contributions->pdata[index * LIG_MAX_EXTRA + i]);
  if (!is_reached (draft, lig_part (draft, index))) {
    lig_part (draft, index)->needs_backward = FALSE;
    return;
  }
  int x = lig_part (draft, index)->x;
  if (lig_value (draft, x)->needs_gradient && !lig_part_recalls (lig_part (draft, index))) {
    int dx = add_gradient (draft, LIG_VALUE_GRADIENT, x, index, NULL);
    lig_part (draft, index)->dx = dx;
    lig_value (draft, x)->gradient = dx;
  }
  for (int i = 0; i < lig_part (draft, index)->n_inputs; i++)
    contribute (draft, index, i, contributions);
  for (int i = 0; i < lig_part (draft, index)->n_parameters; i++) {
    int value = lig_part (draft, index)->parameters[i];
    if (!lig_part_trains (draft, lig_part (draft, index), i) ||
        lig_value (draft, value)->gradient >= 0)
      continue;
    int gradient = add_gradient (draft, LIG_VALUE_PARAMETER_GRADIENT, value, index, NULL);
    int parameter = lig_value (draft, value)->parameter;
    lig_value (draft, value)->gradient = gradient;
    lig_value (draft, gradient)->parameter = parameter;
    LigDraftParameter *of = &g_array_index (draft->parameters, LigDraftParameter, parameter);
    lig_value (draft, gradient)->state_offset = of->offset;
    of->gradient = gradient;
  }
  save_ports (draft, lig_part (draft, index));
  if (lig_part (draft, index)->info->opaque_backward) {
    /* A callback gets both x and y, as the values that it reads are unknown. */
    lig_value (draft, lig_part (draft, index)->x)->saved = TRUE;
    lig_value (draft, lig_part (draft, index)->y)->saved = TRUE;
  }
}

/* Checks that no gradient has to pass through an op without a backward. Ops of the embedding
 * program may lack one if nothing before them is trained. */
static gboolean
check_backward (LigDraft *draft, GError **error)
{
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    if (!part->needs_backward || part->info->backward || part->info->lower_backward ||
        part->info->opaque_backward)
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: a gradient has to pass through it, but it has no backward"),
                 part->title, part->path);
    lig_error_set_path (error, part->path);
    if (!lig_draft_goes_on (draft, i, error))
      return FALSE;
  }
  return TRUE;
}

/* Returns whether the caller gets a branch with a gradient. */
static gboolean
gives_branch (const LigDraft *draft)
{
  for (guint i = 0; i < draft->callers_outputs->len; i++)
    if (lig_value (draft, g_array_index (draft->callers_outputs, int, i))->needs_gradient)
      return TRUE;
  return FALSE;
}

gboolean
lig_differentiate (LigDraft *draft, GError **error)
{
  if (!draft->options.training)
    return TRUE;
  mark_needs (draft);
  gboolean wanted = lig_value (draft, draft->output_value)->needs_gradient;
  if (!wanted && !gives_branch (draft)) {
    for (guint i = 0; i < draft->parts->len; i++)
      lig_part (draft, i)->needs_backward = FALSE;
    return TRUE;
  }
  if (!check_backward (draft, error))
    return FALSE;
  g_autoptr (GPtrArray) contributions =
    g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (guint i = 0; i < draft->parts->len * LIG_MAX_EXTRA; i++)
    g_ptr_array_add (contributions, g_array_new (FALSE, FALSE, sizeof (int)));
  draft->scales = scales_loss (draft);
  if (wanted) {
    int gradient = add_given (draft, draft->output_value, &draft->given);
    lig_value (draft, draft->output_value)->gradient = gradient;
  }
  for (int i = (int) draft->parts->len - 1; i >= 0; i--)
    if (lig_part (draft, i)->needs_backward)
      differentiate_part (draft, i, contributions);
  draft->input_gradient = lig_part (draft, 0)->dx;
  if (draft->input_gradient >= 0)
    lig_value (draft, draft->input_gradient)->kept_to_end = TRUE;
  return TRUE;
}
