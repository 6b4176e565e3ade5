/* SPDX-License-Identifier: MIT */
/* Tests sessions without a display: devices, combined curves, shell quoting, and runs that end,
 * fail and resume from a checkpoint. */
#include "tests/document/case.h"
#include "ui/session/command.h"
#include "ui/session/training.h"
#include <ligature/purge.h>
#include <ligature/shell.h>
#include <ligature/store-rows.h>
#include <ligature/store.h>

#include <glib/gstdio.h>
#include <math.h>

static LigRunProgress
progress_of (LigTraining *training)
{
  LigRunProgress progress;
  lig_training_get_progress (training, &progress);
  return progress;
}

static LigTraining *
start (DocumentFixture *f, const char *rows, gint64 steps)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  settings.data = g_strdup (rows);
  settings.steps = steps;
  fill_with (f->doc, "linear(4) ! mean-squared-error", "8x6", NULL);
  return lig_training_start (f->session, lig_document_get_sequence (f->doc), "cpu",
                             (LigLayout){.sizes = {1, 1, 1}}, &settings);
}

/* The CPU runs plans, a described device only compiles them. Devices are found on a
 * thread. */
static void
test_devices (DocumentFixture *f, gconstpointer data)
{
  guint count;
  const LigDeviceEntry *devices;
  WAIT_FOR ((devices = lig_session_get_devices (f->session, &count), count >= 4));
  gboolean runs = FALSE, plans = FALSE;
  for (guint i = 0; i < count; i++) {
    runs |= g_str_equal (devices[i].name, "cpu") && devices[i].runs;
    plans |= g_str_equal (devices[i].name, "null:h200") && !devices[i].runs;
  }
  g_assert_true (runs && plans);
}

static void
test_store (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *other = g_build_filename (f->folder, "other.db", NULL);
  g_assert_false (lig_session_open_store (f->session, "/proc/nowhere/store.db", &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  g_assert_true (lig_session_open_store (f->session, other, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (lig_store_get_path (lig_session_get_store (f->session)), ==, other);
  g_unsetenv ("LIGATURE_STORE");
  g_autoptr (GString) command = g_string_new ("lig runs");
  lig_command_append_store (command, f->session);
  g_assert_nonnull (strstr (command->str, "other.db"));
}

static void
test_curve (void)
{
  guint count;
  g_autoptr (LigCurve) curve = lig_curve_new ();
  for (int i = 0; i < 20000; i++)
    lig_curve_append (curve, i, i % 2);
  const LigCurvePoint *points = lig_curve_get_points (curve, &count);
  g_assert_cmpuint (lig_curve_get_length (curve), ==, 20000);
  g_assert_cmpuint (count, <=, LIG_CURVE_POINTS);
  g_assert_cmpuint (count, >=, LIG_CURVE_POINTS / 2);
  guint64 values = 0;
  for (guint i = 0; i < count; i++)
    values += points[i].count;
  g_assert_cmpuint (values, ==, 20000);
  g_assert_cmpfloat (points[0].min, ==, 0);
  g_assert_cmpfloat (points[0].max, ==, 1);
  g_assert_cmpfloat (points[0].mean, ==, 0.5);
  g_assert_cmpfloat (points[count - 1].x, ==, 19999);
}

/* A shell parses each quoted word back unchanged. */
static void
test_words (void)
{
  static const char *const words[] = {"plain", "two words", "it's", "", "$HOME `id` \"x\" \\"};
  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    g_auto (GStrv) argv = NULL;
    g_autoptr (GString) command = g_string_new ("lig");
    lig_shell_append (command, words[i]);
    lig_shell_append_option (command, "data", words[i]);
    g_assert_true (g_shell_parse_argv (command->str, NULL, &argv, NULL));
    g_assert_cmpuint (g_strv_length (argv), ==, 4);
    g_assert_cmpstr (argv[1], ==, words[i]);
    g_assert_cmpstr (argv[2], ==, "--data");
    g_assert_cmpstr (argv[3], ==, words[i]);
  }
}

static void
test_training (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  LigTraining *training = start (f, "synthetic", 40);
  g_assert_true (lig_training_find_active (f->session) == training);
  WAIT_FOR (!lig_training_is_active (training));
  g_assert_cmpstr (lig_training_get_error (training), ==, NULL);
  g_assert_cmpint (progress_of (training).status, ==, LIG_RUN_DONE);
  g_assert_cmpint (progress_of (training).step, ==, 40);
  LigCurve *loss = lig_training_get_curve (training, LIG_METRIC_LOSS);
  g_assert_cmpuint (lig_curve_get_length (loss), ==, 40);
  g_assert_cmpfloat (lig_curve_get_last (loss), ==, progress_of (training).loss);
  g_autoptr (LigRunRow) row = lig_store_find_run (lig_session_get_store (f->session),
                                                  lig_training_get_uuid (training), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (row->status, ==, "done");
}

static void
test_resume (DocumentFixture *f, gconstpointer data)
{
  LigTraining *first = start (f, "synthetic", 30000);
  WAIT_FOR (progress_of (first).step > 20);
  lig_training_interrupt (first);
  WAIT_FOR (!lig_training_is_active (first));
  g_assert_cmpint (progress_of (first).status, ==, LIG_RUN_INTERRUPTED);
  LigTraining *second = lig_training_resume (f->session, lig_training_get_checkpoint (first),
                                             (LigLayout){.sizes = {1, 1, 1}});
  WAIT_FOR (!lig_training_is_active (second));
  g_assert_cmpstr (lig_training_get_error (second), ==, NULL);
  g_assert_cmpint (progress_of (second).first_step, ==, progress_of (first).step);
  g_assert_cmpint (progress_of (second).step, ==, 30000);
}

/* A run in the trash is no longer listed; deleted for good, it takes its checkpoint with it. */
static void
test_trash (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  LigStore *store = lig_session_get_store (f->session);
  LigTraining *training = start (f, "synthetic", 5);
  WAIT_FOR (!lig_training_is_active (training));
  const char *run = lig_training_get_uuid (training);
  g_autofree char *checkpoint = g_strdup (lig_training_get_checkpoint (training));
  g_assert_nonnull (checkpoint);
  gint64 before = lig_store_count_runs (store, &error);
  g_assert_true (lig_store_trash_runs (store, &run, 1, &error));
  g_assert_cmpint (lig_store_count_runs (store, &error), ==, before - 1);
  g_autoptr (LigRunRow) last = lig_store_find_run (store, "last", NULL);
  g_assert_true (!last || !g_str_equal (last->uuid, run));
  g_autoptr (LigRunRow) found = lig_store_find_run (store, run, &error);
  g_assert_no_error (error);
  g_auto (GStrv) old = lig_store_list_trash (store, found->started, &error);
  g_auto (GStrv) all = lig_store_list_trash (store, G_MAXINT64, &error);
  g_assert_cmpuint (g_strv_length (old), ==, 0);
  g_assert_cmpuint (g_strv_length (all), ==, 1);
  g_assert_true (lig_store_restore_runs (store, &run, 1, &error));
  g_assert_cmpint (lig_store_count_runs (store, &error), ==, before);
  g_assert_true (lig_purge_runs (store, &run, 1, &error));
  g_assert_no_error (error);
  g_assert_false (g_file_test (checkpoint, G_FILE_TEST_EXISTS));
  g_assert_null (lig_store_find_run (store, run, NULL));
}

static void
test_failure (DocumentFixture *f, gconstpointer data)
{
  LigTraining *training = start (f, "csv:/nowhere/rows.csv", 4);
  WAIT_FOR (!lig_training_is_active (training));
  g_assert_cmpint (progress_of (training).status, ==, LIG_RUN_FAILED);
  g_assert_nonnull (strstr (lig_training_get_error (training), "/nowhere/rows.csv"));
}

int
main (int argc, char **argv)
{
  char *folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/session/devices", test_devices);
  ADD_DOCUMENT_TEST ("/session/store", test_store);
  g_test_add_func ("/session/curve", test_curve);
  g_test_add_func ("/session/words", test_words);
  ADD_DOCUMENT_TEST ("/session/training", test_training);
  ADD_DOCUMENT_TEST ("/session/resume", test_resume);
  ADD_DOCUMENT_TEST ("/session/failure", test_failure);
  ADD_DOCUMENT_TEST ("/session/trash", test_trash);
  int status = g_test_run ();
  remove_folder (folder);
  return status;
}
