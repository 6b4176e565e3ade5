/* SPDX-License-Identifier: MIT */
/* A command's option table refers to variables of its run function, so that function is called to
 * get it. */
#include "app/cli/collect.h"

/* Set while lig_cli_collect() runs a command. */
static LigCliCollector collector;
static gpointer collector_data;

void
lig_cli_collect (const LigCommand *command, LigCliCollector function, gpointer data)
{
  char *argv[] = {(char *) command->name, NULL};
  collector = function;
  collector_data = data;
  command->run (1, argv);
  collector = NULL;
}

gboolean
lig_cli_hand_over (const LigCommand *command, const GOptionEntry *entries)
{
  if (!collector)
    return FALSE;
  collector (command, entries, collector_data);
  return TRUE;
}
