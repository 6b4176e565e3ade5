/* SPDX-License-Identifier: MIT */
/* The rails of a score: a box along the rows that each group covers, and lines that join it to
 * them. Fused groups differ in fill, border, line width and name, not only in colour. */
#include "engine/draw/score.h"

#include <glib/gi18n-lib.h>

enum { PAD = 12, TALL = 44, LINE = 16, BAR = 14 };

typedef struct {
  const LigScoreDrawing *score;
  const LigPlanGroup *group; /* NULL for the sum of a folded row */
  LigFigures figures;
  double x, y, height, total;
  int first; /* the first visible part */
  int bits;  /* the bits of the quantized copies of a sum */
  LigColour accent, fill;
  gboolean fused;
} Box;

static double
text_width (const Box *box, const LigTextStyle *style, const char *text)
{
  return text ? lig_canvas_text_width (box->score->canvas, style, text) : 0;
}

/* Draws a text on the right; returns the remaining width. Unknown figures draw nothing. */
static double
draw_end (const Box *box, double baseline, LigTextStyle style, const char *text)
{
  const LigScoreDrawing *self = box->score;
  double room = self->rail - 2 * PAD;
  if (!text || !*text)
    return room;
  style.anchor = LIG_TEXT_END;
  lig_canvas_text (self->canvas, box->x + self->rail - PAD, baseline, &style, text);
  return MAX (room - text_width (box, &style, text) - 8, 20);
}

/* Draws name and time. A predicted time is lighter. */
static void
draw_name (const Box *box, double baseline)
{
  const LigScoreDrawing *self = box->score;
  g_autofree char *time = lig_figures_time_text (&box->figures);
  gboolean measured = box->figures.measured && box->figures.kernels > 0;
  LigTextStyle end = {
    .size = 12.5, .bold = measured, .colour = measured ? self->colours->ink : self->colours->dim};
  LigTextStyle style = {
    .size = 12.5, .bold = box->fused, .colour = box->fused ? box->accent : self->colours->ink};
  double signs =
    box->group ? lig_score_draw_signs (self, box->group, box->x + PAD, baseline - 4, style.colour)
               : lig_score_draw_bits (self, box->bits, box->x + PAD, baseline - 4, style.colour);
  style.width = MAX (draw_end (box, baseline, end, time) - signs, 20);
  lig_canvas_text (self->canvas, box->x + PAD + signs, baseline, &style,
                   box->group ? box->group->title : _ ("All parts"));
}

static void
draw_kernels (const Box *box, double baseline, const char *rate)
{
  const LigScoreDrawing *self = box->score;
  LigTextStyle style = {.size = 11, .colour = self->colours->dim};
  g_autofree char *kernels = box->group ? lig_layout_kernels (self->layout->plan, box->group)
                                        : lig_score_sum_text (&box->figures);
  style.width = draw_end (box, baseline, style, rate);
  lig_canvas_text (self->canvas, box->x + PAD, baseline, &style, kernels);
}

/* Draws the saving, and also the rate if both fit. Returns whether the rate is drawn. */
static gboolean
draw_saving (const Box *box, double baseline, const char *saving, const char *rate)
{
  const LigScoreDrawing *self = box->score;
  LigTextStyle dim = {.size = 11, .colour = self->colours->dim};
  LigTextStyle style = {.size = 11,
                        .bold = box->figures.saved_measured,
                        .colour =
                          box->figures.saved_seconds < 0 ? self->colours->warning : box->accent};
  double room = self->rail - 2 * PAD;
  gboolean both = text_width (box, &style, saving) + 8 + text_width (box, &dim, rate) <= room;
  style.width = draw_end (box, baseline, dim, both ? rate : NULL);
  lig_canvas_text (self->canvas, box->x + PAD, baseline, &style, saving);
  return both;
}

/* Draws as many lines below the name as fit into the box: kernels, saving, rate and bound. */
static void
draw_details (const Box *box, double baseline)
{
  g_autofree char *saving = lig_figures_saving_text (&box->figures);
  g_autofree char *rate = lig_figures_rate_text (&box->figures);
  int lines = (int) ((box->y + box->height - BAR - baseline) / LINE) + 1;
  if (!saving) {
    draw_kernels (box, baseline, rate);
    return;
  }
  if (lines > 1) {
    draw_kernels (box, baseline, NULL);
    baseline += LINE;
  }
  if (!draw_saving (box, baseline, saving, rate) && lines > 2) {
    LigTextStyle dim = {.size = 11, .colour = box->score->colours->dim};
    lig_canvas_text (box->score->canvas, box->x + PAD, baseline + LINE, &dim, rate);
  }
}

/* Draws the group's fraction of the time of its pass as a bar. */
static void
draw_share (const Box *box, double y, double thickness)
{
  const LigScoreDrawing *self = box->score;
  double width = self->rail - 2 * PAD, seconds = box->figures.seconds;
  double share = box->total > 0 && seconds > 0 ? CLAMP (seconds / box->total, 0, 1) : 0;
  lig_canvas_box (self->canvas, box->x + PAD, y, width, thickness, thickness / 2,
                  lig_colour_fade (self->colours->line, 0xa0), 0, 0);
  if (share > 0)
    lig_canvas_box (self->canvas, box->x + PAD, y, MAX (width * share, thickness), thickness,
                    thickness / 2, box->fused ? box->accent : self->colours->dim, 0, 0);
}

static void
draw_joint (const Box *box, LigPass pass, const LigLayoutRow *row, double y)
{
  const LigScoreDrawing *self = box->score;
  double indent = row->depth * 10;
  double from = pass == LIG_PASS_FORWARD ? box->x + self->rail : self->ops + self->ops_width;
  double to = pass == LIG_PASS_FORWARD ? self->ops : box->x;
  from -= pass == LIG_PASS_BACKWARD ? indent : 0;
  to += pass == LIG_PASS_FORWARD ? indent : 0;
  double points[] = {from, y, to, y};
  lig_canvas_lines (self->canvas, points, 2, box->fused ? box->accent : self->colours->line,
                    box->fused ? 2 : 1, 0);
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
    draw_joint (box, pass, row, place->y + place->height / 2);
  }
}

static void
draw_box (const Box *box, LigPass pass)
{
  const LigScoreDrawing *self = box->score;
  g_autofree char *text = box->group
                            ? lig_score_group_text (self->layout, box->group, &box->figures)
                            : lig_figures_describe (&box->figures);
  lig_canvas_begin_mark (self->canvas, box->x, box->y, self->rail, box->height, text ? text : "");
  if (box->group)
    draw_joints (box, pass);
  lig_canvas_box (self->canvas, box->x, box->y, self->rail, box->height, 9,
                  box->fused ? box->fill : self->colours->card,
                  box->fused ? box->accent : self->colours->line, box->fused ? 1.5 : 1);
  if (box->height >= TALL) {
    draw_name (box, box->y + 20);
    draw_details (box, box->y + 36);
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

/* Draws the sums of the groups in folded rows that have no separate box. */
static void
draw_sums (Box *box, LigPass pass, const LigPlanGroup *groups, guint count, LigPlan *unfused_plan)
{
  const LigScoreLayout *layout = box->score->layout;
  const LigTimedPlan timed = {.plan = layout->plan, .steps = layout->times};
  const LigTimedPlan unfused = {.plan = unfused_plan};
  for (guint k = 0; k < layout->rows->len && count > 0; k++) {
    const LigLayoutRow *row = &g_array_index (layout->rows, LigLayoutRow, k);
    if (!row->folded)
      continue;
    box->group = NULL;
    box->fused = FALSE;
    box->bits = 0;
    lig_figures_init (&box->figures);
    for (guint i = 0; i < count; i++) {
      LigFigures figures;
      double y, height;
      if (groups[i].first < row->first || groups[i].first >= row->first + row->count ||
          lig_score_extent (layout, &groups[i], &y, &height) >= 0)
        continue;
      lig_figures_of_group (&timed, &unfused, &groups[i], &figures);
      lig_figures_add (&box->figures, &figures);
      box->bits = MAX (box->bits, lig_plan_get_bits (layout->plan, &groups[i]));
    }
    box->y = row->y;
    box->height = row->height;
    draw_box (box, pass);
    draw_joint (box, pass, row, row->y + row->height / 2);
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
  const LigTimedPlan timed = {.plan = self->layout->plan, .steps = self->layout->times};
  const LigTimedPlan unfused = {.plan = self->unfused};
  LigFigures whole;
  lig_figures_of_pass (&timed, &unfused, pass, &whole);
  box.total = whole.seconds;
  for (guint i = 0; i < count; i++) {
    box.group = &groups[i];
    box.fused = groups[i].fusion != NULL;
    lig_figures_of_group (&timed, &unfused, &groups[i], &box.figures);
    box.first = lig_score_extent (self->layout, &groups[i], &box.y, &box.height);
    if (box.first < 0)
      continue;
    inset (self->layout, &box);
    draw_box (&box, pass);
  }
  draw_sums (&box, pass, groups, count, self->unfused);
}
