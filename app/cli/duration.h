/* SPDX-License-Identifier: MIT */
/* Times in tables and sentences. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns "12.3 µs", "1.40 ms", "0:42", "3 h 05 min"; (transfer full). */
char *lig_cli_format_time (double seconds);

/* Returns the remaining time as "42 s", "1:05", "3 h 05 min"; (transfer full). */
char *lig_cli_format_left (double seconds);

/* Returns "142 to 150 µs": two times, in the same unit if possible; (transfer full). */
char *lig_cli_format_range (double from, double to);

G_END_DECLS
