/* SPDX-License-Identifier: MIT */
/* The types of a run, as in the setting `dtype`. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Reads a `dtype` setting such as bf16:fp32; types that the text, which may be NULL or empty, omits
 * are unchanged. */
gboolean lig_run_read_types (const char *text, int *compute, int *parameters, GError **error);

/* Returns the types of a run of the sequence with the setting `dtype`, `bf16:fp8`. */
char *lig_run_describe_types (LigSequence *sequence, const char *dtype);

G_END_DECLS
