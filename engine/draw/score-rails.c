/* SPDX-License-Identifier: MIT */
/* The rails of a score: a box along the rows that each group covers, and lines that join it to
 * them. Fused groups differ in fill, border, line width and name, not only in colour. */
#include "engine/draw/score.h"

#include <glib/gi18n-lib.h>

enum { PAD = 12, TALL = 44 };

typedef struct {
  const LigScoreDrawing *score;
  const LigPlanGroup *group;
  double x, y, height, total;
  int first; /* the first visible part */
  LigColour accent, fill;
  gboolean fused;
} Box;

/* Draws the time on the right; returns its width. */
static double
draw_seconds (const Box *box, double baseline)
{
  const LigScoreDrawing *self = box->score;
  const LigPlanGroup *group = box->group;
  LigTextStyle style = {
    .size = 12.5, .bold = TRUE, .colour = self->colours->ink, .anchor = LIG_TEXT_END};
  double measured = lig_score_measured (self->layout, group);
  g_autofree char *time = NULL;
  if (group->n_steps == 0) {
    time = g_strdup ("0");
    style.bold = FALSE;
    style.colour = self->colours->dim;
  } else if (measured > 0)
    time = lig_draw_time (measured);
  else if (group->predicted > 0) {
    g_autofree char *predicted = lig_draw_time (group->predicted);
    time = g_strdup_printf ("≈ %s", predicted);
  } else
    return 0;
  lig_canvas_text (self->canvas, box->x + self->rail - PAD, baseline, &style, time);
  return lig_canvas_text_width (self->canvas, &style, time) + 8;
}

static void
draw_name (const Box *box, double baseline)
{
  const LigScoreDrawing *self = box->score;
  g_autofree char *name = lig_layout_group_name (self->layout, box->group);
  double used = draw_seconds (box, baseline);
  LigTextStyle style = {.size = 12.5,
                        .bold = box->fused,
                        .colour = box->fused ? box->accent : self->colours->ink,
                        .width = MAX (self->rail - 2 * PAD - used, 20)};
  lig_canvas_text (self->canvas, box->x + PAD, baseline, &style, name);
}

/* Draws the kernels, and the predicted time if a measured one is shown above. */
static void
draw_kernels (const Box *box, double baseline)
{
  const LigScoreDrawing *self = box->score;
  const LigPlanGroup *group = box->group;
  LigTextStyle style = {.size = 11, .colour = self->colours->dim};
  g_autofree char *kernels = lig_layout_kernels (self->layout->plan, group);
  style.width = self->rail - 2 * PAD;
  if (lig_score_measured (self->layout, group) > 0 && group->predicted > 0) {
    g_autofree char *time = lig_draw_time (group->predicted);
    g_autofree char *predicted = g_strdup_printf ("≈ %s", time);
    LigTextStyle end = {.size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_END};
    style.width -= lig_canvas_text_width (self->canvas, &end, predicted) + 8;
    lig_canvas_text (self->canvas, box->x + self->rail - PAD, baseline, &end, predicted);
  }
  style.width = MAX (style.width, 20);
  lig_canvas_text (self->canvas, box->x + PAD, baseline, &style, kernels);
}

/* Draws the group's share of the time of its pass as a bar. */
static void
draw_share (const Box *box, double y, double thickness)
{
  const LigScoreDrawing *self = box->score;
  double width = self->rail - 2 * PAD;
  double seconds = lig_score_seconds (self->layout, box->group);
  double share = box->total > 0 ? CLAMP (seconds / box->total, 0, 1) : 0;
  lig_canvas_box (self->canvas, box->x + PAD, y, width, thickness, thickness / 2,
                  lig_colour_fade (self->colours->line, 0xa0), 0, 0);
  if (share > 0)
    lig_canvas_box (self->canvas, box->x + PAD, y, MAX (width * share, thickness), thickness,
                    thickness / 2, box->fused ? box->accent : self->colours->dim, 0, 0);
}

/* Draws a line from the box to each row that it covers. */
static void
draw_joints (const Box *box, LigPass pass)
{
  const LigScoreDrawing *self = box->score;
  const LigPlanGroup *group = box->group;
  for (int i = group->first; i < group->first + group->count; i++) {
    const LigLayoutPlace *place = &self->layout->places[i];
    if (place->height <= 0 || i < box->first)
      continue;
    const LigLayoutRow *row = &g_array_index (self->layout->rows, LigLayoutRow, place->row);
    double y = place->y + place->height / 2, indent = row->depth * 10;
    double from = pass == LIG_PASS_FORWARD ? box->x + self->rail : self->ops + self->ops_width;
    double to = pass == LIG_PASS_FORWARD ? self->ops : box->x;
    from -= pass == LIG_PASS_BACKWARD ? indent : 0;
    to += pass == LIG_PASS_FORWARD ? indent : 0;
    double points[] = {from, y, to, y};
    lig_canvas_lines (self->canvas, points, 2, box->fused ? box->accent : self->colours->line,
                      box->fused ? 2 : 1, 0);
  }
}

static void
draw_box (const Box *box, LigPass pass)
{
  const LigScoreDrawing *self = box->score;
  g_autofree char *text = lig_score_group_text (self->layout, box->group);
  lig_canvas_begin_mark (self->canvas, box->x, box->y, self->rail, box->height, text);
  draw_joints (box, pass);
  lig_canvas_box (self->canvas, box->x, box->y, self->rail, box->height, 9,
                  box->fused ? box->fill : self->colours->card,
                  box->fused ? box->accent : self->colours->line, box->fused ? 1.5 : 1);
  if (box->height >= TALL) {
    draw_name (box, box->y + 20);
    draw_kernels (box, box->y + 36);
    draw_share (box, box->y + box->height - 10, 4);
  } else {
    draw_name (box, box->y + box->height / 2 + 3);
    draw_share (box, box->y + box->height - 4.5, 2);
  }
  lig_canvas_end_mark (self->canvas);
}

/* Leaves a gap between boxes next to the same card. */
static void
inset (const LigScoreLayout *layout, Box *box)
{
  const LigLayoutPlace *first = &layout->places[box->first];
  const LigLayoutRow *row = &g_array_index (layout->rows, LigLayoutRow, first->row);
  double end = box->y + box->height;
  if (row->first != box->first) {
    box->y += 1.5;
    box->height -= 1.5;
  }
  for (guint i = (guint) first->row; i < layout->rows->len; i++) {
    row = &g_array_index (layout->rows, LigLayoutRow, i);
    if (end > row->y && end < row->y + row->height - 1)
      box->height -= 1.5;
    if (row->y > end)
      break;
  }
}

void
lig_score_draw_rail (const LigScoreDrawing *self, LigPass pass)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (self->layout->plan, pass, &count);
  Box box = {.score = self};
  box.x =
    pass == LIG_PASS_FORWARD ? LIG_LAYOUT_MARGIN : self->width - LIG_LAYOUT_MARGIN - self->rail;
  box.accent = pass == LIG_PASS_FORWARD ? self->colours->forward : self->colours->backward;
  box.fill = pass == LIG_PASS_FORWARD ? self->colours->forward_fill : self->colours->backward_fill;
  for (guint i = 0; i < count; i++)
    box.total += lig_score_seconds (self->layout, &groups[i]);
  for (guint i = 0; i < count; i++) {
    box.group = &groups[i];
    box.fused = groups[i].fusion != NULL;
    box.first = lig_score_extent (self->layout, &groups[i], &box.y, &box.height);
    if (box.first < 0)
      continue;
    inset (self->layout, &box);
    draw_box (&box, pass);
  }
}
