/* SPDX-License-Identifier: MIT */
/* Figures as people read them: bytes, times, counts, shapes. All are (transfer full). */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

/* `939 MB`, of 1,000 kB each. */
char *lig_figure_bytes (double bytes);

/* The text, or its first 500 characters and …: what anybody may have written into a store, for a
 * label. */
char *lig_figure_excerpt (const char *text);

/* `142 µs`, `5.37 ms`; nothing for NaN, which is not known. */
char *lig_figure_time (double seconds);

/* `12 594 176`, with the separator of the person's language. */
char *lig_figure_count (gint64 count);

/* `7.09 M`, where the whole number has no room. */
char *lig_figure_count_short (gint64 count);

/* `16384 × 4096`; `scalar` without axes. */
char *lig_figure_shape (const LigShape *shape);

/* The same, and the name of the type. */
char *lig_figure_tensor (const LigShape *shape, LigDtype dtype);

/* The engine's sentence with a capital letter. */
char *lig_figure_sentence (const char *message);

G_END_DECLS
