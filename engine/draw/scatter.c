/* SPDX-License-Identifier: MIT */
/* The losses of a sweep over one setting: a dot for each run, a line through the means. */
#include "engine/draw/parallel.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define LEFT 64.0
#define RIGHT 24.0
#define TOP 16.0
#define BOTTOM 46.0

/* The pixels between the plot's edge and the first and last value. */
#define INSET 28.0

/* The minimum distance in pixels between the labels of the setting's values. */
#define SPACING 56.0

static void
draw_grid (const LigSweepDrawing *self)
{
  LigTextStyle style = {.size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_END};
  g_autoptr (GArray) ticks = lig_axis_ticks (&self->losses, 44);
  for (guint i = 0; i < ticks->len; i++) {
    const LigAxisTick *tick = &g_array_index (ticks, LigAxisTick, i);
    double y = lig_axis_place (&self->losses, tick->value);
    double line[] = {LEFT, y, self->width - RIGHT, y};
    if (!tick->label || !isfinite (y))
      continue;
    lig_canvas_lines (self->canvas, line, 2, self->colours->line, 1, 0);
    lig_canvas_text (self->canvas, LEFT - 8, y + 4, &style, tick->label);
  }
}

static void
draw_values (const LigSweepDrawing *self, const LigSweepScale *scale, const char *title)
{
  double bottom = self->height - BOTTOM, last = NAN;
  LigTextStyle style = {
    .size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_MIDDLE, .width = 110};
  LigTextStyle heading = {
    .size = 12, .bold = TRUE, .colour = self->colours->ink, .anchor = LIG_TEXT_MIDDLE};
  for (guint i = 0; i < scale->values->len; i++) {
    double x = lig_sweep_scale_place (scale, scale->values->pdata[i]);
    double tick[] = {x, bottom, x, bottom + 4};
    lig_canvas_lines (self->canvas, tick, 2, self->colours->dim, 1, 0);
    if (isfinite (last) && fabs (x - last) < SPACING)
      continue;
    lig_canvas_text (self->canvas, x, bottom + 17, &style, scale->values->pdata[i]);
    last = x;
  }
  lig_canvas_text (self->canvas, (LEFT + self->width - RIGHT) / 2, self->height - 8, &heading,
                   title);
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Draws a line through the mean loss at each value, from left to right. */
static void
draw_means (const LigSweepDrawing *self, const LigSweepScale *scale, guint axis)
{
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, 2 * sizeof (double));
  for (guint i = 0; i < scale->values->len; i++) {
    double sum = 0;
    guint count = 0;
    for (guint j = 0; j < self->n_points; j++) {
      double loss = lig_sweep_drawing_loss (self, j);
      gboolean here = g_str_equal (self->points[j].values[axis], scale->values->pdata[i]);
      sum += here && isfinite (loss) ? loss : 0;
      count += here && isfinite (loss);
    }
    double place[] = {lig_sweep_scale_place (scale, scale->values->pdata[i]),
                      count > 0 ? lig_axis_place (&self->losses, sum / count) : NAN};
    if (isfinite (place[0]) && isfinite (place[1]))
      g_array_append_val (places, place);
  }
  g_array_sort (places, compare_places);
  if (places->len > 1)
    lig_canvas_lines (self->canvas, (const double *) (gpointer) places->data, places->len,
                      self->colours->dim, 1.5, 4);
}

void
lig_sweep_draw_scatter (LigSweepDrawing *self, guint axis)
{
  LigSweepScale scale;
  self->losses.start = self->height - BOTTOM;
  self->losses.end = TOP;
  lig_sweep_scale_init (&scale, &self->axes[axis], LEFT + INSET, self->width - RIGHT - INSET);
  draw_grid (self);
  draw_values (self, &scale, self->axes[axis].key);
  draw_means (self, &scale, axis);
  for (guint i = 0; i < self->n_points; i++) {
    double width;
    guint point = g_array_index (self->order, guint, i);
    double x = lig_sweep_scale_place (&scale, self->points[point].values[axis]);
    double y = lig_axis_place (&self->losses, lig_sweep_drawing_loss (self, point));
    LigColour colour = lig_sweep_drawing_colour (self, i, &width);
    if (!isfinite (x) || !isfinite (y))
      continue;
    lig_sweep_drawing_mark (self, point, x, y);
    lig_canvas_disc (self->canvas, x, y, width + 2.5, colour);
    lig_canvas_end_mark (self->canvas);
  }
  lig_sweep_scale_clear (&scale);
}
