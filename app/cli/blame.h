/* SPDX-License-Identifier: MIT */
/* Turns engine errors into command-line errors. */
#pragma once

#include "app/cli/command.h"
#include <ligature/device.h>

G_BEGIN_DECLS

/* Turns the engine's error about an option's value into a command-line error with the exit code
 * LIG_EXIT_USAGE: `--OPTION: MESSAGE`. Without an option the message is kept. Returns FALSE. */
gboolean lig_cli_blame (GError **error, const char *option);

/* The same for a message that begins with the name of the option: `--MESSAGE`. */
gboolean lig_cli_blame_named (GError **error);

/* Appends a remedy to the error about an unknown op that resembles no name: the op with these
 * initials or this last word, otherwise the command that lists the ops. */
void lig_cli_suggest_op (GError **error);

/* Returns the names in --device if it lists several devices, separated by commas; (transfer full),
 * NULL if it names one device or none. */
GStrv lig_cli_split_devices (const char *device);

/* Opens the device that an option or argument names. An unknown form of name is a command-line
 * error; a missing device is not. */
LigDevice *lig_cli_open_named (const char *name, GError **error);

G_END_DECLS
