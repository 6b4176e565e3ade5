/* SPDX-License-Identifier: MIT */
/* The sizes of the score's sheet follow its font, which the style, the text scale and the zoom
 * change. */
#include "ui/score/sheet-private.h"

static double
measure_line (GtkWidget *widget)
{
  PangoContext *context = gtk_widget_get_pango_context (widget);
  PangoFontMetrics *metrics = pango_context_get_metrics (context, NULL, NULL);
  double line = pango_font_metrics_get_height (metrics) / (double) PANGO_SCALE;
  pango_font_metrics_unref (metrics);
  return line > 0 ? line : 18;
}

gboolean
lig_score_sheet_measure_font (LigScoreSheet *self)
{
  LigScoreMetrics old = self->metrics;
  lig_score_metrics_init (&self->metrics, measure_line (GTK_WIDGET (self)), FALSE);
  return old.unit != self->metrics.unit || old.compact != self->metrics.compact;
}

static void
css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  LigScoreSheet *self = LIG_SCORE_SHEET (widget);
  GTK_WIDGET_CLASS (g_type_class_peek (GTK_TYPE_WIDGET))->css_changed (widget, change);
  if (self->document && lig_score_sheet_measure_font (self))
    lig_score_sheet_update (self);
}

void
lig_score_sheet_install_metrics (GtkWidgetClass *class)
{
  class->css_changed = css_changed;
}
