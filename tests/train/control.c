/* SPDX-License-Identifier: MIT */
/* Runs in a program: settings, pause and cancel from another thread, the signals, initial weights,
 * and every rejection before anything is written. */
#include "tests/train/case.h"

#include <ligature/device.h>
#include <ligature/profile.h>

#define ENDLESS "steps=1000000000"

static const char small[] = "linear(4) ! mean-squared-error";
static const char samples[] = "synthetic?samples=70";

static gint64
wait_for_step (LigRun *run, gint64 step)
{
  LigRunProgress progress;
  do {
    g_usleep (500);
    lig_run_get_progress (run, &progress);
  } while (progress.step < step);
  return progress.step;
}

static void
wait_for_status (LigRun *run, LigRunStatus status)
{
  LigRunProgress progress;
  do {
    g_usleep (500);
    lig_run_get_progress (run, &progress);
  } while (progress.status != status);
}

static void
test_pause (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run = new_run (f, small, "8x6", samples, ENDLESS);
  g_autoptr (GError) error = NULL;
  LigRunProgress progress;
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_READY);
  g_assert_true (isnan (progress.loss));
  lig_run_pause (run);
  lig_run_start (run);
  wait_for_status (run, LIG_RUN_PAUSED);
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.step, ==, 0);
  lig_run_unpause (run);
  wait_for_step (run, 10);
  lig_run_pause (run);
  wait_for_status (run, LIG_RUN_PAUSED);
  lig_run_get_progress (run, &progress);
  gint64 step = progress.step;
  g_usleep (50000);
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.step, ==, step);
  lig_run_unpause (run);
  wait_for_step (run, step + 10);
  lig_run_pause (run);
  lig_run_cancel (run);
  g_assert_true (lig_run_wait (run, &error));
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_CANCELLED);
  assert_status (f, lig_run_get_uuid (run), "cancelled");
  g_autoptr (LigTensorFile) file = load_tensors (lig_run_get_checkpoint (run));
  g_autofree char *saved = g_strdup_printf ("%" G_GINT64_FORMAT, progress.step);
  g_assert_cmpstr (lig_tensor_file_get_metadata (file, "ligature.step"), ==, saved);
}

/* The time of a run that has ended does not change. */
static void
test_interrupt (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run = new_run (f, small, "8x6", samples, ENDLESS);
  LigRunProgress progress, later;
  lig_run_start (run);
  wait_for_step (run, 5);
  lig_run_interrupt (run);
  lig_run_cancel (run);
  g_assert_true (lig_run_wait (run, NULL));
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_INTERRUPTED);
  assert_status (f, lig_run_get_uuid (run), "interrupted");
  g_usleep (20000);
  lig_run_get_progress (run, &later);
  g_assert_cmpfloat (progress.seconds, ==, later.seconds);
  g_assert_cmpfloat (progress.seconds, >, 0);
}

/* A run without references ends and saves. */
static void
test_dropped (Fixture *f, gconstpointer data)
{
  LigRun *run = new_run (f, small, "8x6", samples, ENDLESS);
  g_autofree char *checkpoint = g_strdup (lig_run_get_checkpoint (run));
  g_autofree char *uuid = g_strdup (lig_run_get_uuid (run));
  lig_run_start (run);
  wait_for_step (run, 3);
  g_object_unref (run);
  assert_status (f, uuid, "cancelled");
  g_assert_true (g_file_test (checkpoint, G_FILE_TEST_EXISTS));
}

/* The caller gets every value in order, or the newest ones if it was too slow. */
static void
test_metrics (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run = new_run (f, small, "8x6", samples, "steps=50");
  g_autofree LigRunMetric *metrics = g_new (LigRunMetric, LIG_RUN_METRICS + 1);
  gint64 losses = 0;
  finish (run);
  guint count = lig_run_take_metrics (run, metrics, 7);
  g_assert_cmpuint (count, ==, 7);
  count += lig_run_take_metrics (run, metrics + count, LIG_RUN_METRICS);
  for (guint i = 0; i < count; i++)
    if (g_str_equal (metrics[i].name, LIG_METRIC_LOSS))
      g_assert_cmpint (metrics[i].step, ==, ++losses);
  g_assert_cmpint (losses, ==, 50);
  g_assert_cmpuint (lig_run_take_metrics (run, metrics, 7), ==, 0);
  g_autoptr (LigRun) longer = new_run (f, small, "8x6", samples, "steps=30000");
  LigRunProgress progress = finish (longer);
  count = lig_run_take_metrics (longer, metrics, LIG_RUN_METRICS + 1);
  g_assert_cmpuint (count, ==, LIG_RUN_METRICS);
  while (!g_str_equal (metrics[count - 1].name, LIG_METRIC_LOSS))
    count--;
  g_assert_cmpint (metrics[count - 1].step, ==, 30000);
  g_assert_cmpfloat (metrics[count - 1].value, ==, progress.loss);
}

/* A requested checkpoint is saved while a run continues, and while it remains paused. */
static void
test_save (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run = new_run (f, small, "8x6", samples, ENDLESS);
  const char *path = lig_run_get_checkpoint (run);
  LigRunProgress progress;
  lig_run_start (run);
  wait_for_step (run, 5);
  lig_run_save (run);
  while (!g_file_test (path, G_FILE_TEST_EXISTS))
    g_usleep (500);
  wait_for_step (run, 20);
  lig_run_pause (run);
  wait_for_status (run, LIG_RUN_PAUSED);
  g_remove (path);
  lig_run_save (run);
  while (!g_file_test (path, G_FILE_TEST_EXISTS))
    g_usleep (500);
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_PAUSED);
  lig_run_cancel (run);
  g_assert_true (lig_run_wait (run, NULL));
}

typedef struct {
  GThread *thread;
  GMainLoop *loop;
  int count;
} Ends;

static void
count_end (LigRun *run, LigRunStatus status, const char *message, Ends *ends)
{
  g_assert_cmpint (status, ==, LIG_RUN_DONE);
  g_assert_null (message);
  g_assert_true (g_thread_self () == ends->thread);
  ends->count++;
  g_main_loop_quit (ends->loop);
}

static gboolean
give_up (gpointer data)
{
  g_error ("the signal did not come");
  return G_SOURCE_REMOVE;
}

/* The shortest run ends before the caller waits for it; the signal must still be emitted, in the
 * caller's context, once. */
static void
test_ended (Fixture *f, gconstpointer data)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  guint limit = g_timeout_add_seconds (60, give_up, NULL);
  for (int i = 0; i < 20; i++) {
    Ends ends = {g_thread_self (), loop, 0};
    g_autoptr (LigRun) run = new_run (f, small, "8x6", samples, "steps=1");
    g_signal_connect (run, "ended", G_CALLBACK (count_end), &ends);
    lig_run_start (run);
    if (i % 2)
      g_usleep (20000);
    g_main_loop_run (loop);
    g_assert_cmpint (ends.count, ==, 1);
    g_assert_true (lig_run_wait (run, NULL));
    while (g_main_context_iteration (NULL, FALSE))
      ;
    g_assert_cmpint (ends.count, ==, 1);
  }
  g_source_remove (limit);
}

typedef struct {
  GThread *thread;
  GMainLoop *loop;
  gint64 steps, progressed;
  guint progresses, ends;
  double loss;
  LigRunStatus status;
  char *message;
} Watch;

static void
note_step (LigRun *run, gint64 step, double loss, Watch *watch)
{
  g_assert_true (g_thread_self () == watch->thread);
  g_assert_cmpint (step, ==, ++watch->steps);
  g_assert_cmpuint (watch->ends, ==, 0);
  watch->loss = loss;
}

static void
note_progress (LigRun *run, const LigRunProgress *progress, Watch *watch)
{
  g_assert_true (g_thread_self () == watch->thread);
  g_assert_cmpint (progress->step, >=, watch->progressed);
  g_assert_cmpuint (watch->ends, ==, 0);
  watch->progressed = progress->step;
  watch->status = progress->status;
  watch->progresses++;
}

static void
note_end (LigRun *run, LigRunStatus status, const char *message, Watch *watch)
{
  g_assert_true (g_thread_self () == watch->thread);
  watch->ends++;
  g_assert_cmpint (status, ==, watch->status);
  watch->message = g_strdup (message);
  g_main_loop_quit (watch->loop);
}

/* Starts a run with handlers and iterates until it has ended. */
static Watch
watch_run (LigRun *run)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  Watch watch = {.thread = g_thread_self (), .loop = loop};
  guint limit = g_timeout_add_seconds (60, give_up, NULL);
  g_signal_connect (run, "step", G_CALLBACK (note_step), &watch);
  g_signal_connect (run, "progress", G_CALLBACK (note_progress), &watch);
  g_signal_connect (run, "ended", G_CALLBACK (note_end), &watch);
  lig_run_start (run);
  g_main_loop_run (loop);
  g_source_remove (limit);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (watch.ends, ==, 1);
  return watch;
}

/* Handlers receive every step, in order, and progress no more often than a screen shows it. */
static void
test_signals (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run = new_run (f, small, "8x6", samples, "steps=3000");
  double began = (double) g_get_monotonic_time ();
  Watch watch = watch_run (run);
  double frames = ((double) g_get_monotonic_time () - began) / 16e3;
  LigRunProgress progress;
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (watch.steps, ==, 3000);
  g_assert_cmpint (watch.progressed, ==, 3000);
  g_assert_cmpfloat (watch.loss, ==, progress.loss);
  g_assert_cmpint (watch.status, ==, LIG_RUN_DONE);
  g_assert_null (watch.message);
  g_assert_cmpuint (watch.progresses, >=, 1);
  g_assert_cmpfloat (watch.progresses, <=, frames + 2);
}

static void
test_signals_of_failure (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run = new_run (f, "linear(4, init-std=1) ! mean-squared-error", "8x6", samples,
                                    "steps=200 optimizer=sgd lr=1e6 checkpoint-every=1");
  g_autoptr (GError) error = NULL;
  Watch watch = watch_run (run);
  g_assert_false (lig_run_wait (run, &error));
  g_assert_cmpint (watch.status, ==, LIG_RUN_FAILED);
  g_assert_cmpstr (watch.message, ==, error->message);
  g_free (watch.message);
}

static void
test_diverged (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run = new_run (f, "linear(4, init-std=1) ! mean-squared-error", "8x6", samples,
                                    "steps=200 optimizer=sgd lr=1e6 checkpoint-every=1");
  g_autoptr (GError) error = NULL;
  LigRunProgress progress;
  lig_run_start (run);
  g_assert_false (lig_run_wait (run, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  assert_message (error, "the loss is ");
  assert_message (error, " at step ");
  assert_message (error, "a smaller lr");
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_FAILED);
  g_autoptr (LigRunRow) row = lig_store_find_run (f->store, lig_run_get_uuid (run), NULL);
  g_assert_cmpstr (row->status, ==, "failed");
  g_assert_cmpstr (row->message, ==, error->message);
  g_assert_cmpint (row->last_step, ==, progress.step);
}

static void
test_settings (void)
{
  g_auto (LigRunSettings) a, b;
  g_autoptr (GError) error = NULL;
  lig_run_settings_init (&a);
  lig_run_settings_init (&b);
  set (&a, "steps=7 lr=3e-4 eps=1e-8 min-lr=1e-30 seed=123456789012345678 optimizer=sgd tf32=1"
           " name=x%2 policy=measured beta2=0.1");
  g_autofree char *json = lig_run_settings_to_json (&a);
  lig_run_settings_read (&b, json, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; lig_run_setting_nth (i); i++) {
    const char *name = lig_run_setting_nth (i)->name;
    g_autofree char *one = lig_run_settings_get (&a, name), *two = lig_run_settings_get (&b, name);
    g_assert_cmpstr (one, ==, two);
  }
  g_assert_cmpint (b.seed, ==, 123456789012345678);
  g_assert_cmpfloat (b.min_lr, ==, 1e-30);
  static const char *const bad[][2] = {
    {"dtype", "fp31"},      {"steps", "0"},    {"steps", "1.5"},
    {"steps", "1e16"},      {"steps", ""},     {"steps", "ten"},
    {"lr", "-1"},           {"lr", "nan"},     {"lr", "inf"},
    {"lr", "0.1x"},         {"lr", ""},        {"accumulate", "0"},
    {"seed", "-1"},         {"momentum", "2"}, {"optimizer", "adam"},
    {"schedule", "linear"}, {"beta1", "1"},    {"beta1", "0.99999999999"},
    {"beta2", "1"},         {"eps", "0"},      {"policy", "some"},
    {"tf32", "2"},          {"no-such", "1"}};
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_assert_false (lig_run_settings_set (&a, bad[i][0], bad[i][1], &error));
    assert_message (error, bad[i][0]);
    g_clear_error (&error);
  }
  g_auto (GStrv) warnings = NULL;
  g_assert_true (lig_run_settings_read (&a, "{\"zzzzzz\":1,\"lr\":\"0.5\"}", &warnings, &error));
  g_assert_cmpstr (warnings[0], ==, "$.train.zzzzzz: unknown key, kept");
  g_assert_cmpfloat (a.lr, ==, 0.5);
  /* A misspelt key would silently leave its setting at the default. */
  g_assert_false (lig_run_settings_read (&a, "{\"lrr\":1}", &warnings, &error));
  assert_message (error, "$.train.lrr: unknown key; did you mean 'lr'?");
  g_clear_error (&error);
  g_assert_true (lig_run_settings_read_record (&a, "{\"lrr\":1,\"lr\":0.25}", &error));
  g_assert_cmpfloat (a.lr, ==, 0.25);
  g_assert_false (lig_run_settings_read (&a, "{\"lr\":[1]}", NULL, &error));
  assert_message (error, "$.train.lr: ");
}

/* Each rejection is one sentence, and leaves neither a run nor a file. */
static void
test_rejections (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *expression, *input, *data, *settings, *message;
  } rejected[] = {
    {"linear(4) ! gelu", "8x6", "synthetic", "",
     "the sequence ends with gelu at 1, expected a loss: cross-entropy or mean-squared-error"},
    {"linear(4) ! mean-squared-error ! mean-squared-error", "8x6", "synthetic", "",
     "the sequence takes 2 extra inputs from the caller, but a data set provides only 1, the "
     "targets; connect or omit 1.targets, or train it from a program"},
    {"block(2) { linear(6) ! gelu } ! add-extra-input ! mean-squared-error", "8x6", "synthetic", "",
     "the sequence takes 2 extra inputs from the caller, but a data set provides only 1, the "
     "targets; connect or omit 1.extra, or train it from a program"},
    {"linear(4, in-features=5) ! mean-squared-error", "8x6", "synthetic", "",
     "linear at 0: input has 6 features, expected 5"},
    {"relu ! mean-squared-error", "8x6", "synthetic", "", "the sequence has no parameters"},
    {"embedding(4, vocabulary=200) ! linear(256) ! cross-entropy", "8x6:int32", "synthetic", "",
     "embedding at 0: the data has token 255, the vocabulary has 200"},
    {"identity ! embedding(4, vocabulary=200) ! linear(256) ! cross-entropy", "8x6:int32",
     "synthetic", "", "embedding at 1: the data has token 255, the vocabulary has 200"},
    {"linear(4) ! mean-squared-error", "8x6", NULL, "", "training needs data; set data"},
    {"linear(4) ! mean-squared-error", "8x6", "synthetics", "",
     "kind of data 'synthetics' is unknown; choose from text, "},
    {"linear(4) ! mean-squared-error", NULL, "synthetic", "batch=4",
     "set the input's shape, like 64x256"},
    {"linear(4) ! mean-squared-error", NULL, "csv:/nonexistent", "", "cannot open '/nonexistent'"},
    {"linear(4) ! mean-squared-error", NULL, "csv:/nonexistent", "batch=4",
     "cannot open '/nonexistent'"},
    {"linear(4) ! mean-squared-error", "8x6", "synthetic", "steps=10 warmup=11",
     "warmup is 11, expected a whole number from 0 to steps, 10"},
    {"linear(4) ! mean-squared-error", "8x6", "synthetic", "lr=0.01 min-lr=0.1",
     "min-lr is 0.1, expected a number from 0 to lr, 0.01"},
    {"linear(4) ! mean-squared-error", "8x6", "synthetic", "checkpoint=/nonexistent/a",
     "cannot write the checkpoint '/nonexistent/a': No such file or directory"},
    {"linear(4) ! mean-squared-error", "8x6", "synthetic", "checkpoint=/dev/full",
     "cannot write the checkpoint '/dev/full': it is not a regular file"},
    {"linear(4) ! mean-squared-error", "8x6", "synthetic", "checkpoint=/tmp",
     "cannot write the checkpoint '/tmp': it is a folder"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (try_run (f, rejected[i].expression, rejected[i].input, rejected[i].data,
                            rejected[i].settings, NULL, &error));
    assert_message (error, rejected[i].message);
    g_assert_null (strchr (error->message, '\n'));
  }
  g_assert_cmpuint (count_runs (f), ==, 0);
}

/* An input that contradicts the data is rejected, and the message has both. Axis 0 is the batch. */
static void
test_contradictions (Fixture *f, gconstpointer data)
{
  g_autofree char *table = write_data (f, "csv", "t.csv", "1,2,3,4,0\n5,6,7,8,1\n2,3,4,5,0\n", -1);
  g_autofree char *text = write_data (f, "text", "t.txt", "abcdefghijklmnop", -1);
  static const char line[] = "linear(1) ! mean-squared-error",
                    bytes[] = "embedding(4, vocabulary=128) ! linear(128) ! cross-entropy";
  const struct {
    const char *expression, *input, *data, *settings, *message;
  } cases[] = {
    {line, "2x5", table, "", "the input is 2x5 and does not match the data, whose batches are 2x4"},
    {line, "16x768", table, "batch=3",
     "is 3x768 and does not match the data, whose batches are 3x4"},
    {line, "2x2x2", table, "",
     "the input is 2x2x2 and does not match the data, whose batches are 2x4"},
    {line, "2x4:int32", table, "",
     "the input is 2x4:int32 and does not match the data, whose batches are 2x4:fp32"},
    {line, "2x4", table, "", NULL},
    {line, "16x4", table, "batch=2", NULL},
    {line, "2", table, "", NULL},
    {line, NULL, table, "batch=2", NULL},
    {bytes, "2x4", text, "", NULL},
    {bytes, "2x4:int32", text, "", NULL},
    {line, "2x5", "synthetic", "", NULL},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigRun) run = try_run (f, cases[i].expression, cases[i].input, cases[i].data,
                                      cases[i].settings, NULL, &error);
    if (cases[i].message)
      assert_message (error, cases[i].message);
    else
      g_assert_no_error (error);
    g_assert_cmpint (run != NULL, ==, cases[i].message == NULL);
  }
}

/* The default batch size is 32, or all training rows, and it is reported. */
static void
test_usual_batch (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 50; i++)
    g_string_append_printf (text, "%d,%d\n", i, i % 3);
  g_autofree char *many = write_data (f, "csv", "large.csv", text->str, -1);
  g_autofree char *few = write_data (f, "csv", "small.csv", "1,2\n3,4\n5,6\n7,8\n9,1\n", -1);
  const char *const tables[] = {many, few};
  static const gint64 wanted[] = {32, 4};
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++) {
    LigShape shape;
    LigDtype dtype;
    g_autofree char *said =
      g_strdup_printf ("batch size %" G_GINT64_FORMAT " by default", wanted[i]);
    g_autoptr (LigRun) run =
      new_run (f, "linear(1) ! mean-squared-error", NULL, tables[i], "steps=2");
    lig_sequence_get_input (lig_run_get_sequence (run), &shape, &dtype);
    g_assert_cmpint (shape.axes[0], ==, wanted[i]);
    g_assert_cmpstr (lig_run_get_remarks (run)[0], ==, said);
    g_assert_null (lig_run_get_remarks (run)[1]);
    finish (run);
    g_autoptr (LigRun) given =
      new_run (f, "linear(1) ! mean-squared-error", NULL, tables[i], "steps=2 batch=2");
    g_assert_null (lig_run_get_remarks (given)[0]);
  }
}

static void
assert_init_rejected (Fixture *f, const char *path, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (try_run (f, "linear(4) ! gelu ! linear(2) ! mean-squared-error", "8x6", samples,
                          "", path, &error));
  assert_message (error, message);
  assert_message (error, path);
}

static void
test_init_rejected (Fixture *f, gconstpointer data)
{
  static const float zeros[64];
  g_autofree char *path = in_folder (f, "weights.safetensors");
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  add_tensor (file, "0.weight", "6x4", zeros);
  add_tensor (file, "0.bias", "4", zeros);
  add_tensor (file, "2.weight", "2x4", zeros);
  add_tensor (file, "3.bias", "2", zeros);
  g_assert_true (lig_tensor_file_save (file, path, NULL));
  assert_init_rejected (f, path, "0.weight is 6x4, expected 4x6");
  assert_init_rejected (f, path, "2.bias is missing");
  assert_init_rejected (f, path, "3.bias is surplus");
  g_assert_true (g_file_set_contents (path, "\x08\0\0\0\0\0\0\0{}", 10, NULL));
  assert_init_rejected (f, path, "");
  g_remove (path);
  assert_init_rejected (f, path, "cannot open");
  g_assert_cmpuint (count_runs (f), ==, 0);
}

/* The layout of nn.Sequential (Linear (6, 4), GELU (), Linear (4, 2)): `weight` is out x in. */
static void
test_init (Fixture *f, gconstpointer data)
{
  g_autofree char *path = in_folder (f, "sequential.safetensors");
  g_autofree char *checkpoint = in_folder (f, "after.safetensors");
  g_autofree char *settings = g_strconcat ("steps=3 lr=0 checkpoint=", checkpoint, NULL);
  static const struct {
    const char *name, *shape;
  } tensors[] = {{"0.weight", "4x6"}, {"0.bias", "4"}, {"2.weight", "2x4"}, {"2.bias", "2"}};
  float values[24];
  guint32 seed = 1;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = (float) draw (&seed);
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
    add_tensor (file, tensors[i].name, tensors[i].shape, values);
  g_assert_true (lig_tensor_file_save (file, path, NULL));
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) run = try_run (f, "linear(4) ! gelu ! linear(2) ! mean-squared-error", "8x6",
                                    samples, settings, path, &error);
  g_assert_no_error (error);
  finish (run);
  g_autoptr (LigTensorFile) after = load_tensors (checkpoint);
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++) {
    g_autoptr (LigTensor) tensor = get_tensor (after, tensors[i].name);
    g_assert_cmpmem (tensor->data, lig_tensor_bytes (tensor), values, lig_tensor_bytes (tensor));
  }
  /* A checkpoint is also a weight file; its optimizer state is ignored. */
  g_autoptr (LigRun) again = try_run (f, "linear(4) ! gelu ! linear(2) ! mean-squared-error", "8x6",
                                      samples, "steps=1", checkpoint, &error);
  g_assert_no_error (error);
  g_assert_nonnull (again);
}

static gboolean
end_in_round (guint round, guint rounds, gpointer calls)
{
  g_assert_cmpuint (round, ==, 0);
  g_assert_cmpuint (rounds, ==, 100000);
  return ++*(int *) calls < 2;
}

/* A profile of long steps ends within one. */
static void
test_profile (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  int calls = 0;
  g_autoptr (LigSequence) sequence =
    lig_sequence_from_expression ("linear(2048) ! gelu ! linear(2048) ! linear(512)", &error);
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (1024), G_GINT64_CONSTANT (1024));
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  g_autoptr (GPtrArray) profiles = lig_profile_measure_watched (
    sequence, f->device, NULL, 1, 100000, NULL, end_in_round, &calls, &error);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_CANCELLED);
  g_assert_null (profiles);
  g_assert_cmpint (calls, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/settings", test_settings);
#define ADD(path, function) g_test_add ("/train/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("pause", test_pause);
  ADD ("interrupt", test_interrupt);
  ADD ("profile", test_profile);
  ADD ("metrics", test_metrics);
  ADD ("save", test_save);
  ADD ("dropped", test_dropped);
  ADD ("ended", test_ended);
  ADD ("signals", test_signals);
  ADD ("signals/failure", test_signals_of_failure);
  ADD ("diverged", test_diverged);
  ADD ("rejections", test_rejections);
  ADD ("contradictions", test_contradictions);
  ADD ("usual-batch", test_usual_batch);
  ADD ("init", test_init);
  ADD ("init/rejected", test_init_rejected);
  return run_tests ();
}
