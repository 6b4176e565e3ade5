/* SPDX-License-Identifier: MIT */
/* Runs with known results on every kind of data; schedule, clipping, accumulation and evaluation in
 * the store and the checkpoint. */
#include "tests/train/case.h"
#include <ligature/device.h>

static void
test_xor (Fixture *f, gconstpointer data)
{
  g_autofree char *file =
    write_data (f, "csv", "xor.csv", "a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n", -1);
  g_autofree char *spec = g_strconcat (file, "?validation=0", NULL);
  LigRunProgress progress = train (f,
                                   "linear(8, init-std=1) ! gelu ! linear(1, init-std=1)"
                                   " ! mean-squared-error",
                                   NULL, spec, "batch=4 steps=3000 lr=0.02 seed=1");
  g_assert_cmpfloat (progress.loss, <, 1e-4);
  g_assert_cmpfloat (progress.first_loss, >, 0.1);
  g_assert_true (isnan (progress.eval_loss));
}

/* y = 2a - 3b + c/2 + 0.7, with a target column other than the last. */
static void
test_regression (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new ("a,y,b,c\n");
  guint32 seed = 7;
  for (int i = 0; i < 200; i++) {
    double a = draw (&seed), b = draw (&seed), c = draw (&seed);
    g_string_append_printf (text, "%.9g,%.9g,%.9g,%.9g\n", a, 2 * a - 3 * b + c / 2 + 0.7, b, c);
  }
  g_autofree char *spec = write_data (f, "csv", "line.csv", text->str, -1);
  g_autofree char *query = g_strconcat (spec, "?target=y", NULL);
  g_autofree char *path = in_folder (f, "line.safetensors");
  g_autofree char *settings =
    g_strconcat ("batch=16 steps=600 optimizer=sgd lr=0.1 momentum=0.9 checkpoint=", path, NULL);
  LigRunProgress progress = train (f, "linear(1) ! mean-squared-error", NULL, query, settings);
  g_autoptr (LigTensorFile) file = load_tensors (path);
  g_autoptr (LigTensor) weight = get_tensor (file, "0.weight"), bias = get_tensor (file, "0.bias");
  static const double known[] = {2, -3, 0.5};
  for (int i = 0; i < 3; i++)
    g_assert_cmpfloat (fabs ((double) lig_tensor_get (weight, i) - known[i]), <, 1e-3);
  g_assert_cmpfloat (fabs ((double) lig_tensor_get (bias, 0) - 0.7), <, 1e-3);
  g_assert_cmpfloat (progress.eval_loss, <, 1e-6);
  g_assert_true (isnan (progress.eval_accuracy));
}

/* Three clouds with names, each separated from the others by a straight line. */
static void
test_classes (Fixture *f, gconstpointer data)
{
  static const char *const names[] = {"red", "green", "blue"};
  static const double centres[][2] = {{2, 0}, {-1, 2}, {-1, -2}};
  g_autoptr (GString) text = g_string_new ("x;y;colour\n");
  guint32 seed = 3;
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

/* A stream in which every token follows from the previous one. */
static void
test_tokens (Fixture *f, gconstpointer data)
{
  enum { COUNT = 4000 };
  g_autofree char *bytes = g_malloc0 (1024 + 2 * COUNT);
  const gint32 header[] = {20240520, 1, COUNT};
  memcpy (bytes, header, sizeof header);
  guint16 *tokens = (guint16 *) (bytes + 1024);
  for (int i = 1; i < COUNT; i++)
    tokens[i] = (guint16) ((tokens[i - 1] * 5 + 3) % 997);
  g_autofree char *spec = write_data (f, "tokens", "count.bin", bytes, 1024 + 2 * COUNT);
  LigRunProgress progress =
    train (f, "embedding(32, vocabulary=997, init-std=0.5) ! linear(997) ! cross-entropy", "16x8",
           spec, "steps=250 lr=0.03");
  g_assert_cmpfloat (progress.eval_accuracy, >, 0.99);
  g_assert_cmpfloat (progress.loss, <, 0.1);
}

static void
append_number (GByteArray *bytes, guint32 number)
{
  guint32 big = GUINT32_TO_BE (number);
  g_byte_array_append (bytes, (const guint8 *) &big, sizeof big);
}

/* Images with one bright half out of four; the label is its number. */
static void
test_idx (Fixture *f, gconstpointer data)
{
  enum { COUNT = 400, SIDE = 6 };
  g_autoptr (GByteArray) images = g_byte_array_new (), labels = g_byte_array_new ();
  const guint32 image_header[] = {0x803, COUNT, SIDE, SIDE}, label_header[] = {0x801, COUNT};
  guint32 seed = 11;
  for (guint i = 0; i < G_N_ELEMENTS (image_header); i++)
    append_number (images, image_header[i]);
  for (guint i = 0; i < G_N_ELEMENTS (label_header); i++)
    append_number (labels, label_header[i]);
  for (int i = 0; i < COUNT; i++) {
    guint8 label = (guint8) (i * 7 % 4);
    g_byte_array_append (labels, &label, 1);
    for (int row = 0; row < SIDE; row++)
      for (int column = 0; column < SIDE; column++) {
        int place = label < 2 ? row : column;
        gboolean bright = (place < SIDE / 2) == (label % 2 == 0);
        guint8 pixel = (guint8) ((bright ? 170 : 80) + 80 * draw (&seed));
        g_byte_array_append (images, &pixel, 1);
      }
  }
  g_autofree char *spec = write_data (f, "idx", "halves-images-idx3-ubyte",
                                      (const char *) images->data, (gssize) images->len);
  g_autofree char *other = write_data (f, "idx", "halves-labels-idx1-ubyte",
                                       (const char *) labels->data, (gssize) labels->len);
  LigRunProgress progress = train (f, "linear(16) ! relu ! linear(4) ! cross-entropy", NULL, spec,
                                   "batch=32 steps=300 lr=0.01");
  g_assert_cmpfloat (progress.eval_accuracy, ==, 1);
}

/* Four micro-batches of 8 are one batch of 32. */
static void
test_accumulation (Fixture *f, gconstpointer data)
{
  static const char expression[] = "layer-norm ! linear(16, init-std=0.3) ! gelu"
                                   " ! linear(3, init-std=0.3) ! mean-squared-error";
  g_autoptr (LigRun) whole =
    new_run (f, expression, "32x8", "synthetic?samples=500", "steps=30 lr=0.01 clip=0.1");
  g_autoptr (LigRun) parts = new_run (f, expression, "32x8", "synthetic?samples=500",
                                      "steps=30 lr=0.01 clip=0.1 batch=8 accumulate=4");
  finish (whole);
  finish (parts);
  static const char *const names[] = {LIG_METRIC_LOSS, "gradient-norm"};
  for (guint n = 0; n < G_N_ELEMENTS (names); n++) {
    g_autoptr (GArray) a = read_metric (f, lig_run_get_uuid (whole), names[n], 1, 1);
    g_autoptr (GArray) b = read_metric (f, lig_run_get_uuid (parts), names[n], 1, 1);
    for (guint i = 0; i < 30; i++)
      g_assert_cmpfloat (fabs (value_at (a, i) - value_at (b, i)), <, 1e-5 * value_at (a, i));
  }
}

/* Returns the length of one step of sgd at rate 1, which equals the gradient; clipping limits it.
 */
static double
step_length (Fixture *f, const char *clip, double *norm)
{
  static const char expression[] = "linear(4, bias=false, init-std=0.5) ! mean-squared-error";
  g_autofree char *path = in_folder (f, "clip.safetensors");
  g_autofree char *begin = in_folder (f, "begin.safetensors");
  static const float zeros[32];
  g_autoptr (LigTensorFile) weights = lig_tensor_file_new ();
  add_tensor (weights, "0.weight", "4x8", zeros);
  g_assert_true (lig_tensor_file_save (weights, begin, NULL));
  g_autofree char *settings =
    g_strdup_printf ("steps=1 optimizer=sgd lr=1 clip=%s checkpoint=%s", clip, path);
  g_autoptr (LigRun) run =
    try_run (f, expression, "16x8", "synthetic?samples=100", settings, begin, NULL);
  LigRunProgress progress = finish (run);
  g_autoptr (LigTensorFile) file = load_tensors (path);
  g_autoptr (LigTensor) weight = get_tensor (file, "0.weight");
  double sum = 0;
  for (gint64 i = 0; i < weight->size; i++)
    sum += pow ((double) lig_tensor_get (weight, i), 2);
  *norm = progress.gradient_norm;
  return sqrt (sum);
}

static void
test_clipping (Fixture *f, gconstpointer data)
{
  double norm, clipped_norm;
  double length = step_length (f, "0", &norm);
  g_assert_cmpfloat (norm, >, 0.05);
  g_assert_cmpfloat (fabs (length - norm), <, 1e-5 * norm);
  double clipped = step_length (f, "0.05", &clipped_norm);
  g_assert_cmpfloat (clipped_norm, ==, norm);
  g_assert_cmpfloat (fabs (clipped - 0.05), <, 1e-5);
  length = step_length (f, "1000", &clipped_norm);
  g_assert_cmpfloat (fabs (length - norm), <, 1e-5 * norm);
}

static void
test_schedule (Fixture *f, gconstpointer data)
{
  static const char expression[] = "linear(1) ! mean-squared-error";
  g_autoptr (LigRun) cosine =
    new_run (f, expression, "4x4", "synthetic?samples=50",
             "steps=110 lr=0.001 min-lr=0.0001 warmup=10 schedule=cosine");
  g_autoptr (LigRun) constant =
    new_run (f, expression, "4x4", "synthetic?samples=50", "steps=20 lr=0.001 warmup=10");
  finish (cosine);
  finish (constant);
  static const struct {
    guint step;
    double rate;
  } known[] = {{1, 1e-4}, {5, 5e-4}, {10, 1e-3}, {35, 8.6819805e-4}, {60, 5.5e-4}, {110, 1e-4}};
  g_autoptr (GArray) rates = read_metric (f, lig_run_get_uuid (cosine), "learning-rate", 1, 1);
  g_assert_cmpuint (rates->len, ==, 110);
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    g_assert_cmpfloat (fabs (value_at (rates, known[i].step - 1) - known[i].rate), <, 1e-10);
  g_autoptr (GArray) flat = read_metric (f, lig_run_get_uuid (constant), "learning-rate", 1, 1);
  g_assert_cmpfloat (fabs (value_at (flat, 4) - 5e-4), <, 1e-10);
  g_assert_cmpfloat (value_at (flat, 9), ==, 1e-3);
  g_assert_cmpfloat (value_at (flat, 19), ==, 1e-3);
}

static void
test_evaluation (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run = new_run (f, "linear(5) ! cross-entropy", "8x4", "synthetic?samples=100",
                                    "steps=35 eval-every=10");
  LigRunProgress progress = finish (run);
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) steps = NULL, losses = NULL;
  lig_store_get_metric (f->store, lig_run_get_uuid (run), LIG_METRIC_EVAL_LOSS, &steps, &losses,
                        &error);
  g_assert_no_error (error);
  static const gint64 wanted[] = {10, 20, 30, 35};
  g_assert_cmpmem (steps->data, steps->len * sizeof (gint64), wanted, sizeof wanted);
  g_assert_cmpfloat (value_at (losses, 3), ==, progress.eval_loss);
  g_clear_pointer (&steps, g_array_unref);
  g_clear_pointer (&losses, g_array_unref);
  lig_store_get_metric (f->store, lig_run_get_uuid (run), LIG_METRIC_EVAL_ACCURACY, &steps, &losses,
                        &error);
  g_assert_no_error (error);
  g_assert_cmpmem (steps->data, steps->len * sizeof (gint64), wanted, sizeof wanted);
  g_assert_cmpfloat (value_at (losses, 3), ==, progress.eval_accuracy);
}

/* The validation loss does not depend on the batch: ten samples in batches of 4, 10 and 32. */
static void
test_evaluation_remainder (Fixture *f, gconstpointer data)
{
  static const char expression[] = "linear(3, init-std=0.5) ! cross-entropy";
  LigRunProgress four = train (f, expression, "4x4", "synthetic?samples=100", "steps=1 lr=0");
  LigRunProgress ten = train (f, expression, "10x4", "synthetic?samples=100", "steps=1 lr=0");
  g_assert_cmpfloat (fabs (four.eval_loss - ten.eval_loss), <, 1e-6);
  g_assert_cmpfloat (four.eval_accuracy, ==, ten.eval_accuracy);
  static const char values[] = "linear(3, init-std=0.5) ! mean-squared-error";
  static const char *const inputs[] = {"4x4", "10x4", "32x4"};
  double losses[3];
  for (guint i = 0; i < 3; i++)
    losses[i] = train (f, values, inputs[i], "synthetic?samples=100", "steps=1 lr=0").eval_loss;
  g_assert_cmpfloat (fabs (losses[0] - losses[1]), <, 1e-6);
  g_assert_cmpfloat (fabs (losses[2] - losses[1]), <, 1e-6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function) g_test_add ("/train/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("xor", test_xor);
  ADD ("regression", test_regression);
  ADD ("classes", test_classes);
  ADD ("tokens", test_tokens);
  ADD ("idx", test_idx);
  ADD ("accumulation", test_accumulation);
  ADD ("clipping", test_clipping);
  ADD ("schedule", test_schedule);
  ADD ("evaluation", test_evaluation);
  ADD ("evaluation/remainder", test_evaluation_remainder);
  return run_tests ();
}
