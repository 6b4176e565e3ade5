/* SPDX-License-Identifier: MIT */
/* Times that people type: `2026-11-20`, `2 days`, `yesterday`. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Finds the time that a text means, in microseconds since 1970, UTC: `2026-11-20`, followed by
 * `14:30`, `14:30:05` and a zone if necessary; `14:30` of today; `now`, `today`, `yesterday` and
 * days of the week, which begin at midnight; or a duration before `now` such as `2 days`, `36h`,
 * `1 week ago`. A time without a zone is local. Returns FALSE if it means none of them. */
gboolean lig_cli_parse_date (const char *text, gint64 now, gint64 *when);

G_END_DECLS
