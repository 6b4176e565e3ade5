/* SPDX-License-Identifier: MIT */
#include "app/cli/texts.h"

#include <stdio.h>
#include <string.h>

/* Appends a machine-readable table of all commands' options: the command, the long and the short
 * name, the number of GOptionArg, the placeholder and the description, separated by tabs. */
static void
append_option (GString *to, const LigCliPage *page, const GOptionEntry *entry)
{
  if (!(entry->flags & G_OPTION_FLAG_HIDDEN))
    g_string_append_printf (to, "%s\t%s\t%.1s\t%d\t%s\t%s\n", page->command->name, entry->long_name,
                            entry->short_name ? &entry->short_name : "", (int) entry->arg,
                            entry->arg_description ? entry->arg_description : "",
                            entry->description ? entry->description : "");
}

static void
append_options (GString *to, GPtrArray *pages)
{
  lig_cli_for_each_option (to, pages, append_option);
}

int
lig_cli_print_text (int n, char **arguments)
{
  static const struct {
    const char *name;
    void (*append) (GString *to, GPtrArray *pages);
  } writers[] = {{"man", lig_cli_append_manual},
                 {"bash", lig_cli_append_bash},
                 {"zsh", lig_cli_append_zsh},
                 {"fish", lig_cli_append_fish},
                 {"options", append_options}};
  for (gsize i = 0; n == 1 && i < G_N_ELEMENTS (writers); i++) {
    if (strcmp (writers[i].name, arguments[0]) != 0)
      continue;
    g_autoptr (GString) text = g_string_new (NULL);
    g_autoptr (GPtrArray) pages = lig_cli_pages ();
    writers[i].append (text, pages);
    fputs (text->str, stdout);
    return LIG_EXIT_OK;
  }
  return lig_cli_usage ("--generate takes man, bash, zsh, fish or options");
}
