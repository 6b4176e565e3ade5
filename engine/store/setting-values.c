/* SPDX-License-Identifier: MIT */
#include "engine/store/setting-values.h"

#include <ligature/store-groups.h>

#include <string.h>

/* Returns (transfer full) the JSON path in a sequence of an op's parameter, `0.features` or, in a
 * block, `3.0.2.features`, where the second number is the index of the repetition; null for other
 * names. */
static char *
find_parameter (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, ".", -1);
  guint count = g_strv_length (parts);
  if (count < 2 || count % 2 != 0 || !*parts[count - 1] || strpbrk (parts[count - 1], "\"\\"))
    return NULL;
  GString *path = g_string_new ("$");
  for (guint i = 0; i + 1 < count; i++) {
    if (!*parts[i] || strlen (parts[i]) > 9 ||
        strspn (parts[i], "0123456789") < strlen (parts[i])) {
      g_string_free (path, TRUE);
      return NULL;
    }
    if (i % 2 == 0)
      g_string_append_printf (path, ".ops[%s]", parts[i]);
  }
  g_string_append_printf (path, ".\"%s\"", parts[count - 1]);
  return g_string_free (path, FALSE);
}

gboolean
lig_store_is_parameter (const char *name)
{
  g_autofree char *path = name ? find_parameter (name) : NULL;
  return path != NULL;
}

const char *
lig_store_find_setting (const char *name, const char *path, char **made)
{
  static const char *const facts[][2] = {
    {"name", "(SELECT name FROM experiment WHERE id = r.experiment)"},
    {"kind", "r.kind"},
    {"device", "r.device"},
    {"dtype", "r.dtype"},
    {"recipe", "r.recipe"},
    {"policy", "r.policy"},
    {"seed", "r.seed"},
    {"host", "r.host"},
    {"sweep", "NULLIF (r.sweep, '')"},
    {"run", "r.uuid"},
    {"ended", "r.ended"},
    {"first-loss", "r.first_loss"},
    {"saved-step", "r.saved_step"},
    {"parent", "NULLIF (r.parent, '')"},
    {"ranks", "CASE WHEN json_valid (r.inputs) THEN json_extract (r.inputs, '$.ranks') END"},
    {"parallel", "CASE WHEN json_valid (r.inputs) THEN json_extract (r.inputs, '$.parallel') END"},
    {"revision", "NULLIF (r.revision, '')"},
    {"tags", "(SELECT group_concat (tag, ' ') FROM tag WHERE run = r.id)"},
    {LIG_RUN_BEST_EVAL_LOSS,
     "(SELECT min (value) FROM metric WHERE run = r.id AND name = 'eval-loss')"},
    {LIG_RUN_ALL_BUT_SEED,
     "(SELECT hash || ' ' || name FROM experiment WHERE id = r.experiment) || ' ' || r.kind || ' '"
     " || r.device || ' ' || r.dtype || ' ' || r.recipe || ' ' || r.policy || ' ' ||"
     " CASE WHEN json_valid (r.settings) THEN"
     " json_remove (r.settings, '$.seed', '$.checkpoint', '$.name') ELSE r.settings END"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (facts); i++)
    if (strcmp (name, facts[i][0]) == 0)
      return facts[i][1];
  if (lig_store_is_parameter (name))
    *made =
      g_strdup_printf ("(SELECT CASE WHEN json_valid (sequence) THEN json_extract (sequence, %s)"
                       " END FROM experiment WHERE id = r.experiment)",
                       path);
  else
    *made = g_strdup_printf (
      "CASE WHEN json_valid (r.settings) THEN json_extract (r.settings, %s) END", path);
  return *made;
}

char *
lig_store_make_path (const char *name)
{
  char *parameter = name ? find_parameter (name) : NULL;
  if (parameter)
    return parameter;
  g_autofree char *plain = g_strdelimit (g_strdup (name ? name : ""), "\"\\", '_');
  return g_strdup_printf ("$.\"%s\"", plain);
}
