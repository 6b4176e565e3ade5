/* SPDX-License-Identifier: MIT */
/* Completions for fish. */
#include "app/cli/generate.h"

#include "app/cli/values.h"

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

static void
append_fish_option (GString *to, const LigCliPage *page, const GOptionEntry *entry)
{
  g_autofree char *kinds = entry->arg != G_OPTION_ARG_NONE ? lig_cli_get_kinds (entry) : NULL;
  g_string_append_printf (to, "complete -c lig -n '__fish_seen_subcommand_from %s' -l %s",
                          page->command->name, entry->long_name);
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

void
lig_cli_append_fish (GString *to, GPtrArray *pages)
{
  g_string_append (to, "# fish completion for lig; made by lig --generate fish\n"
                       "complete -c lig -f\n");
  for (guint i = 0; i < pages->len; i++) {
    const LigCliPage *page = pages->pdata[i];
    g_string_append_printf (to, "complete -c lig -n __fish_use_subcommand -a %s -d ",
                            page->command->name);
    append_fish_text (to, page->command->summary);
    g_string_append_c (to, '\n');
    for (char **kinds = page->positions; *kinds; kinds++) {
      g_string_append_printf (to, "complete -c lig -n '__fish_seen_subcommand_from %s'%s",
                              page->command->name, has_files (*kinds) ? " -F" : "");
      append_fish_values (to, *kinds);
      g_string_append_c (to, '\n');
    }
  }
  lig_cli_for_each_option (to, pages, append_fish_option);
}
