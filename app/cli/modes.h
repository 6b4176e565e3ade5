/* SPDX-License-Identifier: MIT */
/* How the user wants the output: as JSON, without remarks, in colours. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns whether --json was given. The first function makes it so, before anything can fail. */
void lig_cli_request_json (void);
gboolean lig_cli_json (void);

/* With --quiet nothing is printed to stderr but errors and warnings that something failed. */
void lig_cli_set_quiet (gboolean quiet);
gboolean lig_cli_quiet (void);

/* Returns whether text has colours: as --color says, else if stdout is a terminal with colours
 * (NO_COLOR and TERM=dumb are respected). The mode is `auto`, `always` or `never`. */
void lig_cli_set_colour (const char *mode);
gboolean lig_cli_colour (void);

G_END_DECLS
