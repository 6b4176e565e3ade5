/* SPDX-License-Identifier: MIT */
/* The spelling of values in files and expressions, and the limits that both respect. */
#include "engine/sequence/literal.h"

#include "engine/base/json-private.h"
#include "engine/base/number.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LONGEST_CHANNEL 256
#define LARGEST_EXACT 9007199254740992.0 /* 2^53: whole doubles up to here are exact */

const LigParam *
lig_literal_param (LigOp *op, const char *name)
{
  for (const LigParam *param = lig_op_get_info (op)->params; param && param->name; param++)
    if (strcmp (param->name, name) == 0)
      return param;
  return NULL;
}

/* Sets an error of the form: expected `wanted`, got `value`. */
static gboolean
reject (const char *wanted, const GValue *value, GError **error)
{
  g_autoptr (GString) got = g_string_new (NULL);
  if (G_VALUE_HOLDS_DOUBLE (value))
    lig_number_append (got, g_value_get_double (value), FALSE);
  else if (G_VALUE_HOLDS_STRING (value) && strlen (g_value_get_string (value)) > 60)
    g_string_append (got, _ ("a long string"));
  else
    lig_literal_append (got, value);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("expected %s, got %s"), wanted, got->str);
  return FALSE;
}

/* Reads a whole number, written as 4096, 4096.0 or 1e3. */
static gboolean
get_whole (const GValue *value, gint64 *whole)
{
  if (G_VALUE_HOLDS_INT64 (value)) {
    *whole = g_value_get_int64 (value);
    return TRUE;
  }
  if (!G_VALUE_HOLDS_DOUBLE (value))
    return FALSE;
  double number = g_value_get_double (value);
  if (!(fabs (number) <= LARGEST_EXACT) || number != floor (number))
    return FALSE;
  *whole = (gint64) number;
  return TRUE;
}

gboolean
lig_literal_add_axis (LigShape *shape, const GValue *value, GError **error)
{
  gint64 length;
  if (!get_whole (value, &length))
    return reject (_ ("a whole number"), value, error);
  if (shape->n_axes == LIG_MAX_AXES) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("a shape has at least %d axes, at most %d are allowed"), shape->n_axes + 1,
                 LIG_MAX_AXES);
    return FALSE;
  }
  shape->axes[shape->n_axes++] = length;
  return TRUE;
}

gboolean
lig_literal_check_shape (const LigShape *shape, gint64 min, GError **error)
{
  gint64 elements = 1;
  if (shape->n_axes == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("a shape has 0 axes, expected 1 to %d"),
                 LIG_MAX_AXES);
    return FALSE;
  }
  for (int i = 0; i < shape->n_axes; i++) {
    gint64 length = shape->axes[i];
    if ((length < min && length != -1) || length > LIG_MAX_AXIS) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                   _ ("axis %d has length %" PRId64 ", expected %" PRId64 " to %d"), i, length, min,
                   LIG_MAX_AXIS);
      return FALSE;
    }
    if (__builtin_mul_overflow (elements, MAX (ABS (length), 1), &elements))
      elements = G_MAXINT64;
    if (elements > LIG_LARGEST_SHAPE) {
      g_set_error (
        error, LIG_ERROR, LIG_ERROR_SHAPE,
        _ ("the first %d axes have %s%" PRId64 " elements, at most %" PRId64 " are possible"),
        i + 1, elements == G_MAXINT64 ? _ ("more than ") : "", elements, LIG_LARGEST_SHAPE);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
lig_literal_check_channel (const char *name, GError **error)
{
  const char *own = name;
  while (g_str_has_prefix (own, "../"))
    own += 3;
  if (strlen (name) > LONGEST_CHANNEL) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("a channel's name has %zu bytes, at most %d are allowed"), strlen (name),
                 LONGEST_CHANNEL);
    return FALSE;
  }
  for (const char *at = own; *at; at = g_utf8_next_char (at))
    if (g_unichar_iscntrl (g_utf8_get_char (at))) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                   _ ("a channel's name holds the control character 0x%02x"), g_utf8_get_char (at));
      return FALSE;
    }
  if (!*own) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("expected a channel's name, a non-empty string, got \"%s\""), name);
    return FALSE;
  }
  return TRUE;
}

/* Returns the name of the expected type if the value has another type, else null. */
static const char *
mismatch (const LigParam *param, const GValue *value)
{
  gboolean number = G_VALUE_HOLDS_INT64 (value) || G_VALUE_HOLDS_DOUBLE (value);
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    return number ? NULL : _ ("a number");
  case LIG_PARAM_INT:
    return G_VALUE_HOLDS_INT64 (value) ? NULL : _ ("a whole number");
  case LIG_PARAM_SHAPE:
    return G_VALUE_HOLDS_INT64 (value) || G_VALUE_HOLDS (value, LIG_TYPE_SHAPE)
             ? NULL
             : _ ("a list of lengths like [7, 2]");
  case LIG_PARAM_INPUT:
  case LIG_PARAM_OUTPUT:
    return G_VALUE_HOLDS_STRING (value) ? NULL : _ ("a channel's name");
  case LIG_PARAM_PATH:
    return G_VALUE_HOLDS_STRING (value) || G_VALUE_HOLDS_INT64 (value)
             ? NULL
             : _ ("the path of an op like 0 or 3.qkv");
  case LIG_PARAM_CHOICE:
    return NULL; /* the op's own message lists the names */
  default:
    return G_VALUE_HOLDS_BOOLEAN (value) ? NULL : _ ("true or false");
  }
}

gboolean
lig_literal_set_trained (LigOp *op, const GValue *value, GError **error)
{
  if (!G_VALUE_HOLDS_BOOLEAN (value))
    return reject (_ ("true or false"), value, error);
  lig_op_set_trained (op, g_value_get_boolean (value));
  return TRUE;
}

gboolean
lig_literal_set (LigOp *op, const LigParam *param, const GValue *value, GError **error)
{
  g_auto (GValue) whole = G_VALUE_INIT;
  gint64 number;
  if (G_VALUE_HOLDS_DOUBLE (value) && param->kind != LIG_PARAM_FLOAT &&
      get_whole (value, &number)) {
    g_value_init (&whole, G_TYPE_INT64);
    g_value_set_int64 (&whole, number);
    value = &whole;
  }
  const char *wanted = mismatch (param, value);
  if (wanted)
    return reject (wanted, value, error);
  if (G_VALUE_HOLDS (value, LIG_TYPE_SHAPE) &&
      !lig_literal_check_shape (g_value_get_boxed (value), 1, error))
    return FALSE;
  if (param->kind == LIG_PARAM_SHAPE && G_VALUE_HOLDS_INT64 (value)) {
    LigShape shape = {.n_axes = 1, .axes = {g_value_get_int64 (value)}};
    if (!lig_literal_check_shape (&shape, 1, error))
      return FALSE;
  }
  gboolean channel = param->kind == LIG_PARAM_INPUT || param->kind == LIG_PARAM_OUTPUT;
  if (channel && !lig_literal_check_channel (g_value_get_string (value), error))
    return FALSE;
  return lig_op_set_value (op, param->name, value, error);
}

gboolean
lig_literal_count (LigOp *op, gint64 inside, gint64 *total, GError **error)
{
  gint64 count = 1, sum;
  if (lig_op_get_body (op)) {
    g_object_get (op, "repeat", &count, NULL);
    if (__builtin_mul_overflow (count, MAX (inside, 1), &count))
      count = G_MAXINT64;
  }
  if (__builtin_add_overflow (*total, count, &sum))
    sum = G_MAXINT64;
  if (sum > LIG_MAX_OPS) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("with its blocks repeated the sequence has %s%" PRId64
                    " ops up to here, at most %d are allowed"),
                 sum == G_MAXINT64 ? _ ("more than ") : "", sum, LIG_MAX_OPS);
    return FALSE;
  }
  *total = sum;
  return TRUE;
}

gboolean
lig_literal_check_reserved (LigOp *op, const char *name, GError **error)
{
  static const char *const words[] = {"offload", NULL};
  if (!lig_op_get_body (op) || !g_strv_contains (words, name))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("reserved: not implemented yet"));
  return FALSE;
}

gboolean
lig_literal_get (LigOp *op, const LigParam *param, GValue *value)
{
  /* A required parameter is written even if it equals its default, because reading requires it. */
  return lig_op_get_value (op, param, value) ||
         (param->flags & LIG_PARAM_REQUIRED && lig_op_check (op, NULL));
}

void
lig_literal_append (GString *text, const GValue *value)
{
  if (G_VALUE_HOLDS_DOUBLE (value))
    lig_number_append (text, g_value_get_double (value), TRUE);
  else if (G_VALUE_HOLDS_INT64 (value))
    g_string_append_printf (text, "%" G_GINT64_FORMAT, g_value_get_int64 (value));
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_string_append (text, g_value_get_boolean (value) ? "true" : "false");
  else if (G_VALUE_HOLDS (value, LIG_TYPE_SHAPE)) {
    const LigShape *shape = g_value_get_boxed (value);
    g_string_append_c (text, '[');
    for (int i = 0; i < shape->n_axes; i++)
      g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", shape->axes[i]);
    g_string_append_c (text, ']');
  } else
    lig_json_append_string (text, g_value_get_string (value) ? g_value_get_string (value) : "");
}

gboolean
lig_literal_check_text (const char *text, gsize length, GError **error)
{
  const char *valid;
  if (length > LIG_MAX_TEXT) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("it has more than %zu bytes, the maximum for a sequence"), LIG_MAX_TEXT);
    return FALSE;
  }
  if (!g_utf8_validate_len (text, length, &valid)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("it is not UTF-8 text: byte 0x%02x at offset %zu"), (guint) (guchar) *valid,
                 (gsize) (valid - text));
    return FALSE;
  }
  return TRUE;
}
