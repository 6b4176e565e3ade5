/* SPDX-License-Identifier: MIT */
/* Options of several commands. Each has the same name, description and kind of value in all of
 * them; tests/cli/alike.c compares the commands. */
#pragma once

#include "app/cli/command.h"
#include <ligature/run.h>

G_BEGIN_DECLS

/* The option --store. */
#define LIG_CLI_STORE_ENTRY(variable) \
  { \
    "store", 0, 0, G_OPTION_ARG_FILENAME, variable, \
      "The database of runs and measured times" LIG_CLI_STORE_DEFAULT, "FILE" \
  }

/* The option -q of a command with progress. */
#define LIG_CLI_QUIET_ENTRY(variable, result) \
  { \
    "quiet", 'q', 0, G_OPTION_ARG_NONE, variable, "Print only errors and the " result, NULL \
  }

/* Returns the description of a training setting as an option, with its optimizers and default;
 * (transfer full). */
char *lig_cli_setting_help (const LigSetting *setting);

/* Returns the option table line of a training setting that another command also has. */
GOptionEntry lig_cli_setting_entry (const char *name, char **variable);

/* Parses the value of such an option as `lig train` does; without a value it is the setting's
 * default. Returns FALSE with a G_OPTION_ERROR set. */
gboolean lig_cli_read_count (const char *name, const char *text, gint64 *value, GError **error);

/* Returns the option --device for commands that also plan for device descriptions, or for those
 * that run on the device. */
GOptionEntry lig_cli_device_entry (gboolean runs, char **variable);

/* Opens a device to run on. Returns NULL with an error set, a G_OPTION_ERROR if it is only a
 * description. */
LigDevice *lig_cli_open_real (const char *name, GError **error);

G_END_DECLS
