/* SPDX-License-Identifier: MIT */
/* Moves options that precede the command after it, as in `lig --json fuse P`. The option tables of
 * all commands say which options take the next word as their value. */
#include "app/cli/arrange.h"

#include "app/cli/collect.h"
#include "app/cli/commands.h"

#include <ligature/suggest.h>

#include <string.h>

typedef struct {
  const char *name; /* a long name, or one letter of a short one */
  gboolean takes;   /* whether an option of this name takes a value */
} Search;

static void
search (const LigCommand *command, const GOptionEntry *entries, gpointer data)
{
  Search *self = data;
  for (; entries->long_name; entries++)
    if (!lig_cli_is_group (entries) && entries->arg != G_OPTION_ARG_NONE &&
        (strcmp (entries->long_name, self->name) == 0 ||
         (!self->name[1] && entries->short_name == self->name[0])))
      self->takes = TRUE;
}

/* Returns whether the option takes the next word as its value. */
static gboolean
takes_next (const char *word)
{
  Search self = {.name = word + strspn (word, "-")};
  gboolean alone = g_str_has_prefix (word, "--") ? !strchr (word, '=') : !word[1] || !word[2];
  for (guint i = 0; alone && lig_cli_command_nth (i); i++)
    lig_cli_collect (lig_cli_command_nth (i), search, &self);
  return self.takes;
}

/* Returns whether the word is the value of a switch, as in `--tf32 1`; no command has such a name.
 */
static gboolean
is_truth (const char *word)
{
  return strcmp (word, "0") == 0 || strcmp (word, "1") == 0;
}

gboolean
lig_cli_arrange (int argc, char **argv)
{
  int command = 1;
  while (command < argc && argv[command][0] == '-' && strcmp (argv[command], "--") != 0) {
    gboolean next = takes_next (argv[command]) ||
                    (command + 1 < argc && argv[command][1] == '-' && is_truth (argv[command + 1]));
    command += next ? 2 : 1;
  }
  if (command >= argc)
    return FALSE;
  char *name = argv[command];
  memmove (argv + 2, argv + 1, (gsize) (command - 1) * sizeof *argv);
  argv[1] = name;
  return TRUE;
}

static void
collect_names (const LigCommand *command, const GOptionEntry *entries, gpointer data)
{
  for (; entries->long_name; entries++)
    if (!lig_cli_is_group (entries))
      g_ptr_array_add (data, g_strdup (entries->long_name));
}

int
lig_cli_reject_options (char **words)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (names, g_strdup ("version"));
  for (guint i = 0; lig_cli_command_nth (i); i++)
    lig_cli_collect (lig_cli_command_nth (i), collect_names, names);
  g_ptr_array_add (names, NULL);
  const char *const *known = (const char *const *) names->pdata;
  for (; *words; words++) {
    const char *text = *words + strspn (*words, "-");
    g_autofree char *name = g_strndup (text, strcspn (text, "="));
    gboolean is_long = g_str_has_prefix (*words, "--");
    if (!is_long && **words == '-' && g_strv_contains (known, name) && name[0] && name[1])
      return lig_cli_usage ("option -%s is unknown; did you mean --%s?", name, name);
    if (!is_long || g_strv_contains (known, name))
      continue;
    const char *like = lig_suggest (name, known);
    if (like)
      return lig_cli_usage ("option --%s is unknown; did you mean --%s?", name, like);
    return lig_cli_usage ("option --%s is unknown; see lig --help", name);
  }
  return lig_cli_usage ("command missing; see lig --help");
}
