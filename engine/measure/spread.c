/* SPDX-License-Identifier: MIT */
/* Medians with quartiles, and whether two medians differ by more than the noise. */
#include <ligature/spread.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The half-width of the confidence interval, in units of the interquartile range over the square
 * root of the count: 1.96 standard errors of a median, each 1.2533 standard deviations over the
 * square root of the count; a standard deviation is the interquartile range over 1.349. */
#define HALF_WIDTH (1.96 * 1.2533 / 1.349)
#define MAX_COUNTED 25
#define MIN_NOISE 0.005

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* Returns a quantile of sorted values. */
static double
find_quantile (const double *sorted, guint count, double share)
{
  double place = share * (count - 1);
  guint below = (guint) place, above = MIN (below + 1, count - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

void
lig_spread_measure (const double *values, guint count, LigSpread *spread)
{
  g_return_if_fail (spread && (values || count == 0));
  g_autofree double *sorted = g_new (double, (gsize) count + 1);
  guint finite = 0;
  for (guint i = 0; i < count; i++)
    if (isfinite (values[i]))
      sorted[finite++] = values[i];
  *spread = (LigSpread){.count = finite};
  if (finite == 0)
    return;
  qsort (sorted, finite, sizeof *sorted, compare);
  spread->lower = find_quantile (sorted, finite, 0.25);
  spread->median = find_quantile (sorted, finite, 0.5);
  spread->upper = find_quantile (sorted, finite, 0.75);
}

/* The end of a run is the last 1/LAST_SHARE of its steps. */
#define LAST_SHARE 10

void
lig_spread_measure_end (const gint64 *steps, const double *values, guint count, LigSpread *spread)
{
  g_return_if_fail (spread && ((steps && values) || count == 0));
  guint from = count > 0 ? count - 1 : 0;
  while (from > 0 && steps[from - 1] > steps[count - 1] - steps[count - 1] / LAST_SHARE)
    from--;
  lig_spread_measure (values ? values + from : NULL, count - from, spread);
}

static gboolean
is_comparable (const LigSpread *spread)
{
  return spread->count >= LIG_SPREAD_MIN && spread->median > 0 && isfinite (spread->median);
}

double
lig_spread_get_width (const LigSpread *self)
{
  g_return_val_if_fail (self, NAN);
  return is_comparable (self) ? (self->upper - self->lower) / self->median : NAN;
}

char *
lig_spread_to_text (const LigSpread *self)
{
  g_return_val_if_fail (self, NULL);
  g_autofree char *lower = lig_units_time (self->lower), *upper = lig_units_time (self->upper);
  if (g_str_equal (lower, upper))
    return g_steal_pointer (&upper);
  const char *unit = strchr (lower, ' '), *other = strchr (upper, ' ');
  if (unit && g_strcmp0 (unit, other) == 0)
    lower[unit - lower] = '\0';
  return g_strconcat (lower, "–", upper, NULL);
}

/* Returns the square of the uncertainty of a median. */
static double
get_variance (const LigSpread *spread)
{
  double width = HALF_WIDTH * (spread->upper - spread->lower);
  return width * width / MIN (spread->count, MAX_COUNTED);
}

LigDifferenceKind
lig_spread_compare (const LigSpread *sample, const LigSpread *reference, LigDifference *difference)
{
  LigDifference found = {LIG_DIFFERENCE_UNKNOWN, NAN, NAN, NAN, NAN};
  g_return_val_if_fail (sample && reference, LIG_DIFFERENCE_UNKNOWN);
  if (is_comparable (sample) && is_comparable (reference)) {
    found.change = sample->median - reference->median;
    found.ratio = sample->median / reference->median;
    found.noise =
      fmax (sqrt (get_variance (sample) + get_variance (reference)), MIN_NOISE * reference->median);
    found.noise_share = found.noise / reference->median;
    found.kind = !(fabs (found.change) > found.noise) ? LIG_DIFFERENCE_NONE
                 : found.change < 0                   ? LIG_DIFFERENCE_LESS
                                                      : LIG_DIFFERENCE_MORE;
  }
  if (difference)
    *difference = found;
  return found.kind;
}

/* A sample with one correct and one wrong row more: its proportion and its squared standard error.
 */
typedef struct {
  double share, variance;
} Proportion;

static Proportion
adjust (double accuracy, gint64 rows)
{
  double count = (double) rows + 2, share = (accuracy * (double) rows + 1) / count;
  return (Proportion){share, share * (1 - share) / count};
}

LigDifferenceKind
lig_accuracy_compare (double sample,
                      gint64 sample_rows,
                      double reference,
                      gint64 reference_rows,
                      LigDifference *difference)
{
  LigDifference found = {LIG_DIFFERENCE_UNKNOWN, NAN, NAN, NAN, NAN};
  if (isfinite (sample) && isfinite (reference) && sample_rows > 0 && reference_rows > 0) {
    Proportion a = adjust (sample, sample_rows), b = adjust (reference, reference_rows);
    found.change = sample - reference;
    found.ratio = reference > 0 ? sample / reference : NAN;
    found.noise = 1.96 * sqrt (a.variance + b.variance);
    found.noise_share = reference > 0 ? found.noise / reference : NAN;
    found.kind = !(fabs (a.share - b.share) > found.noise) ? LIG_DIFFERENCE_NONE
                 : found.change < 0                        ? LIG_DIFFERENCE_LESS
                                                           : LIG_DIFFERENCE_MORE;
  }
  if (difference)
    *difference = found;
  return found.kind;
}

char *
lig_accuracy_excuse (gint64 rows)
{
  g_autofree char *count = g_strdup_printf ("%" G_GINT64_FORMAT, rows);
  return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "no difference that %s row could show",
                                       "no difference that %s rows could show", (gulong) rows),
                          count);
}

/* Returns a share in percent, with one decimal if it is small. */
static char *
format_share (double share)
{
  double percent = 100 * fabs (share);
  return g_strdup_printf (percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
}

char *
lig_difference_to_text (const LigDifference *self)
{
  g_return_val_if_fail (self, NULL);
  if (self->kind == LIG_DIFFERENCE_UNKNOWN)
    return g_strdup (_ ("not compared: fewer than five values"));
  if (self->kind == LIG_DIFFERENCE_NONE) {
    g_autofree char *noise = format_share (self->noise_share);
    return g_strdup_printf (_ ("no difference (noise %s)"), noise);
  }
  if (self->ratio > 2)
    return g_strdup_printf (_ ("%.3g times the time"), self->ratio);
  g_autofree char *text = format_share (self->ratio - 1);
  return self->ratio < 1 ? g_strdup_printf (_ ("%s less time"), text)
                         : g_strdup_printf (_ ("%s more time"), text);
}

const char *
lig_difference_kind_name (LigDifferenceKind kind)
{
  static const char *const names[] = {"unknown", "none", "less", "more"};
  g_return_val_if_fail ((guint) kind < G_N_ELEMENTS (names), NULL);
  return names[kind];
}
