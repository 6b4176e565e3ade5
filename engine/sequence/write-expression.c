/* SPDX-License-Identifier: MIT */
/* Makes the shortest expression that gives the same ops as a sequence. */
#include "engine/sequence/literal.h"

static void
append_value (GString *text, const GValue *value)
{
  if (!G_VALUE_HOLDS_STRING (value)) {
    lig_literal_append (text, value);
    return;
  }
  const char *string = g_value_get_string (value) ? g_value_get_string (value) : "";
  if (lig_literal_is_name (string)) {
    g_string_append (text, string);
    return;
  }
  g_string_append_c (text, '"');
  for (const char *at = string; *at; at++) {
    if (*at == '"' || *at == '\\')
      g_string_append_c (text, '\\');
    g_string_append_c (text, *at);
  }
  g_string_append_c (text, '"');
}

/* Appends the parameters that must be written, the positional one first. */
static void
append_params (GString *text, LigOp *op)
{
  g_autoptr (GString) named = g_string_new (NULL);
  g_autoptr (GString) first = g_string_new (NULL);
  for (const LigParam *param = lig_op_get_info (op)->params; param && param->name; param++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (!lig_literal_get (op, param, &value))
      continue;
    if (param->flags & LIG_PARAM_POSITIONAL && first->len == 0)
      append_value (first, &value);
    else {
      g_string_append_printf (named, "%s%s=", named->len > 0 ? ", " : "", param->name);
      append_value (named, &value);
    }
  }
  if (!lig_op_get_trained (op))
    g_string_append_printf (named, "%strained=false", named->len > 0 ? ", " : "");
  if (first->len + named->len > 0 || lig_op_get_body (op))
    g_string_append_printf (text, "(%s%s%s)", first->str,
                            first->len > 0 && named->len > 0 ? ", " : "", named->str);
}

/* A fence before the first op, which separates nothing, cannot be written and is omitted. */
static void
append_items (GString *text, LigSequence *sequence)
{
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    if (i > 0)
      g_string_append (text, lig_op_get_fence (op) ? " ! | ! " : " ! ");
    g_string_append (text, lig_op_get_name (op));
    append_params (text, op);
    if (lig_op_get_body (op)) {
      g_string_append (text, " { ");
      append_items (text, lig_op_get_body (op));
      g_string_append (text, " }");
    }
  }
}

char *
lig_sequence_to_expression (LigSequence *self)
{
  g_return_val_if_fail (LIG_IS_SEQUENCE (self), NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  append_items (text, self);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
