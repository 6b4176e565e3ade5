/* SPDX-License-Identifier: MIT */
/* The load of experts as a heat map of routers and experts. */
#include "engine/draw/chart.h"
#include <ligature/draw-loads.h>
#include <ligature/loads.h>

#include <glib/gi18n-lib.h>
#include <math.h>

enum { LEFT = 90, RIGHT = 14, TOP = 8, BOTTOM = 74, ROW = 20, LEVELS = 12, BOX = 16, SPOT = 4 };

/* The load with the strongest colour: a multiple of the mean. */
#define STRONGEST 4.0

typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  GPtrArray *loads;
  int step;
  double width, top, bottom;
  double dropped; /* rows of the drawn routers that had no room in their expert */
} Layout;

/* Returns the shade of a load, from 0 for none to LEVELS. */
static int
level_of (double load, double mean)
{
  double share = mean > 0 ? load / mean / STRONGEST : 0;
  return load > 0 ? 1 + (int) CLAMP (floor (share * LEVELS), 0, LEVELS - 1) : 0;
}

static LigColour
shade (const Layout *self, int level)
{
  return lig_colour_fade (self->colours->forward, (guint) (255 * level / LEVELS));
}

static double
edge_of (const Layout *self, guint row)
{
  return round (self->top + (self->bottom - self->top) * row / MAX (self->loads->len, 1));
}

/* Returns the left edge of an expert of a router, on a whole pixel. */
static double
column_of (const Layout *self, const LigLoadSeries *series, guint expert)
{
  return round (LEFT + (self->width - LEFT - RIGHT) * expert / MAX (series->experts, 1));
}

/* Returns `1.0.0, expert 5: rows 1234, 1.8 × the mean`. */
static char *
describe (const LigLoadSeries *series, guint expert, double load, double mean)
{
  g_autofree char *rows = lig_draw_number (load, 6);
  g_autofree char *ratio = lig_draw_number (mean > 0 ? load / mean : 0, 2);
  return g_strdup_printf (_ ("%s, expert %u: rows %s, %s × the mean"), series->path, expert, rows,
                          ratio);
}

static void
draw_router (Layout *self, guint row)
{
  const LigLoadSeries *series = self->loads->pdata[row];
  LigLoadFigures figures;
  double top = edge_of (self, row), bottom = edge_of (self, row + 1) - 2;
  g_autofree double *load = g_new (double, MAX (series->experts, 1));
  LigTextStyle style = {
    .size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_END, .width = LEFT - 12};
  lig_load_series_sum (series, self->step < 0 ? 0 : (guint) self->step,
                       self->step < 0 ? G_MAXUINT : 1, load, &figures);
  double mean = figures.rows / MAX (series->experts, 1);
  self->dropped += figures.dropped;
  lig_canvas_text (self->canvas, LEFT - 7, (top + bottom) / 2 + 4, &style, series->path);
  for (guint e = 0; e < series->experts; e++) {
    double left = column_of (self, series, e), right = column_of (self, series, e + 1);
    g_autofree char *text = describe (series, e, load[e], mean);
    double width = MAX (right - left - (right - left > 4 ? 1 : 0), 1);
    lig_canvas_begin_mark (self->canvas, left, top, width, bottom - top, text);
    lig_canvas_box (self->canvas, left, top, width, bottom - top, 0, self->colours->card, 0, 0);
    lig_canvas_box (self->canvas, left, top, width, bottom - top, 0,
                    shade (self, level_of (load[e], mean)), self->colours->line, 0.5);
    if (load[e] == 0)
      lig_canvas_box (self->canvas, (left + right - MIN (SPOT, width)) / 2,
                      (top + bottom - SPOT) / 2, MIN (SPOT, width), SPOT, 0, self->colours->error,
                      0, 0);
    lig_canvas_end_mark (self->canvas);
  }
}

/* Labels the first expert and the last one, those of the router with the most. */
static void
draw_experts (const Layout *self)
{
  LigTextStyle style = {.size = 11, .colour = self->colours->dim};
  guint experts = 0;
  for (guint i = 0; i < self->loads->len; i++)
    experts = MAX (experts, ((const LigLoadSeries *) self->loads->pdata[i])->experts);
  g_autofree char *last = g_strdup_printf (_ ("expert %u"), experts > 0 ? experts - 1 : 0);
  lig_canvas_text (self->canvas, LEFT, self->bottom + 14, &style, _ ("expert 0"));
  style.anchor = LIG_TEXT_END;
  lig_canvas_text (self->canvas, self->width - RIGHT, self->bottom + 14, &style, last);
}

/* Writes the number of dropped rows at the right end. */
static void
draw_dropped (const Layout *self, double left, double y)
{
  double right = self->width - RIGHT;
  LigTextStyle style = {
    .size = 11, .colour = self->colours->ink, .anchor = LIG_TEXT_END, .width = right - left};
  if (self->dropped == 0 || style.width < 40)
    return;
  g_autofree char *number = lig_draw_number (self->dropped, 6);
  g_autofree char *text = g_strdup_printf (_ ("rows dropped: %s"), number);
  lig_canvas_text (self->canvas, right, y, &style, text);
}

static void
draw_legend (const Layout *self)
{
  static const char *const labels[] = {"0", "1 ×", "2 ×", "3 ×", "4 ×"};
  LigTextStyle style = {.size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_MIDDLE};
  LigTextStyle title = {
    .size = 11, .colour = self->colours->dim, .width = self->width - LEFT - RIGHT};
  double x = LEFT, y = self->bottom + 40;
  lig_canvas_text (self->canvas, x, y - 6, &title,
                   _ ("rows of an expert by the mean of its router; marks: idle experts"));
  for (int level = 1; level <= LEVELS; level++)
    lig_canvas_box (self->canvas, x + (level - 1) * BOX, y, BOX, 9, 0, shade (self, level), 0, 0);
  lig_canvas_box (self->canvas, x, y, BOX * LEVELS, 9, 0, 0, self->colours->line, 1);
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    lig_canvas_text (self->canvas, x + i * BOX * LEVELS / 4.0, y + 22, &style, labels[i]);
  draw_dropped (self, x + BOX * LEVELS + 20, y + 9);
}

double
lig_draw_loads_height (GPtrArray *loads)
{
  return TOP + BOTTOM + ROW * MAX (loads->len, 1);
}

void
lig_draw_loads (LigCanvas *canvas,
                const LigColours *colours,
                GPtrArray *loads,
                int step,
                double width,
                double height)
{
  Layout layout = {.canvas = canvas,
                   .colours = colours,
                   .loads = loads,
                   .step = step,
                   .width = MAX (width, LEFT + RIGHT + 20),
                   .top = TOP,
                   .bottom = MAX (height - BOTTOM, TOP + 1)};
  for (guint i = 0; i < loads->len; i++)
    draw_router (&layout, i);
  draw_experts (&layout);
  draw_legend (&layout);
}
