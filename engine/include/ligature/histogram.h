/* SPDX-License-Identifier: MIT */
/* Histograms of tensors over the magnitudes of their values. Bins are fixed powers of two, so that
 * the histograms of one tensor at several steps are comparable. The functions may be called from
 * any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * LIG_HISTOGRAM_BINS:
 *
 * The number of bins for each sign: bin b has the values whose magnitude is at least 2^(b - 127)
 * and less than 2^(b - 126), bin 0 all smaller ones except 0. b is the biased exponent of an fp32
 * number, so that the bins contain each finite number.
 */
#define LIG_HISTOGRAM_BINS 255

/**
 * LIG_HISTOGRAM_BIAS:
 *
 * The bin of magnitudes from 1 to below 2.
 */
#define LIG_HISTOGRAM_BIAS 127

/**
 * LigHistogram:
 * @counts: the numbers of positive and of negative values in each bin
 * @zeros: the number of values that are 0 or -0
 * @nan: the number of values that are not a number
 * @infinite: the number of values that are infinite
 * @min: the smallest finite value; NaN without any
 * @max: the largest finite value; NaN without any
 * @mean: the mean of the finite values; NaN without any
 * @rms: the root mean square of the finite values; NaN without any
 *
 * The distribution of the values of a tensor.
 */
typedef struct {
  guint64 counts[2][LIG_HISTOGRAM_BINS];
  guint64 zeros, nan, infinite;
  double min, max, mean, rms;
} LigHistogram;

/**
 * lig_histogram_init:
 * @self: (out caller-allocates): the histogram
 *
 * Initializes a histogram without values.
 */
LIG_API void lig_histogram_init (LigHistogram *self);

/**
 * lig_histogram_add:
 * @self: a histogram
 * @values: (array length=count): the values
 * @count: their number
 *
 * Adds values. The result does not depend on the number of threads.
 */
LIG_API void lig_histogram_add (LigHistogram *self, const float *values, gsize count);

/**
 * lig_histogram_get_total:
 * @self: a histogram
 *
 * Returns: the number of all values
 */
LIG_API guint64 lig_histogram_get_total (const LigHistogram *self);

/**
 * lig_histogram_to_sparkline:
 * @self: a histogram
 * @first: the first bin to show
 * @last: the last one
 *
 * Returns: (transfer full): a character per bin, from a space for an empty one and `▁` to `█` for
 *   the fullest, of the values of both signs
 */
LIG_API char *lig_histogram_to_sparkline (const LigHistogram *self, int first, int last);

/**
 * LigHistogramSeries:
 * @parameter: the path of a parameter, `1.weight`
 * @gradient: whether the histograms are those of its gradient
 * @steps: (element-type gint64): the steps, ascending
 * @histograms: (element-type LigHistogram): the histogram after each step
 *
 * The distribution of a trained parameter or of its gradient during a run.
 */
typedef struct {
  char *parameter;
  gboolean gradient;
  GArray *steps, *histograms;
} LigHistogramSeries;

/**
 * lig_histogram_series_free: (skip)
 * @self: (nullable) (transfer full): a series
 *
 * Frees it.
 */
LIG_API void lig_histogram_series_free (LigHistogramSeries *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigHistogramSeries, lig_histogram_series_free)

G_END_DECLS
