/* SPDX-License-Identifier: MIT */
/* The score: forward rail, ops and backward rail, each pass with its total time at the top. */
#include "engine/draw/score.h"

#include <glib/gi18n-lib.h>

enum { MOST_LANES = 5, LANE = 18, FOOT = 22 };

/* --- Heads --------------------------------------------------------------------------------- */

static double
sum_bytes (LigPlan *plan, LigPass pass)
{
  guint count;
  double bytes = 0;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < count; i++)
    bytes += groups[i].bytes;
  return bytes;
}

/* Returns the time of a pass, and whether it was measured; 0 unless the time of every step is
 * known.
 */
static double
sum_seconds (const LigScoreLayout *layout, LigPass pass, gboolean *measured)
{
  guint count;
  gboolean priced = TRUE;
  double known = 0, predicted = 0;
  const LigPlanStep *steps = lig_plan_get_steps (layout->plan, &count);
  for (guint i = 0; i < count; i++)
    if (steps[i].pass == pass) {
      known += layout->times ? layout->times[i] : 0;
      predicted += steps[i].predicted;
      priced &= steps[i].predicted > 0;
    }
  *measured = known > 0;
  return known > 0 ? known : priced ? predicted : 0;
}

/* Returns `7.92 ms · 1.1 GB not moved`. */
static char *
describe_pass (const LigScoreDrawing *self, LigPass pass)
{
  gboolean measured;
  GString *text = g_string_new (NULL);
  double seconds = sum_seconds (self->layout, pass, &measured);
  double saved =
    self->unfused ? sum_bytes (self->unfused, pass) - sum_bytes (self->layout->plan, pass) : 0;
  if (seconds > 0) {
    g_autofree char *time = lig_draw_time (seconds);
    g_string_append_printf (text, measured ? _ ("%s measured") : _ ("≈ %s predicted"), time);
  }
  if (saved >= 1) {
    g_autofree char *bytes = lig_draw_bytes (saved);
    g_string_append (text, text->len > 0 ? " · " : "");
    g_string_append_printf (text, _ ("%s not moved"), bytes);
  }
  return g_string_free (text, FALSE);
}

static void
draw_head (const LigScoreDrawing *self,
           double x,
           double width,
           const char *title,
           LigColour colour,
           const char *text)
{
  LigTextStyle bold = {.size = 13,
                       .bold = TRUE,
                       .colour = self->colours->ink,
                       .anchor = LIG_TEXT_MIDDLE,
                       .width = width};
  LigTextStyle lesser = {.size = 11.5, .colour = colour, .anchor = LIG_TEXT_MIDDLE, .width = width};
  lig_canvas_text (self->canvas, x + width / 2, 30, &bold, title);
  lig_canvas_text (self->canvas, x + width / 2, 50, &lesser, text);
}

static void
draw_heads (const LigScoreDrawing *self)
{
  LigPlan *plan = self->layout->plan;
  LigDevice *device = lig_plan_get_device (plan);
  LigShape shape;
  LigDtype dtype;
  guint count;
  lig_plan_get_input (plan, &shape, &dtype);
  g_autofree char *input = lig_draw_tensor (&shape, dtype);
  const char *name = lig_device_get_facts (device)->name;
  g_autofree char *where = g_strdup_printf (
    _ ("%s · %s · policy %s"), *name ? name : lig_device_get_name (device),
    lig_dtype_name (lig_plan_get_compute (plan)), lig_policy_name (lig_plan_get_policy (plan)));
  g_autofree char *forward = describe_pass (self, LIG_PASS_FORWARD);
  g_autofree char *backward = describe_pass (self, LIG_PASS_BACKWARD);
  lig_plan_get_groups (plan, LIG_PASS_BACKWARD, &count);
  draw_head (self, LIG_LAYOUT_MARGIN, self->rail, _ ("Forward"), self->colours->forward, forward);
  draw_head (self, self->ops, self->ops_width, input, self->colours->dim, where);
  draw_head (self, self->width - LIG_LAYOUT_MARGIN - self->rail, self->rail, _ ("Backward"),
             count > 0 ? self->colours->backward : self->colours->dim,
             count > 0 ? backward : _ ("no gradients required"));
}

/* Draws the time of the update, which belongs to no op. */
static void
draw_foot (const LigScoreDrawing *self)
{
  gboolean measured;
  guint count, updates = 0;
  const LigPlanStep *steps = lig_plan_get_steps (self->layout->plan, &count);
  for (guint i = 0; i < count; i++)
    updates += steps[i].pass == LIG_PASS_UPDATE;
  if (updates == 0)
    return;
  LigTextStyle style = {.size = 11.5,
                        .colour = self->colours->dim,
                        .anchor = LIG_TEXT_MIDDLE,
                        .width = self->ops_width};
  double seconds = sum_seconds (self->layout, LIG_PASS_UPDATE, &measured);
  g_autofree char *time = lig_draw_time (seconds);
  g_autofree char *text = seconds > 0
                            ? g_strdup_printf (measured ? _ ("then the update: %s measured")
                                                        : _ ("then the update: ≈ %s predicted"),
                                               time)
                            : g_strdup (_ ("then the update"));
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
                        double width)
{
  g_return_if_fail (canvas && colours && timed && timed->plan);
  g_autoptr (LigScoreLayout) layout = lig_score_layout_new (timed->plan, timed->steps);
  LigScoreDrawing self = {
    .canvas = canvas, .colours = colours, .layout = layout, .unfused = unfused, .width = width};
  self.lanes = MIN (lig_score_count_lanes (layout), MOST_LANES);
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
  lig_draw_score_against (canvas, colours, timed, NULL, width);
}
