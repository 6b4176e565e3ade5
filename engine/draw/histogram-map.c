/* SPDX-License-Identifier: MIT */
/* The histograms of a tensor over time as a heat map. Cells of one shade are one path, in which
 * adjacent columns are joined, so that reports with many maps stay small. */
#include "engine/draw/chart.h"
#include <ligature/draw-histograms.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>

enum { LEFT = 58, RIGHT = 14, TOP = 26, BOTTOM = 70, SPOT = 5, LABELS = 15, ROW = 9, LEVELS = 12 };

/* The smallest share with a colour, and its decimal logarithm. */
#define MIN_SHARE 1e-4
#define DECADES 4

/* The layout of a picture. Rows are counted from above: bins of positive values, the largest first,
 * zeros, bins of negative values. */
typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  const LigHistogramSeries *series;
  double width, height;
  LigColour colour;  /* of a cell with all elements */
  int first, last;   /* bins */
  gboolean signs[2]; /* whether there are positive and negative values */
  gboolean spots;    /* whether a step has values that are not finite */
  int rows;
  double top, bottom; /* of the map */
  LigAxis steps;
  guint columns;
  double *totals; /* of the values of each column, at least 1 */
  double *edges;  /* of the columns: one more than there are columns */
} Layout;

static const LigHistogram *
nth (const Layout *self, guint column)
{
  return &g_array_index (self->series->histograms, LigHistogram, column);
}

static gint64
step_of (const Layout *self, guint column)
{
  return g_array_index (self->series->steps, gint64, column);
}

/* --- The layout ---------------------------------------------------------------------------- */

/* Finds the bins and signs that have visible cells. */
static void
find_rows (Layout *self)
{
  self->totals = g_new (double, self->columns + 1);
  self->first = LIG_HISTOGRAM_BINS;
  self->last = -1;
  for (guint i = 0; i < self->columns; i++) {
    const LigHistogram *histogram = nth (self, i);
    double total = (double) lig_histogram_get_total (histogram);
    self->totals[i] = MAX (total, 1);
    self->spots |= histogram->nan + histogram->infinite > 0;
    for (int sign = 0; sign < 2; sign++)
      for (int bin = 0; bin < LIG_HISTOGRAM_BINS; bin++) {
        guint64 count = histogram->counts[sign][bin];
        if (count == 0 || (double) count < MIN_SHARE * self->totals[i])
          continue;
        self->first = MIN (self->first, bin);
        self->last = MAX (self->last, bin);
        self->signs[sign] = TRUE;
      }
  }
  int bins = MAX (self->last - self->first + 1, 0);
  self->rows = bins * (self->signs[0] + self->signs[1]) + 1;
}

/* Returns the sign of a row and its bin, -1 for zeros. */
static int
bin_of (const Layout *self, int row, int *sign)
{
  int bins = self->last - self->first + 1;
  int zeros = self->signs[0] ? bins : 0;
  *sign = row > zeros;
  return row == zeros ? -1 : row < zeros ? self->last - row : self->first + row - zeros - 1;
}

/* Returns the upper edge of a row, on a whole pixel: neighbours would otherwise show seams. */
static double
edge_of (const Layout *self, int row)
{
  return round (self->top + (self->bottom - self->top) * row / self->rows);
}

static void
place_columns (Layout *self)
{
  double first = self->columns > 0 ? (double) step_of (self, 0) : 1;
  double last = self->columns > 0 ? (double) step_of (self, self->columns - 1) : 1;
  double second = self->columns > 1 ? (double) step_of (self, 1) : 2 * first;
  double from = MAX (first - (second - first), MIN (first - 1, 0));
  self->steps = (LigAxis){from, last, LEFT, self->width - RIGHT, FALSE};
  self->edges = g_new (double, self->columns + 1);
  self->edges[0] = LEFT;
  for (guint i = 0; i < self->columns; i++)
    self->edges[i + 1] = round (lig_axis_place (&self->steps, (double) step_of (self, i)));
}

static guint64
count_of (const Layout *self, guint column, int row)
{
  int sign, bin = bin_of (self, row, &sign);
  const LigHistogram *histogram = nth (self, column);
  return bin < 0 ? histogram->zeros : histogram->counts[sign][bin];
}

static double
share_of (const Layout *self, guint column, int row)
{
  return (double) count_of (self, column, row) / self->totals[column];
}

/* --- Cells --------------------------------------------------------------------------------- */

/* Returns the shade of a share, from 1 to LEVELS; 0 for less than the smallest one. */
static int
level_of (double share)
{
  if (!(share >= MIN_SHARE))
    return 0;
  double place = 1 + log10 (share) / DECADES;
  return 1 + (int) CLAMP (floor (place * LEVELS), 0, LEVELS - 1);
}

static LigColour
shade (const Layout *self, int level)
{
  return lig_colour_fade (self->colour, (guint) (20 + 235 * (level - 1) / (LEVELS - 1)));
}

static void
append_box (GArray *points, double left, double right, double top, double bottom)
{
  const double box[] = {left, top, right, top, right, bottom, left, bottom, NAN, NAN};
  g_array_append_vals (points, box, G_N_ELEMENTS (box));
}

static void
append_row (const Layout *self, int row, GArray **paths)
{
  double top = edge_of (self, row), bottom = edge_of (self, row + 1);
  if (bottom <= top)
    return;
  for (guint i = 0, next; i < self->columns; i = next) {
    int level = level_of (share_of (self, i, row));
    for (next = i + 1; next < self->columns; next++)
      if (level_of (share_of (self, next, row)) != level)
        break;
    if (level > 0 && self->edges[next] > self->edges[i])
      append_box (paths[level - 1], self->edges[i], self->edges[next], top, bottom);
  }
}

static void
draw_cells (const Layout *self)
{
  GArray *paths[LEVELS];
  for (int i = 0; i < LEVELS; i++)
    paths[i] = g_array_new (FALSE, FALSE, sizeof (double));
  for (int row = 0; row < self->rows; row++)
    append_row (self, row, paths);
  for (int i = 0; i < LEVELS; i++) {
    lig_canvas_area (self->canvas, (const double *) (gpointer) paths[i]->data, paths[i]->len / 2,
                     shade (self, i + 1));
    g_array_unref (paths[i]);
  }
}

/* Marks the steps with values that are not finite, each at least one pixel wide. */
static void
draw_spots (const Layout *self)
{
  for (guint i = 0; i < self->columns; i++) {
    const LigHistogram *histogram = nth (self, i);
    if (histogram->nan + histogram->infinite > 0)
      lig_canvas_box (self->canvas, self->edges[i], self->top - SPOT - 2,
                      MAX (self->edges[i + 1] - self->edges[i], 1), SPOT, 0, self->colours->error,
                      0, 0);
  }
}

/* --- Marks --------------------------------------------------------------------------------- */

/* Returns a power of two, `2⁻¹²`. */
static char *
format_power (int exponent)
{
  static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  g_autofree char *plain = g_strdup_printf ("%d", ABS (exponent));
  GString *text = g_string_new (exponent < 0 ? "2⁻" : "2");
  for (const char *at = plain; *at; at++)
    g_string_append (text, digits[*at - '0']);
  return g_string_free (text, FALSE);
}

static char *
format_share (double share)
{
  double percent = 100 * share;
  return percent > 0 && percent < 0.01
           ? g_strdup ("< 0.01 %")
           : g_strdup_printf (percent < 9.95 ? "%.2f %%" : "%.1f %%", percent);
}

/* Returns `step 40: mean 0.01, rms 0.2, from −0.5 to 0.6, zeros 0.00 %`. */
static char *
describe_step (const Layout *self, guint column)
{
  const LigHistogram *histogram = nth (self, column);
  guint64 odd = histogram->nan + histogram->infinite;
  g_autofree char *step = g_strdup_printf ("%" PRId64, step_of (self, column));
  g_autofree char *mean = lig_draw_number (histogram->mean, 3);
  g_autofree char *rms = lig_draw_number (histogram->rms, 3);
  g_autofree char *min = lig_draw_number (histogram->min, 3);
  g_autofree char *max = lig_draw_number (histogram->max, 3);
  g_autofree char *zeros = format_share ((double) histogram->zeros / self->totals[column]);
  g_autofree char *text = g_strdup_printf (_ ("step %s: mean %s, rms %s, from %s to %s, zeros %s"),
                                           step, mean, rms, min, max, zeros);
  if (odd == 0)
    return g_steal_pointer (&text);
  g_autofree char *count = g_strdup_printf ("%" PRIu64, odd);
  /* Translators: the first %s is a description of a step, the second a number of values. */
  return g_strdup_printf (_ ("%s; not finite: %s"), text, count);
}

/* Returns `step 40, −2⁻⁷ to −2⁻⁶: 12.3 %`. */
static char *
describe_cell (const Layout *self, guint column, int row)
{
  int sign, bin = bin_of (self, row, &sign);
  g_autofree char *step = g_strdup_printf ("%" PRId64, step_of (self, column));
  g_autofree char *share = format_share (share_of (self, column, row));
  if (bin < 0)
    return g_strdup_printf (_ ("step %s, zeros: %s"), step, share);
  const char *minus = sign ? "−" : "";
  g_autofree char *low = bin > 0 ? format_power (bin - LIG_HISTOGRAM_BIAS) : g_strdup ("0");
  g_autofree char *high = format_power (bin + 1 - LIG_HISTOGRAM_BIAS);
  g_autofree char *from = g_strconcat (minus, low, NULL), *to = g_strconcat (minus, high, NULL);
  return g_strdup_printf (_ ("step %s, %s to %s: %s"), step, from, to, share);
}

/* A mark needs a shape that the pointer can be on; this one is invisible. */
static void
mark_steps (const Layout *self)
{
  for (guint i = 0; i < self->columns; i++) {
    double left = self->edges[i], width = self->edges[i + 1] - left;
    double top = self->top - (self->spots ? SPOT + 2 : 0);
    g_autofree char *text = describe_step (self, i);
    lig_canvas_begin_mark (self->canvas, left, top, width, self->bottom - top, text);
    lig_canvas_box (self->canvas, left, top, width, self->bottom - top, 0,
                    lig_colour_fade (self->colours->card, 1), 0, 0);
    lig_canvas_end_mark (self->canvas);
  }
}

static void
mark_cells (const Layout *self)
{
  for (guint i = 0; i < self->columns; i++)
    for (int row = 0; row < self->rows; row++) {
      if (count_of (self, i, row) == 0)
        continue;
      double left = self->edges[i], top = edge_of (self, row);
      g_autofree char *text = describe_cell (self, i, row);
      lig_canvas_begin_mark (self->canvas, left, top, self->edges[i + 1] - left,
                             edge_of (self, row + 1) - top, text);
      lig_canvas_end_mark (self->canvas);
    }
}

/* --- Axes and legend ----------------------------------------------------------------------- */

static void
draw_label (const Layout *self, double y, const char *text)
{
  LigTextStyle style = {.size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_END};
  double tick[] = {LEFT - 4, y, LEFT, y};
  lig_canvas_lines (self->canvas, tick, 2, self->colours->dim, 1, 0);
  lig_canvas_text (self->canvas, LEFT - 7, y + 4, &style, text);
}

/* Labels powers of two at the edges of rows that are far enough apart, and zeros. */
static void
draw_magnitudes (const Layout *self)
{
  int bins = self->last - self->first + 1, zeros = self->signs[0] ? MAX (bins, 0) : 0;
  double row = (self->bottom - self->top) / self->rows;
  double middle = (edge_of (self, zeros) + edge_of (self, zeros + 1)) / 2;
  int every = (int) MAX (ceil (LABELS / row), 1);
  draw_label (self, middle, "0");
  for (int sign = 0; sign < 2; sign++)
    for (int bin = self->first; self->signs[sign] && bin <= self->last + 1; bin++) {
      int exponent = bin - LIG_HISTOGRAM_BIAS;
      double y = edge_of (self, sign ? zeros + 1 + bin - self->first : self->last - bin + 1);
      g_autofree char *power = format_power (exponent);
      g_autofree char *text = g_strconcat (sign ? "−" : "", power, NULL);
      if (exponent % every == 0 && fabs (y - middle) >= LABELS)
        draw_label (self, y, text);
    }
}

static void
draw_steps (const Layout *self)
{
  LigTextStyle style = {.size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_MIDDLE};
  g_autoptr (GArray) ticks = lig_axis_ticks (&self->steps, 80);
  for (guint i = 0; i < ticks->len; i++) {
    const LigAxisTick *tick = &g_array_index (ticks, LigAxisTick, i);
    double x = lig_axis_place (&self->steps, tick->value);
    double line[] = {x, self->bottom, x, self->bottom + 4};
    if (!isfinite (x) || tick->value != floor (tick->value))
      continue;
    lig_canvas_lines (self->canvas, line, 2, self->colours->dim, 1, 0);
    lig_canvas_text (self->canvas, x, self->bottom + 16, &style, tick->label);
  }
  style.anchor = LIG_TEXT_END;
  lig_canvas_text (self->canvas, self->width - RIGHT, self->bottom + 32, &style, _ ("step"));
}

static void
draw_legend (const Layout *self)
{
  static const char *const labels[] = {"0.01 %", "0.1 %", "1 %", "10 %", "100 %"};
  enum { BOX = 16 };
  LigTextStyle style = {.size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_MIDDLE};
  LigTextStyle title = {
    .size = 11, .colour = self->colours->dim, .width = self->width - LEFT - RIGHT - 46};
  double x = LEFT, y = self->height - 32;
  lig_canvas_text (self->canvas, x, y - 6, &title,
                   self->spots
                     ? _ ("share of the elements; marks above: values that are not finite")
                     : _ ("share of the elements"));
  for (int level = 1; level <= LEVELS; level++)
    lig_canvas_box (self->canvas, x + (level - 1) * BOX, y, BOX, 9, 0, shade (self, level), 0, 0);
  lig_canvas_box (self->canvas, x, y, BOX * LEVELS, 9, 0, 0, self->colours->line, 1);
  for (int i = 0; i <= DECADES; i++)
    lig_canvas_text (self->canvas, x + i * BOX * LEVELS / (double) DECADES, y + 22, &style,
                     labels[i]);
}

/* --- The picture --------------------------------------------------------------------------- */

double
lig_draw_histograms_height (const LigHistogramSeries *series)
{
  Layout layout = {.series = series, .columns = series->histograms->len};
  find_rows (&layout);
  g_free (layout.totals);
  return TOP + BOTTOM + CLAMP (layout.rows * ROW, 90, MAX (400, layout.rows));
}

static void
draw_title (const Layout *self)
{
  const char *kind = self->series->gradient ? _ ("gradient") : _ ("weights");
  g_autofree char *text = g_strdup_printf ("%s · %s", self->series->parameter, kind);
  LigTextStyle style = {
    .size = 12, .bold = TRUE, .colour = self->colours->ink, .width = self->width - LEFT - RIGHT};
  lig_canvas_text (self->canvas, LEFT, 14, &style, text);
}

void
lig_draw_histograms (LigCanvas *canvas,
                     const LigColours *colours,
                     const LigHistogramSeries *series,
                     LigHistogramMarks marks,
                     double width,
                     double height)
{
  Layout layout = {.canvas = canvas,
                   .colours = colours,
                   .series = series,
                   .columns = series->histograms->len,
                   .width = MAX (width, LEFT + RIGHT + 20),
                   .height = height,
                   .colour = series->gradient ? colours->backward : colours->forward};
  find_rows (&layout);
  layout.top = TOP + (layout.spots ? SPOT : 0);
  layout.bottom = MAX (height - BOTTOM, layout.top + 1);
  place_columns (&layout);
  draw_title (&layout);
  lig_canvas_box (canvas, LEFT, layout.top, layout.width - LEFT - RIGHT, layout.bottom - layout.top,
                  0, colours->card, 0, 0);
  draw_cells (&layout);
  lig_canvas_box (canvas, LEFT, layout.top, layout.width - LEFT - RIGHT, layout.bottom - layout.top,
                  0, 0, colours->line, 1);
  draw_spots (&layout);
  draw_magnitudes (&layout);
  draw_steps (&layout);
  draw_legend (&layout);
  mark_steps (&layout);
  if (marks == LIG_HISTOGRAM_MARK_CELLS)
    mark_cells (&layout);
  g_free (layout.totals);
  g_free (layout.edges);
}
