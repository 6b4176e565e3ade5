/* SPDX-License-Identifier: MIT */
/* Switches: options without a value and with an opposite, `--tf32` and `--no-tf32`. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The value of a switch that was not given. */
#define LIG_CLI_UNSET -1

/* Replaces the words `--tf32=1`, `--tf32=0`, `--tf32 1` and `--tf32 0` by the switch or its
 * opposite, for command lines and scripts that give a value. Also accepts yes and no, true and
 * false, on and off. */
void lig_cli_settle_switches (const GOptionEntry *entries, int *argc, char **argv);

G_END_DECLS
