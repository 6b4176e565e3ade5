/* SPDX-License-Identifier: MIT */
/* The same losses to the last bit: from the same seed, and from a checkpoint. */
#include "tests/train/case.h"
#include <ligature/device.h>

#include <gio/gio.h>

static void
copy_file (const char *from, const char *to)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *bytes = NULL;
  gsize length;
  g_file_get_contents (from, &bytes, &length, &error);
  g_assert_no_error (error);
  g_file_set_contents (to, bytes, (gssize) length, &error);
  g_assert_no_error (error);
}

/* Continues with settings, `lr=0.1 steps=20`. */
static LigRun *
resume (Fixture *f, const char *checkpoint, const char *assignments)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) overrides = g_strsplit (assignments ? assignments : "", " ", -1);
  LigRun *run =
    lig_run_resume (checkpoint, f->device, (const char *const *) overrides, f->store, &error);
  g_assert_no_error (error);
  g_assert_nonnull (run);
  return run;
}

static void
test_seed (Fixture *f, gconstpointer data)
{
  static const char expression[] =
    "linear(16, init-std=0.3) ! dropout(0.2) ! gelu ! linear(4) ! cross-entropy";
  g_autoptr (LigRun) a =
    new_run (f, expression, "8x6", "synthetic?samples=90", "steps=60 seed=5 lr=0.01");
  g_autoptr (LigRun) b =
    new_run (f, expression, "8x6", "synthetic?samples=90", "steps=60 seed=5 lr=0.01");
  g_autoptr (LigRun) c =
    new_run (f, expression, "8x6", "synthetic?samples=90", "steps=60 seed=6 lr=0.01");
  LigRunProgress first = finish (a), second = finish (b);
  finish (c);
  assert_same_metric (f, lig_run_get_uuid (a), lig_run_get_uuid (b), LIG_METRIC_LOSS, 60);
  assert_same_metric (f, lig_run_get_uuid (a), lig_run_get_uuid (b), "gradient-norm", 60);
  g_assert_cmpfloat (first.eval_loss, ==, second.eval_loss);
  assert_same_tensors (lig_run_get_checkpoint (a), lig_run_get_checkpoint (b));
  g_autoptr (GArray) mine = read_metric (f, lig_run_get_uuid (a), LIG_METRIC_LOSS, 1, 1);
  g_autoptr (GArray) other = read_metric (f, lig_run_get_uuid (c), LIG_METRIC_LOSS, 1, 1);
  g_assert_cmpfloat (value_at (mine, 0), !=, value_at (other, 0));
}

/* Settings with different states between steps. */
static const struct {
  const char *name, *settings;
} cases[] = {
  {"adamw", "lr=0.01 weight-decay=0.1"},
  {"sgd", "optimizer=sgd lr=0.05"},
  {"momentum", "optimizer=sgd lr=0.05 momentum=0.9 weight-decay=0.01"},
  {"accumulate", "lr=0.01 accumulate=3"},
  {"bf16-masters", "lr=0.01 dtype=bf16:bf16"},
  {"fp16-compute", "lr=0.01 dtype=fp16:fp32 clip=0.5"},
  {"fp16-scaled", "lr=0.01 dtype=fp16:fp16"},
  {"bf16-accumulate", "lr=0.01 dtype=bf16:bf16 accumulate=3"},
  {"cosine", "lr=0.02 min-lr=0.001 schedule=cosine warmup=30 clip=1"},
  {"unfused", "lr=0.01 policy=none"},
  {"evaluated", "lr=0.01 eval-every=7 optimizer=sgd momentum=0.5"},
};

#define STEPS 400

/* Starts a run, and interrupts it after the given number of steps. */
static void
interrupt_at (LigRun *run, gint64 step, LigRunProgress *progress)
{
  g_autoptr (GError) error = NULL;
  lig_run_start (run);
  do
    lig_run_get_progress (run, progress);
  while (progress->step < step);
  lig_run_interrupt (run);
  g_assert_true (lig_run_wait (run, &error));
  lig_run_get_progress (run, progress);
}

/* A run that was interrupted somewhere in the middle and resumed from its file equals a run without
 * interruption. */
static void
test_resume (Fixture *f, gconstpointer data)
{
  static const char expression[] =
    "layer-norm ! linear(24, init-std=0.3) ! gelu ! dropout(0.2) ! linear(5) ! cross-entropy";
  g_autofree char *settings = g_strdup_printf ("steps=%d %s", STEPS, (const char *) data);
  g_autoptr (LigRun) whole = new_run (f, expression, "16x12", "synthetic?samples=999", settings);
  g_autoptr (LigRun) part = NULL;
  LigRunProgress expected = finish (whole), progress;
  int tries = 0;
  /* On a busy machine this thread may sleep until a run has ended. */
  do {
    g_clear_object (&part);
    part = new_run (f, expression, "16x12", "synthetic?samples=999", settings);
    interrupt_at (part, 20, &progress);
  } while (progress.step == STEPS && ++tries < 50);
  g_assert_cmpint (progress.status, ==, LIG_RUN_INTERRUPTED);
  g_assert_cmpint (progress.step, <, STEPS);
  assert_status (f, lig_run_get_uuid (part), "interrupted");

  g_autofree char *checkpoint = g_strdup (lig_run_get_checkpoint (part));
  g_autofree char *uuid = g_strdup (lig_run_get_uuid (part));
  g_clear_object (&part);
  g_autoptr (LigRun) rest = resume (f, checkpoint, NULL);
  g_assert_cmpstr (lig_run_get_uuid (rest), ==, uuid);
  assert_status (f, uuid, "running");
  LigRunProgress result = finish (rest);
  g_assert_cmpint (result.first_step, ==, progress.step);
  g_assert_cmpint (result.status, ==, LIG_RUN_DONE);
  assert_same_metric (f, lig_run_get_uuid (whole), uuid, LIG_METRIC_LOSS, STEPS);
  assert_same_metric (f, lig_run_get_uuid (whole), uuid, "learning-rate", STEPS);
  assert_same_metric (f, lig_run_get_uuid (whole), uuid, "gradient-norm", STEPS);
  g_assert_cmpfloat (result.eval_loss, ==, expected.eval_loss);
  assert_same_tensors (lig_run_get_checkpoint (whole), checkpoint);
}

/* The checkpoint of a step that was abandoned is that of the step before. */
static void
assert_whole_steps (const char *checkpoint, gint64 step, gint64 parts)
{
  g_autoptr (LigTensorFile) file = load_tensors (checkpoint);
  g_autofree char *steps = g_strdup_printf ("%" G_GINT64_FORMAT, step);
  g_autofree char *micro = g_strdup_printf ("%" G_GINT64_FORMAT, step * parts);
  g_assert_cmpstr (lig_tensor_file_get_metadata (file, "ligature.step"), ==, steps);
  g_assert_cmpstr (lig_tensor_file_get_metadata (file, "ligature.micro_step"), ==, micro);
}

/* Waits for a share of a step after the first one, whose duration is this run's own: another run
 * may have been slower than this one. Returns the seconds of a step. */
static double
wait_into_second_step (LigRun *run, double share)
{
  LigRunProgress progress;
  gint64 start = g_get_monotonic_time ();
  lig_run_start (run);
  do {
    g_usleep (1000);
    lig_run_get_progress (run, &progress);
  } while (progress.step < 1);
  gint64 step = g_get_monotonic_time () - start;
  g_usleep ((gulong) (share * (double) step));
  return (double) step / 1e6;
}

/* A step of thousands of micro-batches is abandoned in the middle, to save while paused and then to
 * end. The resumed run equals one without interruption. */
static void
test_abandoned (Fixture *f, gconstpointer data)
{
  static const char expression[] =
    "linear(24, init-std=0.3) ! gelu ! dropout(0.2) ! linear(5) ! cross-entropy";
  static const char settings[] = "steps=3 accumulate=4000 lr=0.01";
  g_autoptr (LigRun) whole = new_run (f, expression, "16x12", "synthetic?samples=999", settings);
  LigRunProgress progress;
  finish (whole);
  g_autoptr (LigRun) run = new_run (f, expression, "16x12", "synthetic?samples=999", settings);
  double seconds = wait_into_second_step (run, 0.3);
  lig_run_pause (run);
  do {
    g_usleep (1000);
    lig_run_get_progress (run, &progress);
  } while (progress.status == LIG_RUN_RUNNING);
  g_assert_cmpint (progress.status, ==, LIG_RUN_PAUSED);
  lig_run_save (run);
  while (!g_file_test (lig_run_get_checkpoint (run), G_FILE_TEST_EXISTS))
    g_usleep (1000);
  assert_whole_steps (lig_run_get_checkpoint (run), progress.step, 4000);
  lig_run_unpause (run);
  g_usleep ((gulong) (seconds * 0.3e6));
  lig_run_interrupt (run);
  g_assert_true (lig_run_wait (run, NULL));
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_INTERRUPTED);
  g_autofree char *checkpoint = g_strdup (lig_run_get_checkpoint (run));
  assert_whole_steps (checkpoint, progress.step, 4000);
  g_clear_object (&run);
  g_autoptr (LigRun) rest = resume (f, checkpoint, NULL);
  finish (rest);
  assert_same_metric (f, lig_run_get_uuid (whole), lig_run_get_uuid (rest), LIG_METRIC_LOSS, 3);
  assert_same_tensors (lig_run_get_checkpoint (whole), checkpoint);
}

static LigRunRow *
find_row (Fixture *f, const char *uuid)
{
  g_autoptr (GError) error = NULL;
  LigRunRow *row = lig_store_find_run (f->store, uuid, &error);
  g_assert_no_error (error);
  return row;
}

/* A copy of an earlier checkpoint continues as another run, and the run that has advanced further
 * keeps its history, its settings and its file. */
static void
test_earlier (Fixture *f, gconstpointer data)
{
  static const char expression[] = "linear(4) ! mean-squared-error";
  g_autoptr (LigRun) run = new_run (f, expression, "8x6", "synthetic?samples=70", "steps=10");
  g_autofree char *copy = in_folder (f, "copy.safetensors");
  g_autofree char *uuid = g_strdup (lig_run_get_uuid (run));
  finish (run);
  copy_file (lig_run_get_checkpoint (run), copy);
  g_autoptr (LigRun) longer = resume (f, lig_run_get_checkpoint (run), "steps=30");
  g_assert_cmpstr (lig_run_get_uuid (longer), ==, uuid);
  g_assert_null (lig_run_get_parent (longer));
  finish (longer);
  g_autoptr (GArray) thirty = read_metric (f, uuid, LIG_METRIC_LOSS, 1, 1);
  g_assert_cmpuint (thirty->len, ==, 30);
  g_autoptr (LigRun) again = resume (f, copy, "steps=20");
  g_assert_cmpstr (lig_run_get_uuid (again), !=, uuid);
  g_assert_cmpstr (lig_run_get_parent (again), ==, uuid);
  finish (again);
  g_autoptr (GArray) still = read_metric (f, uuid, LIG_METRIC_LOSS, 1, 1);
  assert_same_values (still, thirty, 30);
  g_autoptr (LigRunRow) old = find_row (f, uuid), new = find_row (f, lig_run_get_uuid (again));
  g_assert_cmpstr (old->status, ==, "done");
  g_assert_cmpint (old->last_step, ==, 30);
  g_assert_nonnull (strstr (old->settings, "\"steps\": 30"));
  g_assert_cmpstr (new->parent, ==, uuid);
  g_assert_nonnull (strstr (new->settings, "\"steps\": 20"));
  g_autoptr (GArray) ten = read_metric (f, lig_run_get_uuid (again), LIG_METRIC_LOSS, 11, 1);
  g_assert_cmpuint (ten->len, ==, 10);
  g_assert_cmpmem (ten->data, 10 * sizeof (double), (double *) (void *) thirty->data + 10,
                   10 * sizeof (double));
  g_autofree char *place = g_canonicalize_filename (copy, NULL);
  g_assert_cmpstr (lig_run_get_checkpoint (again), ==, place);
}

/* The settings in a resumed copy name the copy, not the original. */
static void
test_copied (Fixture *f, gconstpointer data)
{
  g_autofree char *first = in_folder (f, "first.safetensors");
  g_autofree char *copy = in_folder (f, "second.safetensors");
  g_autofree char *settings = g_strconcat ("steps=10 checkpoint=", first, NULL);
  g_autoptr (LigRun) run =
    new_run (f, "linear(4) ! mean-squared-error", "8x6", "synthetic?samples=70", settings);
  finish (run);
  copy_file (first, copy);
  g_autoptr (LigRun) longer = resume (f, first, "steps=30");
  finish (longer);
  g_autoptr (LigRun) child = resume (f, copy, "steps=20");
  finish (child);
  g_autoptr (LigRunRow) row = find_row (f, lig_run_get_uuid (child));
  g_assert_nonnull (strstr (row->settings, "second.safetensors"));
  g_assert_null (strstr (row->settings, "first.safetensors"));
  g_autoptr (LigTensorFile) file = load_tensors (copy);
  const char *kept = lig_tensor_file_get_metadata (file, "ligature.settings");
  g_assert_nonnull (strstr (kept, "second.safetensors"));
  g_assert_null (strstr (kept, "first.safetensors"));
}

/* An old copy that replaces the newer file no longer belongs to that run. */
static void
test_put_back (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run =
    new_run (f, "linear(4) ! mean-squared-error", "8x6", "synthetic?samples=70", "steps=10");
  g_autofree char *copy = in_folder (f, "copy.safetensors");
  const char *place = lig_run_get_checkpoint (run);
  finish (run);
  copy_file (place, copy);
  g_autoptr (LigRun) longer = resume (f, place, "steps=30");
  finish (longer);
  copy_file (copy, place);
  g_autoptr (LigRun) child = resume (f, place, "steps=15");
  g_assert_cmpstr (lig_run_get_parent (child), ==, lig_run_get_uuid (run));
  g_assert_cmpstr (lig_run_get_checkpoint (child), !=, place);
  finish (child);
  g_autoptr (LigTensorFile) file = load_tensors (place);
  g_assert_cmpstr (lig_tensor_file_get_metadata (file, "ligature.run"), ==, lig_run_get_uuid (run));
}

/* A run that was never started is not running: neither a new one nor a resumed one. */
static void
test_unstarted (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run =
    new_run (f, "linear(4) ! mean-squared-error", "8x6", "synthetic?samples=70", "steps=10");
  g_autofree char *uuid = g_strdup (lig_run_get_uuid (run));
  g_autofree char *checkpoint = g_strdup (lig_run_get_checkpoint (run));
  finish (run);
  g_object_unref (resume (f, checkpoint, "steps=20"));
  assert_status (f, uuid, "done");
  LigRun *never =
    new_run (f, "linear(4) ! mean-squared-error", "8x6", "synthetic?samples=70", "steps=10");
  g_autofree char *other = g_strdup (lig_run_get_uuid (never));
  g_object_unref (never);
  assert_status (f, other, "cancelled");
}

/* Interrupted after all steps: the checkpoint exists, and only the evaluation is left. */
static void
test_evaluation (Fixture *f, gconstpointer data)
{
  static const char many[] = "synthetic?samples=3000000&validation=0.9";
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) run =
    new_run (f, "linear(4) ! mean-squared-error", "8x6", many, "steps=3 eval-batches=1000000");
  g_autofree char *checkpoint = g_strdup (lig_run_get_checkpoint (run));
  LigRunProgress progress;
  lig_run_start (run);
  while (!g_file_test (checkpoint, G_FILE_TEST_EXISTS))
    g_usleep (500);
  lig_run_interrupt (run);
  g_assert_true (lig_run_wait (run, &error));
  g_assert_no_error (error);
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_INTERRUPTED);
  g_assert_cmpint (progress.step, ==, 3);
  g_assert_true (isnan (progress.eval_loss));
  assert_status (f, lig_run_get_uuid (run), "interrupted");
  g_autofree char *uuid = g_strdup (lig_run_get_uuid (run));
  g_autoptr (LigRun) rest = resume (f, checkpoint, NULL);
  g_assert_cmpstr (lig_run_get_uuid (rest), ==, uuid);
  lig_run_start (rest);
  lig_run_cancel (rest);
  g_assert_true (lig_run_wait (rest, &error));
  lig_run_get_progress (rest, &progress);
  g_assert_cmpint (progress.step, ==, 3);
  assert_status (f, uuid, "cancelled");
}

static void
test_measured (Fixture *f, gconstpointer data)
{
  static const char expression[] =
    "layer-norm ! linear(64) ! gelu ! linear(16) ! mean-squared-error";
  g_autoptr (LigRun) run =
    new_run (f, expression, "32x16", "synthetic?samples=200", "steps=10 policy=measured");
  g_autofree char *copy = in_folder (f, "copy.safetensors");
  g_autofree char *without = in_folder (f, "without.db");
  finish (run);
  copy_file (lig_run_get_checkpoint (run), copy);
  g_autoptr (LigRun) first = resume (f, lig_run_get_checkpoint (run), "steps=30");
  finish (first);
  g_autoptr (GArray) losses = read_metric (f, lig_run_get_uuid (run), LIG_METRIC_LOSS, 1, 1);
  /* With an empty store the choices come from the checkpoint. */
  g_autoptr (GError) error = NULL;
  g_clear_object (&f->store);
  f->store = lig_store_open (without, &error);
  g_assert_no_error (error);
  g_autoptr (LigRun) second = resume (f, copy, "steps=30");
  finish (second);
  g_assert_cmpstr (lig_run_get_uuid (second), !=, lig_run_get_uuid (run));
  g_autoptr (GArray) others = read_metric (f, lig_run_get_uuid (second), LIG_METRIC_LOSS, 11, 1);
  g_assert_cmpuint (others->len, ==, 20);
  g_assert_cmpmem (others->data, 20 * sizeof (double), (double *) (void *) losses->data + 10,
                   20 * sizeof (double));
  g_autoptr (LigTensorFile) a = load_tensors (lig_run_get_checkpoint (first));
  g_autoptr (LigTensorFile) b = load_tensors (copy);
  const char *choices = lig_tensor_file_get_metadata (a, "ligature.choices");
  g_assert_nonnull (choices);
  g_assert_cmpstr (choices, ==, lig_tensor_file_get_metadata (b, "ligature.choices"));
}

/* Resuming without a store gives the same losses and checkpoint. */
static void
test_without_store (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) run =
    new_run (f, "linear(4) ! mean-squared-error", "8x6", "synthetic?samples=70", "steps=10");
  const char *const more[] = {"steps=12", NULL};
  finish (run);
  g_autoptr (LigRun) rest =
    lig_run_resume (lig_run_get_checkpoint (run), f->device, more, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (lig_run_get_uuid (rest));
  LigRunProgress progress = finish (rest);
  g_assert_cmpint (progress.step, ==, 12);
  g_autoptr (LigTensorFile) file = load_tensors (lig_run_get_checkpoint (run));
  g_assert_cmpstr (lig_tensor_file_get_metadata (file, "ligature.step"), ==, "12");
}

static void
assert_rejected (Fixture *f, const char *checkpoint, const char *override, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *before = NULL, *after = NULL;
  gsize n_before, n_after;
  const char *const overrides[] = {override, NULL};
  g_file_get_contents (checkpoint, &before, &n_before, NULL);
  g_assert_null (lig_run_resume (checkpoint, f->device, overrides, f->store, &error));
  assert_message (error, part);
  assert_message (error, checkpoint);
  g_file_get_contents (checkpoint, &after, &n_after, NULL);
  g_assert_cmpmem (before, n_before, after, n_after);
}

static void
test_rejections (Fixture *f, gconstpointer data)
{
  g_autofree char *path = in_folder (f, "rows.csv");
  g_assert_true (g_file_set_contents (path, "1,2\n3,4\n5,6\n7,8\n", -1, NULL));
  g_autofree char *spec = g_strconcat ("csv:", path, NULL);
  g_autoptr (LigRun) run =
    new_run (f, "linear(1) ! mean-squared-error", NULL, spec, "batch=2 steps=10 lr=0.01");
  finish (run);
  const char *checkpoint = lig_run_get_checkpoint (run), *uuid = lig_run_get_uuid (run);
  assert_rejected (f, checkpoint, NULL, "already at step 10; set steps above 10");
  assert_rejected (f, checkpoint, "steps=9", "already at step 10; set steps above 10");
  assert_rejected (f, checkpoint, "lr=0.1", "already at step 10; set steps above 10");
  assert_rejected (f, checkpoint, "batch=4", "already at step 10; set steps above 10");
  assert_rejected (f, checkpoint, "clip=1", "already at step 10; set steps above 10");
  assert_rejected (f, checkpoint, "min-lr=1", "min-lr is 1, expected a number from 0 to lr, 0.01");
  assert_rejected (f, checkpoint, "policy=none",
                   "policy none does not match the checkpoint, which has its default");
  assert_rejected (f, checkpoint, "seed=1", "seed 1 does not match the checkpoint, which has 0");
  assert_rejected (f, checkpoint, "optimizer=sgd", "optimizer sgd does not match the checkpoint");
  assert_rejected (f, checkpoint, "dtype=bf16",
                   "dtype bf16:bf16 does not match the checkpoint, which has fp32:fp32");
  assert_rejected (f, checkpoint, "lr", "'lr' is not a setting; write name=value");
  assert_rejected (f, checkpoint, "", "'' is not a setting; write name=value");
  assert_rejected (f, checkpoint, "lrr=1", "training has no setting 'lrr'");
  assert_rejected (f, checkpoint, "lr=abc", "lr is 'abc', expected a number");
  assert_status (f, uuid, "done");
  /* The same value in another spelling is not a contradiction. */
  static const char *const same[] = {"lr=1e-2", "optimizer=adamw", "schedule=constant"};
  for (guint i = 0; i < G_N_ELEMENTS (same); i++)
    assert_rejected (f, checkpoint, same[i], "already at step 10; set steps above 10");
  g_assert_true (g_file_set_contents (path, "1,2\n3,4\n5,6\n7,8\n9,10\n", -1, NULL));
  assert_rejected (f, checkpoint, "steps=20", "the data has changed: it is csv: 5 rows");
  g_assert_true (g_file_set_contents (path, "1,2\n3,4\n5,6\n7,9\n", -1, NULL));
  assert_rejected (f, checkpoint, "steps=20", "but its content differs");
  g_remove (path);
  assert_rejected (f, checkpoint, "steps=20", "cannot open");
  assert_status (f, uuid, "done");
}

/* --- Other settings ------------------------------------------------------------------------ */

static gboolean
remarks (LigRun *run, const char *words)
{
  for (const char *const *remark = lig_run_get_remarks (run); *remark; remark++)
    if (strstr (*remark, words))
      return TRUE;
  return FALSE;
}

/* Checks that the run is a new one, with its own file. */
static void
assert_branch (Fixture *f, LigRun *run, LigRun *parent)
{
  g_assert_cmpstr (lig_run_get_parent (run), ==, lig_run_get_uuid (parent));
  g_assert_cmpstr (lig_run_get_uuid (run), !=, lig_run_get_uuid (parent));
  g_assert_cmpstr (lig_run_get_checkpoint (run), !=, lig_run_get_checkpoint (parent));
  assert_status (f, lig_run_get_uuid (parent), "done");
}

/* With another learning rate, batch or data the checkpoint continues as a new run. SGD has no
 * state, so the values are those of a run that begins with the checkpoint's weights. */
static void
test_branch (Fixture *f, gconstpointer data)
{
  static const char expression[] = "linear(4) ! mean-squared-error",
                    begun[] = "synthetic?samples=70";
  static const char *const others[] = {"lr=0.2", "batch=4",
                                       "data=synthetic?samples=50 schedule=cosine"};
  g_autoptr (LigRun) run = new_run (f, expression, "8x6", begun, "steps=10 optimizer=sgd lr=0.05");
  finish (run);
  g_autofree char *before = NULL, *after = NULL;
  gsize length, same;
  const char *checkpoint = lig_run_get_checkpoint (run);
  g_assert_true (g_file_get_contents (checkpoint, &before, &length, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autofree char *more = g_strconcat ("steps=15 ", others[i], NULL);
    g_autoptr (LigRun) branch = resume (f, checkpoint, more);
    assert_branch (f, branch, run);
    g_assert_true (remarks (branch, "settings that differ from the checkpoint's: "));
    g_assert_cmpint (remarks (branch, "batch 4 (was 8)"), ==, i == 1);
    finish (branch);
    g_autoptr (GArray) losses = read_metric (f, lig_run_get_uuid (branch), LIG_METRIC_LOSS, 11, 1);
    g_assert_cmpuint (losses->len, ==, 5);
    if (i < 2)
      continue;
    g_autoptr (GError) error = NULL;
    g_autoptr (LigRun) fresh =
      try_run (f, expression, "8x6", "synthetic?samples=50",
               "steps=15 optimizer=sgd lr=0.05 schedule=cosine", checkpoint, &error);
    g_assert_no_error (error);
    finish (fresh);
    g_autoptr (GArray) values = read_metric (f, lig_run_get_uuid (fresh), LIG_METRIC_LOSS, 1, 1);
    g_assert_cmpfloat (value_at (values, 0), ==, value_at (losses, 0));
  }
  g_assert_true (g_file_get_contents (checkpoint, &after, &same, NULL));
  g_assert_cmpmem (before, length, after, same);
  /* The same batch size as the input's first axis is not a difference. */
  g_autoptr (LigRun) same_batch = resume (f, checkpoint, "steps=12 batch=8");
  g_assert_null (lig_run_get_parent (same_batch));
  g_clear_object (&same_batch);
  /* The rate of a step does not change the loss before it. */
  g_autoptr (LigRun) quick = resume (f, checkpoint, "steps=12 lr=0.2");
  g_autoptr (LigRun) longer = resume (f, checkpoint, "steps=12");
  g_assert_null (lig_run_get_parent (longer));
  g_assert_false (remarks (longer, ""));
  finish (quick);
  finish (longer);
  g_autoptr (GArray) faster = read_metric (f, lig_run_get_uuid (quick), LIG_METRIC_LOSS, 11, 1);
  g_autoptr (GArray) losses = read_metric (f, lig_run_get_uuid (run), LIG_METRIC_LOSS, 1, 1);
  g_autoptr (GArray) rates = read_metric (f, lig_run_get_uuid (quick), "learning-rate", 11, 1);
  g_assert_cmpfloat (value_at (faster, 0), ==, value_at (losses, 10));
  g_assert_cmpfloat (value_at (faster, 1), !=, value_at (losses, 11));
  g_assert_cmpfloat (value_at (rates, 0), ==, 0.2);
}

#define COSINE "lr=0.02 min-lr=0.001 schedule=cosine warmup=10 "

/* A schedule of a given length continues with the bits of a single run; one that grows with the
 * steps begins a new run, and reports its rates. */
static void
test_schedule (Fixture *f, gconstpointer data)
{
  static const char expression[] = "linear(4) ! mean-squared-error",
                    spec[] = "synthetic?samples=70";
  g_autoptr (LigRun) whole = new_run (f, expression, "8x6", spec, COSINE "steps=60");
  g_autoptr (LigRun) part =
    new_run (f, expression, "8x6", spec, COSINE "steps=25 schedule-steps=60");
  finish (whole);
  finish (part);
  g_autoptr (LigRun) rest = resume (f, lig_run_get_checkpoint (part), "steps=60");
  g_assert_null (lig_run_get_parent (rest));
  g_assert_true (remarks (rest, "cosine schedule to step 60: the rate is"));
  finish (rest);
  assert_same_metric (f, lig_run_get_uuid (whole), lig_run_get_uuid (part), LIG_METRIC_LOSS, 60);
  assert_same_metric (f, lig_run_get_uuid (whole), lig_run_get_uuid (part), "learning-rate", 60);
  /* The finished run keeps its schedule; after its end the rate is constant. */
  g_autoptr (LigRun) branch = resume (f, lig_run_get_checkpoint (whole), "steps=90");
  assert_branch (f, branch, whole);
  g_assert_true (remarks (branch, "cosine schedule to step 90, and was to step 60: the rate is "
                                  "0.001 at step 60 and "));
  finish (branch);
  g_autoptr (GArray) rates = read_metric (f, lig_run_get_uuid (branch), "learning-rate", 61, 1);
  g_assert_cmpfloat_with_epsilon (value_at (rates, 0),
                                  0.001 + 0.019 * 0.5 * (1 + cos (G_PI * 51 / 80)), 1e-9);
  g_autoptr (LigRun) longer =
    resume (f, lig_run_get_checkpoint (whole), "steps=90 schedule-steps=60");
  g_assert_null (lig_run_get_parent (longer));
  finish (longer);
  g_autoptr (LigRun) once =
    new_run (f, expression, "8x6", spec, COSINE "steps=90 schedule-steps=60");
  finish (once);
  assert_same_metric (f, lig_run_get_uuid (whole), lig_run_get_uuid (once), LIG_METRIC_LOSS, 90);
  g_autoptr (GArray) last = read_metric (f, lig_run_get_uuid (once), "learning-rate", 1, 1);
  g_assert_cmpfloat (value_at (last, 89), ==, 0.001);
  g_autoptr (GError) error = NULL;
  g_assert_null (
    try_run (f, expression, "8x6", spec, COSINE "steps=90 schedule-steps=9", NULL, &error));
  assert_message (error, "warmup is 10, expected a whole number from 0 to schedule-steps, 9");
}

/* A checkpoint from before the random validation split continues with validation rows at the
 * end. */
static void
test_old_split (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 50; i++)
    g_string_append_printf (text, "%d,%d\n", i, i * i % 7);
  g_autofree char *spec = write_data (f, "csv", "rows.csv", text->str, -1);
  g_autofree char *end = g_strconcat (spec, "?split=end", NULL);
  static const char expression[] = "linear(1) ! mean-squared-error",
                    settings[] = "batch=4 lr=0.01 steps=";
  g_autofree char *some = g_strconcat (settings, "10", NULL);
  g_autofree char *all = g_strconcat (settings, "20", NULL);
  g_autoptr (LigRun) whole = new_run (f, expression, NULL, end, all);
  g_autoptr (LigRun) random = new_run (f, expression, NULL, spec, all);
  g_autoptr (LigRun) part = new_run (f, expression, NULL, end, some);
  finish (whole);
  finish (part);
  g_autoptr (LigTensorFile) file = load_tensors (lig_run_get_checkpoint (part));
  g_auto (GStrv) pieces =
    g_strsplit (lig_tensor_file_get_metadata (file, "ligature.settings"), "?split=end", -1);
  g_assert_cmpuint (g_strv_length (pieces), ==, 2);
  g_autofree char *old = g_strjoinv ("", pieces), *path = in_folder (f, "old.safetensors");
  lig_tensor_file_set_metadata (file, "ligature.settings", old);
  g_assert_true (lig_tensor_file_save (file, path, NULL));
  g_autoptr (LigRun) rest = resume (f, path, "steps=20");
  g_assert_null (lig_run_get_parent (rest));
  finish (rest);
  assert_same_metric (f, lig_run_get_uuid (whole), lig_run_get_uuid (part), LIG_METRIC_LOSS, 20);
  /* The new default is recorded. */
  g_assert_true (g_str_has_suffix (lig_run_get_settings (random)->data, "rows.csv?split=random"));
  g_assert_true (g_str_has_suffix (lig_run_get_settings (rest)->data, "rows.csv?split=end"));
}

static void
assert_altered (Fixture *f, const char *from, const char *key, const char *value, const char *part)
{
  g_autoptr (LigTensorFile) file = load_tensors (from);
  g_autofree char *path = in_folder (f, "altered.safetensors");
  lig_tensor_file_set_metadata (file, key, value);
  g_assert_true (lig_tensor_file_save (file, path, NULL));
  assert_rejected (f, path, "steps=20", part);
}

/* Checkpoints that no run wrote, or that are from another machine. */
static void
test_altered (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run =
    new_run (f, "linear(4) ! mean-squared-error", "8x6", "synthetic?samples=70", "steps=10");
  finish (run);
  const char *path = lig_run_get_checkpoint (run);
  g_autofree char *plain = in_folder (f, "plain.safetensors");
  g_autoptr (LigTensorFile) weights = lig_tensor_file_new ();
  static const float zeros[24];
  add_tensor (weights, "0.weight", "4x6", zeros);
  g_assert_true (lig_tensor_file_save (weights, plain, NULL));
  assert_rejected (f, plain, NULL, "it is not a checkpoint of a run: it has no ligature.sequence");
  assert_altered (f, path, "ligature.step", "many", "ligature.step is 'many', expected a number");
  assert_altered (f, path, "ligature.instructions", "abacus", "CPU instructions abacus");
  assert_altered (f, path, "ligature.sequence", "{\"ligature\":1", "line 1");
  assert_altered (f, path, "ligature.settings", "[]", "$.train");
  assert_altered (f, path, "ligature.choices", "[9 9] nonsense", "");
  assert_altered (f, path, "ligature.sequence",
                  "{\"ligature\":1,\"input\":{\"shape\":[8,6]},\"ops\":[{\"op\":\"linear\","
                  "\"out-features\":5},{\"op\":\"mean-squared-error\"}]}",
                  "0.weight is 4x6, expected 5x6");
  g_assert_cmpuint (count_runs (f), ==, 1);
  assert_status (f, lig_run_get_uuid (run), "done");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/train/seed", Fixture, NULL, set_up, test_seed, tear_down);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strconcat ("/train/resume/", cases[i].name, NULL);
    g_test_add (path, Fixture, cases[i].settings, set_up, test_resume, tear_down);
  }
#define ADD(path, function) \
  g_test_add ("/train/resume/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("abandoned", test_abandoned);
  ADD ("earlier", test_earlier);
  ADD ("copied", test_copied);
  ADD ("put-back", test_put_back);
  ADD ("unstarted", test_unstarted);
  ADD ("evaluation", test_evaluation);
  ADD ("measured", test_measured);
  ADD ("without-store", test_without_store);
  ADD ("rejections", test_rejections);
  ADD ("branch", test_branch);
  ADD ("schedule", test_schedule);
  ADD ("old-split", test_old_split);
  ADD ("altered", test_altered);
  return run_tests ();
}
