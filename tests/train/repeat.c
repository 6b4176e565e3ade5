/* SPDX-License-Identifier: MIT */
/* Repetitions: from the store and from a report, with the same bits, within the noise, or
 * different. */
#include "tests/train/case.h"
#include <ligature/device.h>
#include <ligature/repeat.h>
#include <ligature/report.h>
#include <ligature/store-sweeps.h>

#include <json-glib/json-glib.h>

#define MODEL "linear(8, init-std=0.3) ! gelu ! dropout(0.1) ! linear(1) ! mean-squared-error"
#define ROWS "a,b,c\n1,2,3\n2,1,4\n0,1,1\n3,2,4\n1,1,2\n5,2,7\n2,2,4\n1,0,1\n4,4,8\n3,1,4\n"

static char *
record (Fixture *f, const char *assignments, const char *init)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder (f, "d.csv");
  g_autofree char *data = g_strconcat ("csv:", path, "?target=c", NULL);
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    g_assert_true (g_file_set_contents (path, ROWS, -1, NULL));
  g_autoptr (LigRun) run = try_run (f, MODEL, "4x2", data, assignments, init, &error);
  g_assert_no_error (error);
  finish (run);
  return g_strdup (lig_run_get_uuid (run));
}

static LigRecording *
read_run (Fixture *f, const char *uuid)
{
  g_autoptr (GError) error = NULL;
  LigRecording *recording = lig_recording_read_run (f->store, uuid, &error);
  g_assert_no_error (error);
  return recording;
}

/* Repeats a training run and compares. */
static LigRepetition *
repeat (Fixture *f, const LigRecording *recording)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) run = lig_recording_train (recording, f->device, f->store, &error);
  g_assert_no_error (error);
  finish (run);
  LigRepetition *found =
    lig_recording_conclude (recording, f->store, lig_run_get_uuid (run), &error);
  g_assert_no_error (error);
  g_test_message ("%s", found->text);
  g_autoptr (LigRunRow) row = lig_store_find_run (f->store, lig_run_get_uuid (run), NULL);
  g_assert_nonnull (strstr (row->notes, found->text));
  return found;
}

static void
assert_says (const LigRepetition *found, const char *part)
{
  if (!strstr (found->text, part))
    g_error ("'%s' does not say '%s'", found->text, part);
}

static void
test_same (Fixture *f, gconstpointer data)
{
  g_autofree char *uuid = record (f, "steps=40 lr=0.01 seed=3 schedule=cosine warmup=5", NULL);
  g_autoptr (LigRecording) recording = read_run (f, uuid);
  g_autoptr (LigRepetition) found = repeat (f, recording);
  g_assert_cmpint (found->outcome, ==, LIG_REPETITION_SAME);
  g_assert_cmpint (found->steps, ==, 40);
  g_assert_cmpint (found->first_step, ==, 0);
  g_assert_cmpstr (found->text, ==, "bitwise identical for 40 steps");
  /* A repetition does not write to the checkpoint of the recorded run. */
  g_assert_cmpuint (count_runs (f), ==, 2);
}

static void
test_report (Fixture *f, gconstpointer data)
{
  static const char *const formats[] = {"html", "json"};
  g_autofree char *uuid = record (f, "steps=30 lr=0.01", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *name = g_strconcat ("report.", formats[i], NULL);
    g_autofree char *path = in_folder (f, name);
    lig_report_write_run (f->store, uuid, path, &error);
    g_assert_no_error (error);
    g_autoptr (LigRecording) recording = lig_recording_read_report (path, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (lig_recording_get_run (recording), ==, uuid);
    g_autoptr (LigRepetition) found = repeat (f, recording);
    g_assert_cmpint (found->outcome, ==, LIG_REPETITION_SAME);
    g_assert_cmpint (found->steps, ==, 30);
  }
}

/* The file changes in its fifth row, so the first batches are the same. */
static void
test_other_data (Fixture *f, gconstpointer data)
{
  g_autofree char *path = in_folder (f, "d.csv");
  g_autofree char *uuid = record (f, "steps=40 lr=0.001", NULL);
  g_autoptr (LigRecording) recording = read_run (f, uuid);
  g_autofree char *changed = g_strdup (ROWS);
  strstr (changed, "5,2,7")[4] = '8';
  g_assert_true (g_file_set_contents (path, changed, -1, NULL));
  g_autoptr (LigRepetition) found = repeat (f, recording);
  g_assert_cmpint (found->outcome, ==, LIG_REPETITION_DIFFERENT);
  g_assert_cmpint (found->first_step, >, 0);
  g_assert_cmpfloat (found->before, !=, found->after);
  assert_says (found, "d.csv?target=c&split=random differs (hash ");
  assert_says (found, "the first difference is at step ");
  g_assert_cmpuint (g_strv_length (found->differences), ==, 1);
}

static void
test_other_weights (Fixture *f, gconstpointer data)
{
  g_autofree char *path = in_folder (f, "w.safetensors");
  g_autoptr (GError) error = NULL;
  float weight[16] = {0.1f, 0.2f, 0.3f}, other[16] = {0.1f, 0.2f, 0.4f};
  float *const values[] = {weight, other};
  g_autofree char *uuid = NULL;
  g_autoptr (LigRecording) recording = NULL;
  for (guint i = 0; i < 2; i++) {
    g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
    add_tensor (file, "0.weight", "8x2", values[i]);
    add_tensor (file, "0.bias", "8", values[0]);
    add_tensor (file, "3.weight", "1x8", values[0]);
    add_tensor (file, "3.bias", "1", values[0]);
    lig_tensor_file_save (file, path, &error);
    g_assert_no_error (error);
    if (i > 0)
      break;
    uuid = record (f, "steps=10", path);
    recording = read_run (f, uuid);
    g_autoptr (LigRepetition) same = repeat (f, recording);
    g_assert_cmpint (same->outcome, ==, LIG_REPETITION_SAME);
  }
  g_autoptr (LigRepetition) found = repeat (f, recording);
  g_assert_cmpint (found->outcome, ==, LIG_REPETITION_DIFFERENT);
  g_assert_cmpint (found->first_step, ==, 1);
  assert_says (found, "w.safetensors differs (hash");
}

static void
test_other_setting (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *a = record (f, "steps=20 lr=0.01", NULL);
  g_autofree char *b = record (f, "steps=20 lr=0.02", NULL);
  g_autoptr (LigRecording) before = read_run (f, a), after = read_run (f, b);
  g_autoptr (LigRepetition) found = lig_recording_compare (before, after, &error);
  g_assert_no_error (error);
  g_assert_cmpint (found->outcome, ==, LIG_REPETITION_DIFFERENT);
  g_assert_cmpint (found->first_step, ==, 1);
  g_assert_cmpstr (found->metric, ==, "learning-rate");
  assert_says (found, "setting lr is 0.02, was 0.01");
}

/* Records a training run with the given losses, without computing them. */
static char *
invent (Fixture *f, double offset, const char *libraries)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *versions = g_strdup_printf ("{\"libraries\": \"%s\"}", libraries);
  const LigRunRecord row = {.name = "invented",
                            .kind = "train",
                            .device = "cuda:0",
                            .dtype = "fp32:fp32",
                            .policy = "all",
                            .settings = "{\"steps\": 100}",
                            .versions = versions,
                            .inputs = "{\"content\": \"00ff\"}",
                            .sequence = "{}"};
  char *uuid = lig_store_begin_run (f->store, &row, &error);
  g_assert_no_error (error);
  guint32 seed = 1;
  for (int step = 1; step <= 100; step++) {
    double loss = 1 + 0.1 * draw (&seed) + (step >= 12 ? offset : 0);
    lig_store_add_metric (f->store, uuid, step, "loss", loss);
  }
  lig_store_finish_run (f->store, uuid, "done", NULL, &error);
  g_assert_no_error (error);
  return uuid;
}

static void
test_noise (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *a = invent (f, 0, "cuBLAS 12.4"), *b = invent (f, 1e-6, "cuBLAS 12.6");
  g_autofree char *c = invent (f, 0.5, "cuBLAS 12.6");
  g_autoptr (LigRecording) before = read_run (f, a);
  g_autoptr (LigRecording) close = read_run (f, b), far = read_run (f, c);
  g_autoptr (LigRepetition) within = lig_recording_compare (before, close, &error);
  g_autoptr (LigRepetition) beyond = lig_recording_compare (before, far, &error);
  g_assert_no_error (error);
  g_assert_cmpint (within->outcome, ==, LIG_REPETITION_NOISE);
  g_assert_cmpint (within->first_step, ==, 12);
  g_assert_cmpuint (within->recorded.count, ==, 25);
  assert_says (within, "within the noise: last losses ");
  assert_says (within, "the libraries are cuBLAS 12.6, was cuBLAS 12.4");
  g_assert_cmpint (beyond->outcome, ==, LIG_REPETITION_DIFFERENT);
  g_assert_cmpint (beyond->first_step, ==, 12);
}

static void
test_failed (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) run = new_run (f, "linear(8) ! linear(2) ! mean-squared-error", "8x4",
                                    "synthetic", "steps=50 lr=100000 optimizer=sgd");
  lig_run_start (run);
  g_assert_false (lig_run_wait (run, NULL));
  g_autoptr (LigRecording) recording = read_run (f, lig_run_get_uuid (run));
  g_autoptr (LigRun) again = lig_recording_train (recording, f->device, f->store, &error);
  g_assert_no_error (error);
  lig_run_start (again);
  g_assert_false (lig_run_wait (again, NULL));
  g_autoptr (LigRepetition) found =
    lig_recording_conclude (recording, f->store, lig_run_get_uuid (again), &error);
  g_assert_no_error (error);
  g_assert_cmpint (found->outcome, ==, LIG_REPETITION_SAME);
}

/* Returns the uuid of a profile with groups. */
static char *
record_profile (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  g_autoptr (LigSequence) sequence =
    lig_sequence_open ("linear(32) ! gelu ! linear(8)", NULL, NULL);
  g_assert_true (lig_shape_parse ("16x8", &shape, &dtype, NULL));
  lig_sequence_set_input (sequence, &shape, dtype);
  g_autoptr (GPtrArray) profiles =
    lig_profile_measure (sequence, f->device, NULL, 1, 9, f->store, &error);
  g_assert_no_error (error);
  return g_strdup (((const LigProfile *) profiles->pdata[0])->run);
}

static void
test_profile (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *profile = record_profile (f);
  g_autoptr (LigRecording) recording = read_run (f, profile);
  g_assert_true (lig_recording_is_profile (recording));
  g_assert_null (lig_recording_train (recording, f->device, f->store, &error));
  assert_message (error, "is a profile");
  g_clear_error (&error);
  g_autofree char *run = lig_recording_profile (recording, f->device, f->store, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LigRepetition) found = lig_recording_conclude (recording, f->store, run, &error);
  g_assert_no_error (error);
  g_assert_cmpint (found->outcome, !=, LIG_REPETITION_SAME);
  g_assert_cmpuint (found->recorded.count, ==, 9);
  g_assert_cmpuint (found->repeated.count, ==, 9);
  assert_says (found, "step time ");
}

/* The groups of a profile, with their numbers of parts, are in its inputs; the list of its fusions,
 * which has no such numbers, is missing here. */
static void
test_profile_groups (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder (f, "profile.json"), *text = NULL;
  g_autofree char *profile = record_profile (f);
  lig_report_write_run (f->store, profile, path, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "\"fusions\""));
  strstr (text, "\"fusions\"")[1] = 'g';
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_autoptr (LigRecording) recording = lig_recording_read_report (path, &error);
  g_assert_no_error (error);
  g_autofree char *run = lig_recording_profile (recording, f->device, f->store, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autofree char *before = lig_store_get_inputs (f->store, profile, NULL);
  g_autofree char *after = lig_store_get_inputs (f->store, run, NULL);
  g_assert_nonnull (strstr (before, "forward-linear-bias-activation@0+"));
  g_assert_cmpstr (before, ==, after);
}

static void
test_rejected (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *text, *part;
  } cases[] = {
    {"hello", "it is not a report of a run"},
    {"[1]", "it is not a report of a run"},
    {"{\"ops\": []}", "a plan has nothing to repeat"},
    {"<script type=\"application/json\" id=\"document\">{\"kind\": ", "not a report"},
    {"<script type=\"application/json\" id=\"document\">{\"kind\":</script>", "x.html"},
  };
  g_autofree char *path = in_folder (f, "x.html");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_true (g_file_set_contents (path, cases[i].text, -1, NULL));
    g_assert_null (lig_recording_read_report (path, &error));
    assert_message (error, cases[i].part);
  }
  /* Members of unexpected types do not crash. */
  g_autoptr (GError) error = NULL;
  g_assert_true (g_file_set_contents (
    path,
    "{\"kind\": \"train\", \"run\": 3, \"settings\": [], \"metrics\": {\"loss\": {\"steps\": "
    "[\"a\","
    " {}], \"values\": [null, []]}}, \"spreads\": [1], \"timings\": [null], \"fusions\": [{}]}",
    -1, NULL));
  g_autoptr (LigRecording) odd = lig_recording_read_report (path, &error);
  g_assert_no_error (error);
  g_assert_null (lig_recording_train (odd, f->device, f->store, &error));
  g_assert_nonnull (error);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*test) (Fixture *f, gconstpointer data);
  } tests[] = {
    {"same", test_same},
    {"report", test_report},
    {"other-data", test_other_data},
    {"other-weights", test_other_weights},
    {"other-setting", test_other_setting},
    {"noise", test_noise},
    {"failed", test_failed},
    {"profile", test_profile},
    {"profile-groups", test_profile_groups},
    {"rejected", test_rejected},
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
    g_autofree char *path = g_strconcat ("/train/repeat/", tests[i].name, NULL);
    g_test_add (path, Fixture, NULL, set_up, tests[i].test, tear_down);
  }
  return run_tests ();
}
