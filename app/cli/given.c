/* SPDX-License-Identifier: MIT */
#include "app/cli/given.h"

/* The names of the options on the command line. */
static GHashTable *given_names;

gboolean
lig_cli_was_given (const char *option)
{
  return given_names && g_hash_table_contains (given_names, option);
}

void
lig_cli_remember_given (const GPtrArray *entries)
{
  g_clear_pointer (&given_names, g_hash_table_unref);
  given_names = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < entries->len; i++) {
    const GOptionEntry *entry = entries->pdata[i];
    g_hash_table_add (given_names, (gpointer) entry->long_name);
  }
}
