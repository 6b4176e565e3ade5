/* SPDX-License-Identifier: MIT */
/* Output modes: JSON, quiet, colours. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Sets and returns whether --json was given. It is set before anything can fail. */
void lig_cli_request_json (void);
gboolean lig_cli_json (void);

/* With --quiet only errors and warnings about failures are printed to stderr. */
void lig_cli_set_quiet (gboolean quiet);
gboolean lig_cli_quiet (void);

/* Returns whether output is coloured: as --color says, otherwise if stdout is a terminal with
 * colours (NO_COLOR and TERM=dumb are respected). The mode is `auto`, `always` or `never`. */
void lig_cli_set_colour (const char *mode);
gboolean lig_cli_colour (void);

G_END_DECLS
