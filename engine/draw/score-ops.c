/* SPDX-License-Identifier: MIT */
/* The middle of a score: a card for each written op, its parts as lines, frames around blocks, and
 * fences between ops. */
#include "engine/draw/score.h"
#include <ligature/draw-loads.h>
#include <ligature/draw.h>
#include <ligature/plan-loads.h>

#include <glib/gi18n-lib.h>

enum { PAD = 14 };

/* Returns (transfer full) the path, followed by the index among the expanded ops if it differs. */
static char *
describe_place (const LigPlanOp *op)
{
  g_autofree char *index = g_strdup_printf ("%d", op->index);
  return g_str_equal (index, op->path) ? g_steal_pointer (&index)
                                       : g_strdup_printf ("%s · #%s", op->path, index);
}

/* Draws the last load of the experts of a router among some ops, with its imbalance, before the end
 * of a line in a card of @width, where @end has @text. Shortens @start, the text at the beginning
 * of the line, if there is a router. */
static void
draw_load (const LigScoreDrawing *self,
           int first,
           int count,
           double right,
           double width,
           double y,
           const LigTextStyle *end,
           const char *text,
           LigTextStyle *start)
{
  enum { HEIGHT = 14, SPACE = 6, SHORTEST = 24, LEFT = 50 };
  const LigLoadSeries *series = lig_plan_find_load (self->layout->plan, self->loads, first, count);
  if (!series)
    return;
  LigLoadFigures figures;
  g_autofree double *load = g_new (double, series->experts);
  lig_load_series_sum (series, series->steps->len - 1, 1, load, &figures);
  g_autofree char *number = lig_draw_number (figures.imbalance, 2);
  g_autofree char *imbalance = g_strconcat (number, " ×", NULL);
  g_autofree char *description = lig_load_series_describe (series);
  double used = lig_canvas_text_width (self->canvas, end, text) + 2 * SPACE;
  double word = lig_canvas_text_width (self->canvas, end, imbalance) + SPACE;
  double strip =
    MIN (lig_draw_load_strip_width (series->experts), width - 2 * PAD - LEFT - used - word);
  double x = right - used - word - strip, top = y - HEIGHT + 2;
  if (strip < SHORTEST)
    return;
  lig_canvas_begin_mark (self->canvas, x, top, strip + word, HEIGHT, description);
  lig_draw_load_strip (self->canvas, self->colours, load, series->experts, x, top, strip, HEIGHT);
  lig_canvas_text (self->canvas, right - used, y, end, imbalance);
  lig_canvas_end_mark (self->canvas);
  start->width = MIN (start->width, width - 2 * PAD - used - word - strip - 2 * SPACE);
}

static void
draw_parts (const LigScoreDrawing *self, const LigLayoutRow *row, double x, double width)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->layout->plan, &count);
  for (int i = 0; i < row->count; i++) {
    const LigPlanOp *op = &ops[row->first + i];
    const LigLayoutPlace *place = &self->layout->places[row->first + i];
    double y = place->y + place->height - LIG_LAYOUT_PART;
    double line[] = {x + 1, y, x + width - 1, y};
    LigTextStyle style = {.size = 11, .colour = self->colours->dim, .width = width - 2 * PAD - 80};
    LigTextStyle end = {.size = 10, .colour = self->colours->dim, .anchor = LIG_TEXT_END};
    g_autofree char *index = describe_place (op);
    lig_canvas_lines (self->canvas, line, 2, lig_colour_fade (self->colours->line, 0xa0), 1, 0);
    draw_load (self, row->first + i, 1, x + width - PAD, width, y + 17, &end, index, &style);
    lig_canvas_text (self->canvas, x + PAD + 8, y + 17, &style, _ (op->info->title));
    lig_canvas_text (self->canvas, x + width - PAD, y + 17, &end, index);
  }
}

/* Draws the shape on the right, and the title in the rest of the line. */
static void
draw_head (
  const LigScoreDrawing *self, const LigLayoutRow *row, double x, double width, double baseline)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->layout->plan, &count);
  const LigPlanOp *last = &ops[row->first + row->count - 1];
  LigTextStyle end = {.size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_END};
  LigTextStyle title = {.size = 13.5, .bold = TRUE, .colour = self->colours->ink};
  g_autofree char *tensor =
    last->y.n_axes > 0 ? lig_draw_tensor (&last->y, last->y_dtype) : g_strdup (_ ("one number"));
  end.width = width / 2;
  title.width =
    width - 2 * PAD - MIN (lig_canvas_text_width (self->canvas, &end, tensor), end.width) - 10;
  lig_canvas_text (self->canvas, x + width - PAD, baseline, &end, tensor);
  lig_canvas_text (self->canvas, x + PAD, baseline, &title, lig_score_title (&ops[row->first]));
  if (row->count == 1 || row->folded)
    return;
  /* A card with several parts has no separate line for the parameters. */
  g_autofree char *params = lig_layout_params (self->layout, row);
  double used =
    lig_canvas_text_width (self->canvas, &title, lig_score_title (&ops[row->first])) + 10;
  LigTextStyle dim = {.size = 11, .colour = self->colours->dim, .width = title.width - used};
  if (dim.width > 40)
    lig_canvas_text (self->canvas, x + PAD + used, baseline, &dim, params);
}

static void
draw_row (const LigScoreDrawing *self, const LigLayoutRow *row)
{
  guint count;
  const LigPlanOp *op = &lig_plan_get_ops (self->layout->plan, &count)[row->first];
  double x = self->ops + row->depth * 10, width = self->ops_width - row->depth * 20;
  g_autofree char *text = lig_score_row_text (self->layout, row);
  g_autofree char *params = lig_layout_params (self->layout, row);
  g_autofree char *index = describe_place (op);
  LigTextStyle dim = {.size = 11, .colour = self->colours->dim, .width = width - 2 * PAD - 80};
  LigTextStyle end = {.size = 10, .colour = self->colours->dim, .anchor = LIG_TEXT_END};
  lig_canvas_begin_mark (self->canvas, x, row->y, width, row->height, text);
  lig_canvas_box (self->canvas, x, row->y, width, row->height, 9, self->colours->card,
                  self->colours->line, 1.25);
  if (row->count > 1 && !row->folded) {
    draw_head (self, row, x, width, row->y + 19);
    draw_parts (self, row, x, width);
  } else {
    draw_head (self, row, x, width, row->y + 22);
    draw_load (self, row->first, row->count, x + width - PAD, width, row->y + 41, &end, index,
               &dim);
    lig_canvas_text (self->canvas, x + PAD, row->y + 41, &dim, params);
    lig_canvas_text (self->canvas, x + width - PAD, row->y + 41, &end, index);
  }
  lig_canvas_end_mark (self->canvas);
}

/* --- Blocks and fences ---------------------------------------------------------------------- */

static void
draw_block_time (const LigScoreDrawing *self, const LigLayoutBlock *block, LigPass pass)
{
  double x = pass == LIG_PASS_FORWARD ? LIG_LAYOUT_MARGIN + 12
                                      : self->width - LIG_LAYOUT_MARGIN - self->rail + 12;
  LigTextStyle style = {.size = 11, .colour = self->colours->dim, .width = self->rail - 24};
  g_autofree char *time = lig_figures_time_text (&block->figures[pass]);
  if (!time || block->figures[pass].seconds <= 0)
    return;
  g_autofree char *bytes = lig_draw_bytes (block->figures[pass].bytes);
  g_autofree char *both = g_strdup_printf ("%s, %s", time, bytes);
  g_autofree char *text =
    g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "the %d repetition: %s",
                                  "all %d repetitions: %s", (gulong) block->count),
                     block->count, both);
  lig_canvas_text (self->canvas, x, block->y + 17, &style, text);
}

static void
draw_block (const LigScoreDrawing *self, const LigLayoutBlock *block)
{
  double x = self->ops + block->depth * 10, width = self->ops_width - block->depth * 20;
  LigTextStyle bold = {.size = 12, .bold = TRUE, .colour = self->colours->ink};
  LigTextStyle end = {.size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_END};
  g_autofree char *title = g_strdup_printf (_ ("Block × %d"), block->count);
  /* Translators: a path, the number of repetitions, the number of ops. */
  g_autofree char *text =
    g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "Block at %s, %d × %d op",
                                  "Block at %s, %d × %d ops", (gulong) block->n_parts),
                     block->path, block->count, block->n_parts);
  const char *note = block->count < 2 ? ""
                     : block->alike   ? _ ("all fused in the same way")
                                      : _ ("shows the first; others are fused differently");
  end.width = width - 2 * PAD - lig_canvas_text_width (self->canvas, &bold, title) - 10;
  lig_canvas_begin_mark (self->canvas, x, block->y, width, block->height, text);
  lig_canvas_box (self->canvas, x, block->y, width, block->height, 12,
                  lig_colour_fade (self->colours->line, 0x40), self->colours->line, 1);
  lig_canvas_text (self->canvas, x + PAD, block->y + 17, &bold, title);
  lig_canvas_text (self->canvas, x + width - PAD, block->y + 17, &end, note);
  lig_canvas_end_mark (self->canvas);
  if (block->depth > 0)
    return;
  draw_block_time (self, block, LIG_PASS_FORWARD);
  draw_block_time (self, block, LIG_PASS_BACKWARD);
}

static void
draw_fence (const LigScoreDrawing *self, const LigLayoutRow *row)
{
  guint count;
  const LigPlanOp *op = &lig_plan_get_ops (self->layout->plan, &count)[row->first];
  if (!op->fence)
    return;
  double y = row->y - LIG_LAYOUT_GAP / 2.;
  double x = LIG_LAYOUT_MARGIN / 2., end = self->width - LIG_LAYOUT_MARGIN / 2.;
  double points[] = {x, y, end, y};
  LigTextStyle style = {
    .size = 10, .bold = TRUE, .colour = self->colours->warning, .anchor = LIG_TEXT_MIDDLE};
  double width = lig_canvas_text_width (self->canvas, &style, _ ("fence")) + 10;
  double middle = self->ops + self->ops_width / 2;
  g_autofree char *text = g_strdup_printf (_ ("Fence before %s: no fusion crosses it"), op->path);
  lig_canvas_begin_mark (self->canvas, x, y - 6, end - x, 12, text);
  lig_canvas_lines (self->canvas, points, 2, self->colours->warning, 2, 6);
  lig_canvas_box (self->canvas, middle - width / 2, y - 6, width, 12, 3, self->colours->ground, 0,
                  0);
  lig_canvas_text (self->canvas, middle, y + 3.5, &style, _ ("fence"));
  lig_canvas_end_mark (self->canvas);
}

/* The line above a load-branch, which continues from a channel, ends with a bar. */
static void
draw_cut (const LigScoreDrawing *self, guint row)
{
  enum { BAR = 40 };
  const LigLayoutRow *here = &g_array_index (self->layout->rows, LigLayoutRow, row);
  guint count;
  const LigPlanOp *op = &lig_plan_get_ops (self->layout->plan, &count)[here->first];
  if (row == 0 || !(op->info->flags & LIG_OP_LOADS_BRANCH))
    return;
  double x = self->ops + self->ops_width / 2, end = here->y - 4;
  double stub[] = {x, here->y - LIG_LAYOUT_GAP, x, end};
  double bar[] = {x - BAR / 2.0, end, x + BAR / 2.0, end};
  g_autofree char *text = g_strdup_printf (_ ("The chain of ops before %s ends here"), op->path);
  lig_canvas_begin_mark (self->canvas, bar[0], stub[1], BAR, LIG_LAYOUT_GAP, text);
  lig_canvas_lines (self->canvas, stub, 2, self->colours->channel, 2, 0);
  lig_canvas_lines (self->canvas, bar, 2, self->colours->channel, 2.5, 0);
  lig_canvas_end_mark (self->canvas);
}

void
lig_score_draw_ops (const LigScoreDrawing *self)
{
  for (guint i = 0; i < self->layout->blocks->len; i++)
    draw_block (self, &g_array_index (self->layout->blocks, LigLayoutBlock, i));
  for (guint i = 0; i < self->layout->rows->len; i++) {
    const LigLayoutRow *row = &g_array_index (self->layout->rows, LigLayoutRow, i);
    draw_fence (self, row);
    draw_cut (self, i);
    draw_row (self, row);
  }
}
