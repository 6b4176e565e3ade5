/* SPDX-License-Identifier: MIT */
/* The functions of histograms for the store, for ranks and for pictures. */
#pragma once

#include <ligature/histogram.h>

G_BEGIN_DECLS

/* Adds the values of the other histogram. */
void lig_histogram_merge (LigHistogram *self, const LigHistogram *other);

/* Finds the first and the last bin that has values of either sign. Returns FALSE if all are empty.
 */
gboolean lig_histogram_find_bins (const LigHistogram *self, int *first, int *last);

/* Returns (transfer full) the counts of the bins in a compact form: for the positive and then for
 * the negative values the index of the first bin with values, the number of bins up to the last one
 * with values, and their counts. Each number is written in groups of seven bits, the lowest first;
 * all bytes of a number but the last have the highest bit set. */
GBytes *lig_histogram_to_bytes (const LigHistogram *self);

/* Replaces the counts by those of lig_histogram_to_bytes(). Returns FALSE with LIG_ERROR_FORMAT set
 * if these are other bytes. */
gboolean
lig_histogram_take_bytes (LigHistogram *self, const guint8 *data, gsize size, GError **error);

/* Returns (transfer full) a series without histograms. */
LigHistogramSeries *lig_histogram_series_new (const char *parameter, gboolean gradient);

G_END_DECLS
