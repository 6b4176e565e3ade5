/* SPDX-License-Identifier: MIT */
/* One training step from left to right. Each lane of a pass has a row; below them is the copy of
 * the next batch to a device with its own memory. */
#include "engine/draw/chart.h"
#include "engine/draw/timed.h"
#include <ligature/draw.h>
#include <ligature/figures.h>
#include <ligature/kernels.h>

#include <glib/gi18n-lib.h>

#define LEFT 88.0
#define AXIS 34.0
#define MAX_TICKS 1000
#define STRIP 22.0 /* the height of the row of copies */

typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  const LigTimedPlan *timed;
  const LigPlanStep *steps;
  double width, height, scale;
  double lane;           /* the height of one pass */
  int rows[LIG_N_LANES]; /* of each lane within a pass */
  int n_rows;
  LigUpload upload;
} Timeline;

/* Assigns a row to each lane that has spans. */
static void
find_rows (Timeline *line, GArray *spans)
{
  unsigned used = 1u << LIG_LANE_MAIN;
  for (guint i = 0; i < spans->len; i++)
    used |= 1u << g_array_index (spans, LigTimedSpan, i).lane;
  for (int lane = 0; lane < LIG_N_LANES; lane++)
    if (used >> lane & 1)
      line->rows[lane] = line->n_rows++;
}

static const LigPlanGroup *
group_of (const Timeline *line, const LigPlanStep *step)
{
  guint count;
  if (step->group < 0 || step->pass == LIG_PASS_UPDATE)
    return NULL;
  const LigPlanGroup *groups = lig_plan_get_groups (line->timed->plan, step->pass, &count);
  return step->group < (int) count ? &groups[step->group] : NULL;
}

static char *
describe (const Timeline *line, const LigTimedSpan *first, guint count, double seconds)
{
  const LigPlanStep *step = &line->steps[first->step];
  const LigPlanGroup *group = group_of (line, step);
  GString *text = g_string_new (NULL);
  g_autofree char *time = lig_draw_time (seconds);
  g_autofree char *start = lig_draw_time (first->start);
  const char *name = group ? group->title : NULL;
  if (count > 1)
    g_string_append_printf (
      text, g_dngettext (GETTEXT_PACKAGE, "%u short step", "%u short steps", count), count);
  else
    g_string_append (text, step->kernel ? step->kernel->name : "opaque");
  g_string_append_printf (text, " · %s · %s", lig_timed_pass_title (step->pass), time);
  if (name && count == 1)
    g_string_append_printf (text, "\n%s", name);
  if (group && group->fusion && count == 1)
    g_string_append_printf (text, _ ("\nfused: %s"), group->fusion->name);
  if (first->lane != LIG_LANE_MAIN)
    g_string_append_printf (text, "\n%s", _ ("runs concurrently with the steps after it"));
  g_string_append_printf (text, _ ("\nstep %u, begins at %s"), first->step, start);
  if (!line->timed->steps)
    g_string_append_printf (text, "\n%s", _ ("predicted, not measured"));
  return g_string_free (text, FALSE);
}

static double
lane_of (const Timeline *line, const LigTimedSpan *span)
{
  return 8 + line->lane *
               (line->steps[span->step].pass + (double) line->rows[span->lane] / line->n_rows);
}

/* Draws a span; steps that are too short to be visible are drawn as one. */
static void
draw_span (Timeline *line, const LigTimedSpan *first, guint count, double seconds)
{
  const LigColours *colours = line->colours;
  const LigPlanStep *step = &line->steps[first->step];
  const LigPlanGroup *group = group_of (line, step);
  gboolean fused = group && group->fusion && count == 1;
  LigColour colour = step->pass == LIG_PASS_FORWARD    ? colours->forward
                     : step->pass == LIG_PASS_BACKWARD ? colours->backward
                                                       : colours->channel;
  LigColour fill = step->pass == LIG_PASS_FORWARD    ? colours->forward_fill
                   : step->pass == LIG_PASS_BACKWARD ? colours->backward_fill
                                                     : lig_colour_fade (colours->channel, 0x30);
  double x = LEFT + first->start * line->scale, width = MAX (seconds * line->scale, 1);
  double height = line->lane / line->n_rows - (line->n_rows > 1 ? 3 : 8), y = lane_of (line, first);
  g_autofree char *text = describe (line, first, count, seconds);
  const char *name = count > 1 ? "" : group ? group->title : step->kernel ? step->kernel->name : "";
  LigTextStyle style = {.size = 11, .bold = fused, .colour = fused ? colours->card : colours->ink};
  lig_canvas_begin_mark (line->canvas, x, y, width, height, text);
  lig_canvas_box (line->canvas, x, y, width, height, MIN (3, width / 3), fused ? colour : fill,
                  width > 3 ? colour : 0, 1);
  /* A label that does not fit is shortened, or omitted if too little of it would remain. */
  gboolean fits = lig_canvas_text_width (line->canvas, &style, name) + 8 <= width;
  style.width = MAX (width - 8, 1);
  if (fits || width >= 56)
    lig_canvas_text (line->canvas, x + 5, y + height / 2 + 4, &style, name);
  lig_canvas_end_mark (line->canvas);
}

static void
draw_spans (Timeline *line, GArray *spans)
{
  for (guint i = 0; i < spans->len;) {
    const LigTimedSpan *first = &g_array_index (spans, LigTimedSpan, i);
    double seconds = first->seconds;
    guint count = 1;
    while (i + count < spans->len && first->seconds * line->scale < 1.5 &&
           (seconds + g_array_index (spans, LigTimedSpan, i + count).seconds) * line->scale < 3 &&
           line->steps[first->step].pass == line->steps[first->step + count].pass &&
           first->lane == g_array_index (spans, LigTimedSpan, i + count).lane)
      seconds += g_array_index (spans, LigTimedSpan, i + count++).seconds;
    draw_span (line, first, count, seconds);
    i += count;
  }
}

static void
draw_axis (Timeline *line, double total)
{
  LigTextStyle style = {.size = 11, .colour = line->colours->dim, .anchor = LIG_TEXT_MIDDLE};
  double tick = lig_timed_tick (total, MAX ((int) ((line->width - LEFT) / 110), 1));
  double bottom = line->height - AXIS;
  for (int i = 0; i * tick <= total * 1.0001 && i <= MAX_TICKS; i++) {
    double x = LEFT + i * tick * line->scale;
    double points[] = {x, 4, x, bottom + 4};
    g_autofree char *text = i == 0 ? g_strdup ("0") : lig_axis_trim (lig_draw_time (i * tick));
    lig_canvas_lines (line->canvas, points, 2, line->colours->line, 1, 0);
    lig_canvas_text (line->canvas, x, bottom + 18, &style, text);
  }
}

static void
draw_lanes (Timeline *line, GArray *spans)
{
  LigTextStyle title = {.size = 12, .bold = TRUE, .colour = line->colours->ink, .width = LEFT - 16};
  LigTextStyle lesser = {.size = 11, .colour = line->colours->dim, .width = LEFT - 16};
  double seconds[3] = {0};
  gboolean known[3] = {TRUE, TRUE, TRUE};
  for (guint i = 0; i < spans->len; i++) {
    double step = MAX (lig_timed_step (line->timed, i), 0);
    seconds[line->steps[i].pass] += step;
    known[line->steps[i].pass] &= step > 0;
  }
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_UPDATE; pass++) {
    /* The pass as a whole, as elsewhere; the sum of its steps differs a little. */
    double whole = line->timed->steps && line->timed->passes
                     ? lig_timed_hold (line->timed->passes[pass])
                     : seconds[pass];
    g_autofree char *figure = lig_draw_time (whole);
    g_autofree char *time =
      line->timed->steps ? g_strdup (figure) : g_strconcat ("≈ ", figure, NULL);
    double y = 8 + line->lane * pass;
    lig_canvas_text (line->canvas, 12, y + 15, &title, lig_timed_pass_title (pass));
    if (known[pass])
      lig_canvas_text (line->canvas, 12, y + 31, &lesser, time);
  }
}

/* Labels the row of collectives in the passes that have some. */
static void
draw_collectives (Timeline *line, GArray *spans)
{
  LigTextStyle style = {.size = 11, .colour = line->colours->dim, .width = LEFT - 16};
  gboolean drawn[3] = {FALSE};
  for (guint i = 0; i < spans->len; i++) {
    const LigTimedSpan *span = &g_array_index (spans, LigTimedSpan, i);
    LigPass pass = line->steps[span->step].pass;
    if (span->lane != LIG_LANE_COMMUNICATION || drawn[pass])
      continue;
    drawn[pass] = TRUE;
    double middle = lane_of (line, span) + (line->lane / line->n_rows - 3) / 2;
    lig_canvas_text (line->canvas, 12, middle + 6, &style, _ ("Collectives"));
  }
}

/* Draws the copy of the next batch. */
static void
draw_upload (Timeline *line)
{
  const LigColours *colours = line->colours;
  LigTextStyle style = {.size = 11, .colour = colours->dim, .width = LEFT - 16};
  double y = 8 + 3 * line->lane + 2, width = MAX (line->upload.seconds * line->scale, 2);
  g_autofree char *bytes = lig_draw_bytes (line->upload.bytes);
  g_autofree char *time = lig_draw_time (line->upload.seconds);
  g_autofree char *text = g_strdup_printf (
    "%s · %s · ≈ %s\n%s\n%s", _ ("next batch"), bytes, time,
    line->upload.exposed > 0
      ? _ ("copied concurrently with this step, which ends first: the next step waits")
      : _ ("copied concurrently with this step"),
    _ ("predicted, not measured"));
  lig_canvas_text (line->canvas, 12, y + 12, &style, _ ("Copies"));
  lig_canvas_begin_mark (line->canvas, LEFT, y, width, STRIP - 8, text);
  lig_canvas_box (
    line->canvas, LEFT, y, width, STRIP - 8, MIN (3, width / 3),
    lig_colour_fade (line->upload.exposed > 0 ? colours->warning : colours->dim, 0x50),
    width > 3 ? colours->dim : 0, 1);
  lig_canvas_end_mark (line->canvas);
}

void
lig_draw_timeline (LigCanvas *canvas,
                   const LigColours *colours,
                   const LigTimedPlan *timed,
                   double width,
                   double height)
{
  guint count;
  g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (LigTimedSpan));
  Timeline line = {canvas, colours, timed, lig_plan_get_steps (timed->plan, &count),
                   .width = width};
  double total = lig_timed_place (timed, spans);
  lig_figures_of_upload (timed->plan, &line.upload);
  gboolean copies = total > 0 && line.upload.seconds > 0;
  total = copies ? MAX (total, lig_timed_hold (line.upload.seconds)) : total;
  line.height = height;
  line.lane = (height - AXIS - 8 - (copies ? STRIP : 0)) / 3;
  line.scale = (width - LEFT - 24) / (total > 0 ? total : 1);
  find_rows (&line, spans);
  draw_axis (&line, total);
  draw_lanes (&line, spans);
  draw_collectives (&line, spans);
  if (total > 0)
    draw_spans (&line, spans);
  if (copies)
    draw_upload (&line);
  if (total > 0)
    return;
  LigTextStyle style = {
    .size = 12, .colour = colours->dim, .anchor = LIG_TEXT_MIDDLE, .width = width};
  if (count > 0)
    lig_canvas_text (canvas, width / 2, height / 2, &style, lig_timed_nothing_known ());
}
