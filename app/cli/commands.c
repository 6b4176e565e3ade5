/* SPDX-License-Identifier: MIT */
#include "app/cli/commands.h"

#include <string.h>

#define LIG_CLI(name) extern LIG_COMMAND (name);
#include "command-list.h"
#undef LIG_CLI

static const LigCommand *const commands[] = {
#define LIG_CLI(name) &lig_command_##name,
#include "command-list.h"
#undef LIG_CLI
};

const LigCommand *
lig_cli_command_nth (guint n)
{
  return n < G_N_ELEMENTS (commands) ? commands[n] : NULL;
}

const LigCommand *
lig_cli_find_command (const char *name)
{
  const LigCommand *command;
  for (guint i = 0; (command = lig_cli_command_nth (i)); i++)
    if (strcmp (command->name, name) == 0)
      return command;
  return NULL;
}
