/* SPDX-License-Identifier: MIT */
/* The last recorded load of a router's experts in a row of the score: a strip of bars, and the
 * imbalance. */
#include "ui/score/row-private.h"

#include "ui/widgets/style-colours.h"
#include <ligature/draw-loads.h>
#include <ligature/plan-loads.h>

enum { STRIP = 13, SPACE = 6, SHORTEST = 24 };

/* Returns the part of a split row that is the router; -1: the row itself shows the load. */
static int
find_part (const LigScoreMap *map, const LigScoreSlot *slot)
{
  for (int k = 0; k < slot->shown; k++)
    if (lig_plan_find_load (map->plan, map->loads, slot->first + k, 1))
      return k;
  return -1;
}

/* Returns the load of the ops that a row represents; null for the head of an unfolded block. */
static const LigLoadSeries *
find (const LigScoreMap *map, const LigScoreSlot *slot)
{
  gboolean head = slot->block && slot->open;
  return map->plan && map->loads && slot->first >= 0 && !head
           ? lig_plan_find_load (map->plan, map->loads, slot->first, slot->count)
           : NULL;
}

void
lig_op_row_bind_load (LigOpRow *self, const LigScoreMap *map, const LigScoreSlot *slot)
{
  LigRowLoad *load = &self->load;
  const LigLoadSeries *series = find (map, slot);
  g_autofree char *text = series ? lig_load_series_describe (series) : NULL;
  g_autofree char *imbalance = NULL;
  g_clear_pointer (&load->rows, g_free);
  load->experts = 0;
  load->area = GRAPHENE_RECT_INIT (0, 0, 0, 0);
  if (series) {
    LigLoadFigures figures;
    load->experts = series->experts;
    load->rows = g_new (double, series->experts);
    load->part = find_part (map, slot);
    lig_load_series_sum (series, series->steps->len - 1, 1, load->rows, &figures);
    imbalance = g_strdup_printf ("%.2g ×", figures.imbalance);
  }
  if (lig_score_text_set (&load->imbalance, imbalance) || g_strcmp0 (text, load->text) != 0)
    gtk_widget_queue_draw (GTK_WIDGET (self));
  g_free (load->text);
  load->text = g_steal_pointer (&text);
}

int
lig_op_row_draw_load (
  LigOpRow *self, GtkSnapshot *snapshot, int part, int right, int middle, int room)
{
  LigRowLoad *load = &self->load;
  GtkWidget *widget = GTK_WIDGET (self);
  GdkRGBA ink;
  if (load->experts == 0 || load->part != part)
    return 0;
  const LigScoreTextFlags small = LIG_SCORE_TEXT_SMALL;
  int word = lig_score_text_measure (&load->imbalance, widget, small);
  int space = lig_score_metrics_scale (&self->metrics, SPACE);
  int height = lig_score_metrics_scale (&self->metrics, STRIP);
  int strip = lig_score_metrics_scale (&self->metrics, lig_draw_load_strip_width (load->experts));
  strip = MIN (strip, room - word - 3 * space);
  int used = strip + space + word, x = right - used, y = middle - height / 2;
  load->area = GRAPHENE_RECT_INIT (0, 0, 0, 0);
  if (strip < SHORTEST)
    return 0;
  load->area = GRAPHENE_RECT_INIT ((float) x, (float) y, (float) used, (float) height);
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &ink);
  ink = lig_score_dim (&ink);
  lig_score_text_draw (&load->imbalance, widget, snapshot, right - word, middle, word + 1, small,
                       &ink);
  cairo_t *cairo = gtk_snapshot_append_cairo (
    snapshot, &GRAPHENE_RECT_INIT ((float) x, (float) y, (float) strip, (float) height));
  g_autoptr (LigCanvas) canvas = lig_canvas_new (cairo);
  lig_draw_load_strip (canvas, lig_style_colours (), load->rows, load->experts, x, y, strip,
                       height);
  cairo_destroy (cairo);
  return used + 2 * space;
}

char *
lig_op_row_describe_at (LigOpRow *self, int x, int y, const char *hidden)
{
  const LigRowLoad *load = &self->load;
  const graphene_point_t point = GRAPHENE_POINT_INIT ((float) x, (float) y);
  if (load->text && graphene_rect_contains_point (&load->area, &point))
    return g_strdup (load->text);
  if (!load->text || load->area.size.width > 0)
    return g_strdup (hidden);
  return hidden ? g_strconcat (hidden, "\n", load->text, NULL) : g_strdup (load->text);
}

void
lig_op_row_clear_load (LigOpRow *self)
{
  g_clear_pointer (&self->load.rows, g_free);
  g_clear_pointer (&self->load.text, g_free);
  lig_score_text_clear (&self->load.imbalance);
  self->load.experts = 0;
}
