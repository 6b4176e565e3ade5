/* SPDX-License-Identifier: MIT */
/* Options that several commands have. All of them have it with one name, one description
 * and one kind of value; tests/cli/alike.c compares all commands. */
#pragma once

#include "app/cli/command.h"
#include <ligature/run.h>

G_BEGIN_DECLS

/* The line of --store in the option table of a command. */
#define LIG_CLI_STORE_ENTRY(variable) \
  { \
    "store", 0, 0, G_OPTION_ARG_FILENAME, variable, \
      "The database of runs and measured times" LIG_CLI_STORE_DEFAULT, "FILE" \
  }

/* The line of -q in the option table of a command with progress. */
#define LIG_CLI_QUIET_ENTRY(variable) \
  { \
    "quiet", 'q', 0, G_OPTION_ARG_NONE, variable, \
      "Print only errors and the result, of a training the uuid of its run", NULL \
  }

/* Returns the description of a training's setting as an option, with its optimizers and default;
 * (transfer full). */
char *lig_cli_setting_help (const LigSetting *setting);

/* Returns the line of an option table for a training's setting that another command has too. */
GOptionEntry lig_cli_setting_entry (const char *name, char **variable);

/* Reads the value of such an option as a training does; without a value it is the setting's
 * default. Returns FALSE with a G_OPTION_ERROR set. */
gboolean lig_cli_read_count (const char *name, const char *text, gint64 *value, GError **error);

/* Returns the line of --device for commands that also plan for devices that are only described, or
 * for those that run on the device. */
GOptionEntry lig_cli_device_entry (gboolean runs, char **variable);

/* Opens a device to run on. Returns NULL with an error set, a G_OPTION_ERROR if it is only
 * described. */
LigDevice *lig_cli_open_real (const char *name, GError **error);

G_END_DECLS
