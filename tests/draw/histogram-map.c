/* SPDX-License-Identifier: MIT */
/* The map of histograms: rows, marks, colours, and extreme series. */
#include "engine/base/histogram-private.h"
#include <ligature/draw-histograms.h>

#include <math.h>
#include <string.h>

static void
add (LigHistogramSeries *series, gint64 step, const LigHistogram *histogram)
{
  g_array_append_val (series->steps, step);
  g_array_append_val (series->histograms, *histogram);
}

/* Returns a series of steps 10, 20, …: half of the values are from 1 to 2, a quarter from -4 to -2,
 * the others zeros. */
static LigHistogramSeries *
make (guint steps)
{
  LigHistogramSeries *series = lig_histogram_series_new ("2.weight", TRUE);
  for (guint i = 0; i < steps; i++) {
    LigHistogram histogram;
    lig_histogram_init (&histogram);
    histogram.counts[0][LIG_HISTOGRAM_BIAS] = 50;
    histogram.counts[1][LIG_HISTOGRAM_BIAS + 1] = 25;
    histogram.zeros = 25;
    histogram.min = -3;
    histogram.max = 1.5;
    histogram.mean = 0.125;
    histogram.rms = 1.25;
    add (series, 10 * ((gint64) i + 1), &histogram);
  }
  return series;
}

static char *
draw (const LigHistogramSeries *series,
      LigHistogramMarks marks,
      double width,
      const LigMark **found,
      guint *count)
{
  static LigCanvas *canvas; /* the marks live as long as the last canvas */
  double height = lig_draw_histograms_height (series);
  g_clear_pointer (&canvas, lig_canvas_free);
  canvas = lig_canvas_new_svg (width, height);
  lig_draw_histograms (canvas, lig_colours (LIG_COLOURS_LIGHT), series, marks, width, height);
  const LigMark *all = lig_canvas_get_marks (canvas, count);
  for (guint i = 0; i < *count; i++) {
    g_assert_cmpfloat (all[i].x, >=, 0);
    g_assert_cmpfloat (all[i].x + all[i].width, <=, width);
    g_assert_cmpfloat (all[i].y, >=, 0);
    g_assert_cmpfloat (all[i].y + all[i].height, <=, height);
    g_assert_null (strstr (all[i].text, "nan"));
  }
  if (found)
    *found = all;
  char *svg = lig_canvas_to_svg (canvas);
  g_assert_null (strstr (svg, "nan"));
  return svg;
}

static guint
count_texts (const char *svg, const char *part)
{
  guint count = 0;
  for (const char *at = svg; (at = strstr (at, part)); at++)
    count++;
  return count;
}

static void
test_marks (void)
{
  g_autoptr (LigHistogramSeries) series = make (3);
  const LigMark *marks;
  guint count;
  g_autofree char *svg = draw (series, LIG_HISTOGRAM_MARK_CELLS, 500, &marks, &count);
  /* Each of three steps, and of each of them three cells. */
  g_assert_cmpuint (count, ==, 12);
  g_assert_cmpstr (marks[0].text, ==,
                   "step 10: mean 0.125, rms 1.25, from −3 to 1.5, zeros 25.0 %");
  g_assert_cmpstr (marks[3].text, ==, "step 10, 2⁰ to 2¹: 50.0 %");
  g_assert_cmpstr (marks[4].text, ==, "step 10, zeros: 25.0 %");
  g_assert_cmpstr (marks[5].text, ==, "step 10, −2¹ to −2²: 25.0 %");
  g_assert_cmpstr (marks[11].text, ==, "step 30, −2¹ to −2²: 25.0 %");
  /* Positive values are above the zeros, negative ones below; later steps to the right. */
  g_assert_cmpfloat (marks[3].y + marks[3].height, <=, marks[4].y);
  g_assert_cmpfloat (marks[4].y + marks[4].height, <=, marks[5].y);
  g_assert_cmpfloat (marks[3].x + marks[3].width, ==, marks[6].x);
  g_assert_cmpfloat (marks[0].height, >=, marks[5].y + marks[5].height - marks[3].y);
  g_assert_nonnull (strstr (svg, ">2.weight · gradient<"));
  g_assert_nonnull (strstr (svg, ">share of the elements<"));
  g_autofree char *fewer = draw (series, LIG_HISTOGRAM_MARK_STEPS, 500, NULL, &count);
  g_assert_cmpuint (count, ==, 3);
  g_assert_cmpuint (count_texts (fewer, "<title>"), ==, 3);
}

/* A column is as wide as the steps since the one before. */
static void
test_steps (void)
{
  g_autoptr (LigHistogramSeries) series = make (2);
  const LigMark *marks;
  guint count;
  g_array_index (series->steps, gint64, 0) = 100;
  g_array_index (series->steps, gint64, 1) = 110;
  g_autofree char *svg = draw (series, LIG_HISTOGRAM_MARK_STEPS, 472, &marks, &count);
  g_assert_cmpfloat_with_epsilon (marks[0].width, marks[1].width, 1);
  g_array_index (series->steps, gint64, 0) = 10;
  g_array_index (series->steps, gint64, 1) = 40;
  g_autofree char *uneven = draw (series, LIG_HISTOGRAM_MARK_STEPS, 472, &marks, &count);
  g_assert_cmpfloat_with_epsilon (3 * marks[0].width, marks[1].width, 2);
}

/* Values of one sign take no rows for the other; bins below 0.01 % are omitted. */
static void
test_rows (void)
{
  g_autoptr (LigHistogramSeries) both = make (1), one = lig_histogram_series_new ("w", FALSE);
  LigHistogram histogram;
  guint count;
  const LigMark *marks;
  lig_histogram_init (&histogram);
  for (int bin = LIG_HISTOGRAM_BIAS - 20; bin < LIG_HISTOGRAM_BIAS; bin++)
    histogram.counts[0][bin] = 1000000;
  histogram.counts[0][3] = histogram.counts[1][LIG_HISTOGRAM_BIAS] = 1;
  add (one, 1, &histogram);
  g_autofree char *svg = draw (one, LIG_HISTOGRAM_MARK_CELLS, 400, &marks, &count);
  g_assert_cmpuint (count, ==, 21);
  g_assert_null (strstr (svg, "−2"));
  g_assert_nonnull (strstr (svg, ">2⁰<"));
  g_assert_cmpfloat (lig_draw_histograms_height (one), >, lig_draw_histograms_height (both));
  g_assert_nonnull (strstr (svg, "w · weights"));
}

/* Weights and gradients have the colours of the passes, and a larger share a stronger one. */
static void
test_colours (void)
{
  g_autoptr (LigHistogramSeries) series = make (1);
  guint count;
  g_autofree char *gradient = draw (series, LIG_HISTOGRAM_MARK_STEPS, 400, NULL, &count);
  series->gradient = FALSE;
  g_autofree char *weights = draw (series, LIG_HISTOGRAM_MARK_STEPS, 400, NULL, &count);
  g_autofree char *green =
    g_strdup_printf ("#%06x", lig_colours (LIG_COLOURS_LIGHT)->backward >> 8);
  g_autofree char *blue = g_strdup_printf ("#%06x", lig_colours (LIG_COLOURS_LIGHT)->forward >> 8);
  g_assert_nonnull (strstr (gradient, green));
  g_assert_null (strstr (gradient, blue));
  g_assert_nonnull (strstr (weights, blue));
  g_assert_null (strstr (weights, green));
  /* A half and a quarter have different shades; two of them are the same. */
  g_assert_cmpuint (count_texts (gradient, "<path d=\"M58"), >=, 1);
}

/* Values that are not finite have a mark and an explanation. */
static void
test_spots (void)
{
  g_autoptr (LigHistogramSeries) series = make (2);
  const LigMark *marks;
  guint count;
  g_array_index (series->histograms, LigHistogram, 1).nan = 2;
  g_array_index (series->histograms, LigHistogram, 1).infinite = 1;
  g_autofree char *svg = draw (series, LIG_HISTOGRAM_MARK_STEPS, 700, &marks, &count);
  g_autofree char *red = g_strdup_printf ("#%06x", lig_colours (LIG_COLOURS_LIGHT)->error >> 8);
  g_assert_cmpuint (count_texts (svg, red), ==, 1);
  g_assert_nonnull (strstr (svg, "not finite"));
  g_assert_null (strstr (marks[0].text, "not finite"));
  g_assert_nonnull (strstr (marks[1].text, "; not finite: 3"));
}

/* Series without steps, values, or bins; many steps in few pixels; steps of very long runs. */
static void
test_edges (void)
{
  g_autoptr (LigHistogramSeries) none = make (0), empty = lig_histogram_series_new ("w", FALSE);
  g_autoptr (LigHistogramSeries) many = make (5000);
  LigHistogram histogram;
  guint count;
  g_autofree char *nothing = draw (none, LIG_HISTOGRAM_MARK_CELLS, 300, NULL, &count);
  g_assert_cmpuint (count, ==, 0);
  lig_histogram_init (&histogram);
  add (empty, 0, &histogram);
  histogram.zeros = 9;
  add (empty, 5, &histogram);
  histogram.zeros = 0;
  histogram.nan = 9;
  add (empty, G_GINT64_CONSTANT (1000000000000000), &histogram);
  g_autofree char *odd = draw (empty, LIG_HISTOGRAM_MARK_CELLS, 300, NULL, &count);
  g_assert_cmpuint (count, ==, 4);
  g_autofree char *narrow = draw (many, LIG_HISTOGRAM_MARK_STEPS, 120, NULL, &count);
  g_assert_cmpuint (count, ==, 5000);
  memset (&histogram, 0, sizeof histogram);
  for (int bin = 0; bin < LIG_HISTOGRAM_BINS; bin++)
    histogram.counts[0][bin] = histogram.counts[1][bin] = 1;
  add (empty, G_GINT64_CONSTANT (1000000000000001), &histogram);
  g_autofree char *full = draw (empty, LIG_HISTOGRAM_MARK_CELLS, 300, NULL, &count);
  g_assert_cmpuint (count, >, 500);
}

/* Cells of one shade are one path, and equal neighbours one rectangle. */
static void
test_size (void)
{
  g_autoptr (LigHistogramSeries) few = make (2), more = make (48);
  guint count;
  double height = lig_draw_histograms_height (few);
  gsize sizes[2];
  for (int i = 0; i < 2; i++) {
    g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (500, height);
    lig_draw_histograms (canvas, lig_colours (LIG_COLOURS_LIGHT), i == 0 ? few : more,
                         LIG_HISTOGRAM_MARK_STEPS, 500, height);
    lig_canvas_get_marks (canvas, &count);
    g_autofree char *svg = lig_canvas_to_svg (canvas);
    sizes[i] = strlen (svg) - 200 * count;
    g_assert_cmpuint (count_texts (svg, "<path d=\"M58"), >=, 2);
  }
  g_assert_cmpuint (sizes[1], <, sizes[0] + 2000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/draw/histogram-map/marks", test_marks);
  g_test_add_func ("/draw/histogram-map/steps", test_steps);
  g_test_add_func ("/draw/histogram-map/rows", test_rows);
  g_test_add_func ("/draw/histogram-map/colours", test_colours);
  g_test_add_func ("/draw/histogram-map/spots", test_spots);
  g_test_add_func ("/draw/histogram-map/edges", test_edges);
  g_test_add_func ("/draw/histogram-map/size", test_size);
  return g_test_run ();
}
