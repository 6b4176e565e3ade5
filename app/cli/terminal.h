/* SPDX-License-Identifier: MIT */
/* The terminal that a stream is connected to. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

enum { LIG_CLI_NARROWEST = 60, LIG_CLI_WIDEST = 200, LIG_CLI_USUAL_WIDTH = 80 };

/* Returns the columns for text on the file descriptor: the environment variable COLUMNS, else the
 * present width of the terminal, else LIG_CLI_USUAL_WIDTH. It is asked again on each call, so a
 * resized terminal is noticed. The result is at least 1 and has no other bound; a text with columns
 * of its own takes it between LIG_CLI_NARROWEST and LIG_CLI_WIDEST. */
int lig_cli_width (int descriptor);

G_END_DECLS
