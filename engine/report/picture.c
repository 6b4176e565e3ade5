/* SPDX-License-Identifier: MIT */
/* Reports as one picture: title, origin, the curves of a run, the score. */
#include "engine/report/picture.h"

#include "engine/draw/score.h"
#include "engine/report/paper.h"
#include "engine/report/texts.h"
#include <ligature/compile.h>
#include <ligature/draw-recipes.h>

enum { WIDTH = 1000, MARGIN = 16, TITLE = 58, NOTE = 20, CHART = 260 };

void
lig_picture_init_plan (LigPicture *self, LigPlan *plan)
{
  *self = (LigPicture){.timed.plan = lig_plan_ref (plan), .unfused = lig_plan_unfuse (plan, NULL)};
  self->title = lig_report_name_sequence (lig_plan_get_sequence (plan));
}

void
lig_picture_init_run (LigPicture *self, const LigReportRun *run)
{
  *self = (LigPicture){.run = run};
  self->title = lig_report_shorten (*run->row->name ? run->row->name : run->row->uuid);
  self->timed.plan = lig_report_rebuild (run, &self->note);
  if (!self->timed.plan)
    return;
  self->unfused = lig_plan_unfuse (self->timed.plan, NULL);
  self->recorded = lig_report_read_times (run, self->timed.plan);
  if (self->recorded)
    lig_recorded_times_get (self->recorded, &self->timed);
}

void
lig_picture_init_pair (LigPicture *self, const LigReportPair *pair)
{
  LigPlan *after = lig_plan_comparison_get_after (pair->plans);
  *self = (LigPicture){.pair = pair};
  self->title = lig_report_name_sequence (lig_plan_get_sequence (after));
}

void
lig_picture_clear (LigPicture *self)
{
  g_clear_pointer (&self->timed.plan, lig_plan_unref);
  g_clear_pointer (&self->unfused, lig_plan_unref);
  g_clear_pointer (&self->recorded, lig_recorded_times_free);
  g_clear_pointer (&self->title, g_free);
  g_clear_pointer (&self->note, g_free);
}

/* --- One picture --------------------------------------------------------------------------- */

static double
chart_height (const LigPicture *self)
{
  guint count = self->run ? lig_picture_count_charts (self->run) : 0;
  return (double) ((count + 1) / 2) * CHART;
}

static double
note_height (const LigPicture *self)
{
  return self->note ? NOTE : 0;
}

/* Returns the height of the error heat map, 0 if there is none. */
static double
errors_height (const LigPicture *self)
{
  gboolean compared = self->run && self->run->errors->len > 0;
  return compared ? lig_draw_recipes_height (self->run->errors) : 0;
}

/* Returns the width of the picture, which is larger for an error heat map of many recipes. */
static double
get_width (const LigPicture *self)
{
  return errors_height (self) > 0 ? MAX (WIDTH, lig_draw_recipes_width (self->run->errors)) : WIDTH;
}

static double
get_height (const LigPicture *self)
{
  if (self->pair)
    return TITLE + lig_draw_comparison_height (self->pair->plans);
  double score = self->timed.plan ? lig_draw_score_height (self->timed.plan) : MARGIN;
  return TITLE + chart_height (self) + note_height (self) + score + errors_height (self);
}

/* Returns the second line: `train · done on cuda:0 · bf16 · UUID` for a run, the size for a plan.
 */
static char *
describe (const LigPicture *self)
{
  guint ops, steps;
  if (self->run) {
    const LigRunRow *row = self->run->row;
    return g_strdup_printf ("%s · %s on %s · %s · %s", row->kind, row->status, row->device,
                            row->dtype, row->uuid);
  }
  if (self->pair)
    return g_strdup ("Ligature " LIG_VERSION);
  lig_plan_get_ops (self->timed.plan, &ops);
  lig_plan_get_steps (self->timed.plan, &steps);
  g_autofree char *size = lig_report_size (ops, steps);
  return g_strdup_printf ("%s · Ligature " LIG_VERSION, size);
}

static void
draw_charts (const LigPicture *self, LigCanvas *canvas, const LigColours *colours)
{
  guint count = lig_picture_count_charts (self->run);
  double width = (WIDTH - 2. * MARGIN) / 2;
  for (guint i = 0; i < count; i++) {
    gboolean alone = i == count - 1 && i % 2 == 0;
    lig_canvas_begin_translate (canvas, MARGIN + (i % 2) * width, TITLE + (i / 2) * CHART);
    lig_picture_draw_chart (self->run, i, canvas, colours, alone ? 2 * width : width, CHART - 12);
    lig_canvas_end_translate (canvas);
  }
}

static void
draw (LigCanvas *canvas, gpointer data)
{
  const LigPicture *self = data;
  const LigColours *colours = lig_colours (LIG_COLOURS_LIGHT);
  LigTextStyle title = {
    .size = 20, .bold = TRUE, .colour = colours->ink, .width = WIDTH - 2 * MARGIN};
  LigTextStyle dim = {.size = 11.5, .colour = colours->dim, .width = WIDTH - 2 * MARGIN};
  g_autofree char *text = describe (self);
  lig_canvas_text (canvas, MARGIN, 30, &title, self->title);
  lig_canvas_text (canvas, MARGIN, 49, &dim, text);
  if (self->pair) {
    lig_canvas_begin_translate (canvas, 0, TITLE);
    lig_draw_comparison (canvas, colours, self->pair->plans, self->pair->titles[0],
                         self->pair->titles[1], WIDTH);
    lig_canvas_end_translate (canvas);
    return;
  }
  if (self->run)
    draw_charts (self, canvas, colours);
  double y = TITLE + chart_height (self);
  if (self->note)
    lig_canvas_text (canvas, MARGIN, y + 14, &dim, self->note);
  if (self->timed.plan) {
    lig_canvas_begin_translate (canvas, 0, y + note_height (self));
    lig_draw_score_against (canvas, colours, &self->timed, self->unfused,
                            self->run ? self->run->loads : NULL, WIDTH);
    lig_canvas_end_translate (canvas);
  }
  if (errors_height (self) > 0) {
    lig_canvas_begin_translate (canvas, 0, get_height (self) - errors_height (self));
    lig_draw_recipes (canvas, colours, self->run->errors, get_width (self));
    lig_canvas_end_translate (canvas);
  }
}

gboolean
lig_picture_write (const LigPicture *self, const char *format, GString *to, GError **error)
{
  g_autoptr (GBytes) bytes =
    lig_draw_to_file (format, get_width (self), get_height (self),
                      lig_colours (LIG_COLOURS_LIGHT)->ground, draw, (gpointer) self, error);
  gsize size;
  const char *data = bytes ? g_bytes_get_data (bytes, &size) : NULL;
  if (data)
    g_string_append_len (to, data, (gssize) size);
  return data != NULL;
}
