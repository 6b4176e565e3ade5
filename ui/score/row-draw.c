/* SPDX-License-Identifier: MIT */
/* The drawing of a row of the score. */
#include "ui/score/marks.h"
#include "ui/score/row-private.h"

static void
draw_disclosure (LigOpRow *self, GtkSnapshot *snapshot, int x, const GdkRGBA *colour)
{
  graphene_rect_t area = GRAPHENE_RECT_INIT ((float) x, self->metrics.base / 2.0f - 8, 16, 16);
  cairo_t *cairo = gtk_snapshot_append_cairo (snapshot, &area);
  cairo_translate (cairo, x + 8, self->metrics.base / 2.0);
  cairo_rotate (cairo, self->open ? G_PI / 2 : 0);
  cairo_move_to (cairo, -2.5, -5);
  cairo_line_to (cairo, 2.5, 0);
  cairo_line_to (cairo, -2.5, 5);
  gdk_cairo_set_source_rgba (cairo, colour);
  cairo_set_line_width (cairo, 2);
  cairo_stroke (cairo);
  cairo_destroy (cairo);
}

static void
draw_parts (
  LigOpRow *self, GtkSnapshot *snapshot, int x, int width, GdkRGBA dim, const GdkRGBA *line)
{
  for (int k = 0; k < self->shown; k++) {
    int y = self->metrics.base + k * self->metrics.part;
    gtk_snapshot_append_color (snapshot, line,
                               &GRAPHENE_RECT_INIT ((float) x, (float) y, (float) width, 1));
    int used = lig_score_text_draw (&self->parts[k][1], GTK_WIDGET (self), snapshot, x + width / 2,
                                    y + self->metrics.part / 2, width / 2,
                                    LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_END, &dim);
    lig_score_text_draw (&self->parts[k][0], GTK_WIDGET (self), snapshot, x,
                         y + self->metrics.part / 2, width - used - 12, LIG_SCORE_TEXT_SMALL, &dim);
  }
}

static void
draw_head (
  LigOpRow *self, GtkSnapshot *snapshot, int x, int width, const GdkRGBA *ink, const GdkRGBA *dim)
{
  GtkWidget *widget = GTK_WIDGET (self);
  const LigScoreTextFlags end = LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_END;
  int used = lig_score_text_draw (&self->texts[SHAPE], widget, snapshot, x + width * 4 / 10, 18,
                                  width * 6 / 10, end, dim);
  int space = width - used - 12;
  int title = lig_score_text_draw (&self->texts[TITLE], widget, snapshot, x, 18, space,
                                   LIG_SCORE_TEXT_BOLD, ink);
  title += lig_score_marks_draw (self->marks, widget, snapshot, x + title + 9, 18,
                                 self->metrics.small * 3 / 4);
  lig_score_text_draw (&self->texts[COUNT], widget, snapshot, x + title + 9, 18, space - title - 9,
                       LIG_SCORE_TEXT_BOLD, dim);
  used = lig_score_text_draw (&self->texts[PATH], widget, snapshot, x + width * 3 / 4, 38,
                              width / 4, end, dim);
  lig_score_text_draw (&self->texts[PARAMS], widget, snapshot, x, 38, width - used - 12,
                       LIG_SCORE_TEXT_SMALL, dim);
}

/* The engine's error replaces the parameters. */
static void
draw_problem (LigOpRow *self, GtkSnapshot *snapshot, int x, int width, const GdkRGBA *ink)
{
  GdkRGBA red = *ink;
  gtk_style_context_lookup_color (gtk_widget_get_style_context (GTK_WIDGET (self)), "error_color",
                                  &red);
  int title = lig_score_text_draw (&self->texts[TITLE], GTK_WIDGET (self), snapshot, x + 24, 18,
                                   width - 24, LIG_SCORE_TEXT_BOLD, ink);
  lig_score_text_draw (&self->texts[PATH], GTK_WIDGET (self), snapshot, x + 24 + title + 12, 18,
                       width - title - 36, LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_END, ink);
  lig_score_text_draw (&self->texts[PROBLEM], GTK_WIDGET (self), snapshot, x, 38, width,
                       LIG_SCORE_TEXT_SMALL, &red);
  graphene_rect_t area = GRAPHENE_RECT_INIT ((float) x, 10, 16, 16);
  cairo_t *cairo = gtk_snapshot_append_cairo (snapshot, &area);
  gdk_cairo_set_source_rgba (cairo, &red);
  cairo_arc (cairo, x + 8, 18, 8, 0, 2 * G_PI);
  cairo_rectangle (cairo, x + 7, 13.5, 2, 6);
  cairo_rectangle (cairo, x + 7, 21, 2, 2);
  cairo_set_fill_rule (cairo, CAIRO_FILL_RULE_EVEN_ODD);
  cairo_fill (cairo);
  cairo_destroy (cairo);
}

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigOpRow *self = LIG_OP_ROW (widget);
  GdkRGBA ink, dim, line;
  int x = PADDING, width = gtk_widget_get_width (widget) - 2 * PADDING;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &ink);
  dim = line = ink;
  dim.alpha *= 0.62f;
  line.alpha *= 0.12f;
  if (self->block) {
    draw_disclosure (self, snapshot, x, &dim);
    x += DISCLOSURE;
    width -= DISCLOSURE;
  }
  if (self->texts[PROBLEM].text)
    draw_problem (self, snapshot, x, width, &ink);
  else
    draw_head (self, snapshot, x, width, &ink, &dim);
  draw_parts (self, snapshot, x, width, dim, &line);
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  LigOpRow *self = LIG_OP_ROW (widget);
  if (self->menu || !self->description || !*self->description)
    return FALSE;
  gtk_tooltip_set_text (tooltip, self->description);
  return TRUE;
}

static void
measure (GtkWidget *widget,
         GtkOrientation orientation,
         int for_size,
         int *minimum,
         int *natural,
         int *minimum_baseline,
         int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 60 : 18;
}

void
lig_op_row_install_drawing (GtkWidgetClass *class)
{
  class->snapshot = snapshot;
  class->measure = measure;
  class->query_tooltip = query_tooltip;
}

gboolean
lig_op_row_is_disclosure (LigOpRow *self, double x, double y)
{
  return self->block && x < PADDING + DISCLOSURE && y < self->metrics.base;
}
