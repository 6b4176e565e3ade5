/* SPDX-License-Identifier: MIT */
/* `lig help`: the commands, or the help text of one. */
#include "app/cli/overview.h"

#include "app/cli/commands.h"
#include "app/cli/help-json.h"
#include "app/cli/help.h"
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/cli/wrap.h"

#include <ligature/suggest.h>

#include <string.h>
#include <unistd.h>

void
lig_cli_help_all (FILE *file)
{
  int width = CLAMP (lig_cli_width (fileno (file)), LIG_CLI_NARROWEST, LIG_CLI_USUAL_WIDTH);
  const LigCommand *command;
  g_autoptr (GString) lines = g_string_new (
    "Usage: lig COMMAND …\n\nFuses and trains sequences of operations.\n\nP is a sequence: a .lig "
    "file, an expression such as 'layer-norm ! gelu', or - for standard input.\n\nCommands:\n");
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; (command = lig_cli_command_nth (i)); i++)
    g_string_append_printf (lines, "  %-8s  %s\n", command->name, command->summary);
  g_string_append (lines,
                   "\nOptions may also precede the command.\n"
                   "lig help COMMAND shows its options and an example; lig --version the version.");
  lig_cli_append_lines (text, lines->str, width);
  fprintf (file, "%s\n", text->str);
}

/* Returns `runs list` for `list`, a verb without its command, and `--version` for `version`;
 * (transfer full), NULL for other words. */
static char *
complete_command (const char *name)
{
  const LigCommand *command;
  const char *verb = lig_cli_translate_verb (name);
  for (guint i = 0; (command = lig_cli_command_nth (i)); i++)
    if (lig_cli_find_verb (command, verb))
      return g_strconcat (command->name, " ", verb, NULL);
  return strcmp (name, "version") == 0 ? g_strdup ("--version") : NULL;
}

int
lig_cli_reject_command (const char *name)
{
  const LigCommand *command;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; (command = lig_cli_command_nth (i)); i++)
    g_ptr_array_add (names, (gpointer) command->name);
  g_ptr_array_add (names, (gpointer) "help");
  g_ptr_array_add (names, NULL);
  const char *like = lig_suggest (name, (const char *const *) names->pdata);
  g_autofree char *longer = complete_command (name);
  if (like || longer)
    return lig_cli_usage ("command '%s' is unknown; did you mean '%s'?", name,
                          longer ? longer : like);
  return lig_cli_usage ("command '%s' is unknown; see lig --help", name);
}

static const LigCommand help_command = {
  .name = "help",
  .usage = "[COMMAND [VERB]]",
  .summary = "Prints the commands, or the options of one",
  .example = "lig help train",
  .pages = TRUE,
};

int
lig_cli_help (int argc, char **argv)
{
  if (!lig_cli_parse (&help_command, NULL, &argc, &argv, 0, 2))
    return LIG_EXIT_USAGE;
  const LigCommand *command = argc > 1 ? lig_cli_find_command (argv[1]) : NULL;
  if (argc == 1 || strcmp (argv[1], "help") == 0) {
    if (lig_cli_json ())
      lig_cli_print_commands_json ();
    else
      lig_cli_help_all (stdout);
    return LIG_EXIT_OK;
  }
  if (!command)
    return lig_cli_reject_command (argv[1]);
  const LigCliVerb *verb = argc > 2 ? lig_cli_find_verb (command, argv[2]) : NULL;
  if (argc > 2 && !command->verb_nth)
    return lig_cli_usage ("lig %s has no verbs; see lig help %s", argv[1], argv[1]);
  if (argc > 2 && !verb)
    return lig_cli_reject_verb (command, argv[2]);
  lig_cli_print_help (command, verb);
  return LIG_EXIT_OK;
}
