/* SPDX-License-Identifier: MIT */
/* Readable figures: bytes, times, counts, shapes. All are (transfer full). */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

/* `939 MB`, of 1,000 kB each. */
char *lig_figure_bytes (double bytes);

/* The text, or its first 500 characters and …: for a label with text from a store, which any
 * program may have written. */
char *lig_figure_excerpt (const char *text);

/* `142 µs`, `5.37 ms`; empty for NaN, unknown. */
char *lig_figure_time (double seconds);

/* `12 594 176`, with the locale's separator. */
char *lig_figure_count (gint64 count);

/* `7.09 M`, if the whole number does not fit. */
char *lig_figure_count_short (gint64 count);

/* `16384 × 4096`; `scalar` without axes. */
char *lig_figure_shape (const LigShape *shape);

/* The same with the name of the type. */
char *lig_figure_tensor (const LigShape *shape, LigDtype dtype);

/* `2 hours ago`, or a date if the time, in microseconds since 1970, is more than a week ago. */
char *lig_figure_ago (gint64 when);

/* The engine's sentence with a capital letter. */
char *lig_figure_sentence (const char *message);

G_END_DECLS
