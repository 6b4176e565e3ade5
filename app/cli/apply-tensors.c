/* SPDX-License-Identifier: MIT */
/* The tensors of `lig apply`: checks a file against the plan's inputs, and collects the results. */
#include "app/cli/apply.h"

#include <string.h>

static void
clear_slot (gpointer data)
{
  g_free (((LigSlot *) data)->name);
}

static GArray *
new_slots (void)
{
  GArray *slots = g_array_new (FALSE, FALSE, sizeof (LigSlot));
  g_array_set_clear_func (slots, clear_slot);
  return slots;
}

GArray *
lig_apply_input_slots (LigPlan *plan)
{
  GArray *slots = new_slots ();
  LigSlot slot = {.name = g_strdup ("input")};
  lig_plan_get_input (plan, &slot.shape, &slot.dtype);
  g_array_append_val (slots, slot);
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++) {
    slot.name = g_strdup_printf ("extra.%u", i);
    lig_plan_get_extra_input (plan, i, &slot.shape, &slot.dtype);
    g_array_append_val (slots, slot);
  }
  return slots;
}

GArray *
lig_apply_gradient_slots (LigPlan *plan)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  GArray *slots = new_slots ();
  LigSlot slot = {.name = g_strdup ("output"),
                  .optional = (ops[count - 1].info->flags & LIG_OP_LOSS) != 0};
  lig_plan_get_output (plan, &slot.shape, &slot.dtype);
  g_array_append_val (slots, slot);
  /* An extra output without a tensor in the file gets no gradient. */
  slot.optional = TRUE;
  for (guint i = 0; i < lig_plan_get_n_extra_outputs (plan); i++) {
    lig_plan_get_extra_output (plan, i, &slot.shape, &slot.dtype);
    if (!lig_dtype_is_floating (slot.dtype))
      continue;
    slot.name = g_strdup_printf ("extra.%u", i);
    g_array_append_val (slots, slot);
  }
  return slots;
}

static void
complain (GString *text, const char *format, ...)
{
  va_list arguments;
  if (text->len > 0)
    g_string_append (text, "; ");
  va_start (arguments, format);
  g_string_append_vprintf (text, format, arguments);
  va_end (arguments);
}

static void
check_slot (LigTensorFile *file, const LigSlot *slot, GString *text)
{
  LigShape shape;
  LigDtype dtype;
  if (!lig_tensor_file_get_shape (file, slot->name, &shape, &dtype)) {
    if (!slot->optional)
      complain (text, "%s is missing", slot->name);
    return;
  }
  /* Converting fractions to integers would lose them silently. */
  gboolean fraction = lig_dtype_is_floating (dtype) && !lig_dtype_is_floating (slot->dtype);
  if (lig_shape_equal (&shape, &slot->shape) && !fraction)
    return;
  g_autofree char *observed = lig_shape_to_string (&shape);
  g_autofree char *expected = lig_shape_to_string (&slot->shape);
  if (fraction)
    complain (text, "%s is %s:%s, expected %s:%s", slot->name, observed, lig_dtype_name (dtype),
              expected, lig_dtype_name (slot->dtype));
  else
    complain (text, "%s is %s, expected %s", slot->name, observed, expected);
}

gboolean
lig_apply_check (LigTensorFile *file, const char *path, GArray *slots, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < slots->len; i++)
    check_slot (file, &g_array_index (slots, LigSlot, i), text);
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++) {
    gboolean known = FALSE;
    for (guint i = 0; i < slots->len && !known; i++)
      known = strcmp (g_array_index (slots, LigSlot, i).name, *name) == 0;
    if (!known)
      complain (text, "%s is surplus", *name);
  }
  if (text->len == 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, "%s does not fit the sequence: %s", path,
               text->str);
  return FALSE;
}

gboolean
lig_apply_set_inputs (LigProgram *program, LigTensorFile *file, GError **error)
{
  LigPlan *plan = lig_program_get_plan (program);
  g_autoptr (LigTensor) input = lig_tensor_file_get (file, "input", error);
  if (!input || !lig_program_set_input (program, input, error))
    return FALSE;
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++) {
    g_autofree char *name = g_strdup_printf ("extra.%u", i);
    g_autoptr (LigTensor) extra = lig_tensor_file_get (file, name, error);
    if (!extra)
      return FALSE;
    if (!lig_program_set_extra_input (program, i, extra, error)) {
      g_prefix_error (error, "%s: ", name);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
lig_apply_set_gradients (LigProgram *program, LigTensorFile *file, GError **error)
{
  LigPlan *plan = lig_program_get_plan (program);
  /* Without a gradient for a loss the plan uses 1. */
  if (lig_tensor_file_has (file, "output")) {
    g_autoptr (LigTensor) output = lig_tensor_file_get (file, "output", error);
    if (!output || !lig_program_set_gradient (program, output, error))
      return FALSE;
  }
  for (guint i = 0; i < lig_plan_get_n_extra_outputs (plan); i++) {
    g_autofree char *name = g_strdup_printf ("extra.%u", i);
    if (!lig_tensor_file_has (file, name))
      continue;
    g_autoptr (LigTensor) extra = lig_tensor_file_get (file, name, error);
    if (!extra || !lig_program_set_extra_gradient (program, i, extra, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_apply_read_outputs (LigProgram *program, LigTensorFile *file, GError **error)
{
  LigPlan *plan = lig_program_get_plan (program);
  g_autoptr (LigTensor) output = lig_program_read_output (program, error);
  if (!output)
    return FALSE;
  lig_tensor_file_add (file, "output", output);
  for (guint i = 0; i < lig_plan_get_n_extra_outputs (plan); i++) {
    g_autofree char *name = g_strdup_printf ("extra.%u", i);
    g_autoptr (LigTensor) extra = lig_program_read_extra_output (program, i, error);
    if (!extra)
      return FALSE;
    lig_tensor_file_add (file, name, extra);
  }
  return TRUE;
}

/* Adds the tensor. It may be missing for integers, which have no gradient. */
static gboolean
add_gradient (LigTensorFile *file, const char *name, LigTensor *tensor, LigDtype of, GError **error)
{
  if (tensor)
    lig_tensor_file_add (file, name, tensor);
  else if (!lig_dtype_is_floating (of))
    g_clear_error (error);
  return tensor || !lig_dtype_is_floating (of);
}

gboolean
lig_apply_read_gradients (LigProgram *program, LigTensorFile *file, GError **error)
{
  LigPlan *plan = lig_program_get_plan (program);
  LigState *state = lig_program_get_state (program);
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (plan, &shape, &dtype);
  g_autoptr (LigTensor) input = lig_program_read_input_gradient (program, error);
  if (!add_gradient (file, "grad.input", input, dtype, error))
    return FALSE;
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++) {
    g_autofree char *name = g_strdup_printf ("grad.extra.%u", i);
    g_autoptr (LigTensor) extra = lig_program_read_extra_gradient (program, i, error);
    lig_plan_get_extra_input (plan, i, &shape, &dtype);
    if (!add_gradient (file, name, extra, dtype, error))
      return FALSE;
  }
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    if (!lig_state_is_trained (state, *path))
      continue;
    g_autofree char *name = g_strconcat ("grad.", *path, NULL);
    g_autoptr (LigTensor) gradient = lig_state_get (state, LIG_STATE_GRADIENTS, *path, error);
    if (!gradient)
      return FALSE;
    lig_tensor_file_add (file, name, gradient);
  }
  return TRUE;
}
