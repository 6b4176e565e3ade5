/* SPDX-License-Identifier: MIT */
/* The score: forward rail, ops and backward rail, each pass with its total time at the top. */
#include "engine/draw/score.h"
#include <ligature/draw.h>

#include <glib/gi18n-lib.h>

enum { MAX_LANES = 5, LANE = 18, FOOT = 22 };

/* --- Heads --------------------------------------------------------------------------------- */

static LigFigures
find_figures (const LigScoreDrawing *self, LigPass pass)
{
  const LigTimedPlan timed = {self->layout->plan, self->layout->times, self->layout->passes, NULL};
  const LigTimedPlan unfused = {.plan = self->unfused};
  LigFigures figures;
  lig_figures_of_pass (&timed, &unfused, pass, &figures);
  return figures;
}

/* Draws a title in the middle, and a text below. */
static void
draw_middle (const LigScoreDrawing *self, const char *title, const char *text)
{
  LigTextStyle bold = {.size = 13,
                       .bold = TRUE,
                       .colour = self->colours->ink,
                       .anchor = LIG_TEXT_MIDDLE,
                       .width = self->ops_width};
  LigTextStyle lesser = {.size = 11.5,
                         .colour = self->colours->dim,
                         .anchor = LIG_TEXT_MIDDLE,
                         .width = self->ops_width};
  double x = self->ops + self->ops_width / 2;
  lig_canvas_text (self->canvas, x, 30, &bold, title);
  lig_canvas_text (self->canvas, x, 50, &lesser, text);
}

/* Draws a text at the right and another at the left in the rest of the width. */
static void
draw_pair (const LigScoreDrawing *self,
           double x,
           double baseline,
           LigTextStyle left,
           const char *text,
           LigTextStyle right,
           const char *end)
{
  left.width = self->rail;
  right.anchor = LIG_TEXT_END;
  if (end && *end) {
    lig_canvas_text (self->canvas, x + self->rail, baseline, &right, end);
    left.width -= lig_canvas_text_width (self->canvas, &right, end) + 8;
  }
  if (text && *text)
    lig_canvas_text (self->canvas, x, baseline, &left, text);
}

/* Draws the head of a rail: time, saving, fraction of the roofline. A predicted time is lighter. */
static void
draw_pass (const LigScoreDrawing *self, LigPass pass, double x, const char *title, LigColour colour)
{
  guint count;
  LigFigures figures = find_figures (self, pass);
  g_autofree char *time = figures.kernels > 0 ? lig_figures_time_text (&figures) : NULL;
  g_autofree char *saving = lig_figures_saving_text (&figures);
  g_autofree char *roofline = lig_figures_roofline_text (&figures);
  LigTextStyle bold = {.size = 13, .bold = TRUE, .colour = self->colours->ink};
  LigTextStyle lesser = {.size = 11.5, .colour = self->colours->dim}, accent = lesser, large = bold;
  accent.bold = figures.saved_measured;
  accent.colour = figures.saved_seconds < 0 ? self->colours->warning : colour;
  large.size = 15;
  large.bold = figures.measured;
  large.colour = figures.measured ? self->colours->ink : self->colours->dim;
  draw_pair (self, x, 30, bold, title, large, time);
  lig_plan_get_groups (self->layout->plan, pass, &count);
  if (count == 0)
    lig_canvas_text (self->canvas, x, 50, &lesser, _ ("no gradients required"));
  else
    draw_pair (self, x, 50, accent, saving, lesser, roofline);
}

static void
draw_heads (const LigScoreDrawing *self)
{
  LigPlan *plan = self->layout->plan;
  LigDevice *device = lig_plan_get_device (plan);
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (plan, &shape, &dtype);
  g_autofree char *input = lig_draw_tensor (&shape, dtype);
  const char *name = lig_device_get_facts (device)->name;
  const char *dtype_name = lig_dtype_name (lig_plan_get_compute (plan));
  const char *recipe = lig_plan_get_recipe (plan);
  g_autofree char *types = g_str_equal (recipe, "none")
                             ? g_strdup (dtype_name)
                             : g_strconcat (dtype_name, " · ", recipe, NULL);
  g_autofree char *where =
    g_strdup_printf (_ ("%s · %s · policy %s"), *name ? name : lig_device_get_name (device), types,
                     lig_policy_name (lig_plan_get_policy (plan)));
  draw_pass (self, LIG_PASS_FORWARD, LIG_LAYOUT_MARGIN, _ ("Forward"), self->colours->forward);
  draw_middle (self, input, where);
  draw_pass (self, LIG_PASS_BACKWARD, self->width - LIG_LAYOUT_MARGIN - self->rail, _ ("Backward"),
             self->colours->backward);
}

/* Draws the time of the update, which belongs to no op. */
static void
draw_foot (const LigScoreDrawing *self)
{
  LigFigures figures = find_figures (self, LIG_PASS_UPDATE);
  if (figures.kernels == 0)
    return;
  LigTextStyle style = {.size = 11.5,
                        .colour = self->colours->dim,
                        .anchor = LIG_TEXT_MIDDLE,
                        .width = self->ops_width};
  g_autofree char *time = lig_figures_time_text (&figures);
  g_autofree char *text =
    time ? g_strdup_printf (_ ("then the update: %s"), time) : g_strdup (_ ("then the update"));
  lig_canvas_text (self->canvas, self->ops + self->ops_width / 2, self->layout->height + 8, &style,
                   text);
}

/* --- The whole score ----------------------------------------------------------------------- */

double
lig_draw_score_height (LigPlan *plan)
{
  g_return_val_if_fail (plan, 0);
  g_autoptr (LigScoreLayout) layout = lig_score_layout_new (plan, NULL);
  return layout->height + FOOT;
}

void
lig_draw_score_against (LigCanvas *canvas,
                        const LigColours *colours,
                        const LigTimedPlan *timed,
                        LigPlan *unfused,
                        GPtrArray *loads,
                        double width)
{
  g_return_if_fail (canvas && colours && timed && timed->plan);
  g_autoptr (LigScoreLayout) layout = lig_score_layout_new (timed->plan, timed->steps);
  layout->passes = timed->passes;
  LigScoreDrawing self = {.canvas = canvas,
                          .colours = colours,
                          .layout = layout,
                          .unfused = unfused,
                          .loads = loads,
                          .width = width};
  self.lanes = MIN (lig_score_count_lanes (layout), MAX_LANES);
  double gap = 36, lanes = self.lanes > 0 ? 10 + self.lanes * LANE : 0;
  double room = MAX (width - 2 * LIG_LAYOUT_MARGIN - 2 * gap - lanes, 240);
  self.rail = room * 0.31;
  self.ops_width = room - 2 * self.rail;
  self.ops = LIG_LAYOUT_MARGIN + self.rail + gap + lanes;
  draw_heads (&self);
  lig_score_draw_ops (&self);
  lig_score_draw_rail (&self, LIG_PASS_FORWARD);
  lig_score_draw_rail (&self, LIG_PASS_BACKWARD);
  lig_score_draw_channels (&self);
  draw_foot (&self);
}

void
lig_draw_score (LigCanvas *canvas,
                const LigColours *colours,
                const LigTimedPlan *timed,
                double width)
{
  lig_draw_score_against (canvas, colours, timed, NULL, NULL, width);
}
