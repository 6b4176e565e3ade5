/* SPDX-License-Identifier: MIT */
/* The drawing of the score's sheet between its widgets. A fused bracket also differs by its shape:
 * a bar along the rows that it covers, joined to the rail by a ribbon. */
#include "ui/score/picture.h"

#include "ui/score/arcs.h"

#include <adwaita.h>
#include <math.h>

static GdkRGBA
find_colour (GtkWidget *widget, const char *name)
{
  GdkRGBA colour;
  GtkStyleContext *style = gtk_widget_get_style_context (widget);
  if (!gtk_style_context_lookup_color (style, name, &colour))
    gtk_style_context_get_color (style, &colour);
  return colour;
}

static graphene_rect_t
rectangle (double x, double y, double width, double height)
{
  return GRAPHENE_RECT_INIT ((float) x, (float) y, (float) width, (float) height);
}

/* --- Connectors ---------------------------------------------------------------------------- */

typedef struct {
  double rail, bar, row; /* x: edge of the rail, of the bar along the rows, of the rows */
} Reach;

static void
append_rounded (GtkSnapshot *snapshot, graphene_rect_t area, float radius, const GdkRGBA *colour)
{
  GskRoundedRect outline;
  gsk_rounded_rect_init_from_rect (&outline, &area, radius);
  gtk_snapshot_push_rounded_clip (snapshot, &outline);
  gtk_snapshot_append_color (snapshot, colour, &area);
  gtk_snapshot_pop (snapshot);
}

/* Returns the y position at which a row is joined: its head if the bracket covers that. */
static double
find_joint (const LigScoreMap *map, guint row, const LigScoreBracket *bracket)
{
  const LigScoreSlot *slot = lig_score_map_get_slot (map, row);
  int top = MAX (slot->y, bracket->y);
  int bottom = MIN (slot->y + slot->height, bracket->y + bracket->height);
  if (map->metrics.compact || top > slot->y)
    return (top + bottom) / 2.0;
  return top + MIN (map->metrics.base, slot->height) / 2.0;
}

static void
append_fused (GtkSnapshot *snapshot,
              const LigScoreMap *map,
              const LigScoreBracket *bracket,
              const Reach *reach,
              GdkRGBA colour)
{
  GdkRGBA light = colour;
  light.alpha *= 0.13f;
  double left = MIN (reach->rail, reach->bar), right = MAX (reach->rail, reach->bar);
  graphene_rect_t ribbon = rectangle (left, bracket->y + 3, right - left, bracket->height - 6);
  gtk_snapshot_append_color (snapshot, &light, &ribbon);
  for (guint i = bracket->from; i <= bracket->to; i++) {
    double y = find_joint (map, i, bracket);
    graphene_rect_t line = rectangle (left, y - 1, right - left, 2);
    gtk_snapshot_append_color (snapshot, &colour, &line);
  }
  append_rounded (snapshot, rectangle (reach->bar - 2, bracket->y + 1, 5, bracket->height - 2),
                  2.5f, &colour);
}

static void
append_alone (GtkSnapshot *snapshot,
              const LigScoreMap *map,
              const LigScoreBracket *bracket,
              const Reach *reach,
              const GdkRGBA *colour)
{
  double y = find_joint (map, bracket->from, bracket);
  double left = MIN (reach->rail, reach->row), right = MAX (reach->rail, reach->row);
  graphene_rect_t line = rectangle (left, y - 0.5, right - left, 1);
  gtk_snapshot_append_color (snapshot, colour, &line);
}

/* Reaches the outermost of the rows. */
static Reach
find_reach (const LigScoreMap *map, const LigScoreColumns *columns, const LigScoreBracket *bracket)
{
  int x, width, depth = G_MAXINT;
  for (guint i = bracket->from; i <= bracket->to; i++)
    depth = MIN (depth, lig_score_map_get_slot (map, i)->depth);
  lig_score_map_get_extent (map, columns, depth, &x, &width);
  if (bracket->pass == LIG_PASS_BACKWARD)
    return (Reach){columns->backward, x + width + 5, x + width};
  return (Reach){columns->forward + columns->rail, x - 6, x};
}

static void
append_connectors (const LigScorePicture *self,
                   const LigScoreColumns *columns,
                   GtkWidget *widget,
                   GtkSnapshot *snapshot,
                   double top,
                   double bottom)
{
  static const char *const names[] = {"score_forward", "score_backward"};
  gboolean high = adw_style_manager_get_high_contrast (adw_style_manager_get_default ());
  GdkRGBA line = find_colour (widget, high ? "score_strong_line" : "score_line");
  for (guint pass = 0; pass < 2; pass++) {
    GdkRGBA colour = find_colour (widget, names[pass]);
    for (guint i = 0; i < self->map->brackets[pass]->len; i++) {
      const LigScoreBracket *bracket =
        &g_array_index (self->map->brackets[pass], LigScoreBracket, i);
      if (bracket->y > bottom || bracket->y + bracket->height < top)
        continue;
      Reach reach = find_reach (self->map, columns, bracket);
      if (bracket->group && bracket->group->fusion)
        append_fused (snapshot, self->map, bracket, &reach, colour);
      else
        append_alone (snapshot, self->map, bracket, &reach, &line);
    }
  }
}

/* --- Frames of blocks ---------------------------------------------------------------------- */

static void
append_frame (const LigScorePicture *self,
              const LigScoreColumns *columns,
              const LigScoreSlot *slot,
              GtkSnapshot *snapshot,
              const GdkRGBA *colour)
{
  int x, width;
  GskRoundedRect outline;
  GdkRGBA ground = *colour;
  const float line = 1.5f, widths[4] = {line, line, line, line};
  const GdkRGBA colours[4] = {*colour, *colour, *colour, *colour};
  ground.alpha *= 0.07f;
  lig_score_map_get_extent (self->map, columns, slot->depth, &x, &width);
  graphene_rect_t area = rectangle (x, slot->y, width, slot->frame - slot->y);
  gsk_rounded_rect_init_from_rect (&outline, &area, 9);
  gtk_snapshot_push_rounded_clip (snapshot, &outline);
  gtk_snapshot_append_color (snapshot, &ground, &area);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_append_border (snapshot, &outline, widths, colours);
}

static void
append_frames (const LigScorePicture *self,
               const LigScoreColumns *columns,
               GtkWidget *widget,
               GtkSnapshot *snapshot,
               double top,
               double bottom)
{
  GdkRGBA colour = find_colour (widget, "score_block");
  for (guint i = 0; i < self->map->slots->len; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self->map, i);
    if (slot->frame > MAX (top, 0) && slot->y < bottom)
      append_frame (self, columns, slot, snapshot, &colour);
  }
}

/* --- Ends of the line ---------------------------------------------------------------------- */

/* A load-branch continues from a channel: the line of the row above ends with a bar. */
static void
append_cut (const LigScorePicture *self,
            const LigScoreColumns *columns,
            guint row,
            GtkSnapshot *snapshot,
            const GdkRGBA *colour)
{
  enum { BAR = 44, STUB = 2 };
  int x, width;
  const LigScoreSlot *slot = lig_score_map_get_slot (self->map, row);
  const int space = self->map->metrics.space;
  lig_score_map_get_extent (self->map, columns, slot->depth, &x, &width);
  double middle = x + width / 2.0, top = slot->y - space;
  graphene_rect_t stub = rectangle (middle - 1, top, 2, space - STUB - 2);
  graphene_rect_t bar = rectangle (middle - BAR / 2.0, top + space - STUB - 3, BAR, 2.5);
  gtk_snapshot_append_color (snapshot, colour, &stub);
  gtk_snapshot_append_color (snapshot, colour, &bar);
}

static void
append_cuts (const LigScorePicture *self,
             const LigScoreColumns *columns,
             GtkWidget *widget,
             GtkSnapshot *snapshot,
             double top,
             double bottom)
{
  GdkRGBA colour = find_colour (widget, "score_channel");
  for (guint i = 1; i < self->map->slots->len; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self->map, i);
    if (slot->y >= top && slot->y - self->map->metrics.space <= bottom &&
        lig_op_get_info (slot->op)->flags & LIG_OP_LOADS_BRANCH)
      append_cut (self, columns, i, snapshot, &colour);
  }
}

/* --- Channels ------------------------------------------------------------------------------ */

static void
append_arcs (const LigScorePicture *self,
             const LigScoreColumns *columns,
             GtkWidget *widget,
             GtkSnapshot *snapshot,
             double top,
             double bottom)
{
  LigScoreArcColours colours = {find_colour (widget, "score_channel"),
                                find_colour (widget, "score_ground"),
                                find_colour (widget, "score_fence")};
  double left = columns->forward + columns->rail;
  double from = MAX (top, 0), to = MIN (bottom, self->map->height);
  if (to <= from)
    return;
  /* Rows of blocks are indented. */
  double right = columns->ops + columns->ops_width / 4.0;
  graphene_rect_t area = rectangle (left, from, right - left, to - from);
  cairo_t *cairo = gtk_snapshot_append_cairo (snapshot, &area);
  lig_score_draw_arcs (self->map, columns, widget, cairo, top, bottom, self->lit, &colours);
  cairo_destroy (cairo);
}

/* --- Fences -------------------------------------------------------------------------------- */

static void
append_fence (
  GtkWidget *widget, const LigScoreColumns *columns, GtkSnapshot *snapshot, double y, double alpha)
{
  GdkRGBA amber = find_colour (widget, "score_fence");
  double end = columns->backward + columns->rail;
  amber.alpha *= (float) alpha;
  graphene_rect_t area = rectangle (columns->forward, y - 1, end - columns->forward, 2);
  cairo_t *cairo = gtk_snapshot_append_cairo (snapshot, &area);
  const double dashes[] = {8, 5};
  gdk_cairo_set_source_rgba (cairo, &amber);
  cairo_set_dash (cairo, dashes, 2, 0);
  cairo_set_line_width (cairo, 2);
  cairo_move_to (cairo, columns->forward, y);
  cairo_line_to (cairo, end, y);
  cairo_stroke (cairo);
  cairo_destroy (cairo);
}

static double
find_gap_middle (const LigScoreMap *map, guint gap)
{
  if (gap < map->slots->len)
    return lig_score_map_get_slot (map, gap)->y - map->metrics.space / 2.0;
  return map->height - map->metrics.end - map->metrics.space / 2.0;
}

void
lig_score_picture_snapshot (const LigScorePicture *self,
                            const LigScoreColumns *columns,
                            GtkWidget *widget,
                            GtkSnapshot *snapshot,
                            double top,
                            double bottom)
{
  append_frames (self, columns, widget, snapshot, top, bottom);
  if (self->stale)
    gtk_snapshot_push_opacity (snapshot, 0.45);
  append_connectors (self, columns, widget, snapshot, top, bottom);
  if (self->stale)
    gtk_snapshot_pop (snapshot);
  append_arcs (self, columns, widget, snapshot, top, bottom);
  append_cuts (self, columns, widget, snapshot, top, bottom);
  for (guint i = 0; i < self->map->slots->len; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self->map, i);
    if (slot->y >= top && slot->y - self->map->metrics.space <= bottom &&
        lig_op_get_fence (slot->op))
      append_fence (widget, columns, snapshot, find_gap_middle (self->map, i),
                    self->fence >= 0 ? 0.4 : 1);
  }
}

/* --- Marks at the pointer ------------------------------------------------------------------ */

static void
append_caret (const LigScorePicture *self,
              const LigScoreColumns *columns,
              GtkWidget *widget,
              GtkSnapshot *snapshot)
{
  GdkRGBA accent = find_colour (widget, "accent_color");
  double y = find_gap_middle (self->map, (guint) self->caret);
  int left, width, depth = 0;
  if (self->inside && self->caret > 0) {
    const LigScoreSlot *above = lig_score_map_get_slot (self->map, (guint) self->caret - 1);
    depth = above->depth + (above->block && above->open ? 1 : 0);
    y = above->y + above->height + self->map->metrics.frame / 2.0;
  } else if ((guint) self->caret < self->map->slots->len)
    depth = lig_score_map_get_slot (self->map, (guint) self->caret)->depth;
  lig_score_map_get_extent (self->map, columns, depth, &left, &width);
  double x = left, end = left + width;
  append_rounded (snapshot, rectangle (x, y - 2, end - x, 4), 2, &accent);
  append_rounded (snapshot, rectangle (x - 5, y - 5, 10, 10), 5, &accent);
  append_rounded (snapshot, rectangle (end - 5, y - 5, 10, 10), 5, &accent);
}

static void
append_thread (const LigScorePicture *self,
               const LigScoreColumns *columns,
               GtkWidget *widget,
               GtkSnapshot *snapshot)
{
  double x, y;
  GdkRGBA colour = find_colour (widget, "score_channel");
  graphene_rect_t area =
    rectangle (0, 0, gtk_widget_get_width (widget), gtk_widget_get_height (widget));
  lig_score_get_port (self->map, columns, (guint) self->thread, &x, &y);
  double reach = MIN (x, self->thread_x) - 40;
  cairo_t *cairo = gtk_snapshot_append_cairo (snapshot, &area);
  gdk_cairo_set_source_rgba (cairo, &colour);
  cairo_set_line_width (cairo, 2);
  cairo_move_to (cairo, x, y);
  cairo_curve_to (cairo, reach, y, reach, self->thread_y, self->thread_x, self->thread_y);
  cairo_stroke (cairo);
  cairo_arc (cairo, self->thread_x, self->thread_y, 5, 0, 2 * M_PI);
  cairo_fill (cairo);
  cairo_destroy (cairo);
}

void
lig_score_picture_snapshot_above (const LigScorePicture *self,
                                  const LigScoreColumns *columns,
                                  GtkWidget *widget,
                                  GtkSnapshot *snapshot)
{
  if (self->caret >= 0)
    append_caret (self, columns, widget, snapshot);
  if (self->fence >= 0)
    append_fence (widget, columns, snapshot, find_gap_middle (self->map, (guint) self->fence), 1);
  if (self->thread >= 0)
    append_thread (self, columns, widget, snapshot);
}
