/* SPDX-License-Identifier: MIT */
/* The numbers of a running training run, and its loss as a sparkline. */
#include "ui/run/live.h"

#include "ui/run/settings.h"
#include <ligature/store-rows.h>

#include <glib/gi18n.h>
#include <math.h>

#define EVERY_MICROSECONDS 100000

/* --- The spark line ------------------------------------------------------------------------ */

static double
place (double value, gboolean log)
{
  return !log ? value : value > 0 ? log10 (value) : NAN;
}

static void
find_extent (const LigCurvePoint *points, guint count, double *min, double *max)
{
  *min = INFINITY;
  *max = -INFINITY;
  for (guint i = 0; i < count; i++) {
    *min = fmin (*min, points[i].mean);
    *max = fmax (*max, points[i].mean);
  }
}

/* A few points per pixel are enough. A loss with a wide range is plotted on a logarithmic scale. */
static void
draw_spark (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer data)
{
  LigRunLive *self = data;
  guint count = 0;
  GdkRGBA colour;
  double min, max;
  const LigCurvePoint *points = self->curve ? lig_curve_get_points (self->curve, &count) : NULL;
  find_extent (points, count, &min, &max);
  if (count < 2 || !(points[count - 1].x > points[0].x))
    return;
  gboolean log = min > 0 && max > 50 * min;
  double top = place (max, log), first = points[0].x;
  double span = max > min ? top - place (min, log) : 1;
  guint stride = MAX (count / ((guint) width * 2), 1);
  for (guint i = 0; i < count; i += stride)
    if (!isnan (points[i].mean))
      cairo_line_to (cairo, (points[i].x - first) / (points[count - 1].x - first) * width,
                     1 + (top - place (points[i].mean, log)) / span * (height - 2));
  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (area)), &colour);
  gdk_cairo_set_source_rgba (cairo, &colour);
  cairo_set_line_width (cairo, 1.5);
  cairo_set_line_join (cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_stroke (cairo);
}

static void
show_spark (LigRunLive *self, LigTraining *training)
{
  LigCurve *curve = lig_training_get_curve (training, LIG_METRIC_LOSS);
  if (!self->spark)
    return;
  if (curve != self->curve) {
    g_clear_pointer (&self->curve, lig_curve_free);
    self->curve = lig_curve_ref (curve);
    gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->spark), draw_spark, self, NULL);
  }
  gtk_widget_queue_draw (self->spark);
}

/* --- Numbers ------------------------------------------------------------------------------- */

/* A label is only laid out again if its text changed. */
static void
set_text (GtkLabel *label, const char *text)
{
  if (label && !g_str_equal (gtk_label_get_text (label), text))
    gtk_label_set_text (label, text);
}

static void
show_losses (LigRunLive *self, const LigRunProgress *progress)
{
  g_autofree char *loss = lig_train_format_number (progress->loss);
  g_autofree char *validation = lig_train_format_number (progress->eval_loss);
  g_autofree char *loss_text = g_strdup_printf (_ ("loss %s"), loss);
  g_autofree char *validation_text =
    isnan (progress->eval_accuracy) ? g_strdup_printf (_ ("validation loss %s"), validation)
                                    : g_strdup_printf (_ ("validation loss %s · accuracy %.1f %%"),
                                                       validation, progress->eval_accuracy * 100);
  set_text (self->loss, loss_text);
  set_text (self->validation, isnan (progress->eval_loss) ? "" : validation_text);
}

static void
show_speed (LigRunLive *self, const LigRunProgress *progress)
{
  g_autofree char *step = lig_train_format_seconds (progress->step_seconds);
  g_autofree char *rate = lig_run_describe_rate (progress);
  g_autofree char *text =
    rate ? g_strdup_printf (_ ("step %s · %s"), step, rate) : g_strdup_printf (_ ("step %s"), step);
  g_autofree char *shared = g_strdup_printf (_ ("%s · rank %d slowest"), text, progress->slowest);
  g_autofree char *waits = lig_run_explain_waits (progress);
  set_text (self->speed, isnan (progress->step_seconds) ? "" : waits ? shared : text);
  if (self->speed && g_strcmp0 (gtk_widget_get_tooltip_text (GTK_WIDGET (self->speed)), waits) != 0)
    gtk_widget_set_tooltip_text (GTK_WIDGET (self->speed), waits);
}

void
lig_run_live_update (LigRunLive *self, LigTraining *training, gboolean now)
{
  gint64 time = g_get_monotonic_time ();
  LigRunProgress progress;
  if (!now && time - self->updated < EVERY_MICROSECONDS)
    return;
  self->updated = time;
  lig_training_get_progress (training, &progress);
  g_autofree char *status = lig_train_format_status (training);
  show_losses (self, &progress);
  show_speed (self, &progress);
  set_text (self->status, status);
  show_spark (self, training);
  if (!self->progress)
    return;
  if (progress.status == LIG_RUN_READY)
    gtk_progress_bar_pulse (self->progress);
  else
    gtk_progress_bar_set_fraction (
      self->progress, progress.steps > 0 ? (double) progress.step / (double) progress.steps : 0);
}

void
lig_run_live_clear (LigRunLive *self)
{
  if (self->spark && self->curve)
    gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->spark), NULL, NULL, NULL);
  g_clear_pointer (&self->curve, lig_curve_free);
}
