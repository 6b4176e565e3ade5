/* SPDX-License-Identifier: MIT */
/* Training from the buttons of a window to the store: pausing, resuming, and errors. */
#include "tests/ui/run-case.h"

#include "ui/document/loads.h"
#include "ui/run/data-chooser.h"
#include "ui/run/export-weights.h"
#include "ui/run/length.h"
#include "ui/run/settings-list.h"
#include "ui/session/setting-name.h"
#include "ui/widgets/histogram-view.h"
#include "ui/widgets/load-view.h"
#include "ui/widgets/picture-view.h"
#include "ui/widgets/sample-list.h"

#include <ligature/dataset.h>
#include <ligature/draw-histograms.h>
#include <ligature/loads.h>
#include <ligature/store-histograms.h>
#include <ligature/store-rows.h>
#include <ligature/store.h>

#include <signal.h>

static const char small[] = "linear(8) ! gelu ! linear(4) ! mean-squared-error";

static LigRunRow *
find_run (Fixture *f, LigTraining *training)
{
  g_autoptr (GError) error = NULL;
  LigStore *store = lig_session_get_store (f->session);
  g_assert_true (lig_store_flush (store, &error));
  LigRunRow *row = lig_store_find_run (store, lig_training_get_uuid (training), &error);
  g_assert_no_error (error);
  return row;
}

static gint64
saved_step_of (Fixture *f, LigTraining *training)
{
  g_autoptr (LigRunRow) row = find_run (f, training);
  return row->saved_step;
}

static void
wait_for_steps (LigTraining *training, gint64 steps)
{
  WAIT_FOR (progress_of (training).step >= steps);
}

/* --- A training from its file to the store --------------------------------------------------- */

static void
test_xor (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  const char *source = g_getenv ("LIGATURE_DATA");
  g_autofree char *file = g_build_filename (source, "examples", "xor.lig", NULL);
  g_autofree char *table = g_build_filename (source, "examples", "xor.csv", NULL);
  g_autofree char *spec = g_strdup_printf ("csv:%s?validation=0", table);
  lig_document_load (f->doc, file, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (lig_train_set (f->doc, "data", spec, &error));
  wait_for_plan (f->doc);
  g_assert_true (is_enabled (f, "run"));
  act (f, "run");
  g_assert_false (is_enabled (f, "run"));
  g_assert_true (lig_training_find_active (f->session) == current (f));
  WAIT_FOR (!lig_training_is_active (current (f)));
  LigRunProgress progress = progress_of (current (f));
  g_assert_null (lig_training_get_error (current (f)));
  g_assert_cmpint (progress.status, ==, LIG_RUN_DONE);
  g_assert_cmpint (progress.step, ==, 2000);
  g_assert_cmpfloat (progress.loss, <, 1e-3);
  LigCurve *loss = lig_training_get_curve (current (f), LIG_METRIC_LOSS);
  g_assert_cmpuint (lig_curve_get_length (loss), ==, 2000);
  g_assert_cmpfloat (lig_curve_get_last (loss), ==, progress.loss);
  g_autoptr (LigRunRow) row = find_run (f, current (f));
  g_assert_cmpstr (row->status, ==, "done");
  g_assert_cmpstr (row->name, ==, "xor");
  g_assert_cmpint (row->last_step, ==, 2000);
  g_assert_cmpfloat (row->last_loss, ==, progress.loss);
  g_assert_true (is_enabled (f, "run"));
  WAIT_FOR (find_widget (f->bar, shows_text, "Done: 2,000 steps"));
  WAIT_FOR (find_widget (f->page, shows_text, "xor"));
}

/* The weights of a run are written by the command line; a run that is gone is an error. */
static void
test_export_weights (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "weights.safetensors", NULL), *text = NULL;
  g_autofree char *other = g_build_filename (f->folder, "other.safetensors", NULL);
  prepare (f, "linear(4) ! cross-entropy", "16x6", "{\"data\":\"synthetic\",\"steps\":3}");
  act (f, "run");
  WAIT_FOR (!lig_training_is_active (current (f)));
  gsize length;
  lig_export_weights_to (f->page, f->session, lig_training_get_uuid (current (f)), path);
  WAIT_FOR (g_file_get_contents (path, &text, &length, NULL));
  g_assert_cmpuint (length, >, 8);
  g_assert_nonnull (strstr (text + 8, "\"0.weight\""));
  lig_export_weights_to (f->page, f->session, "00000000-0000-0000-0000-000000000000", other);
  for (gint64 end = g_get_monotonic_time () + 500000; g_get_monotonic_time () < end;)
    g_main_context_iteration (NULL, FALSE);
  g_assert_false (g_file_test (other, G_FILE_TEST_EXISTS));
}

static void
test_validation (Fixture *f, gconstpointer data)
{
  prepare (f, "linear(4) ! cross-entropy", "16x6",
           "{\"data\":\"synthetic?samples=400\",\"steps\":40,\"eval-every\":10}");
  act (f, "run");
  WAIT_FOR (!lig_training_is_active (current (f)));
  LigCurve *validation = lig_training_get_curve (current (f), LIG_METRIC_EVAL_LOSS);
  g_assert_cmpuint (lig_curve_get_length (validation), ==, 4);
  g_assert_cmpfloat (lig_curve_get_last (validation), ==, progress_of (current (f)).eval_loss);
  g_assert_true (isfinite (progress_of (current (f)).eval_accuracy));
  g_assert_null (lig_training_get_curve (current (f), "no-such-metric"));
}

/* --- Pause, stop, resume ------------------------------------------------------------------- */

static void
test_pause (Fixture *f, gconstpointer data)
{
  prepare (f, small, "8x6", "{\"data\":\"synthetic\",\"steps\":1000000000}");
  act (f, "run");
  LigTraining *training = current (f);
  wait_for_steps (training, 100);
  act (f, "pause");
  WAIT_FOR (progress_of (training).status == LIG_RUN_PAUSED);
  gint64 step = progress_of (training).step;
  WAIT_FOR (find_widget (f->bar, shows_text, "Paused at"));
  WAIT_FOR (find_widget (f->bar, shows_text, "Continue"));
  lig_training_save (training);
  g_usleep (50000);
  WAIT_FOR (TRUE);
  g_assert_cmpint (progress_of (training).step, ==, step);
  act (f, "pause");
  wait_for_steps (training, step + 100);
  act (f, "stop");
  WAIT_FOR (!lig_training_is_active (training));
  g_assert_cmpint (progress_of (training).status, ==, LIG_RUN_CANCELLED);
  g_autoptr (LigRunRow) row = find_run (f, training);
  g_assert_cmpstr (row->status, ==, "cancelled");
  g_assert_false (is_enabled (f, "stop"));
  WAIT_FOR (find_widget (f->bar, shows_text, "Cancelled after"));
}

/* Saves the document: a saved document may name files in its own folder. */
static void
save_document (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (f->folder, "document.lig", NULL);
  lig_document_save (f->doc, path, &error);
  g_assert_no_error (error);
}

/* An unsaved document may name checkpoints only below the data folder. The checkpoint of a paused
 * run is on disk while the run still exists. */
static void
test_save (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "here.safetensors", NULL);
  g_autofree char *train =
    g_strdup_printf ("{\"data\":\"synthetic\",\"steps\":1000000000,\"checkpoint\":\"%s\"}", path);
  prepare (f, small, "8x6", train);
  WAIT_FOR (find_widget (f->bar, shows_text, "neither below"));
  g_assert_false (is_enabled (f, "run"));
  save_document (f);
  WAIT_FOR (!find_widget (f->bar, shows_text, "neither below"));
  g_assert_true (is_enabled (f, "run"));
  act (f, "run");
  wait_for_steps (current (f), 10);
  act (f, "pause");
  WAIT_FOR (progress_of (current (f)).status == LIG_RUN_PAUSED);
  /* A pause saves, so that a paused run survives the end of all programs. */
  WAIT_FOR (g_file_test (path, G_FILE_TEST_EXISTS));
  g_assert_cmpint (g_remove (path), ==, 0);
  gtk_widget_activate_action (f->page, "training.save", NULL);
  WAIT_FOR (g_file_test (path, G_FILE_TEST_EXISTS));
  g_assert_cmpint (progress_of (current (f)).status, ==, LIG_RUN_PAUSED);
  act (f, "stop");
  WAIT_FOR (!lig_training_is_active (current (f)));
}

static void
test_resume (Fixture *f, gconstpointer data)
{
  prepare (f, small, "8x6", "{\"data\":\"synthetic\",\"steps\":30000,\"name\":\"twice\"}");
  act (f, "run");
  g_autoptr (LigTraining) first = g_object_ref (current (f));
  wait_for_steps (first, 50);
  lig_training_interrupt (first);
  WAIT_FOR (!lig_training_is_active (first));
  g_assert_cmpint (progress_of (first).status, ==, LIG_RUN_INTERRUPTED);
  gint64 step = progress_of (first).step;
  g_assert_true (is_enabled (f, "resume"));
  /* Without the file of its checkpoint it stays as it is, and the page says why. */
  g_autofree char *checkpoint = g_strdup (lig_training_get_checkpoint (first));
  g_autofree char *away = g_strconcat (checkpoint, ".away", NULL);
  g_assert_cmpint (g_rename (checkpoint, away), ==, 0);
  act (f, "resume");
  g_assert_true (current (f) == first);
  WAIT_FOR (find_widget (f->window, shows_text, ".safetensors is missing; restore the file"));
  g_assert_cmpint (g_rename (away, checkpoint), ==, 0);
  act (f, "resume");
  LigTraining *second = current (f);
  g_assert_true (second != first);
  WAIT_FOR (!lig_training_is_active (second));
  g_assert_null (lig_training_get_error (second));
  g_assert_cmpint (progress_of (second).first_step, ==, step);
  g_assert_cmpint (progress_of (second).step, ==, 30000);
  g_assert_cmpstr (lig_training_get_uuid (second), ==, lig_training_get_uuid (first));
  g_assert_true (g_str_has_prefix (lig_training_get_command (second), "lig train --resume "));
  GListModel *list = G_LIST_MODEL (lig_session_get_trainings (f->session));
  g_assert_cmpuint (g_list_model_get_n_items (list), ==, 2);
  g_assert_false (is_enabled (f, "resume"));
}

/* Kills the process that trains. */
static void
kill_training (int signal_number)
{
  g_autoptr (GDir) threads = g_dir_open ("/proc/self/task", 0, NULL);
  for (const char *thread; (thread = g_dir_read_name (threads));) {
    g_autofree char *path = g_build_filename ("/proc/self/task", thread, "children", NULL);
    g_autofree char *children = NULL;
    if (g_file_get_contents (path, &children, NULL, NULL) && *children)
      kill ((pid_t) strtol (children, NULL, 10), signal_number);
  }
}

/* A run whose process is killed takes nothing with it: the window shows the reason, and if the run
 * was paused, it continues from there. */
static void
test_killed (Fixture *f, gconstpointer data)
{
  prepare (f, small, "8x6", "{\"data\":\"synthetic\",\"steps\":1000000000}");
  act (f, "run");
  g_autoptr (LigTraining) first = g_object_ref (current (f));
  wait_for_steps (first, 50);
  act (f, "pause");
  WAIT_FOR (progress_of (first).status == LIG_RUN_PAUSED);
  gint64 step = progress_of (first).step;
  WAIT_FOR (saved_step_of (f, first) == step);
  kill_training (SIGKILL);
  WAIT_FOR (!lig_training_is_active (first));
  g_assert_cmpint (progress_of (first).status, ==, LIG_RUN_FAILED);
  g_assert_cmpint (lig_training_get_error_code (first), ==, LIG_ERROR_MEMORY);
  g_assert_nonnull (strstr (lig_training_get_error (first), "killed"));
  g_autoptr (LigRunRow) row = find_run (f, first);
  g_assert_cmpstr (row->status, ==, "interrupted");
  g_assert_true (is_enabled (f, "resume"));
  act (f, "resume");
  LigTraining *second = current (f);
  wait_for_steps (second, step + 10);
  g_assert_cmpint (progress_of (second).first_step, ==, step);
  kill_training (SIGABRT);
  WAIT_FOR (!lig_training_is_active (second));
  g_assert_cmpint (lig_training_get_error_code (second), ==, LIG_ERROR_DEVICE);
  g_assert_nonnull (strstr (lig_training_get_error (second), "signal 6"));
}

/* A training that is stopped before it starts leaves a cancelled run. */
static void
test_early (Fixture *f, gconstpointer data)
{
  prepare (f, small, "8x6", "{\"data\":\"synthetic\",\"steps\":1000000000}");
  act (f, "run");
  g_assert_cmpint (progress_of (current (f)).status, ==, LIG_RUN_READY);
  act (f, "stop");
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_cmpint (progress_of (current (f)).status, ==, LIG_RUN_CANCELLED);
}

/* A run continues without its document. */
static void
test_other_document (Fixture *f, gconstpointer data)
{
  prepare (f, small, "8x6", "{\"data\":\"synthetic\",\"steps\":1000000000}");
  act (f, "run");
  g_autoptr (LigTraining) training = g_object_ref (current (f));
  wait_for_steps (training, 10);
  gtk_window_destroy (GTK_WINDOW (f->window));
  g_object_unref (f->doc);
  f->doc = lig_document_new (f->session);
  make_window (f);
  gint64 step = progress_of (training).step;
  wait_for_steps (training, step + 100);
  g_assert_true (lig_training_find_active (f->session) == training);
  g_assert_null (current (f));
  gtk_widget_activate_action (f->page, "training.stop", NULL);
  WAIT_FOR (!lig_training_is_active (training));
}

/* --- Why not ------------------------------------------------------------------------------- */

static void
test_obstacles (Fixture *f, gconstpointer data)
{
  g_autofree char *sentence = NULL, *none = NULL, *device = NULL;
  g_assert_cmpint (lig_train_find_obstacle (f->doc, &sentence), ==, LIG_TRAIN_EMPTY);
  g_assert_false (is_enabled (f, "run"));
  prepare (f, "linear(8) ! gelu", "8x6", NULL);
  g_assert_false (is_enabled (f, "run"));
  WAIT_FOR (find_widget (f->bar, shows_text, "Add a loss"));
  GtkWidget *fix = find_widget (f->bar, has_action, "bar.add-loss");
  g_assert_nonnull (fix);
  g_signal_emit_by_name (fix, "clicked");
  wait_for_plan (f->doc);
  g_assert_cmpint (lig_train_find_obstacle (f->doc, &none), ==, LIG_TRAIN_POSSIBLE);
  g_assert_null (none);
  g_assert_true (is_enabled (f, "run"));
  lig_document_set_device (f->doc, "null:h200");
  g_assert_cmpint (lig_train_find_obstacle (f->doc, &device), ==, LIG_TRAIN_NO_DEVICE);
  g_assert_false (is_enabled (f, "run"));
}

/* A branch that data cannot feed is an obstacle until its button connects it. */
static void
test_open_branch (Fixture *f, gconstpointer data)
{
  g_autofree char *sentence = NULL, *none = NULL;
  prepare (f, "make-extra-output ! linear(6) ! gelu ! add-extra-input ! mean-squared-error", "8x6",
           NULL);
  g_assert_cmpint (lig_train_find_obstacle (f->doc, &sentence), ==, LIG_TRAIN_BRANCH);
  g_assert_cmpstr (sentence, ==, "Add branch at 3 has no branch: connect it, or delete it");
  g_assert_false (is_enabled (f, "run"));
  GtkWidget *connect = find_widget (f->bar, has_action, "bar.connect");
  WAIT_FOR (gtk_widget_get_visible (connect));
  g_signal_emit_by_name (connect, "clicked");
  wait_for_plan (f->doc);
  g_assert_cmpint (lig_train_find_obstacle (f->doc, &none), ==, LIG_TRAIN_POSSIBLE);
  WAIT_FOR (!gtk_widget_get_visible (connect));
  g_assert_true (is_enabled (f, "run"));
}

static gboolean
has_tooltip (GtkWidget *widget, gconstpointer text)
{
  return GTK_IS_BUTTON (widget) && g_strcmp0 (gtk_widget_get_tooltip_text (widget), text) == 0;
}

static gboolean
has_label (GtkWidget *widget, gconstpointer text)
{
  return GTK_IS_LABEL (widget) && g_str_equal (gtk_label_get_text (GTK_LABEL (widget)), text);
}

/* Returns the group of a setting's row; all groups are open. */
static const char *
find_group (GtkWidget *popover, const char *name)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    g_autofree char *title = lig_setting_get_title (setting);
    g_autofree char *reset = g_strdup_printf ("Back to the default: %s", title);
    if (!g_str_equal (setting->name, name))
      continue;
    GtkWidget *row = find_widget (popover, has_tooltip, reset);
    g_assert_nonnull (row);
    GtkWidget *group = gtk_widget_get_ancestor (row, LIG_TYPE_FOLD);
    return gtk_label_get_text (GTK_LABEL (find_type (group, GTK_TYPE_LABEL)));
  }
  g_assert_not_reached ();
}

/* The training settings are in groups: what most runs change is open, the rest is a click away, and
 * its heading says what was changed. */
static void
test_setting_groups (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *name, *group;
  } expected[] = {
    {"lr", "Schedule"},          {"warmup", "Schedule"},       {"weight-decay", "Optimizer"},
    {"tf32", "Precision"},       {"seed", "Advanced"},         {"recompute", "Advanced"},
    {"sample-every", "Samples"}, {"shard-optimizer", "Ranks"},
  };
  prepare (f, small, "8x6", "{\"seed\":7}");
  GtkWidget *popover = g_object_ref_sink (lig_run_settings_list_new (f->doc));
  GtkWidget *ranks = find_widget (popover, has_tooltip, "Back to the default: Ranks");
  GtkWidget *rate = find_widget (popover, has_tooltip, "Back to the default: Learning rate");
  g_assert_true (lig_fold_get_open (LIG_FOLD (gtk_widget_get_ancestor (rate, LIG_TYPE_FOLD))));
  g_assert_false (lig_fold_get_open (LIG_FOLD (gtk_widget_get_ancestor (ranks, LIG_TYPE_FOLD))));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpstr (find_group (popover, expected[i].name), ==, expected[i].group);
  GtkWidget *advanced = find_widget (popover, has_label, "Advanced");
  GtkLabel *changed = GTK_LABEL (gtk_widget_get_next_sibling (advanced));
  g_assert_cmpstr (gtk_label_get_text (changed), ==, "1 changed");
  g_assert_true (lig_train_set (f->doc, "recompute", "all", NULL));
  g_assert_cmpstr (gtk_label_get_text (changed), ==, "2 changed");
  /* A setting that is 0 or 1 is a switch. */
  GtkWidget *toggle = find_type (popover, GTK_TYPE_SWITCH);
  gtk_switch_set_active (GTK_SWITCH (toggle), TRUE);
  g_auto (LigRunSettings) settings;
  g_assert_true (lig_train_read (f->doc, &settings, NULL));
  g_assert_cmpint (settings.tf32, ==, 1);
  g_object_unref (popover);
}

static void
test_settings (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_auto (LigRunSettings) settings;
  prepare (f, small, "8x6", "{\"lr\":0.5,\"of-others\":[1,2]}");
  g_assert_true (lig_train_set (f->doc, "eps", "1e-9", &error));
  g_assert_false (lig_train_set (f->doc, "steps", "-4", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_true (lig_train_set (f->doc, "lr", "0.001", NULL));
  const char *train = lig_sequence_get_train (lig_document_get_sequence (f->doc));
  g_assert_nonnull (strstr (train, "of-others"));
  g_assert_null (strstr (train, "\"lr\""));
  g_assert_true (lig_train_read (f->doc, &settings, NULL));
  g_autofree char *eps = lig_run_settings_get (&settings, "eps");
  g_assert_cmpstr (eps, ==, "1e-9");
  g_assert_cmpstr (settings.data, ==, "synthetic");
  lig_train_set_batch (f->doc, 12);
  g_assert_cmpint (lig_train_get_batch (f->doc), ==, 12);
  g_autofree char *command = lig_train_to_command (f->doc);
  g_assert_nonnull (strstr (command, " --input 12x6:fp32"));
  g_assert_nonnull (strstr (command, " --data synthetic"));
  g_assert_nonnull (strstr (command, " --eps 1e-9"));
  lig_document_undo (f->doc);
  g_assert_cmpint (lig_train_get_batch (f->doc), ==, 8);
}

/* --- Errors -------------------------------------------------------------------------------- */

static void
expect_failure (Fixture *f, const char *part)
{
  act (f, "run");
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_cmpint (progress_of (current (f)).status, ==, LIG_RUN_FAILED);
  const char *error = lig_training_get_error (current (f));
  g_assert_nonnull (error);
  if (!strstr (error, part))
    g_error ("'%s' does not say '%s'", error, part);
  WAIT_FOR (find_widget (f->page, shows_text, part));
  g_assert_true (is_enabled (f, "run"));
}

static void
test_no_file (Fixture *f, gconstpointer data)
{
  prepare (f, small, "8x6", "{\"data\":\"csv:/nowhere/rows.csv\"}");
  expect_failure (f, "/nowhere/rows.csv");
  g_assert_nonnull (find_widget (f->page, has_action, "training.choose-data"));
}

/* A page that shows 768 features does not train on 2; classes that occur only in validation rows
 * are reported.
 */
static void
test_data_facts (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "sorted.csv", NULL);
  g_autofree char *train = g_strdup_printf ("{\"data\":\"csv:%s?split=end\",\"steps\":5}", path);
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 40; i++)
    g_string_append_printf (text, "%d,%d,%d\n", i, i % 7, i / 36);
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  prepare (f, "linear(2) ! cross-entropy", "8x768", train);
  expect_failure (f, "the input is 8x768 and does not match the data, whose batches are 8x2");
  prepare (f, "linear(2) ! cross-entropy", "8x2", train);
  act (f, "run");
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_null (lig_training_get_error (current (f)));
  WAIT_FOR (
    find_widget (f->page, shows_text, "class 1 occurs in validation rows but in no training row"));
}

static void
test_no_device (Fixture *f, gconstpointer data)
{
  prepare (f, small, "8x6", "{\"data\":\"synthetic\"}");
  lig_document_set_device (f->doc, "cuda:99");
  WAIT_FOR (!lig_document_is_stale (f->doc));
  g_auto (LigRunSettings) settings;
  lig_train_read (f->doc, &settings, NULL);
  LigTraining *training = lig_training_start (f->session, lig_document_get_sequence (f->doc),
                                              lig_document_get_device (f->doc),
                                              (LigLayout){.sizes = {1, 1, 1}}, &settings);
  WAIT_FOR (!lig_training_is_active (training));
  g_assert_cmpint (progress_of (training).status, ==, LIG_RUN_FAILED);
  g_assert_nonnull (lig_training_get_error (training));
}

/* The bar shows the duration of a run that would take hours; every micro-batch counts. */
static void
test_length (Fixture *f, gconstpointer data)
{
  prepare (f, "linear(4) ! cross-entropy", "16x6", "{\"data\":\"synthetic\",\"steps\":40}");
  lig_document_set_device (f->doc, "null:h200");
  wait_for_plan (f->doc);
  double seconds, more;
  g_autofree char *text = lig_train_describe_length (f->doc, &seconds);
  g_assert_cmpfloat (seconds, >, 0);
  g_assert_cmpfloat (seconds, <, 1);
  g_assert_true (
    g_regex_match_simple ("^About [\\d.]+ .s: 40 steps of [\\d.]+ .s each, predicted for "
                          "NVIDIA H200$",
                          text, 0, 0));
  g_assert_true (lig_train_set (f->doc, "accumulate", "4", NULL));
  g_autofree char *again = lig_train_describe_length (f->doc, &more);
  g_assert_cmpfloat_with_epsilon (more, 4 * seconds, 1e-9);
  g_assert_true (lig_train_set (f->doc, "batch", "32", NULL));
  g_autofree char *batch = lig_train_describe_length (f->doc, &more);
  g_assert_cmpfloat_with_epsilon (more, 8 * seconds, 1e-9);
  g_assert_true (lig_train_set (f->doc, "steps", "100000000000", NULL));
  g_autofree char *days = lig_train_describe_length (f->doc, &more);
  g_assert_true (g_regex_match_simple ("^About [\\d,]+ d: 100,000,000,000 steps of ", days, 0, 0));
}

static void
test_durations (Fixture *f, gconstpointer data)
{
  static const struct {
    double seconds;
    const char *text;
  } cases[] = {
    {0.0123, "12.3 ms"},      {7, "7 s"},
    {125, "2 min 5 s"},       {3600 * 47.5, "47 h 30 min"},
    {3600 * 50.0, "2 d 2 h"}, {86400 * 1234.0, "1,234 d"},
    {INFINITY, "–"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = lig_train_format_seconds (cases[i].seconds);
    g_assert_cmpstr (text, ==, cases[i].text);
  }
}

/* The banner's button lowers the rate until training succeeds. */
static void
test_diverged (Fixture *f, gconstpointer data)
{
  prepare (f, "linear(4) ! mean-squared-error", "8x6",
           "{\"data\":\"synthetic\",\"steps\":400,\"optimizer\":\"sgd\",\"lr\":1000}");
  expect_failure (f, "the loss is");
  for (int i = 0; i < 6; i++)
    gtk_widget_activate_action (f->page, "training.lower-rate", NULL);
  g_auto (LigRunSettings) settings;
  lig_train_read (f->doc, &settings, NULL);
  g_assert_cmpfloat (settings.lr, ==, 1e-3);
  wait_for_plan (f->doc);
  act (f, "run");
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_cmpint (progress_of (current (f)).status, ==, LIG_RUN_DONE);
}

/* Training continues with data that were read; resuming without the file is rejected with its name.
 */
static void
test_deleted (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "rows.csv", NULL);
  g_autofree char *train =
    g_strdup_printf ("{\"data\":\"csv:%s?validation=0\",\"steps\":1000000000}", path);
  g_assert_true (g_file_set_contents (path, "a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n", -1, NULL));
  prepare (f, "linear(4) ! gelu ! linear(1) ! mean-squared-error", "4x2", train);
  act (f, "run");
  wait_for_steps (current (f), 10);
  g_assert_cmpint (g_remove (path), ==, 0);
  gint64 step = progress_of (current (f)).step;
  wait_for_steps (current (f), step + 1000);
  act (f, "stop");
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_null (lig_training_get_error (current (f)));
  act (f, "resume");
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_nonnull (strstr (lig_training_get_error (current (f)), "rows.csv"));
  WAIT_FOR (find_widget (f->page, shows_text, "rows.csv"));
}

/* --- The data chooser ---------------------------------------------------------------------- */

static void
test_chooser (Fixture *f, gconstpointer data)
{
  gboolean fine = FALSE;
  g_autofree char *path = g_build_filename (f->folder, "rows.csv", NULL);
  g_assert_true (g_file_set_contents (path, "a,b,y\n0,0,left\n0,1,right\n1,0,left\n", -1, NULL));
  prepare (f, "linear(2) ! cross-entropy", "4x2", NULL);
  GtkWindow *window = lig_data_chooser_new (GTK_WINDOW (f->window), f->doc);
  LigDataChooser *chooser = LIG_DATA_CHOOSER (window);
  gtk_window_present (window);
  g_autofree char *synthetic = lig_data_chooser_get_spec (chooser);
  g_assert_cmpstr (synthetic, ==, "synthetic");
  lig_data_chooser_set_path (chooser, path);
  WAIT_FOR ((lig_data_chooser_get_preview (chooser, &fine), fine));
  g_assert_nonnull (find_widget (GTK_WIDGET (window), shows_text, "→ y"));
  g_assert_nonnull (find_widget (GTK_WIDGET (window), shows_text, "right"));
  lig_data_chooser_set_spec (chooser, "csv:/nowhere.csv?target=y%26z&validation=0.25");
  g_autofree char *again = lig_data_chooser_get_spec (chooser);
  g_assert_cmpstr (again, ==, "csv:/nowhere.csv?target=y%26z&validation=0.25");
  WAIT_FOR (strstr (lig_data_chooser_get_preview (chooser, &fine), "/nowhere.csv"));
  g_assert_false (fine);
  lig_data_chooser_set_path (chooser, path);
  lig_data_chooser_set_spec (chooser, lig_data_chooser_get_spec (chooser));
  g_assert_true (g_file_set_contents (path, "a,b,y\n0,0,0\n0,x,1\n", -1, NULL));
  lig_data_chooser_set_path (chooser, path);
  WAIT_FOR (strstr (lig_data_chooser_get_preview (chooser, &fine), "3"));
  g_assert_false (fine);
  gtk_window_destroy (window);
}

/* A non-default value of the option. */
static char *
other_value (const LigDatasetOption *option)
{
  switch (option->type) {
  case LIG_DATASET_CHOICE:
    return g_strdup (option->choices[1].name);
  case LIG_DATASET_BOOLEAN:
    return g_strdup (option->initial != 0 ? "false" : "true");
  case LIG_DATASET_COUNT:
    return g_strdup_printf ("%.0f", option->initial + 3);
  case LIG_DATASET_FRACTION:
    return g_strdup ("0.375");
  default:
    return g_strdup ("x%3By");
  }
}

static guint
append_others (GString *spec, const LigDatasetOption *options, guint count)
{
  for (; options && options->name; options++) {
    g_autofree char *value = other_value (options);
    g_string_append_printf (spec, "%c%s=%s", count++ > 0 ? '&' : '?', options->name, value);
  }
  return count;
}

/* Everything that the engine offers can be chosen: each kind has its title, and each option has a
 * row that takes a spec's value and returns it unchanged. */
static void
test_chooser_kinds (Fixture *f, gconstpointer data)
{
  const LigDatasetInfo *info;
  prepare (f, "linear(2) ! cross-entropy", "4x2", NULL);
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++) {
    g_autoptr (GString) spec = g_string_new (info->name);
    GtkWindow *window = lig_data_chooser_new (GTK_WINDOW (f->window), f->doc);
    LigDataChooser *chooser = LIG_DATA_CHOOSER (window);
    gtk_window_present (window);
    if (info->path != LIG_DATASET_NO_PATH)
      g_string_append (spec, ":/no/where");
    append_others (spec, lig_dataset_shared_options (), append_others (spec, info->options, 0));
    lig_data_chooser_set_spec (chooser, spec->str);
    g_autofree char *again = lig_data_chooser_get_spec (chooser);
    g_assert_cmpstr (again, ==, spec->str);
    WAIT_FOR (find_widget (GTK_WIDGET (window), shows_text, info->title));
    for (const LigDatasetOption *at = info->options; at && at->name; at++)
      WAIT_FOR (find_widget (GTK_WIDGET (window), shows_text, at->help));
    gtk_window_destroy (window);
  }
}

static gboolean
has_checkpoint_error (Fixture *f, gboolean wanted)
{
  lig_training_save (current (f));
  return (lig_training_get_checkpoint_error (current (f)) != NULL) == wanted;
}

/* A checkpoint that cannot be written is reported, and the run continues. */
static void
test_no_place (Fixture *f, gconstpointer data)
{
  g_autofree char *folder = g_build_filename (f->folder, "gone", NULL);
  g_autofree char *path = g_build_filename (folder, "c.safetensors", NULL);
  g_autofree char *train =
    g_strdup_printf ("{\"data\":\"synthetic\",\"steps\":1000000000,\"checkpoint\":\"%s\"}", path);
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  prepare (f, small, "8x6", train);
  save_document (f);
  act (f, "run");
  WAIT_FOR (current (f) && lig_training_get_uuid (current (f)));
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  WAIT_FOR (has_checkpoint_error (f, TRUE));
  WAIT_FOR (find_widget (f->page, shows_text, "c.safetensors"));
  g_assert_true (lig_training_is_active (current (f)));
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  WAIT_FOR (has_checkpoint_error (f, FALSE));
  act (f, "stop");
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_null (lig_training_get_error (current (f)));
}

/* Data next to the sequence's file with the same name are offered first. */
static void
test_next_to_file (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "rows.csv", NULL);
  g_autofree char *document = g_build_filename (f->folder, "rows.lig", NULL);
  g_autofree char *expected = g_strconcat ("csv:", path, NULL);
  g_assert_true (g_file_set_contents (path, "a,b,y\n0,0,0\n0,1,1\n1,0,1\n", -1, NULL));
  prepare (f, "linear(1) ! mean-squared-error", "4x2", NULL);
  g_assert_true (lig_document_save (f->doc, document, NULL));
  GtkWindow *window = lig_data_chooser_new (GTK_WINDOW (f->window), f->doc);
  g_autofree char *spec = lig_data_chooser_get_spec (LIG_DATA_CHOOSER (window));
  g_assert_cmpstr (spec, ==, expected);
  gtk_window_destroy (window);
}

/* The newest generated texts are shown, and those of earlier steps by a button. */
static void
test_samples (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "book.txt", NULL);
  g_autofree char *train = g_strdup_printf ("{\"data\":\"text:%s\",\"steps\":9,\"sample-every\":3,"
                                            "\"sample-prompts\":\"the |on\",\"sample-tokens\":6}",
                                            path);
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 99; i++)
    g_string_append (text, "the cat sat on the mat. ");
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  prepare (f, "embedding(8, vocabulary=256) ! linear(256) ! cross-entropy", "4x16:int32", train);
  act (f, "run");
  WAIT_FOR (current (f) && !lig_training_is_active (current (f)));
  g_assert_null (lig_training_get_error (current (f)));
  LigSampleList *list = find_type (f->page, LIG_TYPE_SAMPLE_LIST);
  WAIT_FOR (lig_sample_list_get_newest (list) == 9);
  WAIT_FOR (find_widget (GTK_WIDGET (list), shows_text, "after step 9"));
  LigStore *store = lig_session_get_store (f->session);
  g_autoptr (GPtrArray) rows =
    lig_store_get_samples (store, lig_training_get_uuid (current (f)), NULL);
  g_assert_cmpuint (rows->len, ==, 6);
  const LigSampleRow *last = rows->pdata[5];
  g_autofree char *valid = g_utf8_make_valid (last->text, -1);
  g_autofree char *whole = g_strconcat (last->prompt, valid, NULL);
  g_assert_nonnull (find_widget (GTK_WIDGET (list), shows_text, whole));
  for (int step = 6; step >= 3; step -= 3) {
    g_autofree char *after = g_strdup_printf ("after step %d", step);
    g_signal_emit_by_name (find_widget (GTK_WIDGET (list), has_tooltip, "Texts of the step before"),
                           "clicked");
    g_assert_nonnull (find_widget (GTK_WIDGET (list), shows_text, after));
  }
}

/* Returns whether a mark of the picture has this text. */
static gboolean
has_mark (LigPictureView *picture, const char *text)
{
  guint count;
  const LigMark *marks = lig_picture_view_get_marks (picture, &count);
  for (guint i = 0; i < count; i++)
    if (g_str_has_prefix (marks[i].text, text))
      return TRUE;
  return FALSE;
}

static gboolean
is_toggle (GtkWidget *widget, gconstpointer label)
{
  return GTK_IS_TOGGLE_BUTTON (widget) &&
         g_strcmp0 (gtk_button_get_label (GTK_BUTTON (widget)), label) == 0;
}

/* Returns whether the picture has the marks of the series. */
static gboolean
shows_series (LigPictureView *picture, const LigHistogramSeries *series)
{
  g_autoptr (LigCanvas) canvas = lig_canvas_new_blank ();
  guint count;
  lig_draw_histograms (canvas, lig_colours (LIG_COLOURS_LIGHT), series, LIG_HISTOGRAM_MARK_STEPS,
                       400, 300);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  for (guint i = 0; i < count; i++)
    if (!has_mark (picture, marks[i].text))
      return FALSE;
  return count > 0;
}

/* The map of the chosen weight or gradient follows the run; a run without histograms has none. */
static void
test_histograms (Fixture *f, gconstpointer data)
{
  prepare (f, small, "8x6", "{\"data\":\"synthetic\",\"steps\":9,\"histograms\":2}");
  act (f, "run");
  WAIT_FOR (current (f) && !lig_training_is_active (current (f)));
  g_assert_null (lig_training_get_error (current (f)));
  LigHistogramView *view = find_type (f->page, LIG_TYPE_HISTOGRAM_VIEW);
  GtkDropDown *chooser = find_type (GTK_WIDGET (view), GTK_TYPE_DROP_DOWN);
  LigPictureView *picture = find_type (GTK_WIDGET (view), LIG_TYPE_PICTURE_VIEW);
  WAIT_FOR (lig_histogram_view_get_newest (view) == 9);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (view)));
  g_autoptr (GPtrArray) all = lig_store_get_histograms (
    lig_session_get_store (f->session), lig_training_get_uuid (current (f)), NULL, 0, NULL);
  GListModel *names = gtk_drop_down_get_model (chooser);
  g_assert_cmpuint (g_list_model_get_n_items (names), ==, all->len / 2);
  static const gint64 steps[] = {2, 4, 6, 8, 9};
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_autofree char *text = g_strdup_printf ("step %d: mean ", (int) steps[i]);
    g_assert_true (has_mark (picture, text));
    g_autofree char *cell = g_strdup_printf ("step %d, −2", (int) steps[i]);
    g_assert_true (has_mark (picture, cell));
  }
  /* Another parameter, and its gradient. */
  const LigHistogramSeries *last = all->pdata[all->len - 1];
  gtk_drop_down_set_selected (chooser, all->len / 2 - 1);
  g_signal_emit_by_name (find_widget (GTK_WIDGET (view), is_toggle, "Gradients"), "clicked");
  g_assert_true (last->gradient);
  WAIT_FOR (shows_series (picture, last));
  prepare (f, small, "8x6", "{\"data\":\"synthetic\",\"steps\":2}");
  act (f, "run");
  WAIT_FOR (!gtk_widget_get_visible (GTK_WIDGET (view)));
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (view)));
}

/* The load of experts is shown on the page, and at the router's row of the document. */
static void
test_loads (Fixture *f, gconstpointer data)
{
  prepare (f,
           "linear(8) ! mixture-of-experts(4, expert-features=6, capacity=0.5) ! linear(4) ! "
           "mean-squared-error",
           "8x6", "{\"data\":\"synthetic\",\"steps\":6,\"load-every\":3}");
  act (f, "run");
  WAIT_FOR (current (f) && !lig_training_is_active (current (f)));
  g_assert_null (lig_training_get_error (current (f)));
  LigLoadView *view = find_type (f->page, LIG_TYPE_LOAD_VIEW);
  WAIT_FOR (lig_load_view_get_newest (view) == 6);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (view)));
  g_assert_true (
    has_mark (find_type (GTK_WIDGET (view), LIG_TYPE_PICTURE_VIEW), "1, expert 3: rows "));
  WAIT_FOR (lig_document_get_loads (f->doc));
  const LigLoadSeries *series = lig_document_get_loads (f->doc)->pdata[0];
  g_assert_cmpfloat (lig_load_series_last (series->dropped), >=, 8);
}

/* A run that ends before the first tick has a rate. */
static void
test_short (Fixture *f, gconstpointer data)
{
  prepare (f, small, "8x6", "{\"data\":\"synthetic\",\"steps\":1}");
  act (f, "run");
  WAIT_FOR (current (f) && !lig_training_is_active (current (f)));
  LigCurve *curve = lig_training_get_curve (current (f), "samples-per-second");
  g_assert_cmpuint (lig_curve_get_length (curve), ==, 1);
}

static void
add_tests (void)
{
  load_run_style ();
#define ADD(name) g_test_add ("/run/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (xor);
  g_test_add ("/run/export-weights", Fixture, NULL, set_up, test_export_weights, tear_down);
  ADD (validation);
  ADD (pause);
  ADD (save);
  ADD (next_to_file);
  ADD (no_place);
  g_test_add ("/run/short", Fixture, NULL, set_up, test_short, tear_down);
  ADD (samples);
  ADD (histograms);
  ADD (loads);
  ADD (resume);
  ADD (killed);
  ADD (early);
  ADD (other_document);
  ADD (obstacles);
  ADD (open_branch);
  ADD (setting_groups);
  ADD (settings);
  ADD (no_file);
  ADD (data_facts);
  ADD (no_device);
  ADD (length);
  ADD (durations);
  ADD (diverged);
  ADD (deleted);
  ADD (chooser);
  ADD (chooser_kinds);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
