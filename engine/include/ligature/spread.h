/* SPDX-License-Identifier: MIT */
/* Spreads: repeated measurements of one figure, and comparisons of two figures that take the noise
 * of both into account. The functions may be called from any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* The minimum number of values for comparing a spread: the quartiles of fewer are not
 * meaningful. */
#define LIG_SPREAD_MIN 5

/**
 * LigSpread:
 * @count: the number of values; 0 if there are none
 * @median: the median
 * @lower: the first quartile: a quarter of the values is smaller
 * @upper: the third quartile: a quarter of the values is greater
 *
 * The distribution of repeated measurements. All fields are in the unit of the values, and 0 if
 * there are no values.
 */
typedef struct {
  guint count;
  double median, lower, upper;
} LigSpread;

/**
 * lig_spread_measure:
 * @values: (array length=count): measured values, in any order; they are not changed
 * @count: the number of values
 * @spread: (out caller-allocates): filled in
 *
 * Finds the median and the quartiles of values. A quartile between two values is interpolated.
 * Values that are not finite are ignored and not counted.
 */
LIG_API void lig_spread_measure (const double *values, guint count, LigSpread *spread);

/**
 * lig_spread_measure_end:
 * @steps: (array length=count): increasing steps
 * @values: (array length=count): the value of a metric at each of them
 * @count: the number of values
 * @spread: (out caller-allocates): filled in
 *
 * Finds the median and the quartiles of a metric over the last 10 % of the steps of a run. The
 * value of a single step, like the loss of one batch, does not describe a run.
 */
LIG_API void
lig_spread_measure_end (const gint64 *steps, const double *values, guint count, LigSpread *spread);

/**
 * lig_spread_get_width:
 * @self: a spread
 *
 * Returns: the interquartile range as a fraction of the median, 0.1 for 10 %; NaN if @self has
 *   fewer than %LIG_SPREAD_LEAST values or no positive median
 */
LIG_API double lig_spread_get_width (const LigSpread *self);

/**
 * lig_spread_to_text:
 * @self: a spread of times in seconds
 *
 * Returns: (transfer full): the quartiles as text, `142–150 µs`; one figure if both agree in three
 *   digits
 */
LIG_API char *lig_spread_to_text (const LigSpread *self);

/**
 * LigDifferenceKind:
 * @LIG_DIFFERENCE_UNKNOWN: not comparable, because one of the spreads has fewer than
 *   %LIG_SPREAD_LEAST values or a median that is not positive
 * @LIG_DIFFERENCE_NONE: the medians differ by no more than the noise
 * @LIG_DIFFERENCE_LESS: the median of the sample is less, by more than the noise
 * @LIG_DIFFERENCE_MORE: the median of the sample is greater, by more than the noise
 */
typedef enum {
  LIG_DIFFERENCE_UNKNOWN,
  LIG_DIFFERENCE_NONE,
  LIG_DIFFERENCE_LESS,
  LIG_DIFFERENCE_MORE
} LigDifferenceKind;

/**
 * LigDifference:
 * @kind: the result
 * @change: the median of the sample minus that of the reference
 * @noise: the largest @change that counts as no difference
 * @ratio: the median of the sample divided by that of the reference
 * @noise_share: @noise as a fraction of the median of the reference
 *
 * A comparison of two spreads. Figures that are unknown are NaN.
 */
typedef struct {
  LigDifferenceKind kind;
  double change, noise, ratio, noise_share;
} LigDifference;

/**
 * lig_spread_compare:
 * @sample: a spread
 * @reference: the spread to compare it with
 * @difference: (out caller-allocates) (optional): filled in
 *
 * Compares two medians. The noise is the half-width of a 95 % confidence interval of the difference
 * of two medians, as in notched box plots: 1.82 times the square root of the sum of both w²/n,
 * where w is the interquartile range and n the number of values, counted up to 25 because
 * consecutive measurements share disturbances. The noise is at least 0.5 % of the reference, by
 * which repetitions differ on an idle machine.
 *
 * Returns: the kind of the difference
 */
LIG_API LigDifferenceKind lig_spread_compare (const LigSpread *sample,
                                              const LigSpread *reference,
                                              LigDifference *difference);

/**
 * lig_accuracy_compare:
 * @sample: an accuracy, from 0 to 1
 * @sample_rows: the number of rows that it counts; 0 if unknown
 * @reference: the accuracy to compare it with
 * @reference_rows: the number of rows of that one
 * @difference: (out caller-allocates) (optional): filled in; its ratio and share are NaN if
 *   @reference is 0
 *
 * Compares two accuracies, which are estimates from samples of rows. The noise is the half-width of
 * the 95 % confidence interval of the difference of two proportions by Agresti and Caffo (“Simple
 * and Effective Confidence Intervals for Proportions and Differences of Proportions”, The American
 * Statistician 54, 2000): to each sample one correct and one wrong row are added, and then the
 * standard errors are those of independent binomial samples, 1.96 · √(Σ p (1 − p) / n). Unlike the
 * normal approximation it holds for few rows and for accuracies near 0 and 1. Two models that are
 * evaluated on the same rows have correlated errors, of which only a comparison row by row would
 * know (McNemar's test): for them, the noise is an upper bound.
 *
 * Returns: the kind of the difference; %LIG_DIFFERENCE_UNKNOWN if a number of rows is unknown
 */
LIG_API LigDifferenceKind lig_accuracy_compare (double sample,
                                                gint64 sample_rows,
                                                double reference,
                                                gint64 reference_rows,
                                                LigDifference *difference);

/**
 * lig_accuracy_excuse:
 * @rows: the number of rows of the smaller sample
 *
 * Returns: (transfer full): the translated result of a comparison of accuracies without a
 *   difference: `no difference that 150 rows could show`
 */
LIG_API char *lig_accuracy_excuse (gint64 rows);

/**
 * lig_difference_to_text:
 * @self: a comparison of times
 *
 * Returns: (transfer full): the translated result: `12 % less time`, `2.3 times the time`, `no
 *   difference (noise 3 %)`
 */
LIG_API char *lig_difference_to_text (const LigDifference *self);

/**
 * lig_difference_kind_name:
 * @kind: the kind of a difference
 *
 * Returns: (transfer none): the name of the kind in JSON documents: `unknown`, `none`, `less` or
 *   `more`
 */
LIG_API const char *lig_difference_kind_name (LigDifferenceKind kind);

G_END_DECLS
