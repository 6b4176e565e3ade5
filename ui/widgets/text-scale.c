/* SPDX-License-Identifier: MIT */
/* The size of text. */
#include "ui/widgets/text-scale.h"

#include <math.h>

/* The line of Cantarell 11 at 96 dots per inch. */
#define DESIGNED_LINE 17.6

double
lig_text_line (GtkWidget *widget, double factor)
{
  PangoContext *context = gtk_widget_get_pango_context (widget);
  g_autoptr (PangoFontDescription) font =
    pango_font_description_copy (pango_context_get_font_description (context));
  double size = pango_font_description_get_size (font) * factor;
  if (pango_font_description_get_size_is_absolute (font))
    pango_font_description_set_absolute_size (font, size);
  else
    pango_font_description_set_size (font, (int) lround (size));
  PangoFontMetrics *metrics = pango_context_get_metrics (context, font, NULL);
  double line = pango_font_metrics_get_height (metrics) / (double) PANGO_SCALE;
  pango_font_metrics_unref (metrics);
  return line > 0 ? line : DESIGNED_LINE;
}

double
lig_text_scale (GtkWidget *widget)
{
  double scale = lig_text_line (widget, 1) / DESIGNED_LINE;
  /* Fonts of the same size differ a little. */
  return scale < 1.1 ? 1 : scale;
}
