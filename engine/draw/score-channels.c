/* SPDX-License-Identifier: MIT */
/* Channels of a score: arcs in lanes next to the ops, from the op that writes to the op that reads.
 * Arcs that would overlap are in different lanes; the shortest arcs are nearest to the ops. */
#include "engine/draw/score.h"

#include <glib/gi18n-lib.h>

enum { LANE = 18 };

typedef struct {
  int from, to, lane; /* parts */
  const char *name;
} Arc;

static int
compare_arcs (gconstpointer a, gconstpointer b)
{
  const Arc *left = a, *right = b;
  int difference = (left->to - left->from) - (right->to - right->from);
  return difference ? difference : left->from - right->from;
}

/* Returns the first lane in which no earlier arc overlaps this one. */
static int
choose_lane (GArray *arcs, guint index)
{
  const Arc *arc = &g_array_index (arcs, Arc, index);
  for (int lane = 0;; lane++) {
    gboolean free_lane = TRUE;
    for (guint i = 0; i < index && free_lane; i++) {
      const Arc *other = &g_array_index (arcs, Arc, i);
      free_lane = other->lane != lane || other->to <= arc->from || other->from >= arc->to;
    }
    if (free_lane)
      return lane;
  }
}

/* Returns whether a channel is within a folded row, which shows none of its parts. */
static gboolean
is_inside (const LigScoreLayout *layout, const Arc *arc)
{
  int row = layout->places[arc->from].row;
  return row == layout->places[arc->to].row &&
         g_array_index (layout->rows, LigLayoutRow, row).folded;
}

/* Returns the arcs with their lanes. Only the first repetition of a block is shown, so the arcs of
 * its parts end at parts of that repetition. */
static GArray *
collect_arcs (const LigScoreLayout *layout)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (layout->plan, &count);
  GArray *arcs = g_array_new (FALSE, FALSE, sizeof (Arc));
  for (int i = 0; i < layout->n_parts; i++) {
    const LigPlanPort *port;
    for (int j = 0; (port = lig_plan_op_get_port (&ops[i], LIG_PORT_EXTRA_INPUT, j)); j++) {
      if (port->from < 0 || layout->places[i].like != i)
        continue;
      Arc arc = {
        .from = layout->places[port->from].like,
        .to = i,
        .name =
          lig_plan_op_get_port (&ops[port->from], LIG_PORT_EXTRA_OUTPUT, port->slot)->channel};
      if (arc.from < arc.to && !is_inside (layout, &arc))
        g_array_append_val (arcs, arc);
    }
  }
  g_array_sort (arcs, compare_arcs);
  for (guint i = 0; i < arcs->len; i++)
    g_array_index (arcs, Arc, i).lane = choose_lane (arcs, i);
  return arcs;
}

int
lig_score_count_lanes (const LigScoreLayout *layout)
{
  g_autoptr (GArray) arcs = collect_arcs (layout);
  int lanes = 0;
  for (guint i = 0; i < arcs->len; i++)
    lanes = MAX (lanes, g_array_index (arcs, Arc, i).lane + 1);
  return lanes;
}

/* Returns the y of an arc's end, and its x: @shift moves it off the middle of the row, away from
 * the lines of the groups. */
static double
find_end (const LigScoreDrawing *self, int part, double shift, double *x)
{
  const LigLayoutPlace *place = &self->layout->places[part];
  const LigLayoutRow *row = &g_array_index (self->layout->rows, LigLayoutRow, place->row);
  *x = self->ops + row->depth * 10;
  return place->y + place->height / 2 + shift;
}

static void
draw_name (const LigScoreDrawing *self, const Arc *arc, double x, double y, double length)
{
  LigTextStyle style = {.size = 11,
                        .bold = TRUE,
                        .colour = self->colours->channel,
                        .anchor = LIG_TEXT_MIDDLE,
                        .angle = -90,
                        .width = length - 8};
  if (length < 40 || !arc->name)
    return;
  double width = lig_canvas_text_width (self->canvas, &style, arc->name) + 8;
  lig_canvas_box (self->canvas, x - 7, y - width / 2, 14, width, 4, self->colours->ground, 0, 0);
  lig_canvas_text (self->canvas, x + 4, y, &style, arc->name);
}

static void
draw_arc (const LigScoreDrawing *self, const Arc *arc)
{
  double x0, x1, y0 = find_end (self, arc->from, 8, &x0), y1 = find_end (self, arc->to, -8, &x1);
  double lane = self->ops - 16 - MIN (arc->lane, self->lanes - 1) * LANE;
  double turn = MIN (28, (y1 - y0) / 2), middle = (y0 + y1) / 2;
  double out[] = {x0, y0, lane, y0, lane, y0, lane, y0 + turn};
  double down[] = {lane, y0 + turn, lane, y1 - turn};
  double in[] = {lane, y1 - turn, lane, y1, lane, y1, x1, y1};
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->layout->plan, &count);
  g_autofree char *text =
    g_strdup_printf (_ ("Channel %s from %s to %s"), arc->name ? arc->name : "",
                     ops[arc->from].path, ops[arc->to].path);
  lig_canvas_begin_mark (self->canvas, lane - 8, y0, x0 - lane + 8, y1 - y0, text);
  lig_canvas_curve (self->canvas, out, self->colours->channel, 2);
  lig_canvas_lines (self->canvas, down, 2, self->colours->channel, 2, 0);
  lig_canvas_curve (self->canvas, in, self->colours->channel, 2);
  double head[] = {x1, y1, x1 - 7, y1 - 4, x1 - 7, y1 + 4};
  lig_canvas_area (self->canvas, head, 3, self->colours->channel);
  lig_canvas_disc (self->canvas, x0, y0, 3, self->colours->channel);
  draw_name (self, arc, lane, middle, y1 - y0 - 2 * turn + 24);
  lig_canvas_end_mark (self->canvas);
}

void
lig_score_draw_channels (const LigScoreDrawing *self)
{
  g_autoptr (GArray) arcs = collect_arcs (self->layout);
  for (guint i = arcs->len; i-- > 0;)
    draw_arc (self, &g_array_index (arcs, Arc, i));
}
