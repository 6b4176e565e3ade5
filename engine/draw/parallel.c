/* SPDX-License-Identifier: MIT */
/* The runs of a sweep as parallel coordinates: one vertical axis for each setting, the loss at the
 * right, one line for each run. */
#include "engine/draw/parallel.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define LEFT 64.0
#define RIGHT 84.0
#define TOP 46.0
#define BOTTOM 26.0

/* The minimum distance in pixels between the labels of an axis. */
#define SPACING 22.0

/* --- Scales -------------------------------------------------------------------------------- */

static gboolean
read_number (const char *text, double *number)
{
  char *end;
  *number = g_ascii_strtod (text, &end);
  return *text && !*end && isfinite (*number);
}

void
lig_sweep_scale_init (LigSweepScale *self, const LigSweepAxis *axis, double start, double end)
{
  double min = INFINITY, max = -INFINITY;
  *self = (LigSweepScale){.values = g_ptr_array_new (), .numeric = TRUE};
  for (char **value = axis->values; *value; value++) {
    double number = NAN;
    guint known = 0;
    self->numeric = self->numeric && read_number (*value, &number);
    min = MIN (min, number);
    max = MAX (max, number);
    while (known < self->values->len && !g_str_equal (self->values->pdata[known], *value))
      known++;
    if (known == self->values->len)
      g_ptr_array_add (self->values, *value);
  }
  self->axis = (LigAxis){.from = 0, .to = MAX (self->values->len, 2) - 1, start, end, FALSE};
  if (!self->numeric || !(max > min))
    self->numeric = FALSE;
  else
    self->axis = (LigAxis){min, max, start, end, min > 0 && max / min >= 10};
  if (self->axis.log) {
    self->axis.from = log10 (min);
    self->axis.to = log10 (max);
  }
}

void
lig_sweep_scale_clear (LigSweepScale *self)
{
  g_ptr_array_unref (self->values);
}

double
lig_sweep_scale_place (const LigSweepScale *self, const char *value)
{
  double number;
  if (self->numeric && read_number (value, &number))
    return lig_axis_place (&self->axis, number);
  if (self->values->len == 1)
    return (self->axis.start + self->axis.end) / 2;
  for (guint i = 0; i < self->values->len; i++)
    if (g_str_equal (self->values->pdata[i], value))
      return lig_axis_place (&self->axis, i);
  return NAN;
}

/* --- Order and colours --------------------------------------------------------------------- */

double
lig_sweep_drawing_loss (const LigSweepDrawing *self, guint point)
{
  const LigSweepPoint *at = &self->points[point];
  if (g_strcmp0 (at->status, "done") != 0)
    return NAN;
  return self->validation ? at->eval_loss : at->loss;
}

/* Returns whether the point has the emphasized settings. */
static gboolean
is_chosen (const LigSweepDrawing *self, guint point)
{
  return self->chosen >= 0 && self->ranks[point] == self->ranks[self->chosen];
}

/* Settings are ordered as in the table, by their mean loss, and runs with equal settings by their
 * own. */
static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const LigSweepDrawing *self = data;
  guint x = *(const guint *) a, y = *(const guint *) b;
  double u = lig_sweep_drawing_loss (self, x), v = lig_sweep_drawing_loss (self, y);
  if (is_chosen (self, x) != is_chosen (self, y))
    return is_chosen (self, x) ? 1 : -1;
  if (isfinite (u) != isfinite (v))
    return isfinite (u) ? 1 : -1;
  if (self->ranks[x] != self->ranks[y])
    return self->ranks[x] < self->ranks[y] ? 1 : -1;
  return isfinite (u) && u != v ? (u < v ? 1 : -1) : (x < y ? 1 : -1);
}

/* Returns the least opacity of a line: with high contrast one at which it has a contrast of 3 to 1
 * with the background. */
static guint
get_faintest (const LigSweepDrawing *self)
{
  gboolean contrast = self->colours == lig_colours (LIG_COLOURS_LIGHT_CONTRAST) ||
                      self->colours == lig_colours (LIG_COLOURS_DARK_CONTRAST);
  return contrast ? 150 : 50;
}

LigColour
lig_sweep_drawing_colour (const LigSweepDrawing *self, guint rank, double *width)
{
  guint point = g_array_index (self->order, guint, rank), place = self->ranks[point];
  const guint faintest = get_faintest (self), range = 180 - faintest;
  *width = 1.25;
  if (is_chosen (self, point)) {
    *width = 3;
    return self->colours->ink;
  }
  if (!isfinite (lig_sweep_drawing_loss (self, point)))
    return lig_colour_fade (g_strcmp0 (self->points[point].status, "failed") == 0
                              ? self->colours->warning
                              : self->colours->dim,
                            MAX (90, faintest));
  double share = self->n_ranks > 1 ? 1 - place / (double) (self->n_ranks - 1) : 1;
  *width = place == 0 ? 2.5 : 1.5;
  return place == 0
           ? self->colours->forward
           : lig_colour_fade (self->colours->forward, faintest + (guint) (range * share * share));
}

/* Appends the mean by which the settings of several runs are ranked. */
static char *
add_mean (const LigSweepDrawing *self, guint point, const char *text)
{
  const LigSweepSummary *summary = self->summaries->pdata[self->ranks[point]];
  if (summary->count < 2)
    return g_strdup (text);
  g_autofree char *mean = lig_draw_number (summary->mean, 4);
  return g_strdup_printf (self->ranks[point] == 0 ? _ ("%s, mean %s, the best") : _ ("%s, mean %s"),
                          text, mean);
}

void
lig_sweep_drawing_mark (const LigSweepDrawing *self, guint point, double x, double y)
{
  g_autofree char *settings = lig_sweep_describe_point (self->sweep, point);
  g_autofree char *loss = lig_draw_number (lig_sweep_drawing_loss (self, point), 4);
  g_autofree char *text = g_strdup_printf (
    self->validation ? _ ("%s: validation loss %s") : _ ("%s: loss %s"), settings, loss);
  g_autofree char *whole = add_mean (self, point, text);
  lig_canvas_begin_mark (self->canvas, x - 6, y - 6, 12, 12, whole);
}

/* --- Drawing ------------------------------------------------------------------------------- */

static double
place_axis (const LigSweepDrawing *self, guint axis)
{
  return LEFT + (self->width - LEFT - RIGHT) * axis / (double) self->n_axes;
}

static void
draw_column (const LigSweepDrawing *self, double x, const char *title)
{
  double line[] = {x, TOP, x, self->height - BOTTOM};
  double room = (self->width - LEFT - RIGHT) / self->n_axes;
  LigTextStyle style = {.size = 12,
                        .bold = TRUE,
                        .colour = self->colours->ink,
                        .anchor = LIG_TEXT_MIDDLE,
                        .width = CLAMP (room - 8, 40, 2 * MIN (LEFT, RIGHT) - 8)};
  lig_canvas_lines (self->canvas, line, 2, self->colours->line, 1, 0);
  lig_canvas_text (self->canvas, x, TOP - 18, &style, title);
}

/* The background of a label keeps it legible where lines cross it. */
static void
draw_label (const LigSweepDrawing *self, double x, double y, const char *text)
{
  double tick[] = {x - 3, y, x + 3, y};
  LigTextStyle style = {
    .size = 11, .colour = self->colours->ink, .anchor = LIG_TEXT_END, .width = LEFT - 14};
  double width = MIN (lig_canvas_text_width (self->canvas, &style, text), LEFT - 14);
  lig_canvas_box (self->canvas, x - width - 11, y - 9, width + 7, 18, 4,
                  lig_colour_fade (self->colours->ground, 225), 0, 0);
  lig_canvas_lines (self->canvas, tick, 2, self->colours->dim, 1, 0);
  lig_canvas_text (self->canvas, x - 7, y + 4, &style, text);
}

/* Labels every value for which there is room. */
static void
draw_values (const LigSweepDrawing *self, double x, const LigSweepScale *scale)
{
  double last = NAN;
  for (guint i = 0; i < scale->values->len; i++) {
    double y = lig_sweep_scale_place (scale, scale->values->pdata[i]);
    if (isfinite (last) && fabs (y - last) < SPACING && i + 1 < scale->values->len)
      continue;
    draw_label (self, x, y, scale->values->pdata[i]);
    last = y;
  }
}

static void
draw_losses (const LigSweepDrawing *self)
{
  double x = self->width - RIGHT;
  LigTextStyle style = {.size = 11, .colour = self->colours->dim};
  g_autoptr (GArray) ticks = lig_axis_ticks (&self->losses, 2 * SPACING);
  draw_column (self, x, self->validation ? _ ("validation loss") : _ ("loss"));
  for (guint i = 0; i < ticks->len; i++) {
    const LigAxisTick *tick = &g_array_index (ticks, LigAxisTick, i);
    double y = lig_axis_place (&self->losses, tick->value), line[] = {x - 3, y, x + 3, y};
    if (!tick->label || !isfinite (y))
      continue;
    lig_canvas_lines (self->canvas, line, 2, self->colours->dim, 1, 0);
    lig_canvas_text (self->canvas, x + 8, y + 4, &style, tick->label);
  }
}

static void
draw_run (const LigSweepDrawing *self, guint rank, const LigSweepScale *scales)
{
  guint point = g_array_index (self->order, guint, rank);
  double width, loss = lig_axis_place (&self->losses, lig_sweep_drawing_loss (self, point));
  LigColour colour = lig_sweep_drawing_colour (self, rank, &width);
  GStrv values = self->points[point].values;
  for (guint i = 0; i < self->n_axes; i++) {
    double x = place_axis (self, i), u = place_axis (self, i + 1), middle = (x + u) / 2;
    double y = lig_sweep_scale_place (&scales[i], values[i]);
    double v = i + 1 < self->n_axes ? lig_sweep_scale_place (&scales[i + 1], values[i + 1]) : loss;
    if (isfinite (y) && isfinite (v))
      lig_canvas_curve (self->canvas, (double[]){x, y, middle, y, middle, v, u, v}, colour, width);
  }
  if (!isfinite (loss))
    return;
  lig_sweep_drawing_mark (self, point, self->width - RIGHT, loss);
  lig_canvas_disc (self->canvas, self->width - RIGHT, loss, width + 1.5, colour);
  lig_canvas_end_mark (self->canvas);
}

static void
draw_parallel (LigSweepDrawing *self)
{
  g_autofree LigSweepScale *scales = g_new0 (LigSweepScale, self->n_axes);
  for (guint i = 0; i < self->n_axes; i++) {
    lig_sweep_scale_init (&scales[i], &self->axes[i], self->height - BOTTOM, TOP);
    draw_column (self, place_axis (self, i), self->axes[i].key);
  }
  draw_losses (self);
  for (guint i = 0; i < self->n_points; i++)
    draw_run (self, i, scales);
  for (guint i = 0; i < self->n_axes; i++) {
    draw_values (self, place_axis (self, i), &scales[i]);
    lig_sweep_scale_clear (&scales[i]);
  }
}

/* --- Preparing ----------------------------------------------------------------------------- */

/* The engine's order of settings decides which runs are emphasized. */
static void
find_ranks (LigSweepDrawing *self)
{
  self->ranks = lig_sweep_rank (self->sweep);
  self->summaries = lig_sweep_summarize (self->sweep);
  for (guint i = 0; i < self->summaries->len; i++)
    self->n_ranks += ((const LigSweepSummary *) self->summaries->pdata[i])->count > 0;
}

static void
find_losses (LigSweepDrawing *self)
{
  double min = INFINITY, max = -INFINITY;
  for (guint i = 0; i < self->n_points; i++)
    self->validation = self->validation || (g_strcmp0 (self->points[i].status, "done") == 0 &&
                                            isfinite (self->points[i].eval_loss));
  for (guint i = 0; i < self->n_points; i++) {
    double loss = lig_sweep_drawing_loss (self, i);
    min = isfinite (loss) ? MIN (min, loss) : min;
    max = isfinite (loss) ? MAX (max, loss) : max;
    g_array_append_val (self->order, i);
  }
  g_array_sort_with_data (self->order, compare, self);
  gboolean log = min > 0 && max / min >= 20;
  self->losses = (LigAxis){.from = log ? log10 (min) : min,
                           .to = log ? log10 (max) : max,
                           .start = self->height - BOTTOM,
                           .end = TOP,
                           .log = log};
  if (!(max > min)) {
    self->losses.from -= fabs (self->losses.from) * 0.1 + 1e-3;
    self->losses.to += fabs (self->losses.to) * 0.1 + 1e-3;
  }
  lig_axis_hold (&self->losses);
  lig_axis_round (&self->losses, 2 * SPACING);
}

static gboolean
has_result (const LigSweepDrawing *self)
{
  for (guint i = 0; i < self->n_points; i++)
    if (isfinite (lig_sweep_drawing_loss (self, i)))
      return TRUE;
  return FALSE;
}

void
lig_draw_sweep (LigCanvas *canvas,
                const LigColours *colours,
                const LigSweepPicture *picture,
                double width,
                double height)
{
  g_return_if_fail (canvas && colours && picture && picture->sweep);
  LigSweepDrawing self = {.canvas = canvas,
                          .colours = colours,
                          .sweep = picture->sweep,
                          .width = MAX (width, LEFT + RIGHT + 60),
                          .height = MAX (height, TOP + BOTTOM + 40),
                          .chosen = picture->chosen};
  self.axes = lig_sweep_get_axes (picture->sweep, &self.n_axes);
  self.points = lig_sweep_get_points (picture->sweep, &self.n_points);
  self.order = g_array_new (FALSE, FALSE, sizeof (guint));
  if (self.chosen >= (int) self.n_points)
    self.chosen = -1;
  find_ranks (&self);
  find_losses (&self);
  if (!has_result (&self) || self.n_axes == 0) {
    LigTextStyle style = {.size = 13, .colour = colours->dim, .anchor = LIG_TEXT_MIDDLE};
    lig_canvas_text (canvas, self.width / 2, self.height / 2, &style,
                     _ ("No run has finished yet"));
  } else if (picture->axis >= 0 && picture->axis < (int) self.n_axes) {
    lig_sweep_draw_scatter (&self, (guint) picture->axis);
  } else {
    draw_parallel (&self);
  }
  g_array_unref (self.order);
  g_ptr_array_unref (self.summaries);
  g_free (self.ranks);
}
