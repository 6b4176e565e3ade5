/* SPDX-License-Identifier: MIT */
/* Completions for fish. */
#include "app/cli/texts.h"

#include "app/cli/values.h"
#include "app/cli/verbs.h"

#include <string.h>

static void
append_fish_text (GString *to, const char *text)
{
  g_string_append_c (to, '\'');
  for (const char *at = text; *at; at++) {
    if (*at == '\'' || *at == '\\')
      g_string_append_c (to, '\\');
    g_string_append_c (to, *at);
  }
  g_string_append_c (to, '\'');
}

/* Literal words are offered unchanged; fish itself completes files. */
static void
append_fish_values (GString *to, const char *kinds)
{
  g_auto (GStrv) parts = g_strsplit (kinds, "|", -1);
  g_string_append (to, " -a \"");
  for (char **kind = parts; *kind; kind++)
    if (g_ascii_islower (**kind))
      g_string_append_printf (to, "%s ", *kind);
    else if (strcmp (*kind, LIG_VALUES_FILE) != 0)
      g_string_append_printf (to, "(lig --values %s 2> /dev/null) ", *kind);
  g_string_append_c (to, '"');
}

static gboolean
has_files (const char *kinds)
{
  return kinds && (strstr (kinds, LIG_VALUES_FILE) || *kinds == 'P');
}

/* Appends the condition under which an option is offered: its command is on the line, and a verb
 * that has it or no verb yet. */
static void
append_fish_condition (GString *to, const LigCliPage *page, const GOptionEntry *entry)
{
  const LigCliVerb *verb;
  const LigCommand *command = page->command;
  guint index = (guint) (entry - (const GOptionEntry *) (gconstpointer) page->entries->data);
  g_string_append_printf (to, "__fish_seen_subcommand_from %s", command->name);
  if (!command->verb_nth)
    return;
  g_autofree char *all = lig_cli_join_verbs (command, " ");
  g_string_append_printf (to,
                          "; and begin; not __fish_seen_subcommand_from %s; or "
                          "__fish_seen_subcommand_from",
                          all);
  for (guint i = 0; (verb = command->verb_nth (i)); i++)
    if (lig_cli_verb_has (verb, page->groups->pdata[index], entry->long_name))
      g_string_append_printf (to, " %s", verb->name);
  g_string_append (to, "; end");
}

static void
append_fish_option (GString *to, const LigCliPage *page, const GOptionEntry *entry)
{
  g_autofree char *kinds = entry->arg != G_OPTION_ARG_NONE ? lig_cli_get_kinds (entry) : NULL;
  g_string_append (to, "complete -c lig -n '");
  append_fish_condition (to, page, entry);
  g_string_append_printf (to, "' -l %s", entry->long_name);
  if (entry->short_name)
    g_string_append_printf (to, " -s %c", entry->short_name);
  if (entry->arg != G_OPTION_ARG_NONE)
    g_string_append (to, strstr (kinds ? kinds : "", LIG_VALUES_FILE) ? " -r -F" : " -x");
  if (kinds)
    append_fish_values (to, kinds);
  g_string_append (to, " -d ");
  append_fish_text (to, entry->description);
  g_string_append_c (to, '\n');
}

/* Appends the arguments of a command after `condition`. */
static void
append_fish_positions (GString *to, const char *condition, char **positions)
{
  for (char **kinds = positions; *kinds; kinds++) {
    if (strcmp (*kinds, "-") == 0)
      continue;
    g_string_append_printf (to, "complete -c lig -n '%s'%s", condition,
                            has_files (*kinds) ? " -F" : "");
    append_fish_values (to, *kinds);
    g_string_append_c (to, '\n');
  }
}

static void
append_fish_verbs (GString *to, const LigCommand *command)
{
  const LigCliVerb *verb;
  g_autofree char *all = lig_cli_join_verbs (command, " ");
  for (guint i = 0; (verb = command->verb_nth (i)); i++) {
    g_auto (GStrv) positions = lig_cli_read_positions (verb->arguments);
    g_autofree char *condition =
      g_strdup_printf ("__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from %s",
                       command->name, verb->name);
    g_string_append_printf (to,
                            "complete -c lig -n '__fish_seen_subcommand_from %s; and not "
                            "__fish_seen_subcommand_from %s' -a %s -d ",
                            command->name, all, verb->name);
    append_fish_text (to, verb->summary ? verb->summary : "");
    g_string_append_c (to, '\n');
    append_fish_positions (to, condition, positions);
  }
}

static void
append_fish_command (GString *to, const LigCliPage *page)
{
  const LigCommand *command = page->command;
  static const char *const conditions[] = {"__fish_use_subcommand",
                                           "__fish_seen_subcommand_from help"};
  for (guint i = 0; i < G_N_ELEMENTS (conditions); i++) {
    g_string_append_printf (to, "complete -c lig -n '%s' -a %s -d ", conditions[i], command->name);
    append_fish_text (to, command->summary);
    g_string_append_c (to, '\n');
  }
  if (command->verb_nth) {
    append_fish_verbs (to, command);
    return;
  }
  g_autofree char *condition = g_strdup_printf ("__fish_seen_subcommand_from %s", command->name);
  append_fish_positions (to, condition, page->positions);
}

void
lig_cli_append_fish (GString *to, GPtrArray *pages)
{
  g_string_append (to, "# fish completion for lig; made by lig --generate fish\n"
                       "complete -c lig -f\n"
                       "complete -c lig -n __fish_use_subcommand -a help -d 'Prints the commands, "
                       "or the options of one'\n");
  for (guint i = 0; i < pages->len; i++)
    append_fish_command (to, pages->pdata[i]);
  lig_cli_for_each_option (to, pages, append_fish_option);
}
