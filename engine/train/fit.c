/* SPDX-License-Identifier: MIT */
/* Checks whether data fits a sequence or its plan before a run starts, with messages for the
 * user. */
#include "engine/data/kind.h"
#include "engine/train/data.h"
#include <ligature/compile.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>

/* Compiles a sequence on a device without memory, as fast as possible. */
static LigPlan *
probe (LigSequence *sequence, const LigShape *shape, LigDtype dtype, GError **error)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigDevice) device = lig_device_open ("null", error);
  g_autoptr (LigSequence) copy = lig_sequence_copy (sequence);
  lig_sequence_set_input (copy, shape, dtype);
  return device ? lig_plan_compile (copy, device, &options, error) : NULL;
}

static gint64
count_elements (const LigShape *shape)
{
  gint64 count = 1;
  for (int i = 1; i < shape->n_axes; i++)
    count *= shape->axes[i];
  return count;
}

/* Describes one sample of a batch: `16 whole tokens` or `2 numbers`. */
static char *
describe_sample (const LigShape *shape, LigDtype dtype)
{
  gint64 count = count_elements (shape);
  gulong number = (gulong) MIN (count, G_MAXINT);
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, count);
  if (dtype == LIG_INT32)
    return g_strdup_printf (
      g_dngettext (GETTEXT_PACKAGE, "%s whole token", "%s whole tokens", number), text);
  return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%s number", "%s numbers", number), text);
}

/* Returns `32x4` or `32x4:fp32`. */
static char *
describe_input (const LigShape *shape, LigDtype dtype, gboolean types)
{
  g_autofree char *text = lig_shape_to_string (shape);
  return types ? g_strconcat (text, ":", lig_dtype_name (dtype), NULL) : g_steal_pointer (&text);
}

/* Returns whether an input of tokens gets other data. Any input may get tokens, because an input
 * without a type is fp32. A single axis is only the batch, which has no type. */
static gboolean
differs_in_type (const LigShape *input, LigDtype dtype, LigDtype given_dtype)
{
  return dtype == LIG_INT32 && given_dtype != LIG_INT32 && input->n_axes > 1;
}

/* Returns whether the samples of the data have the shape of an input's samples. */
static gboolean
has_shape (const LigShape *input, const LigShape *given)
{
  gboolean same = input->n_axes == given->n_axes || input->n_axes < 2;
  for (int i = 1; same && i < input->n_axes; i++)
    same = input->axes[i] == given->axes[i];
  return same;
}

gboolean
lig_run_get_loss_number (LigOp *op, const char *name, gint64 *value)
{
  if (!g_object_class_find_property (G_OBJECT_GET_CLASS (op), name))
    return FALSE;
  g_object_get (op, name, value, NULL);
  return TRUE;
}

void
lig_run_find_target (LigPlan *plan, LigTarget *target)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  *target = (LigTarget){0};
  lig_plan_get_extra_input (plan, lig_run_count_documents (plan), &target->shape, &target->dtype);
  /* Floating-point targets are fp32 and are rounded when they are copied into the plan. */
  if (ops[count - 1].info->flags & LIG_OP_CLASSES) {
    if (!lig_run_get_loss_number (ops[count - 1].op, "classes", &target->classes) ||
        target->classes == 0)
      target->classes = lig_shape_columns (&ops[count - 1].x);
  } else
    target->dtype = LIG_FP32;
}

gboolean
lig_run_check_vocabulary (LigDataset *data, LigPlan *plan, GError **error)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  gint64 largest = lig_dataset_get_largest_token (data), vocabulary = 0;
  while (count > 1 && ops->y_dtype == LIG_INT32) {
    ops++;
    count--;
  }
  if (!g_object_class_find_property (G_OBJECT_GET_CLASS (ops->op), "vocabulary"))
    return TRUE;
  g_object_get (ops->op, "vocabulary", &vocabulary, NULL);
  /* Tokens that are read lazily are compared with it later. */
  data->vocabulary = vocabulary;
  if (largest < vocabulary)
    return TRUE;
  const char *place = data->largest_place;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s at %s: the data has token %" PRId64 ", the vocabulary has %" PRId64 "%s%s"),
               ops->info->name, ops->path, largest, vocabulary, place ? ": " : "",
               place ? place : "");
  return lig_error_set_path (error, ops->path);
}

gboolean
lig_run_check_input (LigDataset *data, const LigShape *input, LigDtype dtype, GError **error)
{
  LigShape given;
  LigDtype given_dtype;
  lig_dataset_get_input (data, &given, &given_dtype);
  gboolean types = differs_in_type (input, dtype, given_dtype);
  if (!types && has_shape (input, &given))
    return TRUE;
  LigShape wanted = *input;
  wanted.axes[0] = given.axes[0];
  g_autofree char *have = describe_input (&wanted, dtype, types);
  g_autofree char *need = describe_input (&given, given_dtype, types);
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_SHAPE,
    _ ("the input is %s and does not match the data, whose batches are %s; omit it, or make "
       "it %s"),
    have, need, need);
  return lig_error_set_setting (error, "input");
}

/* Checks the targets and the tokens of a sequence with a loss; without a loss there is nothing to
 * check yet. */
static gboolean
check_loss (LigPlan *plan, LigDataset *data, GError **error)
{
  guint count;
  LigTarget target = {0};
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  if (!(ops[count - 1].info->flags & LIG_OP_LOSS) ||
      lig_plan_get_n_extra_inputs (plan) != lig_run_count_documents (plan) + 1)
    return TRUE;
  lig_run_find_target (plan, &target);
  return lig_dataset_bind (data, &target, error) && lig_run_check_vocabulary (data, plan, error);
}

gboolean
lig_run_check_data (LigSequence *sequence, LigDataset *data, const char *name, GError **error)
{
  LigShape wanted, given;
  LigDtype wanted_dtype, given_dtype;
  g_autoptr (GError) reason = NULL;
  g_return_val_if_fail (LIG_IS_SEQUENCE (sequence) && data && name, FALSE);
  if (lig_sequence_get_length (sequence) == 0 || !lig_sequence_has_input (sequence))
    return TRUE;
  lig_sequence_get_input (sequence, &wanted, &wanted_dtype);
  lig_dataset_get_input (data, &given, &given_dtype);
  g_autoptr (LigPlan) own = probe (sequence, &wanted, wanted_dtype, NULL);
  if (!own)
    return TRUE;
  if (given_dtype != LIG_INT32 && wanted_dtype != LIG_INT32)
    given_dtype = wanted_dtype;
  g_autoptr (LigPlan) plan = probe (sequence, &given, given_dtype, &reason);
  gboolean same = has_shape (&wanted, &given);
  if (plan && same && check_loss (plan, data, &reason))
    return TRUE;
  gboolean other =
    given_dtype != wanted_dtype || count_elements (&given) != count_elements (&wanted);
  g_autofree char *gives = describe_sample (&given, given_dtype);
  g_autofree char *wants = describe_sample (&wanted, wanted_dtype);
  g_autofree char *input = lig_shape_to_string (&wanted);
  g_autofree char *batch = lig_shape_to_string (&given);
  if (!plan && other)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("%s gives %s; the model wants %s"), name,
                 gives, wants);
  else if (!same)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("%s gives %s; the input is %s, make it %s"),
                 name, gives, input, batch);
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}
