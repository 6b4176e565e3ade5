/* SPDX-License-Identifier: MIT */
/* The terminal that a stream is connected to. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

enum { LIG_CLI_NARROWEST = 60, LIG_CLI_WIDEST = 200, LIG_CLI_USUAL_WIDTH = 80 };

/* Returns the columns for text on the file descriptor: the environment variable COLUMNS, else the
 * current width of the terminal, else LIG_CLI_USUAL_WIDTH. Each call asks again, so that a resize
 * is noticed. The result is at least 1 and has no upper bound; tables clamp it to LIG_CLI_NARROWEST
 * and LIG_CLI_WIDEST. */
int lig_cli_width (int descriptor);

G_END_DECLS
