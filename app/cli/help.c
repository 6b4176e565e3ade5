/* SPDX-License-Identifier: MIT */
/* Lays out the help texts: groups of options, each option with its default, at most 80 columns. */
#include "app/cli/help.h"

#include "app/cli/collect.h"
#include "app/cli/help-json.h"
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/cli/wrap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
append_title (GString *to, const char *title)
{
  gboolean colour = lig_cli_colour ();
  g_string_append_printf (to, "\n%s%s:%s\n", colour ? "\033[1m" : "", title,
                          colour ? "\033[0m" : "");
}

/* --- Options ------------------------------------------------------------------------------- */

static char *
make_form (const GOptionEntry *entry)
{
  GString *text = g_string_new ("  ");
  if (entry->short_name)
    g_string_append_printf (text, "-%c, ", entry->short_name);
  g_string_append_printf (text, "--%s", entry->long_name);
  if (entry->arg_description)
    g_string_append_printf (text, " %s", entry->arg_description);
  return g_string_free (text, FALSE);
}

/* Appends a line of two columns; the second begins at `column`. */
static void
append_pair (GString *to, const char *form, const char *text, int column, int width)
{
  int length = (int) g_utf8_strlen (form, -1);
  g_string_append (to, form);
  if (length + 2 > column)
    g_string_append_printf (to, "\n%*s", column, "");
  else
    g_string_append_printf (to, "%*s", column - length, "");
  lig_cli_append_wrapped (to, text, column, column, width);
  g_string_append_c (to, '\n');
}

/* Returns the column of the second texts: after the longest form that is not wider than a share of
 * the line. */
static int
choose_column (const LigCommand *command, const GOptionEntry *entries, int width)
{
  const LigCliVerb *verb;
  int max = width * 3 / 8, longest = 0;
  for (; entries->long_name; entries++) {
    g_autofree char *form = make_form (entries);
    int length = (int) g_utf8_strlen (form, -1) + 2;
    longest = length <= max ? MAX (longest, length) : longest;
  }
  for (guint i = 0; command->verb_nth && (verb = command->verb_nth (i)); i++) {
    int length = (int) (strlen (verb->name) + 1 + g_utf8_strlen (verb->arguments, -1)) + 4;
    longest = length <= max ? MAX (longest, length) : longest;
  }
  return longest;
}

GPtrArray *
lig_cli_list_groups (const GOptionEntry *entries)
{
  GPtrArray *titles = g_ptr_array_new ();
  if (entries->long_name && !lig_cli_is_group (entries))
    g_ptr_array_add (titles, LIG_CLI_OPTIONS);
  for (; entries->long_name; entries++)
    if (lig_cli_is_group (entries) &&
        !g_ptr_array_find_with_equal_func (titles, entries->description, g_str_equal, NULL))
      g_ptr_array_add (titles, (gpointer) entries->description);
  return titles;
}

const char *
lig_cli_group_of (const GOptionEntry *entries, const GOptionEntry *entry)
{
  const char *group = LIG_CLI_OPTIONS;
  for (; entries < entry; entries++)
    group = lig_cli_is_group (entries) ? entries->description : group;
  return group;
}

static void
append_group (GString *to,
              const char *title,
              const LigCliVerb *verb,
              const GOptionEntry *entries,
              int column,
              int width)
{
  const char *group = LIG_CLI_OPTIONS;
  gboolean first = TRUE;
  for (; entries->long_name; entries++) {
    if (lig_cli_is_group (entries)) {
      group = entries->description;
      continue;
    }
    if (strcmp (group, title) != 0 || entries->flags & G_OPTION_FLAG_HIDDEN ||
        !lig_cli_verb_has (verb, group, entries->long_name))
      continue;
    if (first)
      append_title (to, title);
    first = FALSE;
    g_autofree char *form = make_form (entries);
    append_pair (to, form, entries->description, column, width);
  }
}

/* --- Commands ------------------------------------------------------------------------------ */

static void
append_verbs (GString *to, const LigCommand *command, int column, int width)
{
  const LigCliVerb *verb;
  append_title (to, "Verbs");
  for (guint i = 0; (verb = command->verb_nth (i)); i++) {
    g_autofree char *form = g_strdup_printf ("  %s %s", verb->name, verb->arguments);
    append_pair (to, form, verb->summary ? verb->summary : "", column, width);
  }
}

/* A placeholder for a space at which no line is broken. */
#define KEPT "\001"

static void
mark_spaces (char *text)
{
  int depth = 0;
  const char *word = text;
  for (; *text; text++) {
    depth += (*text == '[') - (*text == ']');
    if (*text != ' ')
      continue;
    if (depth > 0 || *word == '-')
      *text = KEPT[0];
    word = text + 1;
  }
}

static void
append_usage (GString *to, const LigCommand *command, const LigCliVerb *verb, int width)
{
  g_autofree char *name =
    verb ? g_strconcat (command->name, " ", verb->name, NULL) : g_strdup (command->name);
  g_autofree char *text =
    g_strdup_printf ("Usage: lig %s %s", name, verb ? verb->arguments : command->usage);
  /* An option stays on one line with its value. */
  g_autoptr (GString) wrapped = g_string_new (NULL);
  mark_spaces (g_strchomp (text));
  lig_cli_append_wrapped (wrapped, text, 0, (int) strlen ("Usage: "), width);
  g_string_append (to, g_strdelimit (wrapped->str, KEPT, ' '));
  g_string_append (to, "\n\n");
  lig_cli_append_wrapped (to, verb && verb->summary ? verb->summary : command->summary, 0, 0,
                          width);
  g_string_append (to, ".\n");
}

/* Returns whether the first line of a paragraph of the notes names an option that the verb
 * lacks. */
static gboolean
is_foreign (const char *paragraph, const LigCliVerb *verb)
{
  g_autofree char *line = g_strndup (paragraph, strcspn (paragraph, "\n"));
  const char *option = strstr (line, "--");
  if (!verb || !option)
    return FALSE;
  g_autofree char *name = g_strndup (option + 2, strcspn (option + 2, " ,:;.)"));
  return !lig_cli_verb_has (verb, LIG_CLI_OPTIONS, name);
}

static void
append_notes (GString *to, const LigCommand *command, const LigCliVerb *verb, int width)
{
  g_autoptr (GString) notes = g_string_new (NULL);
  if (command->notes)
    command->notes (notes);
  g_auto (GStrv) paragraphs = g_strsplit (g_strchomp (notes->str), "\n\n", -1);
  for (char **paragraph = paragraphs; *paragraph; paragraph++) {
    if (is_foreign (*paragraph, verb))
      continue;
    g_string_append_c (to, '\n');
    lig_cli_append_lines (to, *paragraph, width);
    g_string_append_c (to, '\n');
  }
}

static void
append_help (GString *to,
             const LigCommand *command,
             const LigCliVerb *verb,
             const GOptionEntry *entries,
             gboolean longer)
{
  int width = CLAMP (lig_cli_width (STDOUT_FILENO), LIG_CLI_NARROWEST, LIG_CLI_USUAL_WIDTH);
  int column = choose_column (command, entries, width);
  g_autoptr (GPtrArray) groups = lig_cli_list_groups (entries);
  append_usage (to, command, verb, width);
  if (command->verb_nth && !verb)
    append_verbs (to, command, column, width);
  for (guint i = 0; i < groups->len; i++)
    append_group (to, groups->pdata[i], verb, entries, column, width);
  if (!longer) {
    lig_cli_append_wrapped (to, "\nlig ", 0, 0, width);
    g_string_append_printf (to, "%s --help also shows an example.\n", command->name);
    return;
  }
  append_notes (to, command, verb, width);
  if (verb && !g_strrstr (command->example, verb->name))
    return;
  append_title (to, "Example");
  lig_cli_append_shell (to, command->example, 2, width);
  g_string_append_c (to, '\n');
}

void
lig_cli_print_options (const LigCommand *command,
                       const LigCliVerb *verb,
                       const GOptionEntry *entries,
                       gboolean longer)
{
  g_autoptr (GString) text = g_string_new (NULL);
  if (lig_cli_json ()) {
    lig_cli_print_help_json (command, verb, entries);
    return;
  }
  append_help (text, command, verb, entries, longer);
  fputs (text->str, stdout);
}

static void
print (const LigCommand *command, const GOptionEntry *entries, gpointer data)
{
  lig_cli_print_options (command, data, entries, TRUE);
}

void
lig_cli_print_help (const LigCommand *command, const LigCliVerb *verb)
{
  lig_cli_collect (command, print, (gpointer) verb);
}
