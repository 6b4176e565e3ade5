/* SPDX-License-Identifier: MIT */
/* Two plans next to each other: each rail has two columns, the first plan's on the left. Groups
 * that only one plan has differ in frame and line width, not only in colour. */
#include "engine/draw/compare-rows.h"
#include "engine/draw/score.h"
#include <ligature/draw.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>

enum { MARGIN = 16, GAP = 20, BETWEEN = 6, TOP = 108, FOOT = 34, PAD = 8, TALL = 40 };

typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  LigPlanComparison *comparison;
  LigCompareRows *rows;
  const char *titles[2];
  double width, column, ops, ops_width;
} Picture;

/* --- Heads --------------------------------------------------------------------------------- */

static double
get_column (const Picture *self, LigPass pass, int which)
{
  double left = pass == LIG_PASS_FORWARD ? MARGIN : self->ops + self->ops_width + GAP;
  return left + which * (self->column + BETWEEN);
}

static LigColour
get_accent (const Picture *self, LigPass pass)
{
  return pass == LIG_PASS_FORWARD ? self->colours->forward : self->colours->backward;
}

/* Orange marks a slowdown. */
static LigColour
get_judgement (const Picture *self, const LigPlanChange *change)
{
  int sign = lig_plan_change_get_sign (change);
  if (sign == 0)
    return self->colours->dim;
  return sign > 0 ? self->colours->warning : get_accent (self, change->pass);
}

static void
draw_text (const Picture *self,
           double x,
           double y,
           double size,
           gboolean bold,
           LigColour colour,
           LigTextAnchor anchor,
           double width,
           const char *text)
{
  LigTextStyle style = {
    .size = size, .bold = bold, .colour = colour, .anchor = anchor, .width = MAX (width, 12)};
  if (text)
    lig_canvas_text (self->canvas, x, y, &style, text);
}

static void
draw_pass_head (const Picture *self, LigPass pass)
{
  LigPlanChange total;
  double left = get_column (self, pass, 0), whole = 2 * self->column + BETWEEN;
  lig_plan_comparison_get_total (self->comparison, pass, &total);
  g_autofree char *change = lig_plan_change_time_text (&total);
  g_autofree char *bytes = lig_plan_change_bytes_text (&total);
  gboolean moves = total.before.bytes != total.after.bytes;
  g_autofree char *both =
    change && moves ? g_strdup_printf ("%s · %s", change, bytes) : g_strdup (change);
  draw_text (self, left, 62, 13, TRUE, get_accent (self, pass), LIG_TEXT_START, whole / 2,
             pass == LIG_PASS_FORWARD ? _ ("Forward") : _ ("Backward"));
  draw_text (self, left + whole, 62, 11.5, TRUE, get_judgement (self, &total), LIG_TEXT_END,
             whole * 0.7, both ? both : bytes);
  for (int i = 0; i < 2; i++) {
    double x = get_column (self, pass, i);
    g_autofree char *time = lig_plan_change_side_text (&total, i == 1);
    draw_text (self, x, 80, 11.5, FALSE, self->colours->dim, LIG_TEXT_START, self->column,
               self->titles[i]);
    draw_text (self, x, 97, 12.5, TRUE, self->colours->ink, LIG_TEXT_START, self->column,
               time ? time : "—");
  }
}

/* Writes `≈ 106 µs | ≈ 114 µs`, the difference and the ratio. */
static void
draw_step (const Picture *self)
{
  LigPlanChange total;
  lig_plan_comparison_get_total (self->comparison, LIG_PASS_JOINT, &total);
  g_autofree char *before = lig_plan_change_side_text (&total, FALSE);
  g_autofree char *after = lig_plan_change_side_text (&total, TRUE);
  g_autofree char *change = lig_plan_change_time_text (&total);
  g_autofree char *titles = g_strdup_printf ("%s | %s", self->titles[0], self->titles[1]);
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_append_printf (text, _ ("Step: %s | %s"), before ? before : "—", after ? after : "—");
  g_autofree char *ratio = lig_plan_change_ratio_text (&total);
  char *needed[] = {lig_units_bytes (total.before.memory), lig_units_bytes (total.after.memory)};
  g_autofree char *less = lig_plan_change_memory_text (&total);
  if (change)
    g_string_append_printf (text, " (%s%s%s)", change, ratio ? ", " : "", ratio ? ratio : "");
  g_string_append_printf (text, _ (" · memory: %s | %s (%s)"), needed[0], needed[1], less);
  g_free (needed[0]);
  g_free (needed[1]);
  draw_text (self, self->width / 2, 20, 15, TRUE, self->colours->ink, LIG_TEXT_MIDDLE,
             self->width - 2 * MARGIN, titles);
  draw_text (self, self->width / 2, 40, 12.5, TRUE,
             lig_plan_change_get_sign (&total) > 0 ? self->colours->warning : self->colours->ink,
             LIG_TEXT_MIDDLE, self->width - 2 * MARGIN, text->str);
}

/* --- Rows ---------------------------------------------------------------------------------- */

static void
draw_head_row (const Picture *self, const LigCompareRow *row)
{
  double x = self->ops + row->depth * 10;
  double points[] = {x, row->y + row->height - 2, self->ops + self->ops_width,
                     row->y + row->height - 2};
  draw_text (self, x, row->y + 16, 11.5, TRUE, self->colours->dim, LIG_TEXT_START,
             self->ops_width - row->depth * 10, row->title);
  lig_canvas_lines (self->canvas, points, 2, self->colours->line, 1, 0);
}

/* An op that only one plan has is marked like its groups. */
static void
draw_row (const Picture *self, const LigCompareRow *row)
{
  double x = self->ops + row->depth * 10, width = self->ops_width - row->depth * 10;
  double baseline = row->y + row->height / 2 + 4;
  gboolean both = row->op[0] >= 0 && row->op[1] >= 0;
  LigTextStyle dim = {.size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_END};
  double used = lig_canvas_text_width (self->canvas, &dim, row->tensor) + 2 * PAD + 6;
  LigTextStyle bold = {.size = 12.5, .bold = TRUE, .colour = self->colours->ink};
  lig_canvas_box (self->canvas, x, row->y, width, row->height, row->title ? 6 : 0,
                  self->colours->card, both ? self->colours->line : self->colours->warning,
                  both ? 1 : 1.5);
  lig_canvas_text (self->canvas, x + width - PAD, baseline, &dim, row->tensor);
  double at = x + PAD, room = width - used;
  if (row->title) {
    bold.width = MAX (room, 12);
    lig_canvas_text (self->canvas, at, baseline, &bold, row->title);
    double taken = lig_canvas_text_width (self->canvas, &bold, row->title) + 8;
    at += taken;
    room -= taken;
  } else
    at += 12;
  if (row->part && room > 30)
    draw_text (self, at, baseline, 11, FALSE, self->colours->dim, LIG_TEXT_START, room, row->part);
}

/* --- Groups -------------------------------------------------------------------------------- */

static char *
name_group (LigPlan *plan, const LigPlanGroup *group)
{
  return g_strdup (group->title);
}

static char *
describe_group (
  const Picture *self, const LigPlanChange *change, int which, const char *name, const char *time)
{
  g_autofree char *difference = lig_plan_change_time_text (change);
  g_autofree char *bytes = lig_plan_change_bytes_text (change);
  return g_strdup_printf ("%s: %s\n%s\n%s\n%s · %s", self->titles[which], name,
                          *time ? time : _ ("time not known"),
                          change->same ? _ ("the same group in both plans")
                          : which == 0 ? _ ("only in the first plan")
                                       : _ ("only in the second plan"),
                          difference ? difference : "—", bytes);
}

static char *
format_time (const LigPlanGroup *group, gboolean measured)
{
  double seconds = measured ? group->measured : group->predicted;
  if (group->n_steps == 0)
    return g_strdup ("0");
  if (seconds <= 0)
    return g_strdup ("");
  g_autofree char *time = lig_units_time (seconds);
  return measured ? g_steal_pointer (&time) : g_strconcat ("≈ ", time, NULL);
}

static void
draw_dashes (const Picture *self, double x, double y, double height, LigColour colour)
{
  double right = x + self->column, bottom = y + height;
  double points[] = {x, y, right, y, right, bottom, x, bottom, x, y};
  lig_canvas_lines (self->canvas, points, 5, colour, 1.5, 5);
}

/* Lost groups are dashed, new ones have a bold frame, and the others are as in the score. */
static void
draw_frame (const Picture *self,
            const LigPlanChange *change,
            int which,
            gboolean fused,
            double x,
            double y,
            double height)
{
  gboolean forward = change->pass == LIG_PASS_FORWARD;
  LigColour accent = get_accent (self, change->pass);
  LigColour fill = forward ? self->colours->forward_fill : self->colours->backward_fill;
  LigColour line = fused ? accent : self->colours->line;
  if (change->same)
    lig_canvas_box (self->canvas, x, y, self->column, height, 7, fused ? fill : self->colours->card,
                    line, 1);
  else if (which == 0) {
    lig_canvas_box (self->canvas, x, y, self->column, height, 0, self->colours->card, 0, 0);
    draw_dashes (self, x, y, height, fused ? accent : self->colours->dim);
  } else
    lig_canvas_box (self->canvas, x, y, self->column, height, 7, fused ? fill : self->colours->card,
                    lig_plan_change_get_sign (change) > 0 ? self->colours->warning : accent, 2.5);
}

/* Draws the difference of the whole change at the first group of the second plan. */
static void
draw_difference (const Picture *self, const LigPlanChange *change, double x, double y)
{
  if (lig_plan_change_get_sign (change) == 0)
    return;
  g_autofree char *text = lig_plan_change_time_text (change);
  draw_text (self, x + self->column - PAD, y + 33, 11, TRUE, get_judgement (self, change),
             LIG_TEXT_END, self->column / 2, text);
}

static void
draw_group (const Picture *self, const LigPlanChange *change, int which, guint number)
{
  guint count;
  double y, height;
  const LigPlanSide *side = which ? &change->after : &change->before;
  LigPlan *plan = which ? lig_plan_comparison_get_after (self->comparison)
                        : lig_plan_comparison_get_before (self->comparison);
  const LigPlanGroup *group = lig_plan_get_groups (plan, change->pass, &count) + number;
  if (!lig_compare_rows_extent (self->rows, which, group, &y, &height))
    return;
  double x = get_column (self, change->pass, which);
  g_autofree char *name = name_group (plan, group);
  g_autofree char *time = format_time (group, change->measured);
  g_autofree char *text = describe_group (self, change, which, name, time);
  LigTextStyle end = {.size = 11.5, .bold = TRUE, .colour = self->colours->ink};
  gboolean tall = height >= TALL;
  double used = tall ? 0 : lig_canvas_text_width (self->canvas, &end, time) + 6;
  double baseline = y + (tall ? 17 : height / 2 + 4), room = self->column - 2 * PAD;
  lig_canvas_begin_mark (self->canvas, x, y, self->column, height, text);
  draw_frame (self, change, which, group->fusion != NULL, x, y, height);
  draw_text (self, tall ? x + PAD : x + self->column - PAD, tall ? y + 33 : baseline, 11.5, TRUE,
             self->colours->ink, tall ? LIG_TEXT_START : LIG_TEXT_END, room, time);
  draw_text (self, x + PAD, baseline, 11.5, group->fusion != NULL,
             group->fusion ? get_accent (self, change->pass) : self->colours->ink, LIG_TEXT_START,
             room - used, name);
  if (which == 1 && number == side->first_group && tall)
    draw_difference (self, change, x, y);
  lig_canvas_end_mark (self->canvas);
}

static void
draw_changes (const Picture *self)
{
  guint count;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (self->comparison, &count);
  for (guint i = 0; i < count; i++) {
    for (guint k = 0; k < changes[i].before.n_groups; k++)
      draw_group (self, &changes[i], 0, changes[i].before.first_group + k);
    for (guint k = 0; k < changes[i].after.n_groups; k++)
      draw_group (self, &changes[i], 1, changes[i].after.first_group + k);
  }
}

/* --- The whole ----------------------------------------------------------------------------- */

double
lig_draw_comparison_height (LigPlanComparison *comparison)
{
  g_return_val_if_fail (comparison, 0);
  g_autoptr (LigCompareRows) rows = lig_compare_rows_new (comparison, TOP);
  return rows->height + FOOT;
}

void
lig_draw_comparison (LigCanvas *canvas,
                     const LigColours *colours,
                     LigPlanComparison *comparison,
                     const char *before,
                     const char *after,
                     double width)
{
  g_return_if_fail (canvas && colours && comparison && before && after);
  g_autoptr (LigCompareRows) rows = lig_compare_rows_new (comparison, TOP);
  double inner = MAX (width - 2 * MARGIN - 2 * GAP - 2 * BETWEEN, 300);
  Picture self = {.canvas = canvas,
                  .colours = colours,
                  .comparison = comparison,
                  .rows = rows,
                  .titles = {before, after},
                  .width = width,
                  .column = inner * 0.175,
                  .ops_width = inner * 0.3};
  self.ops = MARGIN + 2 * self.column + BETWEEN + GAP;
  draw_step (&self);
  draw_pass_head (&self, LIG_PASS_FORWARD);
  draw_pass_head (&self, LIG_PASS_BACKWARD);
  for (guint i = 0; i < rows->rows->len; i++) {
    const LigCompareRow *row = &g_array_index (rows->rows, LigCompareRow, i);
    if (row->op[0] < 0 && row->op[1] < 0)
      draw_head_row (&self, row);
    else
      draw_row (&self, row);
  }
  draw_changes (&self);
  draw_text (&self, width / 2, rows->height + 22, 11, FALSE, colours->dim, LIG_TEXT_MIDDLE,
             width - 2 * MARGIN,
             _ ("dashed: only in the first plan · bold frame: only in the second plan"));
}
