/* SPDX-License-Identifier: MIT */
/* Dates and times as users type them: `2026-11-20`, `2 days`, `yesterday`. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Parses a time, in microseconds since 1970, UTC: `2026-11-20`, optionally followed by `14:30` or
 * `14:30:05` and a zone; `14:30` of today; `now`, `today`, `yesterday` and days of the week, which
 * begin at midnight; or a duration before `now` such as `2 days`, `36h`, `1 week ago`. A time
 * without a zone is local. Returns FALSE if the text is none of these. */
gboolean lig_cli_parse_date (const char *text, gint64 now, gint64 *when);

G_END_DECLS
