/* SPDX-License-Identifier: MIT */
/* Training runs on the GPU: known results, losses that follow the CPU's, and bitwise reproducible
 * losses from the same seed and from a checkpoint. */
#include "tests/gpu/case.h"
#include "tests/train/case.h"
#include <ligature/store-histograms.h>

/* The fixture of train-case.h on the GPU; null, and the test skipped, without one. */
static void
set_up_gpu (Fixture *f, gconstpointer data)
{
  const char *reason;
  const Gpu *gpu = gpu_open (&reason);
  set_up (f, data);
  if (gpu)
    g_set_object (&f->device, gpu->device);
}

/* --- Known results ------------------------------------------------------------------------- */

static void
test_xor (Fixture *f, gconstpointer data)
{
  if (!gpu_or_skip ())
    return;
  g_autofree char *file =
    write_data (f, "csv", "xor.csv", "a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n", -1);
  g_autofree char *spec = g_strconcat (file, "?validation=0", NULL);
  LigRunProgress progress = train (f,
                                   "linear(8, init-std=1) ! gelu ! linear(1, init-std=1)"
                                   " ! mean-squared-error",
                                   NULL, spec, "batch=4 steps=3000 lr=0.02 seed=1");
  g_assert_cmpfloat (progress.loss, <, 1e-4);
  g_assert_cmpfloat (progress.first_loss, >, 0.1);
}

/* y = 2a - 3b + c/2 + 0.7 */
static void
test_regression (Fixture *f, gconstpointer data)
{
  static const double known[] = {2, -3, 0.5};
  g_autoptr (GString) text = g_string_new ("a,b,c,y\n");
  guint32 seed = 7;
  if (!gpu_or_skip ())
    return;
  for (int i = 0; i < 200; i++) {
    double a = draw (&seed), b = draw (&seed), c = draw (&seed);
    g_string_append_printf (text, "%.9g,%.9g,%.9g,%.9g\n", a, b, c, 2 * a - 3 * b + c / 2 + 0.7);
  }
  g_autofree char *spec = write_data (f, "csv", "line.csv", text->str, -1);
  g_autofree char *path = in_folder (f, "line.safetensors");
  g_autofree char *settings =
    g_strconcat ("batch=16 steps=600 optimizer=sgd lr=0.1 momentum=0.9 checkpoint=", path, NULL);
  LigRunProgress progress = train (f, "linear(1) ! mean-squared-error", NULL, spec, settings);
  g_autoptr (LigTensorFile) file = load_tensors (path);
  g_autoptr (LigTensor) weight = get_tensor (file, "0.weight"), bias = get_tensor (file, "0.bias");
  for (int i = 0; i < 3; i++)
    g_assert_cmpfloat (fabs ((double) lig_tensor_get (weight, i) - known[i]), <, 1e-3);
  g_assert_cmpfloat (fabs ((double) lig_tensor_get (bias, 0) - 0.7), <, 1e-3);
  g_assert_cmpfloat (progress.eval_loss, <, 1e-6);
}

/* Three linearly separable clusters. */
static void
test_classes (Fixture *f, gconstpointer data)
{
  static const char *const names[] = {"red", "green", "blue"};
  static const double centres[][2] = {{2, 0}, {-1, 2}, {-1, -2}};
  g_autoptr (GString) text = g_string_new ("x;y;colour\n");
  guint32 seed = 3;
  if (!gpu_or_skip ())
    return;
  for (int i = 0; i < 600; i++)
    g_string_append_printf (text, "%.6f;%.6f;%s\n", centres[i % 3][0] + 0.8 * draw (&seed),
                            centres[i % 3][1] + 0.8 * draw (&seed), names[i % 3]);
  g_autofree char *spec = write_data (f, "csv", "colours.csv", text->str, -1);
  LigRunProgress progress =
    train (f, "linear(3) ! cross-entropy", NULL, spec, "batch=32 steps=400 lr=0.05");
  g_assert_cmpfloat (progress.eval_accuracy, ==, 1);
  g_assert_cmpfloat (progress.eval_loss, <, 0.1);
  g_assert_cmpfloat (fabs (progress.first_loss - log (3)), <, 0.1);
}

/* A stream in which every token is determined by the previous one. */
static void
test_tokens (Fixture *f, gconstpointer data)
{
  enum { COUNT = 4000 };
  g_autofree char *bytes = g_malloc0 (1024 + 2 * COUNT);
  const gint32 header[] = {20240520, 1, COUNT};
  guint16 *tokens = (guint16 *) (bytes + 1024);
  if (!gpu_or_skip ())
    return;
  memcpy (bytes, header, sizeof header);
  for (int i = 1; i < COUNT; i++)
    tokens[i] = (guint16) ((tokens[i - 1] * 5 + 3) % 997);
  g_autofree char *spec = write_data (f, "tokens", "count.bin", bytes, 1024 + 2 * COUNT);
  LigRunProgress progress =
    train (f, "embedding(32, vocabulary=997, init-std=0.5) ! linear(997) ! cross-entropy", "16x8",
           spec, "steps=250 lr=0.03");
  g_assert_cmpfloat (progress.eval_accuracy, >, 0.99);
  g_assert_cmpfloat (progress.loss, <, 0.1);
}

/* --- Compared with the CPU ----------------------------------------------------------------- */

#define EXPRESSION \
  "layer-norm ! linear(24, init-std=0.3) ! gelu ! dropout(0.2) ! linear(5) ! cross-entropy"

/* The optimizer and its state; the allowed difference from the CPU's losses. */
static const struct {
  const char *name, *settings;
  double limit;
} cases[] = {
  {"adamw", "lr=0.01 weight-decay=0.1", 1e-3},
  {"sgd", "optimizer=sgd lr=0.05", 1e-3},
  {"momentum", "optimizer=sgd lr=0.05 momentum=0.9 weight-decay=0.01", 1e-3},
  {"accumulate", "lr=0.01 accumulate=3", 1e-3},
  {"clipped", "lr=0.01 clip=0.1 accumulate=2", 1e-3},
  {"bf16-masters", "lr=0.01 dtype=bf16:bf16", 5e-2},
  {"bf16-compute", "lr=0.01 dtype=bf16:fp32 clip=0.5", 5e-2},
  {"fp16-compute", "lr=0.01 dtype=fp16:fp32 clip=0.5", 1e-2},
  {"fp16-scaled", "lr=0.01 dtype=fp16:fp16", 2e-2},
  {"bf16-accumulate", "lr=0.01 dtype=bf16:bf16 accumulate=4", 5e-2},
  {"cosine", "lr=0.02 min-lr=0.001 schedule=cosine warmup=30 clip=1", 1e-3},
  {"unfused", "lr=0.01 policy=none", 1e-3},
  {"measured", "lr=0.01 policy=measured", 1e-3},
  {"evaluated", "lr=0.01 eval-every=7 optimizer=sgd momentum=0.5", 1e-3},
};

static GArray *
losses_on (Fixture *f, LigDevice *device, const char *settings, guint steps, double *eval_loss)
{
  g_autoptr (LigDevice) before = g_object_ref (f->device);
  g_autofree char *all = g_strdup_printf ("steps=%u seed=3 %s", steps, settings);
  g_set_object (&f->device, device);
  g_autoptr (LigRun) run = new_run (f, EXPRESSION, "16x12", "synthetic?samples=999", all);
  LigRunProgress progress = finish (run);
  g_set_object (&f->device, before);
  *eval_loss = progress.eval_loss;
  return read_metric (f, lig_run_get_uuid (run), LIG_METRIC_LOSS, 1, 1);
}

static void
test_like_cpu (Fixture *f, gconstpointer data)
{
  guint index = GPOINTER_TO_UINT (data), steps = 60;
  const char *settings = cases[index].settings;
  double limit = cases[index].limit, evals[2], furthest = 0;
  g_autoptr (GError) error = NULL;
  if (!gpu_or_skip ())
    return;
  g_autoptr (LigDevice) cpu = lig_device_open ("cpu", &error);
  g_autoptr (GArray) want = losses_on (f, cpu, settings, steps, &evals[0]);
  g_autoptr (GArray) got = losses_on (f, f->device, settings, steps, &evals[1]);
  g_assert_cmpuint (want->len, ==, steps);
  g_assert_cmpuint (got->len, ==, steps);
  for (guint i = 0; i < steps; i++) {
    g_assert_true (isfinite (value_at (got, i)));
    furthest = MAX (furthest, fabs (value_at (got, i) / value_at (want, i) - 1));
  }
  g_test_message ("losses part by %g at most, validation by %g", furthest,
                  fabs (evals[1] / evals[0] - 1));
  g_assert_cmpfloat (furthest, <=, limit);
  g_assert_cmpfloat (fabs (evals[1] / evals[0] - 1), <=, limit);
}

/* --- The same bits ------------------------------------------------------------------------- */

/* Compares losses bitwise; reports the first difference, and continues. */
static void
expect_same_metric (Fixture *f, LigRun *a, LigRun *b, const char *name, guint count)
{
  g_autoptr (GArray) left = read_metric (f, lig_run_get_uuid (a), name, 1, 1);
  g_autoptr (GArray) right = read_metric (f, lig_run_get_uuid (b), name, 1, 1);
  g_assert_cmpuint (left->len, ==, count);
  g_assert_cmpuint (right->len, ==, count);
  for (guint i = 0; i < MIN (left->len, right->len); i++) {
    if (value_at (left, i) == value_at (right, i))
      continue;
    g_test_message ("FAILED: %s at step %u: %.9g and %.9g", name, i + 1, value_at (left, i),
                    value_at (right, i));
    g_test_fail ();
    return;
  }
}

/* Returns a metric that each step has: a step whose gradients overflow has no norm. */
static const char *
finite_metric (guint index)
{
  return g_str_has_prefix (cases[index].name, "fp16") ? "loss-scale" : "gradient-norm";
}

static void
test_seed (Fixture *f, gconstpointer data)
{
  const char *settings = cases[GPOINTER_TO_UINT (data)].settings;
  g_autofree char *all = g_strdup_printf ("steps=200 seed=5 %s", settings);
  g_autofree char *other = g_strdup_printf ("steps=200 seed=6 %s", settings);
  if (!gpu_or_skip ())
    return;
  g_autoptr (LigRun) a = new_run (f, EXPRESSION, "16x12", "synthetic?samples=90", all);
  g_autoptr (LigRun) b = new_run (f, EXPRESSION, "16x12", "synthetic?samples=90", all);
  g_autoptr (LigRun) c = new_run (f, EXPRESSION, "16x12", "synthetic?samples=90", other);
  LigRunProgress first = finish (a), second = finish (b);
  finish (c);
  expect_same_metric (f, a, b, LIG_METRIC_LOSS, 200);
  expect_same_metric (f, a, b, finite_metric (GPOINTER_TO_UINT (data)), 200);
  g_assert_cmpfloat (first.eval_loss, ==, second.eval_loss);
  assert_same_tensors (lig_run_get_checkpoint (a), lig_run_get_checkpoint (b));
  g_autoptr (GArray) mine = read_metric (f, lig_run_get_uuid (a), LIG_METRIC_LOSS, 1, 1);
  g_autoptr (GArray) theirs = read_metric (f, lig_run_get_uuid (c), LIG_METRIC_LOSS, 1, 1);
  g_assert_cmpfloat (value_at (mine, 0), !=, value_at (theirs, 0));
}

/* Enough steps that the run is not over when it is interrupted. */
#define STEPS (quick () ? 400 : 5000)

/* Interrupts a run, resumes it from the file, and compares it with a run that was not
 * interrupted. */
static void
test_resume (Fixture *f, gconstpointer data)
{
  const char *settings = cases[GPOINTER_TO_UINT (data)].settings;
  g_autofree char *all = g_strdup_printf ("steps=%d %s", STEPS, settings);
  g_autoptr (GError) error = NULL;
  if (!gpu_or_skip ())
    return;
  g_autoptr (LigRun) whole = new_run (f, EXPRESSION, "16x12", "synthetic?samples=999", all);
  g_autoptr (LigRun) part = new_run (f, EXPRESSION, "16x12", "synthetic?samples=999", all);
  LigRunProgress expected = finish (whole), progress;
  lig_run_start (part);
  do
    lig_run_get_progress (part, &progress);
  while (progress.step < 20);
  lig_run_interrupt (part);
  g_assert_true (lig_run_wait (part, &error));
  lig_run_get_progress (part, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_INTERRUPTED);
  g_assert_cmpint (progress.step, <, STEPS);
  g_autofree char *checkpoint = g_strdup (lig_run_get_checkpoint (part));
  g_clear_object (&part);
  g_autoptr (LigRun) rest = lig_run_resume (checkpoint, f->device, NULL, f->store, &error);
  g_assert_no_error (error);
  LigRunProgress result = finish (rest);
  g_assert_cmpint (result.first_step, ==, progress.step);
  g_assert_cmpint (result.status, ==, LIG_RUN_DONE);
  expect_same_metric (f, whole, rest, LIG_METRIC_LOSS, (guint) STEPS);
  expect_same_metric (f, whole, rest, finite_metric (GPOINTER_TO_UINT (data)), (guint) STEPS);
  g_assert_cmpfloat (result.eval_loss, ==, expected.eval_loss);
  assert_same_tensors (lig_run_get_checkpoint (whole), checkpoint);
}

/* The checkpoint names the device that it was made on; on another device the bits would differ. */
static void
test_other_device (Fixture *f, gconstpointer data)
{
  static const char *const more[] = {"steps=20", NULL};
  g_autoptr (GError) error = NULL;
  if (!gpu_or_skip ())
    return;
  g_autoptr (LigRun) run =
    new_run (f, "linear(4) ! mean-squared-error", "8x6", "synthetic?samples=70", "steps=10");
  finish (run);
  g_autofree char *name = lig_run_checkpoint_device (lig_run_get_checkpoint (run), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (name, ==, "cuda:0");
  g_autoptr (LigDevice) cpu = lig_device_open ("cpu", NULL);
  g_autoptr (LigRun) rest =
    lig_run_resume (lig_run_get_checkpoint (run), cpu, more, f->store, &error);
  g_assert_null (rest);
  g_assert_nonnull (error);
  if (error)
    assert_message (error, "cuda");
}

/* Four micro-batches of 8 are one batch of 32. */
static void
test_accumulation (Fixture *f, gconstpointer data)
{
  static const char expression[] = "layer-norm ! linear(16, init-std=0.3) ! gelu"
                                   " ! linear(3, init-std=0.3) ! mean-squared-error";
  if (!gpu_or_skip ())
    return;
  g_autoptr (LigRun) whole =
    new_run (f, expression, "32x8", "synthetic?samples=500", "steps=30 lr=0.01 clip=0.1");
  g_autoptr (LigRun) parts = new_run (f, expression, "32x8", "synthetic?samples=500",
                                      "steps=30 lr=0.01 clip=0.1 batch=8 accumulate=4");
  finish (whole);
  finish (parts);
  g_autoptr (GArray) a = read_metric (f, lig_run_get_uuid (whole), LIG_METRIC_LOSS, 1, 1);
  g_autoptr (GArray) b = read_metric (f, lig_run_get_uuid (parts), LIG_METRIC_LOSS, 1, 1);
  for (guint i = 0; i < 30; i++)
    g_assert_cmpfloat (fabs (value_at (a, i) - value_at (b, i)), <, 1e-4 * value_at (a, i));
}

/* --- fp16 ---------------------------------------------------------------------------------- */

#define STEEP "linear(1, init-std=1) ! mean-squared-error"

/* y = 300 a: the first gradients overflow, the scale decreases as on the CPU, and the line is
 * found. */
static void
test_overflow (Fixture *f, gconstpointer data)
{
  const char *settings = "batch=4 steps=300 optimizer=sgd lr=0.25 dtype=fp16:fp32";
  g_autoptr (GString) text = g_string_new ("a,y\n");
  guint32 seed = 5;
  if (!gpu_or_skip ())
    return;
  for (int i = 0; i < 200; i++) {
    double a = draw (&seed);
    g_string_append_printf (text, "%.9g,%.9g\n", a, 300 * a);
  }
  g_autofree char *spec = write_data (f, "csv", "steep.csv", text->str, -1);
  g_autoptr (LigRun) run = new_run (f, STEEP, NULL, spec, settings);
  LigRunProgress progress = finish (run);
  g_autoptr (LigDevice) gpu = g_object_ref (f->device);
  g_autoptr (LigDevice) cpu = lig_device_open ("cpu", NULL);
  g_set_object (&f->device, cpu);
  g_autoptr (LigRun) other = new_run (f, STEEP, NULL, spec, settings);
  LigRunProgress want = finish (other);
  g_set_object (&f->device, gpu);
  g_autoptr (GArray) scales = read_metric (f, lig_run_get_uuid (run), "loss-scale", 1, 1);
  g_assert_cmpint (progress.status, ==, LIG_RUN_DONE);
  g_assert_cmpuint (scales->len, ==, 300);
  g_assert_cmpint (progress.skipped, >=, 3);
  g_assert_cmpint (progress.skipped, ==, want.skipped);
  g_assert_cmpfloat (progress.loss_scale, ==, want.loss_scale);
  for (guint i = 1; i < scales->len; i++)
    g_assert_cmpfloat (value_at (scales, i), <=, value_at (scales, i - 1));
  g_assert_cmpfloat (progress.loss, <, 1e-3 * progress.first_loss);
}

/* With gradients that are never finite, but finite losses, the run ends and keeps its weights. */
static void
test_not_finite (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  LigRunProgress progress;
  if (!gpu_or_skip ())
    return;
  g_autoptr (LigRun) run = new_run (f, STEEP, "8x6", "synthetic?samples=64&validation=0",
                                    "steps=100 dtype=fp16 loss-scale=16777216");
  lig_run_start (run);
  g_assert_false (lig_run_wait (run, &error));
  assert_message (error, "not finite in the last 8 steps up to step 8");
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_FAILED);
  g_assert_cmpint (progress.skipped, ==, 8);
}

/* --- Histograms ---------------------------------------------------------------------------- */

/* Trains three steps on a device, without the case's longer warm-up; returns the uuid. */
static char *
train_on (Fixture *f, LigDevice *device, const char *settings)
{
  g_autoptr (LigDevice) before = g_object_ref (f->device);
  g_autofree char *all = g_strdup_printf ("steps=3 seed=3 %s warmup=0", settings);
  g_set_object (&f->device, device);
  g_autoptr (LigRun) run = new_run (f, EXPRESSION, "16x12", "synthetic?samples=999", all);
  finish (run);
  g_set_object (&f->device, before);
  return g_strdup (lig_run_get_uuid (run));
}

/* The values are read back after the update that was launched with the backward pass: losses are
 * the same bits without that, and the first gradients are those of the CPU. */
static void
test_histograms (Fixture *f, gconstpointer data)
{
  guint index = GPOINTER_TO_UINT (data);
  if (!gpu_or_skip ())
    return;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) cpu = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  g_autofree char *counting = g_strconcat (cases[index].settings, " histograms=1", NULL);
  g_autofree char *plain = train_on (f, f->device, cases[index].settings);
  g_autofree char *here = train_on (f, f->device, counting);
  g_autofree char *there = train_on (f, cpu, counting);
  /* Measured groups may differ between two runs. */
  if (!strstr (cases[index].settings, "measured"))
    assert_same_metric (f, plain, here, LIG_METRIC_LOSS, 3);
  g_autoptr (GPtrArray) found = lig_store_get_histograms (f->store, here, NULL, 0, &error);
  g_autoptr (GPtrArray) expected = lig_store_get_histograms (f->store, there, NULL, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (found->len, ==, expected->len);
  for (guint i = 0; i < found->len; i++) {
    const LigHistogramSeries *a = found->pdata[i], *b = expected->pdata[i];
    const LigHistogram *x = &g_array_index (a->histograms, LigHistogram, 0);
    const LigHistogram *y = &g_array_index (b->histograms, LigHistogram, 0);
    g_assert_cmpstr (a->parameter, ==, b->parameter);
    g_assert_cmpuint (a->steps->len, ==, 3);
    g_assert_cmpuint (lig_histogram_get_total (x), ==, lig_histogram_get_total (y));
    g_assert_cmpuint (x->nan + x->infinite, ==, y->nan + y->infinite);
    if (y->nan + y->infinite == 0)
      g_assert_cmpfloat_with_epsilon (x->rms, y->rms, 2 * cases[index].limit * y->rms + 1e-9);
  }
}

static void
add (const char *kind, guint index, void (*function) (Fixture *, gconstpointer))
{
  g_autofree char *path = g_strdup_printf ("/gpu/train/%s/%s", kind, cases[index].name);
  g_test_add (path, Fixture, GUINT_TO_POINTER (index), set_up_gpu, function, tear_down);
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
#define ADD(path, function) \
  g_test_add ("/gpu/train/" path, Fixture, NULL, set_up_gpu, function, tear_down)
  ADD ("xor", test_xor);
  ADD ("regression", test_regression);
  ADD ("classes", test_classes);
  ADD ("tokens", test_tokens);
  ADD ("accumulation", test_accumulation);
  for (guint i = 0; i < (quick () ? 1 : G_N_ELEMENTS (cases)); i++) {
    add ("like-cpu", i, test_like_cpu);
    add ("seed", i, test_seed);
    add ("resume", i, test_resume);
    add ("histograms", i, test_histograms);
  }
  ADD ("other-device", test_other_device);
  ADD ("overflow", test_overflow);
  ADD ("not-finite", test_not_finite);
  return run_tests ();
}
