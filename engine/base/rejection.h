/* SPDX-License-Identifier: MIT */
/* Sets the errors that reject a table of an op, kernel or fusion: `op relu: it has no title`. */
#pragma once

#include <ligature/error.h>

/* Sets the error `THING NAME: SENTENCE`, with at most 60 bytes of the name. Always returns FALSE.
 */
gboolean lig_reject (
  GError **error, LigError code, const char *thing, const char *name, const char *format, ...)
  G_GNUC_PRINTF (5, 6);
