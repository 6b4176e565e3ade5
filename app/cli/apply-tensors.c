/* SPDX-License-Identifier: MIT */
/* The tensors of `lig apply`: the plan's inputs, their check against a file, and its results. */
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
  /* An extra output that is missing from the file gets no gradient. */
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

/* Checks that each integer is `ignored` or at least 0 and less than `count`. */
static gboolean
check_range (LigTensor *tensor,
             const char *name,
             const LigPlanOp *op,
             gint64 count,
             gint64 ignored,
             GError **error)
{
  g_autoptr (LigTensor) integers = lig_tensor_convert (tensor, LIG_INT32, error);
  const gint32 *values = integers ? integers->data : NULL;
  for (gint64 i = 0; integers && i < integers->size; i++)
    if (values[i] != ignored && (values[i] < 0 || values[i] >= count)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   "%s at %s: element %" G_GINT64_FORMAT
                   " of %s is %d, expected 0 to %" G_GINT64_FORMAT,
                   op->title, op->path, i, name, values[i], count - 1);
      return lig_error_set_path (error, op->path);
    }
  return integers != NULL;
}

static gint64
get_integer (const LigPlanOp *op, const char *property, gint64 otherwise)
{
  gint64 value = otherwise;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (op->op), property))
    g_object_get (op->op, property, &value, NULL);
  return value;
}

/* Checks tokens that go to the ops from number `first` on, for the first of them that takes
 * integers. A kernel would also refuse a bad one, but could not name its position. */
static gboolean
check_tokens (LigPlan *plan, guint first, const char *name, LigTensor *tensor, GError **error)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = first; i < count && !(ops[i].info->flags & LIG_OP_RECALL); i++) {
    gint64 vocabulary = get_integer (&ops[i], "vocabulary", 0);
    if (ops[i].info->flags & LIG_OP_INTEGER_INPUT)
      return vocabulary == 0 || check_range (tensor, name, &ops[i], vocabulary, 0, error);
    if (lig_dtype_is_floating (ops[i].y_dtype))
      break;
  }
  return TRUE;
}

/* Checks the classes, which the loss at the end takes as the last of the caller's extra inputs. */
static gboolean
check_classes (LigPlan *plan, guint n, const char *name, LigTensor *extra, GError **error)
{
  guint count;
  LigShape shape;
  LigDtype dtype;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count), *loss = &ops[count - 1];
  lig_plan_get_extra_input (plan, n, &shape, &dtype);
  if (n + 1 < lig_plan_get_n_extra_inputs (plan) || dtype != LIG_INT32 ||
      !(loss->info->flags & LIG_OP_LOSS))
    return TRUE;
  return check_range (extra, name, loss, lig_shape_columns (&loss->x),
                      get_integer (loss, "ignored", -1), error);
}

/* Returns whether the caller provides the extra input of this port, such as `lengths?`; `slot` is
 * the port's number. */
static gboolean
is_callers (const LigPlanOp *op, const char *port, guint slot)
{
  const LigParam *param = op->info->params;
  g_autofree char *channel = NULL;
  while (param && param->name && !(param->kind == LIG_PARAM_INPUT && param->offset == slot))
    param++;
  if (param && param->name)
    g_object_get (op->op, param->name, &channel, NULL);
  return g_str_has_suffix (port, "?") ? g_strcmp0 (channel, "caller") == 0 : !channel;
}

/* Checks integers that the port of an op takes: numbers of keys, of which some devices would take
 * all for a number that is too large, and tokens that a recall goes on from. */
static gboolean
check_port (
  LigPlan *plan, guint at, const char *port, const char *name, LigTensor *extra, GError **error)
{
  guint count;
  const LigPlanOp *op = &lig_plan_get_ops (plan, &count)[at];
  g_autofree char *memory = NULL;
  if (op->info->flags & LIG_OP_RECALL)
    return lig_dtype_is_floating (op->y_dtype) || check_tokens (plan, at + 1, name, extra, error);
  /* Those of a memory count the keys of another tensor; the kernel checks them. */
  if (!g_str_equal (op->info->name, "attention") || !g_str_equal (port, "lengths?"))
    return TRUE;
  g_object_get (op->op, "memory", &memory, NULL);
  gint64 positions = op->x.n_axes < 2 ? 1 : op->x.axes[op->x.n_axes - 2];
  return memory || check_range (extra, name, op, positions + 1, 0, error);
}

/* Checks extra input `n` of the caller for the op that takes it. */
static gboolean
check_extra (LigPlan *plan, guint n, const char *name, LigTensor *extra, GError **error)
{
  guint count, seen = 0;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count && seen <= n; i++) {
    const char *extras = ops[i].info->extra_inputs;
    g_auto (GStrv) ports = g_strsplit (extras ? extras : "", " ", -1);
    for (guint slot = 0; ports[slot]; slot++)
      if (is_callers (&ops[i], ports[slot], slot) && seen++ == n)
        return check_port (plan, i, ports[slot], name, extra, error);
  }
  return TRUE;
}

gboolean
lig_apply_set_inputs (LigProgram *program, LigTensorFile *file, GError **error)
{
  LigPlan *plan = lig_program_get_plan (program);
  g_autoptr (LigTensor) input = lig_tensor_file_get (file, "input", error);
  if (!input || !check_tokens (plan, 0, "input", input, error) ||
      !lig_program_set_input (program, input, error))
    return FALSE;
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++) {
    g_autofree char *name = g_strdup_printf ("extra.%u", i);
    g_autoptr (LigTensor) extra = lig_tensor_file_get (file, name, error);
    if (!extra || !check_classes (plan, i, name, extra, error) ||
        !check_extra (plan, i, name, extra, error) ||
        !lig_program_set_extra_input (program, i, extra, error))
      return FALSE;
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

/* Adds the tensor. A missing one is no error for integers, which have no gradient. */
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
