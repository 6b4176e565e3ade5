/* SPDX-License-Identifier: MIT */
/* The files of commands that write reports. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns the name of the format that --format (nullable) or the ending of the file name chooses.
 * If the command line is wrong, prints the error and returns NULL. */
const char *lig_cli_report_format (const char *output, const char *format);

/* Writes the report and says so. Returns an exit code. */
int lig_cli_report_write (GBytes *report, const char *output, const char *format);

G_END_DECLS
