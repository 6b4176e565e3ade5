/* SPDX-License-Identifier: MIT */
/* Parameters with named choices, `causal|none`; structs contain the index of the name. */
#include "engine/base/rejection.h"
#include "engine/sequence/literal.h"
#include "engine/sequence/op-private.h"
#include "engine/sequence/table.h"
#include <ligature/suggest.h>

#include <glib/gi18n-lib.h>
#include <string.h>

const char *
lig_param_get_choice (const LigParam *param, int index)
{
  const char *at = param->choices;
  for (; at && index > 0; index--) {
    at = strchr (at, '|');
    at = at ? at + 1 : NULL;
  }
  if (!at || index < 0)
    return NULL;
  g_autofree char *name = g_strndup (at, strcspn (at, "|"));
  return g_intern_string (name);
}

int
lig_param_find_choice (const LigParam *param, const char *name)
{
  const char *choice;
  for (int i = 0; (choice = lig_param_get_choice (param, i)); i++)
    if (g_str_equal (choice, name))
      return i;
  return -1;
}

gboolean
lig_choice_store (const LigParam *param, const char *name, gint32 *index)
{
  int found = name ? lig_param_find_choice (param, name) : (int) param->initial;
  if (found >= 0)
    *index = found;
  return found >= 0;
}

/* Returns the names: `causal, none or causal-bottom-right`. */
static char *
list_choices (GStrv names)
{
  guint count = g_strv_length (names);
  GString *text = g_string_new (names[0]);
  for (guint i = 1; i < count; i++)
    g_string_append_printf (text, "%s%s", i + 1 == count ? _ (" or ") : ", ", names[i]);
  return g_string_free (text, FALSE);
}

gboolean
lig_choice_set (LigOp *op, const LigParam *param, const GValue *value, GError **error)
{
  const char *name = G_VALUE_HOLDS_STRING (value) ? g_value_get_string (value) : NULL;
  if (name && lig_param_find_choice (param, name) >= 0) {
    g_object_set (op, param->name, name, NULL);
    return TRUE;
  }
  g_auto (GStrv) names = g_strsplit (param->choices, "|", -1);
  g_autofree char *list = list_choices (names);
  if (name) {
    g_autofree char *like = lig_suggest_ending (name, (const char *const *) names);
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s: %s is '%.60s', expected %s%s"),
                 lig_op_get_name (op), param->name, name, list, like);
    return FALSE;
  }
  g_autoptr (GString) got = g_string_new (NULL);
  lig_literal_append (got, value);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s: %s is %s, expected %s"),
               lig_op_get_name (op), param->name, got->str, list);
  return FALSE;
}

gboolean
lig_choices_check (const LigOpInfo *info, const LigParam *param, GError **error)
{
  g_auto (GStrv) names = g_strsplit (param->choices ? param->choices : "", "|", -1);
  int count = (int) g_strv_length (names);
  gboolean fits = count >= 2;
  for (int i = 0; i < count && fits; i++)
    fits = lig_name_check (names[i], "-", LIG_LONGEST_NAME) && !g_str_equal (names[i], "true") &&
           !g_str_equal (names[i], "false") && lig_param_find_choice (param, names[i]) == i;
  if (!fits)
    return lig_reject (error, LIG_ERROR_OP, "op", info->name,
                       "parameter %s has the choices '%.200s', expected at least 2 different names "
                       "in kebab-case, separated by |, not true or false",
                       param->name, param->choices ? param->choices : "");
  for (int i = 0; i < count; i++)
    if (param->initial == i)
      return TRUE;
  return lig_reject (error, LIG_ERROR_OP, "op", info->name,
                     "parameter %s has the initial choice %g, expected an index from 0 to %d",
                     param->name, param->initial, count - 1);
}
