/* SPDX-License-Identifier: MIT */
/* The size of text. */
#include "ui/widgets/text-scale.h"

#include <adwaita.h>
#include <math.h>

/* The line height of Cantarell 11 at 96 dpi. */
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

/* --- Widths -------------------------------------------------------------------------------- */

typedef struct {
  GtkWidget *widget;
  int width, widest;
  double max;
} Widening;

/* The fonts of widgets adopt a changed setting only later. */
static void
widen (Widening *self)
{
  int dpi = 0;
  g_object_get (gtk_settings_get_default (), "gtk-xft-dpi", &dpi, NULL);
  double factor = CLAMP (dpi / (96.0 * PANGO_SCALE), 1, self->max);
  GtkWidget *clamp = gtk_widget_get_parent (self->widget);
  gtk_widget_set_size_request (self->widget, (int) (self->width * factor), -1);
  if (self->widest > 0 && ADW_IS_CLAMP (clamp)) {
    adw_clamp_set_maximum_size (ADW_CLAMP (clamp), (int) (self->widest * factor));
    adw_clamp_set_tightening_threshold (ADW_CLAMP (clamp), (int) (self->widest * factor));
  }
}

static void
forget (gpointer data)
{
  Widening *self = data;
  g_signal_handlers_disconnect_by_data (gtk_settings_get_default (), self);
  g_free (self);
}

void
lig_text_widen (GtkWidget *widget, int width, int widest, double max)
{
  Widening *self = g_new0 (Widening, 1);
  *self = (Widening){widget, width, widest, max};
  g_signal_connect_swapped (gtk_settings_get_default (), "notify::gtk-xft-dpi", G_CALLBACK (widen),
                            self);
  g_object_set_data_full (G_OBJECT (widget), "lig-text-widening", self, forget);
  widen (self);
}
