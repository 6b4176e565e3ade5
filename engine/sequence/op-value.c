/* SPDX-License-Identifier: MIT */
/* Sets a parameter of an op from a file or an expression, checked against its table. */
#include "engine/base/suggest.h"
#include "engine/sequence/literal.h"
#include "engine/sequence/tie.h"
#include <ligature/op.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LONGEST_PATH 512

static gboolean
reject_value (LigOp *self, const LigParam *param, const char *wanted, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s: %s is %s"), lig_op_get_name (self),
               param->name, wanted);
  return FALSE;
}

static gboolean
set_number (LigOp *self, const LigParam *param, const GValue *value, GError **error)
{
  if (!G_VALUE_HOLDS_INT64 (value) && !G_VALUE_HOLDS_DOUBLE (value))
    return reject_value (
      self, param, param->kind == LIG_PARAM_INT ? _ ("a whole number") : _ ("a number"), error);
  double number =
    G_VALUE_HOLDS_INT64 (value) ? (double) g_value_get_int64 (value) : g_value_get_double (value);
  if (param->kind == LIG_PARAM_INT && number != floor (number))
    return reject_value (self, param, _ ("a whole number"), error);
  /* Written so that NaN fails. An inferred parameter may have the value that means "not given". */
  gboolean fits = number >= param->minimum && number <= param->maximum;
  if (!fits && !(param->flags & LIG_PARAM_INFERRED && number == param->initial)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 param->flags & LIG_PARAM_INFERRED && param->initial < param->minimum
                   ? _ ("%s: %s is %.15g, expected %.15g to %.15g, or %.15g to omit it")
                   : _ ("%s: %s is %.15g, expected %.15g to %.15g"),
                 lig_op_get_name (self), param->name, number, param->minimum, param->maximum,
                 param->initial);
    return FALSE;
  }
  if (param->kind == LIG_PARAM_INT)
    g_object_set (self, param->name, (gint64) number, NULL);
  else
    g_object_set (self, param->name, number, NULL);
  return TRUE;
}

static gboolean
set_shape (LigOp *self, const LigParam *param, const GValue *value, GError **error)
{
  LigShape shape;
  if (G_VALUE_HOLDS_INT64 (value))
    lig_shape_init (&shape, 1, g_value_get_int64 (value));
  else if (G_VALUE_HOLDS (value, LIG_TYPE_SHAPE))
    shape = *(const LigShape *) g_value_get_boxed (value);
  else
    return reject_value (self, param, _ ("a list of lengths like [7, 2]"), error);
  int inferred = 0;
  for (int i = 0; i < shape.n_axes; i++) {
    inferred += shape.axes[i] == -1;
    if (shape.axes[i] < (param->minimum < 0 ? -1 : 1) || shape.axes[i] == 0 || inferred > 1) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("%s: length %d of %s is %" PRId64 ", expected at least 1%s"),
                   lig_op_get_name (self), i, param->name, shape.axes[i],
                   param->minimum < 0 ? _ (", or one -1") : "");
      return FALSE;
    }
  }
  if (!lig_literal_check_shape (&shape, 1, error)) {
    g_prefix_error (error, "%s: %s: ", lig_op_get_name (self), param->name);
    return FALSE;
  }
  g_object_set (self, param->name, &shape, NULL);
  return TRUE;
}

static gboolean
set_text (LigOp *self, const LigParam *param, const GValue *value, GError **error)
{
  if (!G_VALUE_HOLDS_STRING (value))
    return reject_value (self, param, _ ("the name of a channel"), error);
  if (!g_value_get_string (value) || !*g_value_get_string (value)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("%s: the name of a branch must not be empty"), lig_op_get_name (self));
    return FALSE;
  }
  if (!lig_literal_check_channel (g_value_get_string (value), error)) {
    g_prefix_error (error, "%s: %s: ", lig_op_get_name (self), param->name);
    return FALSE;
  }
  g_object_set (self, param->name, g_value_get_string (value), NULL);
  return TRUE;
}

static gboolean
set_path (LigOp *self, const LigParam *param, const GValue *value, GError **error)
{
  g_autofree char *path = G_VALUE_HOLDS_INT64 (value)
                            ? g_strdup_printf ("%" PRId64, g_value_get_int64 (value))
                          : G_VALUE_HOLDS_STRING (value) ? g_value_dup_string (value)
                                                         : g_strdup_value_contents (value);
  gboolean known = G_VALUE_HOLDS_INT64 (value) || G_VALUE_HOLDS_STRING (value);
  gsize length = strlen (path);
  if (length > LONGEST_PATH) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("%s: %s has %zu bytes, at most %d are allowed"), lig_op_get_name (self),
                 param->name, length, LONGEST_PATH);
    return FALSE;
  }
  if (!known || !lig_tie_is_path (path)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("%s: %s is '%s', expected the path of an op like 0, 3.qkv or ../0"),
                 lig_op_get_name (self), param->name, path);
    return FALSE;
  }
  g_object_set (self, param->name, path, NULL);
  return TRUE;
}

gboolean
lig_op_set_value (LigOp *self, const char *name, const GValue *value, GError **error)
{
  const LigOpInfo *info = lig_op_get_info (self);
  const LigParam *param = info->params;
  while (param && param->name && strcmp (param->name, name) != 0)
    param++;
  if (!param || !param->name) {
    g_autofree char *like = LIG_SUGGEST_FROM (name, info->params, LigParam);
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s has no parameter '%s'%s"), info->name, name,
                 like);
    return FALSE;
  }
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
  case LIG_PARAM_INT:
    return set_number (self, param, value, error);
  case LIG_PARAM_SHAPE:
    return set_shape (self, param, value, error);
  case LIG_PARAM_INPUT:
  case LIG_PARAM_OUTPUT:
    return set_text (self, param, value, error);
  case LIG_PARAM_PATH:
    return set_path (self, param, value, error);
  case LIG_PARAM_CHOICE:
    return lig_choice_set (self, param, value, error);
  default:
    if (!G_VALUE_HOLDS_BOOLEAN (value))
      return reject_value (self, param, _ ("true or false"), error);
    g_object_set (self, param->name, g_value_get_boolean (value), NULL);
    return TRUE;
  }
}
