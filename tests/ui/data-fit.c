/* SPDX-License-Identifier: MIT */
/* Data that do not fit the model: the chooser reports it before they are used, the message
 * disappears with the data, and other data keep measured times. */
#include "tests/ui/run-case.h"
#include "ui/profile/profiling.h"
#include "ui/run/data-chooser.h"

#define TOKENS "embedding(8, vocabulary=256) ! reshape([-1, 128]) ! linear(256) ! cross-entropy"

static char *
get_xor (void)
{
  return g_build_filename (g_getenv ("LIGATURE_DATA"), "examples", "xor.csv", NULL);
}

static const char *
look (LigDataChooser *chooser, const char *path)
{
  gboolean fine;
  lig_data_chooser_set_path (chooser, path);
  WAIT_FOR ((lig_data_chooser_get_preview (chooser, &fine), fine));
  return lig_data_chooser_get_misfit (chooser);
}

static void
test_misfit (Fixture *f, gconstpointer data)
{
  gboolean fine;
  g_autofree char *path = get_xor ();
  prepare (f, TOKENS, "32x16:int32", NULL);
  GtkWindow *window = lig_data_chooser_new (GTK_WINDOW (f->window), f->doc);
  LigDataChooser *chooser = LIG_DATA_CHOOSER (window);
  gtk_window_present (window);
  WAIT_FOR ((lig_data_chooser_get_preview (chooser, &fine), fine));
  /* Random tokens fit. */
  g_assert_null (lig_data_chooser_get_misfit (chooser));
  g_assert_cmpstr (look (chooser, path), ==,
                   "xor.csv gives 2 numbers; the model wants 16 whole tokens");
  g_assert_nonnull (find_widget (GTK_WIDGET (window), shows_text, "the model wants 16"));
  /* The message disappears as soon as the data change. */
  lig_data_chooser_set_spec (chooser, "synthetic?vocabulary=256");
  g_assert_null (lig_data_chooser_get_misfit (chooser));
  WAIT_FOR ((lig_data_chooser_get_preview (chooser, &fine), fine));
  g_assert_null (lig_data_chooser_get_misfit (chooser));
  /* A token outside the vocabulary does not fit either. */
  lig_data_chooser_set_spec (chooser, "synthetic?vocabulary=300");
  WAIT_FOR (lig_data_chooser_get_misfit (chooser));
  g_assert_nonnull (strstr (lig_data_chooser_get_misfit (chooser), "256"));
  gtk_window_destroy (window);
}

/* A page that shows 16 features does not train on 2, even if the model would adapt: the message has
 * both, and data with the input's shape fit. */
static void
test_fits (Fixture *f, gconstpointer data)
{
  g_autofree char *path = get_xor ();
  static const char *const models[] = {"linear(8) ! gelu ! linear(2) ! cross-entropy",
                                       "linear(8) ! gelu"};
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    prepare (f, models[i], "32x16", NULL);
    GtkWindow *window = lig_data_chooser_new (GTK_WINDOW (f->window), f->doc);
    g_assert_cmpstr (look (LIG_DATA_CHOOSER (window), path), ==,
                     "xor.csv gives 2 numbers; the input is 32x16, make it 32x2");
    gtk_window_destroy (window);
    prepare (f, models[i], "32x2", NULL);
    window = lig_data_chooser_new (GTK_WINDOW (f->window), f->doc);
    g_assert_null (look (LIG_DATA_CHOOSER (window), path));
    gtk_window_destroy (window);
  }
  /* A fixed number of features does not adapt. */
  prepare (f, "linear(8, in-features=16) ! gelu ! linear(2) ! cross-entropy", "32x16", NULL);
  GtkWindow *window = lig_data_chooser_new (GTK_WINDOW (f->window), f->doc);
  g_assert_cmpstr (look (LIG_DATA_CHOOSER (window), path), ==,
                   "xor.csv gives 2 numbers; the model wants 16 numbers");
  gtk_window_destroy (window);
}

static gboolean
is_label_cut (GtkWidget *widget, gconstpointer data)
{
  return GTK_IS_LABEL (widget) && gtk_widget_get_mapped (widget) &&
         g_str_has_prefix (gtk_label_get_text (GTK_LABEL (widget)), data) &&
         pango_layout_is_ellipsized (gtk_label_get_layout (GTK_LABEL (widget)));
}

/* The kinds are not truncated. */
static void
test_kinds (Fixture *f, gconstpointer data)
{
  const LigDatasetInfo *info;
  prepare (f, TOKENS, "32x16:int32", NULL);
  GtkWindow *window = lig_data_chooser_new (GTK_WINDOW (f->window), f->doc);
  gtk_window_present (window);
  AdwComboRow *row = find_type (GTK_WIDGET (window), ADW_TYPE_COMBO_ROW);
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++) {
    adw_combo_row_set_selected (row, n);
    wait_for_frame (GTK_WIDGET (window));
    g_assert_nonnull (find_widget (GTK_WIDGET (row), shows_text, info->title));
    g_assert_null (find_widget (GTK_WIDGET (row), is_label_cut, info->title));
  }
  gtk_window_destroy (window);
}

/* A profile stays valid while only data, other training settings, or the name change. */
static void
test_profile_stays (Fixture *f, gconstpointer data)
{
  static const LigPolicy policy = LIG_POLICY_ALL;
  LigTimedPlan timed;
  g_autoptr (GError) error = NULL;
  LigProfiling *profiling = lig_profiling_of (f->doc);
  prepare (f, TOKENS, "32x16:int32", NULL);
  g_assert_true (lig_profiling_start (profiling, &policy, 1, 3, &error));
  WAIT_FOR (!lig_measurement_is_active (LIG_MEASUREMENT (profiling)));
  g_assert_null (lig_measurement_get_error (LIG_MEASUREMENT (profiling)));
  g_assert_true (lig_train_set (f->doc, "data", "synthetic?vocabulary=9", &error));
  g_assert_true (lig_train_set (f->doc, "steps", "77", &error));
  g_assert_false (lig_measurement_is_stale (LIG_MEASUREMENT (profiling)));
  wait_for_plan (f->doc);
  g_assert_true (lig_profiling_get_timed (profiling, &timed));
  lig_edit_set_name (f->doc, "another name");
  g_assert_false (lig_measurement_is_stale (LIG_MEASUREMENT (profiling)));
  /* Another batch is another plan. */
  lig_train_set_batch (f->doc, 64);
  g_assert_true (lig_measurement_is_stale (LIG_MEASUREMENT (profiling)));
  wait_for_plan (f->doc);
}

/* A failed run's message in the bar disappears once its data are replaced. */
static void
test_message_goes (Fixture *f, gconstpointer data)
{
  g_autofree char *path = get_xor (), *spec = g_strconcat ("csv:", path, NULL);
  prepare (f, TOKENS, "32x16:int32", NULL);
  g_assert_true (lig_train_set (f->doc, "data", spec, NULL));
  wait_for_plan (f->doc);
  lig_train_start (f->doc);
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_autofree char *error = g_strdup (lig_training_get_error (current (f)));
  g_assert_nonnull (error);
  WAIT_FOR (find_widget (f->bar, shows_text, error));
  g_assert_true (lig_train_set (f->doc, "data", "synthetic?vocabulary=256", NULL));
  wait_for_plan (f->doc);
  WAIT_FOR (!find_widget (f->bar, shows_text, error));
}

static void
add_tests (void)
{
  g_assert_true (g_main_context_acquire (NULL));
#define ADD(path, function) \
  g_test_add ("/ui/data-fit/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("misfit", test_misfit);
  ADD ("fits", test_fits);
  ADD ("kinds", test_kinds);
  ADD ("profile-stays", test_profile_stays);
  ADD ("message-goes", test_message_goes);
#undef ADD
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
