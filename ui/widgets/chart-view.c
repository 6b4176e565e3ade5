/* SPDX-License-Identifier: MIT */
/* A chart with its heading, its menu, and export. */
#include "ui/widgets/chart-view.h"

#include "ui/widgets/chart-plot.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"
#include <ligature/report.h>

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

/* The size of exported pictures. */
#define EXPORT_WIDTH 960
#define EXPORT_HEIGHT 540

struct _LigChartView {
  GtkWidget parent_instance;
  GtkWidget *header, *stack, *plot, *empty, *popover;
  GtkLabel *title;
  GtkAdjustment *smoothing;
  gboolean log;
};

G_DEFINE_FINAL_TYPE (LigChartView, lig_chart_view, GTK_TYPE_WIDGET)

static LigChartPlot *
get_plot (LigChartView *self)
{
  return LIG_CHART_PLOT (self->plot);
}

/* --- Showing ------------------------------------------------------------------------------- */

void
lig_chart_view_set_labels (LigChartView *self,
                           const char *title,
                           const char *x_label,
                           const char *y_label)
{
  gtk_label_set_text (self->title, title ? title : "");
  lig_chart_plot_set_labels (get_plot (self), title, x_label, y_label);
}

void
lig_chart_view_set_empty (LigChartView *self, const char *text)
{
  gtk_label_set_text (GTK_LABEL (self->empty), text);
}

void
lig_chart_view_refresh (LigChartView *self)
{
  LigChart chart;
  gboolean shown = gtk_stack_get_visible_child (GTK_STACK (self->stack)) == self->plot;
  if (!shown || !gtk_widget_get_mapped (self->plot)) {
    gboolean any = lig_chart_plot_get_chart (get_plot (self), &chart);
    gtk_stack_set_visible_child (GTK_STACK (self->stack), any ? self->plot : self->empty);
  }
  lig_chart_plot_refresh (get_plot (self));
}

void
lig_chart_view_clear (LigChartView *self)
{
  lig_chart_data_clear (lig_chart_plot_get_data (get_plot (self)));
  lig_chart_plot_set_range (get_plot (self), NAN, NAN);
  lig_chart_plot_set_cursor (get_plot (self), NAN);
  gtk_stack_set_visible_child (GTK_STACK (self->stack), self->empty);
}

void
lig_chart_view_add_curve (LigChartView *self, const char *label, LigCurve *curve)
{
  lig_chart_data_add_curve (lig_chart_plot_get_data (get_plot (self)), label, curve);
  lig_chart_view_refresh (self);
}

void
lig_chart_view_add_points (
  LigChartView *self, const char *label, const double *x, const double *y, guint count)
{
  lig_chart_data_add_points (lig_chart_plot_get_data (get_plot (self)), label, x, y, count);
  lig_chart_view_refresh (self);
}

void
lig_chart_view_set_log (LigChartView *self, gboolean log)
{
  if (self->log == log)
    return;
  self->log = log;
  lig_chart_plot_set_log (get_plot (self), log);
  g_object_notify (G_OBJECT (self), "log");
}

void
lig_chart_view_set_smoothing (LigChartView *self, double smoothing)
{
  gtk_adjustment_set_value (self->smoothing, smoothing);
}

void
lig_chart_view_set_range (LigChartView *self, double from, double to)
{
  lig_chart_plot_set_range (get_plot (self), from, to);
}

void
lig_chart_view_set_cursor (LigChartView *self, double x)
{
  lig_chart_plot_set_cursor (get_plot (self), x);
}

double
lig_chart_view_get_cursor (LigChartView *self)
{
  return lig_chart_plot_get_cursor (get_plot (self));
}

/* --- Export -------------------------------------------------------------------------------- */

static void
draw_chart (LigCanvas *canvas, gpointer data)
{
  lig_draw_chart (canvas, lig_colours (LIG_COLOURS_LIGHT), data, EXPORT_WIDTH, EXPORT_HEIGHT);
}

/* Files have light colours, because they are used in documents. */
gboolean
lig_chart_view_export (LigChartView *self, const char *path, GError **error)
{
  LigChart chart;
  const char *dot = strrchr (path, '.');
  lig_chart_plot_get_chart (get_plot (self), &chart);
  chart.cursor = NAN;
  if (dot && g_ascii_strcasecmp (dot, ".csv") == 0) {
    char *text = lig_chart_to_csv (&chart);
    g_autoptr (GBytes) table = g_bytes_new_take (text, strlen (text));
    return lig_report_save (table, path, error);
  }
  g_autofree char *format = g_ascii_strdown (dot ? dot + 1 : "png", -1);
  g_autoptr (GBytes) bytes =
    lig_draw_to_file (format, EXPORT_WIDTH, EXPORT_HEIGHT, lig_colours (LIG_COLOURS_LIGHT)->ground,
                      draw_chart, &chart, error);
  return bytes && lig_report_save (bytes, path, error);
}

static void
export_chosen (GtkNativeDialog *dialog, int response, LigChartView *self)
{
  g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  g_autofree char *path = file ? g_file_get_path (file) : NULL;
  GError *error = NULL;
  if (response == GTK_RESPONSE_ACCEPT && path) {
    g_autofree char *name = g_path_get_basename (path);
    g_autofree char *text = g_strdup_printf (_ ("Saved %s"), name);
    if (lig_chart_view_export (self, path, &error))
      lig_toast (GTK_WIDGET (self), text, NULL, NULL);
    else
      lig_toast_error (GTK_WIDGET (self), error);
  }
  g_object_unref (dialog);
}

static void
choose_export (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigChartView *self = LIG_CHART_VIEW (widget);
  const char *extension = strrchr (action, '-') + 1;
  const char *title = gtk_label_get_text (self->title);
  g_autofree char *plain = g_strdelimit (g_utf8_strdown (*title ? title : "chart", -1), " /:", '-');
  g_autofree char *name = g_strconcat (plain, ".", extension, NULL);
  GtkFileChooserNative *dialog =
    gtk_file_chooser_native_new (_ ("Export chart"), GTK_WINDOW (gtk_widget_get_root (widget)),
                                 GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Export"), NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  g_signal_connect_object (dialog, "response", G_CALLBACK (export_chosen), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
copy_csv (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigChart chart;
  lig_chart_plot_get_chart (get_plot (LIG_CHART_VIEW (widget)), &chart);
  g_autofree char *text = lig_chart_to_csv (&chart);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), text);
  lig_toast (widget, _ ("Copied as CSV"), NULL, NULL);
}

static void
reset (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lig_chart_view_set_range (LIG_CHART_VIEW (widget), NAN, NAN);
}

/* --- The menu ------------------------------------------------------------------------------ */

static GMenuModel *
make_menu (void)
{
  GMenu *menu = g_menu_new (), *shown = g_menu_new (), *files = g_menu_new ();
  g_autoptr (GMenuItem) smoothing = g_menu_item_new (NULL, NULL);
  g_menu_item_set_attribute (smoothing, "custom", "s", "smoothing");
  g_menu_append (shown, _ ("_Logarithmic scale"), "chart.log");
  g_menu_append (shown, _ ("Show _everything"), "chart.reset");
  g_menu_append_item (shown, smoothing);
  g_menu_append (files, _ ("Export as _PNG…"), "chart.export-png");
  g_menu_append (files, _ ("Export as _SVG…"), "chart.export-svg");
  g_menu_append (files, _ ("Export as _CSV…"), "chart.export-csv");
  g_menu_append (files, _ ("C_opy as CSV"), "chart.copy-csv");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (shown));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (files));
  g_object_unref (shown);
  g_object_unref (files);
  return G_MENU_MODEL (menu);
}

static GtkWidget *
make_smoothing (LigChartView *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *label = gtk_label_new_with_mnemonic (_ ("S_moothing"));
  GtkWidget *scale = gtk_scale_new (GTK_ORIENTATION_HORIZONTAL, self->smoothing);
  gtk_label_set_mnemonic_widget (GTK_LABEL (label), scale);
  gtk_widget_set_size_request (scale, 140, -1);
  gtk_widget_set_hexpand (scale, TRUE);
  gtk_widget_set_margin_start (box, 12);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), scale);
  gtk_accessible_update_property (GTK_ACCESSIBLE (scale), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Smoothing"), -1);
  return box;
}

static GtkWidget *
make_popover (LigChartView *self)
{
  g_autoptr (GMenuModel) menu = make_menu ();
  GtkWidget *popover = gtk_popover_menu_new_from_model (menu);
  gtk_popover_menu_add_child (GTK_POPOVER_MENU (popover), make_smoothing (self), "smoothing");
  return popover;
}

static void
open_menu_at (LigChartView *self, double x, double y)
{
  const GdkRectangle place = {(int) x, (int) y, 1, 1};
  gtk_popover_set_pointing_to (GTK_POPOVER (self->popover), &place);
  gtk_popover_popup (GTK_POPOVER (self->popover));
}

static void
secondary_pressed (GtkGestureClick *click, int presses, double x, double y, LigChartView *self)
{
  open_menu_at (self, x, y);
}

static void
open_menu (GtkWidget *widget, const char *action, GVariant *parameter)
{
  graphene_rect_t place;
  LigChartView *self = LIG_CHART_VIEW (widget);
  if (gtk_widget_compute_bounds (self->stack, widget, &place))
    open_menu_at (self, (double) (place.origin.x + place.size.width / 2),
                  (double) (place.origin.y + place.size.height / 2));
}

/* --- Construction -------------------------------------------------------------------------- */

enum { PROP_LOG = 1 };

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  g_value_set_boolean (value, LIG_CHART_VIEW (object)->log);
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  lig_chart_view_set_log (LIG_CHART_VIEW (object), g_value_get_boolean (value));
}

static void
lig_chart_view_dispose (GObject *object)
{
  LigChartView *self = LIG_CHART_VIEW (object);
  g_clear_pointer (&self->popover, gtk_widget_unparent);
  g_clear_pointer (&self->header, gtk_widget_unparent);
  g_clear_pointer (&self->stack, gtk_widget_unparent);
  g_clear_object (&self->smoothing);
  G_OBJECT_CLASS (lig_chart_view_parent_class)->dispose (object);
}

/* A popover must be allocated by its parent widget. */
static void
lig_chart_view_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigChartView *self = LIG_CHART_VIEW (widget);
  GTK_WIDGET_CLASS (lig_chart_view_parent_class)->size_allocate (widget, width, height, baseline);
  gtk_popover_present (GTK_POPOVER (self->popover));
}

static void
install_actions (GtkWidgetClass *class)
{
  gtk_widget_class_install_property_action (class, "chart.log", "log");
  gtk_widget_class_install_action (class, "chart.reset", NULL, reset);
  gtk_widget_class_install_action (class, "chart.menu", NULL, open_menu);
  gtk_widget_class_install_action (class, "chart.export-png", NULL, choose_export);
  gtk_widget_class_install_action (class, "chart.export-svg", NULL, choose_export);
  gtk_widget_class_install_action (class, "chart.export-csv", NULL, choose_export);
  gtk_widget_class_install_action (class, "chart.copy-csv", NULL, copy_csv);
  gtk_widget_class_add_binding_action (class, GDK_KEY_F10, GDK_SHIFT_MASK, "chart.menu", NULL);
  gtk_widget_class_add_binding_action (class, GDK_KEY_Menu, 0, "chart.menu", NULL);
  gtk_widget_class_add_binding_action (class, GDK_KEY_l, 0, "chart.log", NULL);
}

static void
lig_chart_view_class_init (LigChartViewClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  object_class->dispose = lig_chart_view_dispose;
  object_class->get_property = get_property;
  object_class->set_property = set_property;
  widget_class->size_allocate = lig_chart_view_size_allocate;
  g_object_class_install_property (
    object_class, PROP_LOG,
    g_param_spec_boolean ("log", NULL, NULL, FALSE,
                          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY));
  install_actions (widget_class);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BOX_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "chartview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
add_header (LigChartView *self)
{
  GtkWidget *log = gtk_toggle_button_new_with_label (_ ("log"));
  GtkWidget *menu = gtk_menu_button_new ();
  self->header = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->title = GTK_LABEL (gtk_label_new (NULL));
  gtk_label_set_xalign (self->title, 0);
  gtk_label_set_ellipsize (self->title, PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (GTK_WIDGET (self->title), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->title), "heading");
  gtk_widget_add_css_class (log, "flat");
  gtk_widget_add_css_class (log, "chart-button");
  lig_tooltip_set (log, _ ("Logarithmic scale"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (log), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Logarithmic scale"), -1);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (log), "chart.log");
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (menu), "view-more-symbolic");
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (menu), make_popover (self));
  gtk_widget_add_css_class (menu, "flat");
  gtk_widget_add_css_class (menu, "chart-button");
  lig_tooltip_set (menu, _ ("Chart menu"));
  gtk_box_append (GTK_BOX (self->header), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (self->header), log);
  gtk_box_append (GTK_BOX (self->header), menu);
  gtk_widget_set_parent (self->header, GTK_WIDGET (self));
}

static void
add_stack (LigChartView *self)
{
  self->stack = gtk_stack_new ();
  self->plot = g_object_new (LIG_TYPE_CHART_PLOT, NULL);
  self->empty = gtk_label_new (_ ("No data yet"));
  gtk_widget_add_css_class (self->empty, "dim-label");
  gtk_label_set_wrap (GTK_LABEL (self->empty), TRUE);
  gtk_label_set_justify (GTK_LABEL (self->empty), GTK_JUSTIFY_CENTER);
  gtk_stack_add_child (GTK_STACK (self->stack), self->empty);
  gtk_stack_add_child (GTK_STACK (self->stack), self->plot);
  gtk_widget_set_parent (self->stack, GTK_WIDGET (self));
}

static void
smooth (LigChartView *self)
{
  lig_chart_plot_set_smoothing (get_plot (self), gtk_adjustment_get_value (self->smoothing));
}

static void
lig_chart_view_init (LigChartView *self)
{
  GtkLayoutManager *layout = gtk_widget_get_layout_manager (GTK_WIDGET (self));
  GtkGesture *click = gtk_gesture_click_new ();
  gtk_orientable_set_orientation (GTK_ORIENTABLE (layout), GTK_ORIENTATION_VERTICAL);
  gtk_box_layout_set_spacing (GTK_BOX_LAYOUT (layout), 6);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  self->smoothing = g_object_ref_sink (gtk_adjustment_new (0, 0, 0.99, 0.05, 0.1, 0));
  add_header (self);
  add_stack (self);
  self->popover = make_popover (self);
  gtk_popover_set_has_arrow (GTK_POPOVER (self->popover), FALSE);
  gtk_widget_set_halign (self->popover, GTK_ALIGN_START);
  gtk_widget_set_parent (self->popover, GTK_WIDGET (self));
  g_signal_connect_object (self->smoothing, "value-changed", G_CALLBACK (smooth), self,
                           G_CONNECT_SWAPPED);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), GDK_BUTTON_SECONDARY);
  g_signal_connect (click, "pressed", G_CALLBACK (secondary_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
}

GtkWidget *
lig_chart_view_new (void)
{
  return g_object_new (LIG_TYPE_CHART_VIEW, NULL);
}
