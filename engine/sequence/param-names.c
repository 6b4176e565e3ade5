/* SPDX-License-Identifier: MIT */
/* The names of the parameters that a user can change: a macro may give those of its parts other
 * names. */
#include "engine/base/remedy.h"
#include "engine/sequence/op-private.h"
#include <ligature/macro.h>

#include <string.h>

const char *
lig_param_names_find (const char *names, const char *param)
{
  g_auto (GStrv) pairs = g_strsplit (names ? names : "", " ", -1);
  for (char **pair = pairs; *pair; pair++) {
    char *own = strchr (*pair, '=');
    if (!own || !g_str_equal (own + 1, param))
      continue;
    *own = '\0';
    return g_intern_string (*pair);
  }
  return g_intern_string (param);
}

/* If the macro is itself a part, its parameters have names in the macro around it. */
void
lig_op_name_params (LigOp *self, LigOp *macro, const char *names)
{
  const char *outer = lig_op_get_param_names (macro);
  g_autoptr (GString) pairs = g_string_new (NULL);
  if (!names || (!outer && !strchr (names, '=')))
    return;
  g_auto (GStrv) words = g_strsplit (names, " ", -1);
  for (char **word = words; *word; word++) {
    char *equals = strchr (*word, '=');
    const char *own = equals ? equals + 1 : *word;
    if (equals)
      *equals = '\0';
    const char *written = lig_param_names_find (outer, *word);
    if (!g_str_equal (written, own))
      g_string_append_printf (pairs, "%s%s=%s", pairs->len > 0 ? " " : "", written, own);
  }
  if (pairs->len > 0)
    lig_op_set_param_names (self, pairs->str);
}

const char *
lig_infer_param_name (const LigInfer *self, const char *param)
{
  return lig_param_names_find (self->param_names, param);
}

gboolean
lig_infer_suggest (const LigInfer *self, const char *param, gint64 value, GError **error)
{
  lig_error_set_remedy (error, lig_infer_param_name (self, param), value);
  return FALSE;
}
