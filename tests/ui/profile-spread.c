/* SPDX-License-Identifier: MIT */
/* The Profile page with spreads: tiles, table and picture agree, differences within the noise do
 * not count, and a disturbed measurement is reported. */
#include "tests/ui/profile-case.h"
#include "ui/profile/profiling.h"

#include <ligature/draw.h>

#include <math.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *page;
  LigProfiling *profiling;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "cpu");
  f->page = open_profile (f->doc, f->session, "layer-norm ! linear(64) ! gelu ! linear(32)",
                          "32x32", &f->window);
  f->profiling = lig_profiling_of (f->doc);
  GtkWidget *overlay = adw_toast_overlay_new ();
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (overlay), f->page);
  show_in (f->window, overlay, 1200, 800);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

static void
run (Fixture *f, const char *action)
{
  g_action_group_activate_action (G_ACTION_GROUP (f->window), action, NULL);
  WAIT_FOR (!lig_measurement_is_active (LIG_MEASUREMENT (f->profiling)));
  g_assert_null (lig_measurement_get_error (LIG_MEASUREMENT (f->profiling)));
  wait_for_frame (f->window);
}

/* Makes the page show invented figures. */
static void
change (Fixture *f)
{
  g_signal_emit_by_name (f->profiling, "measured");
  wait_for_frame (f->window);
}

static void
set_step (Fixture *f, guint n, double lower, double median, double upper)
{
  LigProfiled *profiled = (LigProfiled *) lig_profiling_get (f->profiling, n);
  profiled->step = median;
  profiled->spreads[3] = (LigSpread){15, median, lower, upper};
  profiled->conditions.disturbances = 0;
}

static gboolean
shows (Fixture *f, const char *text)
{
  return find_widget (f->page, shows_text, text) != NULL;
}

/* The picture's heading of a pass has the figure of its tile. */
static void
test_agreement (Fixture *f, gconstpointer data)
{
  static const char *const titles[] = {"Forward", "Backward", "Update"};
  LigTimedPlan timed;
  run (f, "profile");
  const LigProfiled *profiled = lig_profiling_get_shown (f->profiling);
  g_assert_true (lig_profiling_get_timed (f->profiling, &timed));
  LigCanvas *canvas = lig_canvas_new_svg (800, lig_draw_times_height (&timed));
  lig_draw_times (canvas, lig_colours (LIG_COLOURS_LIGHT), &timed, 800);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  lig_canvas_free (canvas);
  canvas = lig_canvas_new_svg (800, 240);
  lig_draw_timeline (canvas, lig_colours (LIG_COLOURS_LIGHT), &timed, 800, 240);
  g_autofree char *timeline = lig_canvas_to_svg (canvas);
  lig_canvas_free (canvas);
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++) {
    g_autofree char *time = lig_draw_time (profiled->spreads[i].median);
    g_autofree char *heading = g_strdup_printf ("%s · %s", titles[i], time);
    g_autofree char *quartiles = lig_spread_to_text (&profiled->spreads[i]);
    g_autofree char *note = g_strdup_printf ("%s · 15 runs", quartiles);
    g_assert_cmpuint (profiled->spreads[i].count, ==, 15);
    g_assert_true (shows (f, time));
    g_assert_true (shows (f, note));
    if (!strstr (svg, heading))
      g_error ("'%s' is not in:\n%s", heading, svg);
    g_assert_true (strstr (timeline, time));
  }
}

/* Predicted figures are marked as predicted. */
static void
test_predicted (Fixture *f, gconstpointer data)
{
  lig_document_set_device (f->doc, "null:h200");
  wait_for_plan (f->doc);
  WAIT_FOR (shows (f, "predicted, not measured"));
  g_assert_true (shows (f, "≈ "));
  g_assert_true (shows (f, " rows/s"));
  g_assert_false (shows (f, " runs"));
}

static void
test_compare (Fixture *f, gconstpointer data)
{
  run (f, "compare-policies");
  /* Far apart, with a narrow spread. */
  set_step (f, 0, 199e-6, 200e-6, 201e-6);
  set_step (f, 1, 149e-6, 150e-6, 151e-6);
  set_step (f, 2, 150e-6, 150.4e-6, 151e-6);
  change (f);
  g_assert_true (shows (f, "33 % more time"));
  g_assert_true (shows (f, "least time"));
  g_assert_true (shows (f, "no difference (noise 0.7 %)"));
  g_assert_true (shows (f, "199–201 µs"));
  g_assert_true (shows (f, "Medians of 15 interleaved runs"));
  /* 32 rows in 150 µs. */
  g_assert_true (shows (f, "213 k rows/s"));
  g_assert_false (shows (f, "unreliable"));
  /* The same medians with a wide spread count as equal. */
  set_step (f, 0, 120e-6, 200e-6, 320e-6);
  set_step (f, 1, 110e-6, 150e-6, 240e-6);
  change (f);
  g_assert_false (shows (f, "more time"));
  g_assert_true (shows (f, "No difference beyond the noise"));
}

static void
test_disturbed (Fixture *f, gconstpointer data)
{
  run (f, "profile");
  LigProfiled *profiled = (LigProfiled *) lig_profiling_get (f->profiling, 0);
  set_step (f, 0, 149e-6, 150e-6, 151e-6);
  change (f);
  g_assert_false (shows (f, "unreliable"));
  profiled->conditions = (LigConditions){.cpus = 4, .others = 2, .shared = -1};
  profiled->conditions.synchronous = TRUE;
  profiled->conditions.step = profiled->spreads[3];
  lig_conditions_judge (&profiled->conditions);
  change (f);
  g_assert_true (shows (f, "These times are unreliable: other programs kept 2.0 of 4 CPUs busy."));
  g_assert_nonnull (find_widget (f->page, has_action, "profile.run"));
}

static gboolean
is_cut (GtkWidget *widget, gconstpointer data)
{
  return GTK_IS_LABEL (widget) && gtk_widget_get_mapped (widget) &&
         pango_layout_is_ellipsized (gtk_label_get_layout (GTK_LABEL (widget)));
}

/* With large text in a small window, no figure is truncated, and the page is not wider than the
 * window. */
static void
test_large_text (Fixture *f, gconstpointer data)
{
  int usual;
  GtkSettings *settings = gtk_settings_get_default ();
  g_object_get (settings, "gtk-xft-dpi", &usual, NULL);
  run (f, "compare-policies");
  g_object_set (settings, "gtk-xft-dpi", 144 * 1024, NULL);
  gtk_window_set_default_size (GTK_WINDOW (f->window), 800, 600);
  for (int i = 0; i < 5; i++)
    wait_for_frame (f->window);
  GtkWidget *cut = find_widget (f->page, is_cut, NULL);
  g_assert_cmpint (gtk_widget_get_width (f->window), <=, 800);
  if (cut)
    g_error ("'%s' is cut", gtk_label_get_text (GTK_LABEL (cut)));
  g_object_set (settings, "gtk-xft-dpi", usual, NULL);
}

static void
add_tests (void)
{
  g_assert_true (g_main_context_acquire (NULL));
#define ADD(name) \
  g_test_add ("/ui/profile-spread/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (agreement);
  ADD (predicted);
  ADD (compare);
  ADD (disturbed);
  ADD (large_text);
#undef ADD
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
