/* SPDX-License-Identifier: MIT */
/* A box from quartile to quartile, and its median. */
#include "ui/profile/spread-bar.h"

typedef struct {
  LigSpread spread;
  double min, max;
} Bar;

static double
place (const Bar *bar, double value, int width)
{
  double range = bar->max - bar->min;
  return range > 0 ? 1 + (value - bar->min) / range * (width - 2) : width / 2.;
}

/* Draws in the text colour, so that it has the style's contrast. */
static void
draw (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer data)
{
  const Bar *bar = data;
  GdkRGBA ink;
  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (area)), &ink);
  double left = place (bar, bar->spread.lower, width),
         right = place (bar, bar->spread.upper, width);
  double middle = place (bar, bar->spread.median, width), y = height / 2.;
  cairo_set_source_rgba (cairo, ink.red, ink.green, ink.blue, 0.15 * ink.alpha);
  cairo_rectangle (cairo, 0, y - 0.5, width, 1);
  cairo_fill (cairo);
  cairo_set_source_rgba (cairo, ink.red, ink.green, ink.blue, 0.35 * ink.alpha);
  cairo_rectangle (cairo, left, y - 5, MAX (right - left, 1), 10);
  cairo_fill (cairo);
  gdk_cairo_set_source_rgba (cairo, &ink);
  cairo_rectangle (cairo, middle - 1, y - 8, 2, 16);
  cairo_fill (cairo);
}

GtkWidget *
lig_spread_bar_new (const LigSpread *spread, double min, double max, const char *text)
{
  GtkWidget *area = g_object_new (GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG,
                                  "content-width", 72, "content-height", 18, "hexpand", TRUE,
                                  "valign", GTK_ALIGN_CENTER, "tooltip-text", text, NULL);
  Bar *bar = g_new (Bar, 1);
  *bar = (Bar){*spread, min, max};
  gtk_accessible_update_property (GTK_ACCESSIBLE (area), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), draw, bar, g_free);
  return area;
}
