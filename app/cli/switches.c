/* SPDX-License-Identifier: MIT */
/* Accepts values for switches. */
#include "app/cli/switches.h"

#include <string.h>

/* Returns 1 or 0 for a word with that meaning, LIG_CLI_UNSET for any other. */
static int
read_truth (const char *word)
{
  static const char *const words[][2] = {
    {"0", "1"}, {"no", "yes"}, {"false", "true"}, {"off", "on"}};
  for (guint i = 0; word && i < G_N_ELEMENTS (words); i++)
    for (int truth = 0; truth < 2; truth++)
      if (g_ascii_strcasecmp (words[i][truth], word) == 0)
        return truth;
  return LIG_CLI_UNSET;
}

static gboolean
is_flag (const GOptionEntry *entries, const char *name)
{
  for (; entries->long_name; entries++)
    if (strcmp (entries->long_name, name) == 0)
      return entries->arg == G_OPTION_ARG_NONE;
  return FALSE;
}

/* Returns the switch with this value as a word. It is never freed, like the words of main(). */
static char *
get_word (const char *name, int truth)
{
  g_autofree char *word = g_strconcat (truth ? "--" : "--no-", name, NULL);
  return (char *) g_intern_string (word);
}

void
lig_cli_settle_switches (const GOptionEntry *entries, int *argc, char **argv)
{
  for (int i = 1; i < *argc && strcmp (argv[i], "--") != 0; i++) {
    if (!g_str_has_prefix (argv[i], "--"))
      continue;
    g_auto (GStrv) parts = g_strsplit (argv[i] + 2, "=", 2);
    g_autofree char *opposite = g_strconcat ("no-", parts[0], NULL);
    if (!is_flag (entries, parts[0]) || !is_flag (entries, opposite))
      continue;
    /* No sequence is called `0` or `1`, but a file may be called `on`. */
    gboolean next = !parts[1] && i + 1 < *argc &&
                    (strcmp (argv[i + 1], "0") == 0 || strcmp (argv[i + 1], "1") == 0);
    int truth = read_truth (next ? argv[i + 1] : parts[1]);
    if (truth == LIG_CLI_UNSET)
      continue;
    argv[i] = get_word (parts[0], truth);
    if (next)
      memmove (argv + i + 1, argv + i + 2, (gsize) (*argc - i - 1) * sizeof *argv);
    *argc -= next;
  }
}
