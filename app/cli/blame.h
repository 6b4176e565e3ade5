/* SPDX-License-Identifier: MIT */
/* Errors of the engine that are errors of the command line. */
#pragma once

#include "app/cli/command.h"
#include <ligature/plan.h>

G_BEGIN_DECLS

/* Makes the engine's error about the value of an option one of a wrong command line, with the exit
 * code LIG_EXIT_USAGE: `--OPTION: MESSAGE`. Without an option the message is kept. Returns FALSE.
 */
gboolean lig_cli_blame (GError **error, const char *option);

/* Returns the names in --device if it lists several devices, separated by commas; (transfer full),
 * NULL if it names one device or none. */
GStrv lig_cli_split_devices (const char *device);

/* Opens the device of an option's or argument's value. A name of no known form is an error of the
 * command line, a missing device is not. */
LigDevice *lig_cli_open_named (const char *name, GError **error);

G_END_DECLS
