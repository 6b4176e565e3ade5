/* SPDX-License-Identifier: MIT */
/* Sentences that refuse a table: `op relu: it has no title`. */
#pragma once

#include <ligature/error.h>

/* Sets `THING NAME: SENTENCE`, of the name at most 60 bytes. Always returns FALSE. */
gboolean lig_refuse (
  GError **error, LigError code, const char *thing, const char *name, const char *format, ...)
  G_GNUC_PRINTF (5, 6);
