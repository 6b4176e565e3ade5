/* SPDX-License-Identifier: MIT */
/* Which options the command line contains. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns whether the command line that lig_cli_parse() read contains the option. */
gboolean lig_cli_was_given (const char *option);

/* Records the options on the command line, of GOptionEntry; their names must stay valid. */
void lig_cli_remember_given (const GPtrArray *entries);

G_END_DECLS
