/* SPDX-License-Identifier: MIT */
#include "app/cli/verbs.h"

#include "app/cli/fail.h"

#include <ligature/suggest.h>

#include <string.h>

const LigCliVerb *
lig_cli_find_verb (const LigCommand *command, const char *name)
{
  const LigCliVerb *verb;
  for (guint i = 0; command->verb_nth && (verb = command->verb_nth (i)); i++)
    if (strcmp (verb->name, name) == 0)
      return verb;
  return NULL;
}

gboolean
lig_cli_verb_has (const LigCliVerb *verb, const char *group, const char *option)
{
  if (!verb || strcmp (group, LIG_CLI_GENERAL) == 0)
    return TRUE;
  g_auto (GStrv) names = g_strsplit (verb->options ? verb->options : "", " ", -1);
  return g_strv_contains ((const char *const *) names, option);
}

const char *
lig_cli_translate_verb (const char *name)
{
  static const char *const habits[][2] = {
    {"ls", "list"}, {"rm", "delete"}, {"remove", "delete"}, {"diff", "compare"}, {"info", "show"}};
  for (guint i = 0; i < G_N_ELEMENTS (habits); i++)
    if (strcmp (habits[i][0], name) == 0)
      return habits[i][1];
  return name;
}

int
lig_cli_reject_verb (const LigCommand *command, const char *name)
{
  const LigCliVerb *verb;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; (verb = command->verb_nth (i)); i++)
    g_ptr_array_add (names, (gpointer) verb->name);
  g_ptr_array_add (names, NULL);
  const char *like =
    lig_suggest (lig_cli_translate_verb (name), (const char *const *) names->pdata);
  if (like)
    return lig_cli_usage ("verb '%s' of lig %s is unknown; did you mean '%s'?", name, command->name,
                          like);
  return lig_cli_usage ("verb '%s' of lig %s is unknown; see lig %s --help", name, command->name,
                        command->name);
}

char *
lig_cli_join_verbs (const LigCommand *command, const char *separator)
{
  const LigCliVerb *verb;
  GString *text = g_string_new (NULL);
  for (guint i = 0; (verb = command->verb_nth (i)); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? separator : "", verb->name);
  return g_string_free (text, FALSE);
}
