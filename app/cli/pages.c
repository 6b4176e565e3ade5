/* SPDX-License-Identifier: MIT */
#include "app/cli/pages.h"

#include "app/cli/collect.h"
#include "app/cli/commands.h"
#include "app/cli/help.h"
#include "app/cli/values.h"
#include "app/cli/verbs.h"

#include <string.h>

static void
free_page (gpointer data)
{
  LigCliPage *page = data;
  g_array_unref (page->entries);
  g_ptr_array_unref (page->groups);
  g_ptr_array_unref (page->titles);
  g_ptr_array_unref (page->texts);
  g_strfreev (page->positions);
  g_free (page);
}

/* Copies the text, because a command frees the texts of its options when it returns. */
static const char *
keep (LigCliPage *page, const char *text)
{
  char *copy = g_strdup (text);
  if (copy)
    g_ptr_array_add (page->texts, copy);
  return copy;
}

GStrv
lig_cli_read_positions (const char *usage)
{
  gboolean repeats = FALSE;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) words = g_strsplit (usage, " ", -1);
  for (char **word = words; *word && !g_str_has_prefix (*word + strspn (*word, "["), "-"); word++) {
    g_autofree char *kinds = lig_cli_values_kinds (*word, FALSE);
    g_strv_builder_add (builder, kinds ? kinds : "-");
    repeats = strstr (*word, "…") != NULL;
  }
  if (!repeats)
    g_strv_builder_add (builder, "-");
  return g_strv_builder_end (builder);
}

char *
lig_cli_join_commands (const char *separator)
{
  const LigCommand *command;
  GString *text = g_string_new (NULL);
  for (guint i = 0; (command = lig_cli_command_nth (i)); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? separator : "", command->name);
  return g_string_free (text, FALSE);
}

void
lig_cli_append_options (GString *to,
                        const LigCliPage *page,
                        const LigCliVerb *verb,
                        const char *separator)
{
  for (guint i = 0; i < page->entries->len; i++) {
    const char *name = g_array_index (page->entries, GOptionEntry, i).long_name;
    if (lig_cli_verb_has (verb, page->groups->pdata[i], name))
      g_string_append_printf (to, "%s--%s", separator, name);
  }
}

static void
collect (const LigCommand *command, const GOptionEntry *entries, gpointer data)
{
  LigCliPage *page = g_new0 (LigCliPage, 1);
  page->command = command;
  page->entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  page->texts = g_ptr_array_new_with_free_func (g_free);
  page->groups = g_ptr_array_new ();
  page->titles = lig_cli_list_groups (entries);
  page->positions = lig_cli_read_positions (command->usage);
  const char *group = LIG_CLI_OPTIONS;
  for (; entries->long_name; entries++) {
    GOptionEntry entry = *entries;
    if (lig_cli_is_group (entries)) {
      group = entries->description;
      continue;
    }
    g_ptr_array_add (page->groups, (gpointer) group);
    entry.long_name = keep (page, entry.long_name);
    entry.description = keep (page, entry.description);
    entry.arg_description = keep (page, entry.arg_description);
    entry.arg_data = NULL;
    g_array_append_val (page->entries, entry);
  }
  g_ptr_array_add (data, page);
}

GPtrArray *
lig_cli_pages (void)
{
  GPtrArray *pages = g_ptr_array_new_with_free_func (free_page);
  for (guint i = 0; lig_cli_command_nth (i); i++)
    lig_cli_collect (lig_cli_command_nth (i), collect, pages);
  return pages;
}

void
lig_cli_for_each_option (GString *to,
                         GPtrArray *pages,
                         void (*append) (GString *to,
                                         const LigCliPage *page,
                                         const GOptionEntry *entry))
{
  for (guint i = 0; i < pages->len; i++) {
    const LigCliPage *page = pages->pdata[i];
    for (guint j = 0; j < page->entries->len; j++)
      append (to, page, &g_array_index (page->entries, GOptionEntry, j));
  }
}

char *
lig_cli_get_kinds (const GOptionEntry *entry)
{
  return lig_cli_values_kinds (entry->arg_description, entry->arg == G_OPTION_ARG_FILENAME);
}
