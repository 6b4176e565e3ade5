/* SPDX-License-Identifier: MIT */
/* Draws with the engine's chart code, in the colours of the window's style. GTK caches the drawing
 * until the plot is refreshed, so an unchanged chart is free. */
#include "ui/widgets/chart-plot.h"

#include "ui/widgets/style-colours.h"
#include "ui/widgets/text-scale.h"

#include <adwaita.h>
#include <math.h>

struct _LigChartPlot {
  GtkWidget parent_instance;
  LigChartData *data;
  LigChart chart;
  char *title, *x_label, *y_label;
  double drag_from, drag_to; /* pixels; NaN: none */
  double scale;              /* pixels per unit of the drawing */
};

G_DEFINE_FINAL_TYPE (LigChartPlot, lig_chart_plot, GTK_TYPE_WIDGET)

enum { READ, N_SIGNALS };
static guint signals[N_SIGNALS];

/* --- Drawing ------------------------------------------------------------------------------- */

/* The title is a label above the plot. */
static gboolean
get_chart (LigChartPlot *self, LigChart *chart, guint max)
{
  *chart = self->chart;
  chart->title = NULL;
  chart->x_label = self->x_label;
  chart->y_label = self->y_label;
  return lig_chart_data_fill (self->data, chart, max);
}

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigChartPlot *self = LIG_CHART_PLOT (widget);
  const double scale = self->scale;
  float width = (float) gtk_widget_get_width (widget);
  float height = (float) gtk_widget_get_height (widget);
  LigChart chart;
  /* Returns one point per two pixels, fewer for many curves: the band shows the range between
   * points.
   */
  guint pixels = MAX (2, lig_chart_data_get_count (self->data) / 2);
  if (width < 40 || height < 40 || !get_chart (self, &chart, (guint) width / pixels))
    return;
  cairo_t *cairo = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  cairo_scale (cairo, scale, scale);
  g_autoptr (LigCanvas) canvas = lig_canvas_new (cairo);
  /* A single curve needs no legend below its heading; an empty title hides the legend. */
  chart.title = chart.count == 1 ? "" : NULL;
  const LigColours *colours = lig_style_colours ();
  lig_draw_chart (canvas, colours, &chart, (double) width / scale, (double) height / scale);
  if (!isnan (self->drag_from))
    lig_canvas_box (canvas, fmin (self->drag_from, self->drag_to) / scale, 0,
                    fabs (self->drag_to - self->drag_from) / scale, (double) height / scale, 0,
                    (colours->forward & 0xffffff00) | 0x30, colours->forward, 1);
  g_clear_pointer (&canvas, lig_canvas_free);
  cairo_destroy (cairo);
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
  const double scale = LIG_CHART_PLOT (widget)->scale;
  *minimum = (int) ((orientation == GTK_ORIENTATION_HORIZONTAL ? 120 : 90) * scale);
  *natural = (int) ((orientation == GTK_ORIENTATION_HORIZONTAL ? 360 : 200) * scale);
}

static void
css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  LigChartPlot *self = LIG_CHART_PLOT (widget);
  GTK_WIDGET_CLASS (lig_chart_plot_parent_class)->css_changed (widget, change);
  double scale = lig_text_scale (widget);
  if (scale == self->scale)
    return;
  self->scale = scale;
  gtk_widget_queue_resize (widget);
}

/* --- The cursor ---------------------------------------------------------------------------- */

static void
update_accessible (LigChartPlot *self)
{
  LigChart chart;
  gboolean any = get_chart (self, &chart, 0);
  g_autofree char *text =
    any && !isnan (chart.cursor) ? lig_chart_read_out (&chart, chart.cursor) : NULL;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  self->title ? self->title : "",
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text ? text : "",
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text ? text : "", -1);
}

void
lig_chart_plot_set_cursor (LigChartPlot *self, double x)
{
  if (self->chart.cursor == x || (isnan (x) && isnan (self->chart.cursor)))
    return;
  self->chart.cursor = x;
  update_accessible (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, signals[READ], 0);
}

double
lig_chart_plot_get_cursor (LigChartPlot *self)
{
  return self->chart.cursor;
}

static double
find_x (LigChartPlot *self, double pixel)
{
  LigChart chart;
  if (!get_chart (self, &chart, 0))
    return NAN;
  const double scale = self->scale;
  return lig_chart_find_x (&chart, gtk_widget_get_width (GTK_WIDGET (self)) / scale,
                           gtk_widget_get_height (GTK_WIDGET (self)) / scale, pixel / scale);
}

/* --- Zoom ---------------------------------------------------------------------------------- */

void
lig_chart_plot_set_range (LigChartPlot *self, double from, double to)
{
  self->chart.from = from;
  self->chart.to = to;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Scales the visible range by @factor around the cursor. */
static void
zoom (LigChartPlot *self, double factor)
{
  double min, max, cursor = self->chart.cursor;
  if (!lig_chart_data_get_ends (self->data, &min, &max))
    return;
  double from = isnan (self->chart.from) ? min : self->chart.from;
  double to = isnan (self->chart.to) ? max : self->chart.to;
  double centre = cursor >= from && cursor <= to ? cursor : (from + to) / 2;
  from = centre - (centre - from) * factor;
  to = centre + (to - centre) * factor;
  if (from <= min && to >= max)
    lig_chart_plot_set_range (self, NAN, NAN);
  else if (to - from > (max - min) * 1e-6)
    lig_chart_plot_set_range (self, fmax (from, min), fmin (to, max));
}

/* --- Keys and pointer ---------------------------------------------------------------------- */

static gboolean
move_cursor (GtkWidget *widget, GVariant *arguments, gpointer data)
{
  LigChartPlot *self = LIG_CHART_PLOT (widget);
  int steps = g_variant_get_int32 (arguments);
  double x = self->chart.cursor;
  /* If points are denser than pixels, a key press moves the cursor by one pixel. */
  LigChart chart;
  guint max = 0;
  if (get_chart (self, &chart, 0))
    for (guint i = 0; i < chart.count; i++)
      max = MAX (max, chart.series[i].count);
  int width = MAX (gtk_widget_get_width (widget), 1);
  int stride = MAX ((int) max / width, 1);
  lig_chart_plot_set_cursor (self, lig_chart_data_move (self->data, x, steps * stride));
  return GDK_EVENT_STOP;
}

static gboolean
go_to_end (GtkWidget *widget, GVariant *arguments, gpointer data)
{
  LigChartPlot *self = LIG_CHART_PLOT (widget);
  lig_chart_plot_set_cursor (
    self, lig_chart_data_move (self->data, NAN, g_variant_get_int32 (arguments)));
  return GDK_EVENT_STOP;
}

static gboolean
zoom_by_key (GtkWidget *widget, GVariant *arguments, gpointer data)
{
  int how = g_variant_get_int32 (arguments);
  if (how == 0)
    lig_chart_plot_set_range (LIG_CHART_PLOT (widget), NAN, NAN);
  else
    zoom (LIG_CHART_PLOT (widget), how > 0 ? 0.5 : 2);
  return GDK_EVENT_STOP;
}

static void
pointer_moved (GtkEventControllerMotion *motion, double x, double y, LigChartPlot *self)
{
  lig_chart_plot_set_cursor (self, find_x (self, x));
}

static void
pointer_left (GtkEventControllerMotion *motion, LigChartPlot *self)
{
  lig_chart_plot_set_cursor (self, NAN);
}

static void
pressed (GtkGestureClick *click, int presses, double x, double y, LigChartPlot *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (presses == 2)
    lig_chart_plot_set_range (self, NAN, NAN);
}

static void
drag_updated (GtkGestureDrag *drag, double dx, double dy, LigChartPlot *self)
{
  double x, y;
  if (!gtk_gesture_drag_get_start_point (drag, &x, &y) || fabs (dx) < 6)
    return;
  self->drag_from = x;
  self->drag_to = x + dx;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
drag_ended (GtkGestureDrag *drag, double dx, double dy, LigChartPlot *self)
{
  double from = fmin (self->drag_from, self->drag_to), to = fmax (self->drag_from, self->drag_to);
  if (isnan (self->drag_from))
    return;
  double min, max, left = find_x (self, from), right = find_x (self, to);
  self->drag_from = self->drag_to = NAN;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (!lig_chart_data_get_ends (self->data, &min, &max))
    return;
  left = isnan (left) ? min : left;
  right = isnan (right) ? max : right;
  if (right > left)
    lig_chart_plot_set_range (self, left, right);
}

/* --- Setting ------------------------------------------------------------------------------- */

LigChartData *
lig_chart_plot_get_data (LigChartPlot *self)
{
  return self->data;
}

void
lig_chart_plot_refresh (LigChartPlot *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
lig_chart_plot_set_labels (LigChartPlot *self,
                           const char *title,
                           const char *x_label,
                           const char *y_label)
{
  g_free (self->title);
  g_free (self->x_label);
  g_free (self->y_label);
  self->title = g_strdup (title);
  self->x_label = g_strdup (x_label);
  self->y_label = g_strdup (y_label);
  update_accessible (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
lig_chart_plot_set_log (LigChartPlot *self, gboolean log)
{
  self->chart.log_y = log;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
lig_chart_plot_set_smoothing (LigChartPlot *self, double smoothing)
{
  self->chart.smoothing = CLAMP (smoothing, 0, 0.999);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

gboolean
lig_chart_plot_get_chart (LigChartPlot *self, LigChart *chart)
{
  gboolean any = get_chart (self, chart, 0);
  chart->title = self->title;
  return any;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_chart_plot_finalize (GObject *object)
{
  LigChartPlot *self = LIG_CHART_PLOT (object);
  lig_chart_data_free (self->data);
  g_free (self->title);
  g_free (self->x_label);
  g_free (self->y_label);
  G_OBJECT_CLASS (lig_chart_plot_parent_class)->finalize (object);
}

static void
add_keys (GtkWidgetClass *class)
{
  static const struct {
    guint key;
    GtkShortcutFunc func;
    int argument;
  } keys[] = {
    {GDK_KEY_Left, move_cursor, -1},     {GDK_KEY_Right, move_cursor, 1},
    {GDK_KEY_Page_Up, move_cursor, -10}, {GDK_KEY_Page_Down, move_cursor, 10},
    {GDK_KEY_Home, go_to_end, 1},        {GDK_KEY_End, go_to_end, -1},
    {GDK_KEY_plus, zoom_by_key, 1},      {GDK_KEY_KP_Add, zoom_by_key, 1},
    {GDK_KEY_minus, zoom_by_key, -1},    {GDK_KEY_KP_Subtract, zoom_by_key, -1},
    {GDK_KEY_0, zoom_by_key, 0},         {GDK_KEY_KP_0, zoom_by_key, 0},
  };
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    gtk_widget_class_add_binding (class, keys[i].key, 0, keys[i].func, "i", keys[i].argument);
}

static void
lig_chart_plot_class_init (LigChartPlotClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = lig_chart_plot_finalize;
  widget_class->snapshot = snapshot;
  widget_class->measure = measure;
  widget_class->css_changed = css_changed;
  signals[READ] = g_signal_new ("read", LIG_TYPE_CHART_PLOT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 0);
  add_keys (widget_class);
  gtk_widget_class_set_css_name (widget_class, "chartplot");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
lig_chart_plot_init (LigChartPlot *self)
{
  const LigChart initial = LIG_CHART_INIT;
  AdwStyleManager *style = adw_style_manager_get_default ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkGesture *click = gtk_gesture_click_new (), *drag = gtk_gesture_drag_new ();
  self->chart = initial;
  self->data = lig_chart_data_new ();
  self->drag_from = self->drag_to = NAN;
  self->scale = 1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
  g_signal_connect (motion, "motion", G_CALLBACK (pointer_moved), self);
  g_signal_connect (motion, "leave", G_CALLBACK (pointer_left), self);
  g_signal_connect (click, "pressed", G_CALLBACK (pressed), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_updated), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_ended), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  g_signal_connect_object (style, "notify::dark", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (style, "notify::high-contrast", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
}
