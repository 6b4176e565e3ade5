/* SPDX-License-Identifier: MIT */
/* A bar for each group: measured times are solid, predicted ones outlined. */
#include "engine/draw/timed.h"
#include <ligature/draw.h>

#include <glib/gi18n-lib.h>

/* The maximum number of rows of a pass: those that take longest, and one row for the rest. */
#define MAX_ROWS 100

#define ROW 26.0
#define HEAD 34.0
#define FOOT 30.0

typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  double width, left, right; /* the width of the picture, the ends of the bars */
  double max;                /* seconds at the right end */
  double y;
  gboolean predicted; /* whether the device has peak rates to predict from */
} Times;

static int
compare_seconds (gconstpointer a, gconstpointer b)
{
  const LigTimedRow *const *left = a, *const *right = b;
  double x = lig_timed_row_seconds (*left), y = lig_timed_row_seconds (*right);
  return x < y ? 1 : x > y ? -1 : 0;
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const LigTimedRow *const *left = a, *const *right = b;
  return (*left)->first - (*right)->first;
}

/* Keeps the longest rows in op order, and appends one row with the sum of the others. */
static void
shorten (GPtrArray *rows)
{
  if (rows->len <= MAX_ROWS)
    return;
  g_ptr_array_sort (rows, compare_seconds);
  LigTimedRow *rest = g_new0 (LigTimedRow, 1);
  rest->name = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u more group", "%u more groups", rows->len - MAX_ROWS + 1),
    rows->len - MAX_ROWS + 1);
  rest->first = G_MAXINT;
  rest->repeats = 1;
  for (guint i = MAX_ROWS - 1; i < rows->len; i++) {
    const LigTimedRow *row = rows->pdata[i];
    rest->pass = row->pass;
    rest->bytes += row->bytes;
    rest->flops += row->flops;
    rest->predicted += row->predicted;
    rest->measured += row->measured;
  }
  g_ptr_array_set_size (rows, MAX_ROWS - 1);
  g_ptr_array_sort (rows, compare_places);
  g_ptr_array_add (rows, rest);
}

static void
draw_values (Times *times, const LigTimedRow *row, double y)
{
  const LigColours *colours = times->colours;
  g_autofree char *figure = lig_draw_time (row->predicted);
  g_autofree char *predicted = g_strconcat ("≈ ", figure, NULL);
  g_autofree char *measured = lig_draw_time (row->measured);
  LigTextStyle strong = {.size = 12, .bold = TRUE, .colour = colours->ink, .anchor = LIG_TEXT_END};
  LigTextStyle weak = {.size = 12, .colour = colours->dim, .anchor = LIG_TEXT_END};
  if (row->measured > 0)
    lig_canvas_text (times->canvas, times->width - 84, y, &strong, measured);
  if (row->predicted > 0)
    lig_canvas_text (times->canvas, times->width - 12, y, &weak, predicted);
}

static void
draw_row (Times *times, const LigTimedRow *row)
{
  const LigColours *colours = times->colours;
  gboolean backward = row->pass == LIG_PASS_BACKWARD, update = row->pass == LIG_PASS_UPDATE;
  LigColour colour = update ? colours->channel : backward ? colours->backward : colours->forward;
  LigColour fill = update     ? lig_colour_fade (colours->channel, 0x30)
                   : backward ? colours->backward_fill
                              : colours->forward_fill;
  double scale = (times->right - times->left) / times->max, y = times->y;
  g_autofree char *text = lig_timed_describe (row);
  g_autofree char *label =
    row->repeats > 1 ? g_strdup_printf ("%s × %d", row->name, row->repeats) : g_strdup (row->name);
  LigTextStyle path = {.size = 12, .colour = colours->dim, .width = 40};
  LigTextStyle name = {.size = 12, .bold = row->fusion != NULL, .colour = colours->ink};
  name.width = times->left - 74;
  lig_canvas_begin_mark (times->canvas, 6, y, times->width - 12, ROW, text);
  /* The bar on the left marks a fused group without relying on colour. */
  if (row->fusion)
    lig_canvas_box (times->canvas, 8, y + 4, 3, ROW - 8, 1.5, colour, 0, 0);
  if (row->path)
    lig_canvas_text (times->canvas, 18, y + 17, &path, row->path);
  lig_canvas_text (times->canvas, 62, y + 17, &name, label);
  if (row->measured > 0)
    lig_canvas_box (times->canvas, times->left, y + 5, MAX (row->measured * scale, 1), ROW - 14, 2,
                    colour, 0, 0);
  if (row->predicted > 0)
    lig_canvas_box (times->canvas, times->left, row->measured > 0 ? y + ROW - 8 : y + 6,
                    MAX (row->predicted * scale, 1), row->measured > 0 ? 4 : ROW - 12,
                    row->measured > 0 ? 1 : 2, fill, colour, 1);
  draw_values (times, row, y + 17);
  lig_canvas_end_mark (times->canvas);
  times->y += ROW;
}

/* Returns `Forward · 361 µs`: the time of the pass as a whole, followed by the sum of its groups,
 * if it was measured so; otherwise only the sum. */
static char *
format_heading (const LigTimedPlan *timed, LigPass pass, double sum)
{
  double whole = timed->steps && timed->passes ? lig_timed_hold (timed->passes[pass]) : 0;
  g_autofree char *text = lig_draw_time (sum), *time = lig_draw_time (whole);
  const char *title = lig_timed_pass_title (pass);
  if (whole > 0)
    return pass == LIG_PASS_UPDATE
             ? g_strdup_printf ("%s · %s", title, time)
             : g_strdup_printf (_ ("%s · %s (groups by themselves %s)"), title, time, text);
  if (!(sum > 0))
    return g_strdup (title);
  return g_strdup_printf (timed->steps ? "%s · %s" : "%s · ≈ %s", title, text);
}

static void
draw_heading (Times *times, const LigTimedPlan *timed, LigPass pass, GPtrArray *rows)
{
  gboolean measured = timed->steps != NULL;
  double seconds = 0, predicted = 0;
  LigTextStyle style = {.size = 13, .bold = TRUE, .colour = times->colours->ink};
  LigTextStyle column = {.size = 11, .colour = times->colours->dim, .anchor = LIG_TEXT_END};
  for (guint i = 0; i < rows->len; i++) {
    seconds += ((const LigTimedRow *) rows->pdata[i])->measured;
    predicted += ((const LigTimedRow *) rows->pdata[i])->predicted;
  }
  g_autofree char *title = format_heading (timed, pass, measured ? seconds : predicted);
  lig_canvas_text (times->canvas, 12, times->y + 22, &style, title);
  if (measured)
    lig_canvas_text (times->canvas, times->width - 84, times->y + 22, &column, _ ("measured"));
  if (times->predicted)
    lig_canvas_text (times->canvas, times->width - 12, times->y + 22, &column, _ ("predicted"));
  times->y += HEAD;
}

static void
draw_legend (Times *times, gboolean measured)
{
  const LigColours *colours = times->colours;
  LigTextStyle style = {.size = 11, .colour = colours->dim};
  double x = times->left, y = times->y + 12;
  if (measured) {
    lig_canvas_box (times->canvas, x, y - 4, 20, 10, 2, colours->forward, 0, 0);
    lig_canvas_text (times->canvas, x + 26, y + 5, &style, _ ("measured"));
    x += 40 + lig_canvas_text_width (times->canvas, &style, _ ("measured"));
  }
  const char *text = !times->predicted ? (measured ? "" : lig_timed_nothing_known ())
                     : measured        ? _ ("predicted")
                                       : _ ("predicted, not measured");
  if (times->predicted)
    lig_canvas_box (times->canvas, x, y - 4, 20, 10, 2, colours->forward_fill, colours->forward, 1);
  lig_canvas_text (times->canvas, x + 26, y + 5, &style, text);
  x += 40 + lig_canvas_text_width (times->canvas, &style, text);
  lig_canvas_box (times->canvas, x, y - 6, 3, 14, 1.5, colours->forward, 0, 0);
  lig_canvas_text (times->canvas, x + 9, y + 5, &style, _ ("fused"));
}

double
lig_draw_times_height (const LigTimedPlan *timed)
{
  double height = FOOT;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_UPDATE; pass++) {
    g_autoptr (GPtrArray) rows = lig_timed_rows (timed, pass);
    if (rows->len > 0)
      height += HEAD + ROW * MIN (rows->len, MAX_ROWS);
  }
  return height;
}

void
lig_draw_times (LigCanvas *canvas,
                const LigColours *colours,
                const LigTimedPlan *timed,
                double width)
{
  GPtrArray *passes[3];
  Times times = {.canvas = canvas, .colours = colours, .width = width};
  times.predicted = lig_timed_is_predicted (timed);
  times.left = CLAMP (width * 0.34, 120, 380);
  times.right = MAX (width - (timed->steps ? 160 : 88), times.left + 40);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_UPDATE; pass++) {
    passes[pass] = lig_timed_rows (timed, pass);
    shorten (passes[pass]);
    for (guint i = 0; i < passes[pass]->len; i++) {
      const LigTimedRow *row = passes[pass]->pdata[i];
      times.max = MAX (times.max, MAX (row->measured, row->predicted));
    }
  }
  times.max = times.max > 0 ? times.max : 1;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_UPDATE; pass++) {
    if (passes[pass]->len > 0)
      draw_heading (&times, timed, pass, passes[pass]);
    for (guint i = 0; i < passes[pass]->len; i++)
      draw_row (&times, passes[pass]->pdata[i]);
    g_ptr_array_unref (passes[pass]);
  }
  draw_legend (&times, timed->steps != NULL);
}
