/* SPDX-License-Identifier: MIT */
/* The signs of forced and forbidden fusions, of quantized copies and of checks. They differ in
 * shape, not only in colour: a pin for forced, a crossed circle for forbidden, 8 and 4 for bits, a
 * tick and an exclamation mark for correct and wrong numbers. */
#include "ui/score/marks.h"

#include <glib/gi18n.h>

LigScoreMarks
lig_score_marks_of (LigOp *op)
{
  const char *const *forced = lig_op_get_forced (op), *const *forbidden = lig_op_get_forbidden (op);
  LigSequence *body = lig_op_get_body (op);
  unsigned marks = 0;
  marks |= forced && *forced ? LIG_SCORE_FORCED : 0;
  marks |= forbidden && *forbidden ? LIG_SCORE_FORBIDDEN : 0;
  for (guint i = 0; body && i < lig_sequence_get_length (body); i++)
    marks |= lig_score_marks_of (lig_sequence_get (body, (int) i, NULL));
  return (LigScoreMarks) marks;
}

const char *
lig_score_marks_text (LigScoreMarks marks)
{
  const unsigned both = LIG_SCORE_FORCED | LIG_SCORE_FORBIDDEN;
  if ((marks & both) == both)
    return _ ("one fusion forced, another forbidden");
  return marks & LIG_SCORE_FORCED      ? _ ("fusion forced")
         : marks & LIG_SCORE_FORBIDDEN ? _ ("fusion forbidden")
                                       : NULL;
}

/* A pushpin, upright: head, body, needle. */
static void
draw_pin (cairo_t *cairo, double x, double middle, double size)
{
  double u = size / 12;
  cairo_rectangle (cairo, x + 2.5 * u, middle - 5.5 * u, 7 * u, 2 * u);
  cairo_move_to (cairo, x + 4 * u, middle - 3.5 * u);
  cairo_line_to (cairo, x + 8 * u, middle - 3.5 * u);
  cairo_line_to (cairo, x + 10 * u, middle + 1 * u);
  cairo_line_to (cairo, x + 2 * u, middle + 1 * u);
  cairo_close_path (cairo);
  cairo_rectangle (cairo, x + 5.4 * u, middle + 1 * u, 1.2 * u, 4.8 * u);
  cairo_fill (cairo);
}

static void
draw_bar (cairo_t *cairo, double x, double middle, double size)
{
  double u = size / 12, radius = 4.6 * u, slant = radius * G_SQRT2 / 2;
  cairo_set_line_width (cairo, 1.7 * u);
  cairo_arc (cairo, x + 6 * u, middle, radius, 0, 2 * G_PI);
  cairo_stroke (cairo);
  cairo_move_to (cairo, x + 6 * u - slant, middle - slant);
  cairo_line_to (cairo, x + 6 * u + slant, middle + slant);
  cairo_stroke (cairo);
}

/* A frame with round corners. */
static void
draw_frame (cairo_t *cairo, double x, double middle, double size)
{
  double u = size / 12, corner = 2.5 * u, left = x + 1.2 * u, right = x + 10.8 * u;
  double top = middle - 5.4 * u, bottom = middle + 5.4 * u;
  cairo_set_line_width (cairo, 1.2 * u);
  cairo_arc (cairo, right - corner, top + corner, corner, -G_PI / 2, 0);
  cairo_arc (cairo, right - corner, bottom - corner, corner, 0, G_PI / 2);
  cairo_arc (cairo, left + corner, bottom - corner, corner, G_PI / 2, G_PI);
  cairo_arc (cairo, left + corner, top + corner, corner, G_PI, 3 * G_PI / 2);
  cairo_close_path (cairo);
  cairo_stroke (cairo);
}

static void
draw_eight (cairo_t *cairo, double x, double middle, double size)
{
  double u = size / 12;
  draw_frame (cairo, x, middle, size);
  cairo_arc (cairo, x + 6 * u, middle - 1.7 * u, 1.5 * u, 0, 2 * G_PI);
  cairo_stroke (cairo);
  cairo_arc (cairo, x + 6 * u, middle + 1.6 * u, 1.8 * u, 0, 2 * G_PI);
  cairo_stroke (cairo);
}

static void
draw_four (cairo_t *cairo, double x, double middle, double size)
{
  double u = size / 12;
  draw_frame (cairo, x, middle, size);
  cairo_move_to (cairo, x + 8.5 * u, middle + 1.2 * u);
  cairo_line_to (cairo, x + 3.7 * u, middle + 1.2 * u);
  cairo_line_to (cairo, x + 7 * u, middle - 3.4 * u);
  cairo_line_to (cairo, x + 7 * u, middle + 3.6 * u);
  cairo_stroke (cairo);
}

static void
draw_tick (cairo_t *cairo, double x, double middle, double size)
{
  double u = size / 12;
  cairo_set_line_width (cairo, 1.7 * u);
  cairo_move_to (cairo, x + 2 * u, middle + 0.5 * u);
  cairo_line_to (cairo, x + 5 * u, middle + 4 * u);
  cairo_line_to (cairo, x + 10.5 * u, middle - 4 * u);
  cairo_stroke (cairo);
}

static void
draw_exclamation (cairo_t *cairo, double x, double middle, double size)
{
  double u = size / 12;
  cairo_set_line_width (cairo, 2.2 * u);
  cairo_move_to (cairo, x + 6 * u, middle - 5.5 * u);
  cairo_line_to (cairo, x + 6 * u, middle + 1.8 * u);
  cairo_stroke (cairo);
  cairo_arc (cairo, x + 6 * u, middle + 4.6 * u, 1.3 * u, 0, 2 * G_PI);
  cairo_fill (cairo);
}

/* Draws the result of a check, in the error colour if it is wrong. */
static void
draw_check (
  LigScoreMarks marks, GtkStyleContext *style, cairo_t *cairo, double x, double middle, int size)
{
  GdkRGBA error;
  if (!(marks & LIG_SCORE_OUTSIDE)) {
    draw_tick (cairo, x, middle, size);
    return;
  }
  if (gtk_style_context_lookup_color (style, "error_color", &error))
    gdk_cairo_set_source_rgba (cairo, &error);
  draw_exclamation (cairo, x, middle, size);
}

/* Draws the signs one after another. */
static void
draw_signs (
  LigScoreMarks marks, GtkWidget *widget, cairo_t *cairo, double x, double middle, int size)
{
  GdkRGBA ink, warning;
  GtkStyleContext *style = gtk_widget_get_style_context (widget);
  gtk_style_context_get_color (style, &ink);
  if (!gtk_style_context_lookup_color (style, "warning_color", &warning))
    warning = ink;
  if (marks & LIG_SCORE_FORCED) {
    gdk_cairo_set_source_rgba (cairo, &ink);
    draw_pin (cairo, x, middle, size);
    x += size + 3;
  }
  if (marks & LIG_SCORE_FORBIDDEN) {
    gdk_cairo_set_source_rgba (cairo, &warning);
    draw_bar (cairo, x, middle, size);
    x += size + 3;
  }
  gdk_cairo_set_source_rgba (cairo, &ink);
  if (marks & LIG_SCORE_EIGHT) {
    draw_eight (cairo, x, middle, size);
    x += size + 3;
  }
  if (marks & LIG_SCORE_FOUR) {
    draw_four (cairo, x, middle, size);
    x += size + 3;
  }
  if (marks & (LIG_SCORE_INSIDE | LIG_SCORE_OUTSIDE))
    draw_check (marks, style, cairo, x, middle, size);
}

static void
draw_area (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer marks)
{
  draw_signs ((LigScoreMarks) GPOINTER_TO_UINT (marks), GTK_WIDGET (area), cairo, 0, height / 2.0,
              MIN (width, height));
}

GtkWidget *
lig_score_marks_new (LigScoreMarks marks)
{
  GtkWidget *area =
    g_object_new (GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION,
                  "content-width", 14, "content-height", 14, "valign", GTK_ALIGN_CENTER, NULL);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), draw_area, GUINT_TO_POINTER (marks),
                                  NULL);
  return area;
}

int
lig_score_marks_draw (
  LigScoreMarks marks, GtkWidget *widget, GtkSnapshot *snapshot, int x, int middle, int size)
{
  int count = __builtin_popcount (marks), width = count * (size + 3) - 3;
  if (count == 0)
    return 0;
  cairo_t *cairo = gtk_snapshot_append_cairo (
    snapshot, &GRAPHENE_RECT_INIT ((float) x, (float) middle - (float) size / 2 - 1,
                                   (float) width + 1, (float) size + 2));
  draw_signs (marks, widget, cairo, x, middle, size);
  cairo_destroy (cairo);
  return width + size / 2;
}
