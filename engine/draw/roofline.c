/* SPDX-License-Identifier: MIT */
/* The roofline: the arithmetic rate of each group over its intensity, under the peak rates of the
 * device; both axes are logarithmic. */
#include "engine/draw/timed.h"
#include <ligature/draw.h>

#include <glib/gi18n-lib.h>
#include <math.h>

#define LEFT 78.0
#define RIGHT 20.0
#define TOP 18.0
#define BOTTOM 52.0

/* Figures above this power of ten, or below its inverse, are drawn at the limit. */
#define MAX_DECADES 40

/* Groups that move data faster than this multiple of a copy had it in a cache. */
#define CACHED 1.05

/* The maximum number of points with a label: those that take longest. */
#define MAX_LABELS 12

typedef struct {
  double intensity, rate;           /* flops per byte, flops per second */
  double from_intensity, from_rate; /* the same for its ops unfused; 0: no arrow */
  const LigTimedRow *row;
} Point;

typedef struct {
  double x, y, width, height;
} Rect;

typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  const LigTimedPlan *timed;
  const LigDeviceFacts *facts;
  double width, height;
  double left, right, bottom, top; /* logarithms at the edges */
  double matmul;                   /* flops per second */
  GArray *points;
  GArray *taken;  /* Rect: areas without labels */
  gboolean mixed; /* whether unfused ops are predicted but fusions measured, so that arrows are
                     dashed */
} Roofline;

/* Returns the decimal logarithm of a figure within the limits of the picture. */
static double
to_log (double figure)
{
  return figure > 0 ? CLAMP (log10 (figure), -MAX_DECADES, MAX_DECADES) : -MAX_DECADES;
}

static double
to_x (const Roofline *roof, double intensity)
{
  return LEFT + (to_log (intensity) - roof->left) / (roof->right - roof->left) *
                  (roof->width - LEFT - RIGHT);
}

static double
to_y (const Roofline *roof, double rate)
{
  return roof->height - BOTTOM -
         (to_log (rate) - roof->bottom) / (roof->top - roof->bottom) *
           (roof->height - TOP - BOTTOM);
}

/* --- Points -------------------------------------------------------------------------------- */

/* Sets the start of a fused row's arrow: the intensity and the rate of the same ops unfused. */
static void
find_apart (const LigTimedPlan *unfused, const LigTimedRow *row, Point *point)
{
  guint count;
  double bytes = 0, flops = 0, seconds = 0;
  const LigPlanGroup *groups = lig_plan_get_groups (unfused->plan, row->pass, &count);
  for (guint i = 0; i < count; i++) {
    if (groups[i].first < row->first || groups[i].first >= row->first + row->count)
      continue;
    bytes += groups[i].bytes;
    flops += groups[i].flops;
    for (int j = 0; j < groups[i].n_steps; j++)
      seconds += lig_timed_step (unfused, (guint) (groups[i].steps[j]));
  }
  if (bytes > 0 && flops > 0 && seconds > 0) {
    point->from_intensity = flops / bytes;
    point->from_rate = flops / seconds;
  }
}

/* Appends a point for each row. Returns the number of rows without a point because they have no
 * arithmetic, traffic or time. */
static guint
find_points (Roofline *roof, GPtrArray *rows, const LigTimedPlan *unfused)
{
  guint without = 0;
  for (guint i = 0; i < rows->len; i++) {
    const LigTimedRow *row = rows->pdata[i];
    double seconds = lig_timed_row_seconds (row);
    if (!row->path)
      continue;
    if (!(row->flops > 0 && row->bytes > 0 && seconds > 0)) {
      without++;
      continue;
    }
    Point point = {row->flops / row->bytes, row->flops / seconds, .row = row};
    if (unfused && row->fusion)
      find_apart (unfused, row, &point);
    g_array_append_val (roof->points, point);
  }
  return without;
}

static void
include (Roofline *roof, double intensity, double rate)
{
  roof->left = MIN (roof->left, to_log (intensity));
  roof->right = MAX (roof->right, to_log (intensity));
  roof->bottom = MIN (roof->bottom, to_log (rate));
  roof->top = MAX (roof->top, to_log (rate));
}

static void
find_edges (Roofline *roof)
{
  const LigDeviceFacts *facts = roof->facts;
  roof->left = roof->bottom = G_MAXDOUBLE;
  roof->right = roof->top = -G_MAXDOUBLE;
  for (guint i = 0; i < roof->points->len; i++) {
    const Point *point = &g_array_index (roof->points, Point, i);
    include (roof, point->intensity, point->rate);
    if (point->from_rate > 0)
      include (roof, point->from_intensity, point->from_rate);
  }
  if (facts->copy > 0 && roof->matmul > 0) {
    include (roof, roof->matmul / facts->copy * 4, roof->matmul);
    include (roof, roof->matmul / facts->copy / 10, roof->matmul);
  }
  if (roof->left > roof->right)
    include (roof, 1, 1e9);
  roof->left = floor (roof->left - 0.15);
  roof->right = ceil (roof->right + 0.15);
  roof->bottom = floor (roof->bottom - 0.1);
  roof->top = ceil (roof->top + 0.1);
}

/* --- Drawing ------------------------------------------------------------------------------- */

static void
draw_grid (Roofline *roof)
{
  LigTextStyle style = {.size = 11, .colour = roof->colours->dim};
  double bottom = roof->height - BOTTOM;
  for (double i = roof->left; i <= roof->right; i++) {
    double x = to_x (roof, pow (10, i)), points[] = {x, TOP, x, bottom};
    g_autofree char *text = lig_draw_number (pow (10, i), 2);
    lig_canvas_lines (roof->canvas, points, 2, roof->colours->line, 1, 0);
    style.anchor = LIG_TEXT_MIDDLE;
    lig_canvas_text (roof->canvas, x, bottom + 17, &style, text);
  }
  for (double i = roof->bottom; i <= roof->top; i++) {
    double y = to_y (roof, pow (10, i)), points[] = {LEFT, y, roof->width - RIGHT, y};
    g_autofree char *text = lig_draw_rate (pow (10, i));
    lig_canvas_lines (roof->canvas, points, 2, roof->colours->line, 1, 0);
    style.anchor = LIG_TEXT_END;
    lig_canvas_text (roof->canvas, LEFT - 6, y + 4, &style, text);
  }
}

/* Reserves the area of a line, so that no label covers it. */
static void
take_line (Roofline *roof, double x, double y, double u, double v)
{
  int parts = (int) CLAMP (hypot (u - x, v - y) / 6, 1, 200);
  for (int i = 0; i <= parts; i++) {
    double share = i / (double) parts;
    Rect taken = {x + share * (u - x) - 3, y + share * (v - y) - 3, 6, 6};
    g_array_append_val (roof->taken, taken);
  }
}

/* Draws the roof: the copy bandwidth times the intensity, up to the rate of matmuls. */
static void
draw_peak_rates (Roofline *roof)
{
  double copy = roof->facts->copy, matmul = roof->matmul;
  double right = pow (10, roof->right), left = pow (10, roof->left);
  double ridge = copy > 0 ? CLAMP (matmul / copy, left, right) : left;
  LigTextStyle style = {.size = 11, .colour = roof->colours->dim, .anchor = LIG_TEXT_END};
  if (!(copy > 0 && matmul > 0))
    return;
  double low = pow (10, roof->bottom), start = CLAMP (low / copy, left, right);
  double points[] = {to_x (roof, start),  to_y (roof, start * copy), to_x (roof, ridge),
                     to_y (roof, matmul), to_x (roof, right),        to_y (roof, matmul)};
  g_autofree char *rate = lig_draw_rate (matmul);
  g_autofree char *bytes = lig_draw_bytes (copy);
  const char *type = lig_dtype_name (lig_plan_get_compute (roof->timed->plan));
  g_autofree char *flat = g_strdup_printf (_ ("%s matmuls, %s"), type, rate);
  g_autofree char *slope = g_strdup_printf (_ ("%s/s moved"), bytes);
  g_autofree char *origin = g_strdup_printf (
    _ ("peak rates of %s, %s"), roof->facts->name,
    roof->facts->measured ? _ ("measured on this device") : _ ("assumed, or from its description"));
  g_autofree char *text = g_strdup_printf ("%s\n%s\n%s", flat, slope, origin);
  double angle = atan2 (points[3] - points[1], points[2] - points[0]);
  double middle = points[0] + (points[2] - points[0]) * 0.3;
  lig_canvas_begin_mark (roof->canvas, points[0], points[3] - 3, points[4] - points[0], 6, text);
  lig_canvas_lines (roof->canvas, points, 3, roof->colours->ink, 2, 0);
  lig_canvas_text (roof->canvas, points[4] - 4, points[5] - 7, &style, flat);
  style.anchor = LIG_TEXT_START;
  style.angle = angle * 180 / G_PI;
  lig_canvas_text (roof->canvas, middle + 8 * sin (angle),
                   points[1] + tan (angle) * (middle - points[0]) - 8 * cos (angle), &style, slope);
  lig_canvas_end_mark (roof->canvas);
  take_line (roof, points[0], points[1], points[2], points[3]);
  take_line (roof, points[2], points[3], points[4], points[5]);
  Rect taken = {points[4] - 180, points[5] - 20, 180, 22};
  g_array_append_val (roof->taken, taken);
}

/* Returns the largest bandwidth of the points above the slope, whose data was in a cache; 0 if
 * there is none. */
static double
find_cache_bandwidth (const Roofline *roof)
{
  double bandwidth = 0;
  for (guint i = 0; i < roof->points->len; i++) {
    const Point *point = &g_array_index (roof->points, Point, i);
    double bytes = point->intensity > 0 ? point->rate / point->intensity : 0;
    if (bytes > CACHED * roof->facts->copy && point->rate < roof->matmul)
      bandwidth = MAX (bandwidth, bytes);
  }
  return bandwidth;
}

/* Draws the slope for data in a cache: that of the fastest group, because the device's own is
 * unknown. */
static void
draw_cache_slope (Roofline *roof)
{
  double bandwidth = find_cache_bandwidth (roof), matmul = roof->matmul;
  LigTextStyle style = {.size = 11, .colour = roof->colours->dim, .anchor = LIG_TEXT_START};
  if (bandwidth <= 0 || roof->facts->copy <= 0)
    return;
  double right = pow (10, roof->right), left = pow (10, roof->left);
  double start = CLAMP (pow (10, roof->bottom) / bandwidth, left, right);
  double ridge = CLAMP (matmul / bandwidth, left, right);
  double points[] = {to_x (roof, start), to_y (roof, start * bandwidth), to_x (roof, ridge),
                     to_y (roof, ridge * bandwidth)};
  g_autofree char *bytes = lig_draw_bytes (bandwidth);
  g_autofree char *label = g_strdup_printf (_ ("%s/s in cache"), bytes);
  g_autofree char *text = g_strdup_printf (
    _ ("%s\nthe fastest of the groups whose data was in a cache when it was measured"), label);
  double angle = atan2 (points[3] - points[1], points[2] - points[0]);
  double middle = points[0] + (points[2] - points[0]) * 0.1;
  style.angle = angle * 180 / G_PI;
  lig_canvas_begin_mark (roof->canvas, points[0], points[3] - 3, points[2] - points[0], 6, text);
  lig_canvas_lines (roof->canvas, points, 2, roof->colours->dim, 1.5, 5);
  lig_canvas_text (roof->canvas, middle + 8 * sin (angle),
                   points[1] + tan (angle) * (middle - points[0]) - 8 * cos (angle), &style, label);
  lig_canvas_end_mark (roof->canvas);
  take_line (roof, points[0], points[1], points[2], points[3]);
}

static void
draw_arrow (Roofline *roof, const Point *point, LigColour colour)
{
  double x = to_x (roof, point->intensity), y = to_y (roof, point->rate);
  double u = to_x (roof, point->from_intensity), v = to_y (roof, point->from_rate);
  double length = hypot (x - u, y - v);
  if (length < 9)
    return;
  double dx = (x - u) / length, dy = (y - v) / length;
  double ex = x - 6 * dx, ey = y - 6 * dy;
  double shaft[] = {u, v, ex, ey};
  double head[] = {
    ex, ey, ex - 7 * dx + 4 * dy, ey - 7 * dy - 4 * dx, ex - 7 * dx - 4 * dy, ey - 7 * dy + 4 * dx};
  lig_canvas_disc (roof->canvas, u, v, 4.5, colour);
  lig_canvas_disc (roof->canvas, u, v, 3, roof->colours->card);
  lig_canvas_lines (roof->canvas, shaft, 2, colour, 1.5, roof->mixed ? 4 : 0);
  lig_canvas_area (roof->canvas, head, 3, colour);
}

static char *
describe (const Roofline *roof, const Point *point)
{
  g_autofree char *row = lig_timed_describe (point->row);
  g_autofree char *intensity = lig_draw_number (point->intensity, 3);
  GString *text = g_string_new (row);
  g_string_append_printf (text, _ ("\n%s FLOP/byte"), intensity);
  if (point->from_rate > 0) {
    g_autofree char *before = lig_draw_rate (point->from_rate);
    g_autofree char *apart = lig_draw_number (point->from_intensity, 3);
    g_string_append_printf (text, _ ("\nits ops unfused: %s at %s FLOP/byte"), before, apart);
    if (roof->mixed)
      g_string_append_printf (text, ", %s", _ ("predicted, not measured"));
  }
  return g_string_free (text, FALSE);
}

static gboolean
is_free (const Roofline *roof, const Rect *rect)
{
  if (rect->x < LEFT || rect->x + rect->width > roof->width - 4 || rect->y < 2 ||
      rect->y + rect->height > roof->height - BOTTOM)
    return FALSE;
  for (guint i = 0; i < roof->taken->len; i++) {
    const Rect *other = &g_array_index (roof->taken, Rect, i);
    if (rect->x < other->x + other->width && other->x < rect->x + rect->width &&
        rect->y < other->y + other->height && other->y < rect->y + rect->height)
      return FALSE;
  }
  return TRUE;
}

/* Draws the label next to the point, at the first free one of a few places. If none is free, only
 * the tooltip of the mark contains it. */
static void
draw_label (Roofline *roof, const Point *point)
{
  LigTextStyle style = {
    .size = 11, .bold = point->row->fusion != NULL, .colour = roof->colours->ink};
  g_autofree char *text = g_strdup_printf ("%s %s", point->row->path, point->row->name);
  style.width = 170;
  double width = MIN (lig_canvas_text_width (roof->canvas, &style, text), style.width);
  double x = to_x (roof, point->intensity), y = to_y (roof, point->rate);
  const Rect places[] = {
    {x + 9, y - 7, width, 14},          {x - 9 - width, y - 7, width, 14},
    {x - width / 2, y - 24, width, 14}, {x - width / 2, y + 10, width, 14},
    {x + 8, y - 22, width, 14},         {x + 8, y + 9, width, 14},
    {x - 8 - width, y - 22, width, 14}, {x - 8 - width, y + 9, width, 14},
  };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    if (is_free (roof, &places[i])) {
      lig_canvas_text (roof->canvas, places[i].x, places[i].y + 11, &style, text);
      g_array_append_val (roof->taken, places[i]);
      return;
    }
}

static int
compare_points (gconstpointer a, gconstpointer b)
{
  double x = lig_timed_row_seconds (((const Point *) a)->row);
  double y = lig_timed_row_seconds (((const Point *) b)->row);
  return x < y ? 1 : x > y ? -1 : 0;
}

static void
draw_points (Roofline *roof)
{
  for (guint i = 0; i < roof->points->len; i++) {
    const Point *point = &g_array_index (roof->points, Point, i);
    Rect taken = {to_x (roof, point->intensity) - 6, to_y (roof, point->rate) - 6, 12, 12};
    g_array_append_val (roof->taken, taken);
    if (point->from_rate > 0)
      take_line (roof, to_x (roof, point->from_intensity), to_y (roof, point->from_rate),
                 to_x (roof, point->intensity), to_y (roof, point->rate));
  }
  g_array_sort (roof->points, compare_points);
  for (guint i = 0; i < roof->points->len; i++) {
    const Point *point = &g_array_index (roof->points, Point, i);
    gboolean backward = point->row->pass == LIG_PASS_BACKWARD;
    LigColour colour = backward ? roof->colours->backward : roof->colours->forward;
    double x = to_x (roof, point->intensity), y = to_y (roof, point->rate);
    g_autofree char *text = describe (roof, point);
    lig_canvas_begin_mark (roof->canvas, x - 7, y - 7, 14, 14, text);
    if (point->from_rate > 0)
      draw_arrow (roof, point, colour);
    /* Backward points are squares, so that the passes differ not only in colour. */
    if (backward)
      lig_canvas_box (roof->canvas, x - 5, y - 5, 10, 10, 1, colour, roof->colours->card, 1);
    else
      lig_canvas_disc (roof->canvas, x, y, 5.5, colour);
    if (i < MAX_LABELS)
      draw_label (roof, point);
    lig_canvas_end_mark (roof->canvas);
  }
}

static void
draw_legend (Roofline *roof, guint without)
{
  const LigColours *colours = roof->colours;
  LigTextStyle style = {.size = 11, .colour = colours->dim};
  double x = LEFT, y = roof->height - 12;
  g_autoptr (GString) note = g_string_new (_ ("FLOP/byte"));
  gboolean known = roof->timed->steps || lig_timed_is_predicted (roof->timed);
  if (!known)
    g_string_append_printf (note, " · %s", lig_timed_nothing_known ());
  else if (!roof->timed->steps)
    g_string_append_printf (note, " · %s", _ ("predicted, not measured"));
  if (without > 0 && known)
    g_string_append_printf (note,
                            g_dngettext (GETTEXT_PACKAGE, " · %u group without arithmetic",
                                         " · %u groups without arithmetic", without),
                            without);
  lig_canvas_disc (roof->canvas, x + 5, y - 4, 5, colours->forward);
  lig_canvas_text (roof->canvas, x + 14, y, &style, _ ("Forward"));
  x += 30 + lig_canvas_text_width (roof->canvas, &style, _ ("Forward"));
  lig_canvas_box (roof->canvas, x, y - 9, 10, 10, 1, colours->backward, 0, 0);
  lig_canvas_text (roof->canvas, x + 14, y, &style, _ ("Backward"));
  style.anchor = LIG_TEXT_END;
  style.width = roof->width - RIGHT - x - 90;
  lig_canvas_text (roof->canvas, roof->width - RIGHT, y, &style, note->str);
}

void
lig_draw_roofline (LigCanvas *canvas,
                   const LigColours *colours,
                   const LigTimedPlan *timed,
                   const LigTimedPlan *unfused,
                   double width,
                   double height)
{
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (Point));
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (Rect));
  g_autoptr (GPtrArray) forward = lig_timed_rows (timed, LIG_PASS_FORWARD);
  g_autoptr (GPtrArray) backward = lig_timed_rows (timed, LIG_PASS_BACKWARD);
  Roofline roof = {canvas, colours, timed, .width = width, .height = height};
  roof.facts = lig_device_get_facts (lig_plan_get_device (timed->plan));
  roof.matmul = roof.facts->matmul[lig_plan_get_compute (timed->plan)];
  roof.points = points;
  roof.taken = taken;
  roof.mixed = unfused && timed->steps && !unfused->steps;
  guint without = find_points (&roof, forward, unfused) + find_points (&roof, backward, unfused);
  find_edges (&roof);
  draw_grid (&roof);
  draw_peak_rates (&roof);
  draw_cache_slope (&roof);
  draw_points (&roof);
  draw_legend (&roof, without);
}
