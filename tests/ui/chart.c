/* SPDX-License-Identifier: MIT */
/* Charts: merging of curves, the read-out by pointer and keys, files, and drawing time.
 */
#include "tests/ui/case.h"
#include "ui/widgets/chart-plot.h"
#include "ui/widgets/chart-view.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <time.h>

typedef struct {
  GtkWidget *window, *plot;
  LigChartView *view;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  GtkWidget *view = lig_chart_view_new ();
  f->view = LIG_CHART_VIEW (view);
  f->plot = find_type (view, LIG_TYPE_CHART_PLOT);
  f->window = gtk_window_new ();
  lig_chart_view_set_labels (f->view, "Loss", "step", "loss");
  show_in (f->window, view, 640, 400);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_object_add_weak_pointer (G_OBJECT (f->view), (gpointer *) &f->view);
  gtk_window_destroy (GTK_WINDOW (f->window));
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_null (f->view);
}

/* Activates the plot's shortcut for a key. */
static void
press (GtkWidget *widget, guint key)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++) {
    g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);
    if (!GTK_IS_SHORTCUT_CONTROLLER (controller))
      continue;
    for (guint n = 0; n < g_list_model_get_n_items (G_LIST_MODEL (controller)); n++) {
      g_autoptr (GtkShortcut) shortcut = g_list_model_get_item (G_LIST_MODEL (controller), n);
      GtkShortcutTrigger *trigger = gtk_shortcut_get_trigger (shortcut);
      if (!GTK_IS_KEYVAL_TRIGGER (trigger) ||
          gtk_keyval_trigger_get_keyval (GTK_KEYVAL_TRIGGER (trigger)) != key)
        continue;
      g_assert_true (gtk_shortcut_action_activate (gtk_shortcut_get_action (shortcut), 0, widget,
                                                   gtk_shortcut_get_arguments (shortcut)));
      return;
    }
  }
  g_error ("no shortcut for key %u", key);
}

static void
add_points (Fixture *f)
{
  const double x[] = {1, 2, 3, 4}, train[] = {4, 2, 1, 0.5}, validation[] = {5, 3, NAN, 1};
  lig_chart_view_add_points (f->view, "train", x, train, 4);
  lig_chart_view_add_points (f->view, "validation loss", x, validation, 4);
}

static void
assert_value (Fixture *f, const char *part)
{
  LigChart chart;
  g_assert_true (lig_chart_plot_get_chart (LIG_CHART_PLOT (f->plot), &chart));
  g_autofree char *text = lig_chart_read_out (&chart, lig_chart_view_get_cursor (f->view));
  g_assert_nonnull (text);
  g_assert_nonnull (strstr (text, part));
  gtk_test_accessible_assert_property (f->plot, GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text);
}

static void
test_keys (Fixture *f, gconstpointer data)
{
  g_assert_false (gtk_widget_get_mapped (f->plot));
  add_points (f);
  gtk_test_widget_wait_for_draw (f->window);
  g_assert_true (gtk_widget_get_mapped (f->plot));
  gtk_test_accessible_assert_role (f->plot, GTK_ACCESSIBLE_ROLE_IMG);
  press (f->plot, GDK_KEY_Home);
  g_assert_cmpfloat (lig_chart_view_get_cursor (f->view), ==, 1);
  assert_value (f, "4");
  press (f->plot, GDK_KEY_Right);
  g_assert_cmpfloat (lig_chart_view_get_cursor (f->view), ==, 2);
  assert_value (f, "3");
  press (f->plot, GDK_KEY_End);
  press (f->plot, GDK_KEY_Right);
  g_assert_cmpfloat (lig_chart_view_get_cursor (f->view), ==, 4);
  press (f->plot, GDK_KEY_Left);
  g_assert_cmpfloat (lig_chart_view_get_cursor (f->view), ==, 3);
}

static void
test_zoom (Fixture *f, gconstpointer data)
{
  LigChart chart;
  add_points (f);
  gtk_test_widget_wait_for_draw (f->window);
  press (f->plot, GDK_KEY_Home);
  press (f->plot, GDK_KEY_plus);
  lig_chart_plot_get_chart (LIG_CHART_PLOT (f->plot), &chart);
  g_assert_cmpfloat (chart.from, ==, 1);
  g_assert_cmpfloat (chart.to, ==, 2.5);
  press (f->plot, GDK_KEY_0);
  lig_chart_plot_get_chart (LIG_CHART_PLOT (f->plot), &chart);
  g_assert_true (isnan (chart.from) && isnan (chart.to));
  lig_chart_view_set_range (f->view, 2, 3);
  gtk_widget_activate_action (GTK_WIDGET (f->view), "chart.reset", NULL);
  lig_chart_plot_get_chart (LIG_CHART_PLOT (f->plot), &chart);
  g_assert_true (isnan (chart.from));
  gtk_widget_activate_action (GTK_WIDGET (f->view), "chart.log", NULL);
  lig_chart_view_set_smoothing (f->view, 0.6);
  lig_chart_plot_get_chart (LIG_CHART_PLOT (f->plot), &chart);
  g_assert_true (chart.log_y);
  g_assert_cmpfloat (chart.smoothing, ==, 0.6);
}

static void
test_export (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *name, *begins;
  } files[] = {{"c.png", "\x89PNG"}, {"c.svg", "<"}, {"c.pdf", "%PDF"}, {"c.csv", "step,"}};
  g_autofree char *folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  add_points (f);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = g_build_filename (folder, files[i].name, NULL), *content = NULL;
    lig_chart_view_export (f->view, path, &error);
    g_assert_no_error (error);
    g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
    g_assert_true (g_str_has_prefix (content, files[i].begins));
    if (i == 3)
      g_assert_nonnull (strstr (content, "\n2,2,3\n"));
    g_remove (path);
  }
  g_autoptr (GError) error = NULL;
  g_assert_false (lig_chart_view_export (f->view, "/proc/nowhere/c.svg", &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  g_assert_false (lig_chart_view_export (f->view, "/tmp/c.gif", &error));
  g_assert_nonnull (error);
  g_rmdir (folder);
}

/* The view keeps a curve alive, and shows points that are appended later. */
static void
test_curve (Fixture *f, gconstpointer data)
{
  LigChart chart;
  LigCurve *curve = lig_curve_new ();
  lig_chart_view_add_curve (f->view, "loss", curve);
  g_assert_false (lig_chart_plot_get_chart (LIG_CHART_PLOT (f->plot), &chart));
  for (int i = 0; i < 20000; i++)
    lig_curve_append (curve, i, i % 2);
  lig_chart_view_refresh (f->view);
  g_assert_true (lig_chart_plot_get_chart (LIG_CHART_PLOT (f->plot), &chart));
  g_assert_cmpuint (chart.series[0].count, <=, LIG_CURVE_POINTS);
  g_assert_cmpuint (chart.series[0].count, >=, LIG_CURVE_POINTS / 2);
  g_assert_cmpfloat (chart.series[0].min[0], ==, 0);
  g_assert_cmpfloat (chart.series[0].greatest[0], ==, 1);
  g_assert_cmpfloat (chart.series[0].y[0], ==, 0.5);
  g_assert_cmpfloat (chart.series[0].x[chart.series[0].count - 1], ==, 19999);
  lig_curve_free (curve);
  gtk_test_widget_wait_for_draw (f->window);
  lig_chart_view_clear (f->view);
  g_assert_false (lig_chart_plot_get_chart (LIG_CHART_PLOT (f->plot), &chart));
}

static double
seconds_of_thread (void)
{
  struct timespec time;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

/* Returns the seconds that recording and rasterizing the plot took. */
static double
time_drawing (GtkWidget *plot)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 900, 600);
  cairo_t *cairo = cairo_create (surface);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  double begin = seconds_of_thread ();
  GTK_WIDGET_GET_CLASS (plot)->snapshot (plot, snapshot);
  GskRenderNode *node = gtk_snapshot_free_to_node (snapshot);
  gsk_render_node_draw (node, cairo);
  double seconds = seconds_of_thread () - begin;
  gsk_render_node_unref (node);
  cairo_destroy (cairo);
  cairo_surface_destroy (surface);
  return seconds;
}

/* The shortest of several times counts, because other programs also use this machine. The plot has
 * a read-out, as under a pointer. */
static void
test_drawing_time (Fixture *f, gconstpointer data)
{
  double best = INFINITY;
  for (int series = 0; series < LIG_N_SERIES; series++) {
    g_autoptr (LigCurve) curve = lig_curve_new ();
    for (int i = 0; i < 2 * LIG_CURVE_POINTS; i++)
      lig_curve_append (curve, i, exp (-i / 900.0) + 0.3 * sin (i * (series + 1)) + series);
    lig_chart_view_add_curve (f->view, "curve", curve);
  }
  gtk_test_widget_wait_for_draw (f->window);
  for (int i = 0; i < 12; i++) {
    lig_chart_view_set_cursor (f->view, 100 * i);
    best = fmin (best, time_drawing (f->plot));
  }
  g_test_message ("%u curves of %u points: %.2f ms", LIG_N_SERIES, LIG_CURVE_POINTS, best * 1e3);
  g_assert_cmpfloat (best, <, 8e-3);
}

static void
add_tests (void)
{
#define ADD(name) g_test_add ("/chart/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (keys);
  ADD (zoom);
  ADD (export);
  ADD (curve);
  ADD (drawing_time);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
