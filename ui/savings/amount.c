/* SPDX-License-Identifier: MIT */
#include "ui/savings/amount.h"

#include <math.h>

enum { WIDTH = 96, HEIGHT = 8 };

/* The colour of the text is that of the bar. */
static void
draw (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer data)
{
  const double *share = data;
  GdkRGBA ink;
  double middle = width / 2., length = fabs (*share) * (middle - 2);
  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (area)), &ink);
  cairo_set_source_rgba (cairo, ink.red, ink.green, ink.blue, 0.3 * ink.alpha);
  cairo_rectangle (cairo, middle - 0.5, 0, 1, height);
  cairo_fill (cairo);
  gdk_cairo_set_source_rgba (cairo, &ink);
  cairo_rectangle (cairo, *share < 0 ? middle - length : middle, 1.5, length, height - 3);
  cairo_fill (cairo);
}

GtkWidget *
lig_saving_amount_new (const char *text, double share)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *label = gtk_label_new (text);
  gtk_widget_add_css_class (box, "amount");
  gtk_widget_add_css_class (label, "numeric");
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (box), label);
  if (isnan (share) || share == 0) {
    gtk_widget_add_css_class (label, "dim-label");
    return box;
  }
  GtkWidget *area =
    g_object_new (GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION,
                  "content-width", WIDTH, "content-height", HEIGHT, NULL);
  gtk_widget_add_css_class (box, share < 0 ? "gain" : "cost");
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), draw, g_memdup2 (&share, sizeof share),
                                  g_free);
  gtk_box_append (GTK_BOX (box), area);
  return box;
}
