/* SPDX-License-Identifier: MIT */
/* Histograms of weights and gradients: their numbers against an independent calculation, and runs
 * that are the same with and without them. */
#include "tests/train/case.h"
#include <ligature/store-histograms.h>

#include <sqlite3.h>

#define MODEL "linear(4) ! relu ! linear(1) ! mean-squared-error"

enum { ROWS = 16, IN = 3, HIDDEN = 4, TENSORS = 4 };

/* A small network with its data, in double, and the gradients of its loss. */
typedef struct {
  double x[ROWS][IN], t[ROWS];
  double w1[HIDDEN][IN], b1[HIDDEN], w2[HIDDEN], b2;
  double dw1[HIDDEN][IN], db1[HIDDEN], dw2[HIDDEN], db2;
} Network;

/* Numbers that fp32 and three decimals hold exactly enough. */
static double
draw_short (guint32 *seed)
{
  return round (draw (seed) * 512) / 512;
}

static void
fill (Network *self)
{
  guint32 seed = 11;
  double *numbers = &self->x[0][0];
  memset (self, 0, sizeof *self);
  for (gsize i = 0; i < G_STRUCT_OFFSET (Network, dw1) / sizeof (double); i++)
    numbers[i] = draw_short (&seed);
}

/* Adds the gradients of the mean of (y - t)^2 over all rows, y = w2 relu (w1 x + b1) + b2. */
static void
differentiate (Network *self)
{
  for (int row = 0; row < ROWS; row++) {
    double h[HIDDEN], y = self->b2;
    for (int j = 0; j < HIDDEN; j++) {
      h[j] = self->b1[j];
      for (int i = 0; i < IN; i++)
        h[j] += self->w1[j][i] * self->x[row][i];
      y += self->w2[j] * fmax (h[j], 0);
    }
    double dy = 2 * (y - self->t[row]) / ROWS;
    self->db2 += dy;
    for (int j = 0; j < HIDDEN; j++) {
      self->dw2[j] += dy * fmax (h[j], 0);
      double dh = h[j] > 0 ? dy * self->w2[j] : 0;
      self->db1[j] += dh;
      for (int i = 0; i < IN; i++)
        self->dw1[j][i] += dh * self->x[row][i];
    }
  }
}

static char *
write_rows (Fixture *f, const Network *network)
{
  g_autoptr (GString) text = g_string_new ("a,b,c,y\n");
  for (int row = 0; row < ROWS; row++)
    g_string_append_printf (text, "%.12g,%.12g,%.12g,%.12g\n", network->x[row][0],
                            network->x[row][1], network->x[row][2], network->t[row]);
  g_autofree char *file = write_data (f, "csv", "rows.csv", text->str, -1);
  return g_strconcat (file, "?validation=0", NULL);
}

static void
to_floats (const double *from, gsize count, float *to)
{
  for (gsize i = 0; i < count; i++)
    to[i] = (float) from[i];
}

static char *
write_weights (Fixture *f, const Network *network)
{
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autoptr (GError) error = NULL;
  char *path = in_folder (f, "initial.safetensors");
  float values[HIDDEN * IN];
  to_floats (&network->w1[0][0], HIDDEN * IN, values);
  add_tensor (file, "0.weight", "4x3", values);
  to_floats (network->b1, HIDDEN, values);
  add_tensor (file, "0.bias", "4", values);
  to_floats (network->w2, HIDDEN, values);
  add_tensor (file, "2.weight", "1x4", values);
  to_floats (&network->b2, 1, values);
  add_tensor (file, "2.bias", "1", values);
  lig_tensor_file_save (file, path, &error);
  g_assert_no_error (error);
  return path;
}

/* Trains with the initial weights of the network; returns the uuid. */
static char *
train_network (Fixture *f, const Network *network, const char *assignments)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *spec = write_rows (f, network), *weights = write_weights (f, network);
  g_autoptr (LigRun) run = try_run (f, MODEL, NULL, spec, assignments, weights, &error);
  g_assert_no_error (error);
  LigRunProgress progress = finish (run);
  g_assert_cmpint (progress.status, ==, LIG_RUN_DONE);
  g_assert_null (lig_run_dup_problem (run));
  return g_strdup (lig_run_get_uuid (run));
}

static GPtrArray *
read_histograms (Fixture *f, const char *run)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *all = lig_store_get_histograms (f->store, run, NULL, 0, &error);
  g_assert_no_error (error);
  return all;
}

/* Counts in bins by powers of two, from logarithms. */
static void
assert_bins (const LigHistogram *found, const double *values, gsize count)
{
  guint64 expected[2][LIG_HISTOGRAM_BINS] = {{0}}, zeros = 0;
  for (gsize i = 0; i < count; i++) {
    if (values[i] == 0)
      zeros++;
    else
      expected[values[i] < 0][(int) floor (log2 (fabs (values[i]))) + LIG_HISTOGRAM_BIAS]++;
  }
  g_assert_cmpmem (found->counts, sizeof found->counts, expected, sizeof expected);
  g_assert_cmpuint (found->zeros, ==, zeros);
}

static void
assert_values (const LigHistogramSeries *series,
               const double *values,
               gsize count,
               double tolerance)
{
  double sum = 0, squares = 0, min = INFINITY, max = -INFINITY;
  const LigHistogram *found =
    &g_array_index (series->histograms, LigHistogram, series->histograms->len - 1);
  for (gsize i = 0; i < count; i++) {
    sum += values[i];
    squares += values[i] * values[i];
    min = fmin (min, values[i]);
    max = fmax (max, values[i]);
  }
  double rms = sqrt (squares / (double) count);
  g_test_message ("%s %s: rms %g, expected %g", series->parameter,
                  series->gradient ? "gradient" : "weights", found->rms, rms);
  g_assert_cmpuint (lig_histogram_get_total (found), ==, count);
  g_assert_cmpuint (found->nan + found->infinite, ==, 0);
  g_assert_cmpfloat_with_epsilon (found->rms, rms, tolerance * rms);
  g_assert_cmpfloat_with_epsilon (found->mean, sum / (double) count, tolerance * rms);
  g_assert_cmpfloat_with_epsilon (found->min, min, tolerance * rms);
  g_assert_cmpfloat_with_epsilon (found->max, max, tolerance * rms);
  if (tolerance < 1e-4)
    assert_bins (found, values, count);
}

static void
assert_network (GPtrArray *all, const Network *n, double tolerance)
{
  const struct {
    const char *path;
    const double *weights, *gradients;
    gsize count;
  } tensors[TENSORS] = {
    {"0.weight", &n->w1[0][0], &n->dw1[0][0], HIDDEN * IN},
    {"0.bias", n->b1, n->db1, HIDDEN},
    {"2.weight", n->w2, n->dw2, HIDDEN},
    {"2.bias", &n->b2, &n->db2, 1},
  };
  g_assert_cmpuint (all->len, ==, 2 * TENSORS);
  for (guint i = 0; i < 2 * TENSORS; i++) {
    const LigHistogramSeries *series = all->pdata[i];
    g_assert_cmpstr (series->parameter, ==, tensors[i / 2].path);
    g_assert_cmpint (series->gradient, ==, (int) i % 2);
    assert_values (series, i % 2 ? tensors[i / 2].gradients : tensors[i / 2].weights,
                   tensors[i / 2].count, tolerance);
  }
}

/* At rate 0 the weights stay what they were, and each step has the same gradients: with fusions and
 * without, recomputed, accumulated, clipped, with a loss scale. */
static void
test_values (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *settings;
    double tolerance;
  } cases[] = {
    {"", 1e-6},
    {"policy=none", 1e-6},
    {"recompute=all", 1e-6},
    {"accumulate=2", 1e-6},
    {"optimizer=adamw", 1e-6},
    {"clip=0.001", 1e-6},
    {"dtype=fp16:fp32", 0.01},
    {"dtype=fp16:fp16 loss-scale=1024", 0.01},
    {"dtype=fp16:fp16 accumulate=4", 0.01},
    {"dtype=bf16:bf16", 0.03},
    {"dtype=bf16:fp32 accumulate=2 recompute=all", 0.03},
  };
  Network network;
  fill (&network);
  differentiate (&network);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gint64 parts = strstr (cases[i].settings, "accumulate=4")   ? 4
                   : strstr (cases[i].settings, "accumulate=2") ? 2
                                                                : 1;
    g_autofree char *settings = g_strdup_printf (
      "optimizer=sgd lr=0 steps=3 histograms=1 batch=%d %s", ROWS / (int) parts, cases[i].settings);
    g_test_message ("%s", settings);
    g_autofree char *run = train_network (f, &network, settings);
    g_autoptr (GPtrArray) all = read_histograms (f, run);
    assert_network (all, &network, cases[i].tolerance);
    g_assert_cmpuint (((LigHistogramSeries *) all->pdata[0])->steps->len, ==, 3);
  }
}

/* A step of sgd at rate 1 subtracts the gradient: the weights are those after the step, the
 * gradients those before. */
static void
test_update (Fixture *f, gconstpointer data)
{
  Network network;
  fill (&network);
  differentiate (&network);
  g_autofree char *run =
    train_network (f, &network, "optimizer=sgd lr=1 steps=1 histograms=1 batch=" G_STRINGIFY (16));
  for (int j = 0; j < HIDDEN; j++) {
    network.b1[j] -= network.db1[j];
    network.w2[j] -= network.dw2[j];
    for (int i = 0; i < IN; i++)
      network.w1[j][i] -= network.dw1[j][i];
  }
  network.b2 -= network.db2;
  g_autoptr (GPtrArray) all = read_histograms (f, run);
  assert_network (all, &network, 1e-5);
}

/* --- Steps --------------------------------------------------------------------------------- */

static void
assert_steps (Fixture *f, const char *settings, const char *expected)
{
  g_autoptr (LigRun) run =
    new_run (f, "linear(4) ! mean-squared-error", "8x6", "synthetic?samples=64", settings);
  finish (run);
  g_autoptr (GPtrArray) all = read_histograms (f, lig_run_get_uuid (run));
  g_autoptr (GString) found = g_string_new (NULL);
  for (guint i = 0; i < all->len; i++) {
    const LigHistogramSeries *series = all->pdata[i];
    for (guint n = 0; i == 0 && n < series->steps->len; n++)
      g_string_append_printf (found, " %" G_GINT64_FORMAT,
                              g_array_index (series->steps, gint64, n));
  }
  g_assert_cmpstr (found->str, ==, expected);
}

static void
test_steps (Fixture *f, gconstpointer data)
{
  assert_steps (f, "steps=10", "");
  assert_steps (f, "steps=10 histograms=0", "");
  assert_steps (f, "steps=10 histograms=3", " 3 6 9 10");
  assert_steps (f, "steps=10 histograms=5", " 5 10");
  assert_steps (f, "steps=10 histograms=1000000000000000", " 10");
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  static const char *const wrong[] = {"-1", "1e16", "0.5", "x", ""};
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (lig_run_settings_set (&settings, "histograms", wrong[i], &error));
    assert_message (error, "histograms");
  }
}

/* --- Runs are the same --------------------------------------------------------------------- */

static void
assert_same (
  Fixture *f, const char *expression, const char *input, const char *spec, const char *settings)
{
  g_autofree char *a = in_folder (f, "a.safetensors"), *b = in_folder (f, "b.safetensors");
  g_autofree char *with = g_strdup_printf ("%s histograms=2 checkpoint=%s", settings, a);
  g_autofree char *without = g_strdup_printf ("%s checkpoint=%s", settings, b);
  g_autoptr (LigRun) one = new_run (f, expression, input, spec, with);
  g_autoptr (LigRun) other = new_run (f, expression, input, spec, without);
  gint64 steps = finish (one).steps;
  finish (other);
  static const char *const metrics[] = {"loss", "gradient-norm", "learning-rate"};
  for (guint i = 0; i < G_N_ELEMENTS (metrics); i++)
    assert_same_metric (f, lig_run_get_uuid (one), lig_run_get_uuid (other), metrics[i],
                        (guint) steps);
  assert_same_tensors (a, b);
  g_autoptr (GPtrArray) all = read_histograms (f, lig_run_get_uuid (one));
  g_assert_cmpuint (all->len, >, 0);
}

static void
test_same (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 400; i++)
    g_string_append_printf (text, "%d letters and %d rules. ", i * i % 97, i);
  g_autofree char *spec = write_data (f, "text", "text.txt", text->str, -1);
  const char *layer = "embedding(16) ! transformer-layer(2, hidden-dropout=0.1) ! linear(256) ! "
                      "cross-entropy";
  assert_same (f, layer, "4x8:int32", spec, "steps=9 clip=0.5 eval-every=2");
  assert_same (f, layer, "4x8:int32", spec, "steps=5 accumulate=3 recompute=all");
  assert_same (f, layer, "4x8:int32", spec, "steps=5 dtype=bf16:fp32 optimizer=sgd momentum=0.9");
  assert_same (f, layer, "4x8:int32", spec, "steps=5 dtype=fp16:fp16");
  assert_same (f, "linear(4) ! mean-squared-error", "8x6", "synthetic?samples=64",
               "steps=20 optimizer=sgd lr=0.01");
}

/* --- Special runs -------------------------------------------------------------------------- */

/* Frozen parameters have no histograms, and tied ones have one. */
static void
test_frozen (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run =
    new_run (f, "linear(4) ! gelu ! linear(4, tied=0, bias=false) ! linear(2) ! mean-squared-error",
             "8x4", "synthetic?samples=64", "steps=2 histograms=1 freeze=3.*");
  finish (run);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) paths = lig_store_list_histograms (f->store, lig_run_get_uuid (run), &error);
  g_assert_no_error (error);
  g_assert_cmpstrv (paths, ((const char *const[]){"0.weight", "0.bias", NULL}));
}

/* Gradients that overflow are counted as such, though their update is skipped. */
static void
test_overflow (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new ("a,y\n");
  for (int i = 0; i < 40; i++)
    g_string_append_printf (text, "%d,%d\n", i % 7 - 3, 300 * (i % 7 - 3));
  g_autofree char *spec = write_data (f, "csv", "steep.csv", text->str, -1);
  g_autoptr (LigRun) run =
    new_run (f, "linear(1, init-std=1) ! mean-squared-error", NULL, spec,
             "batch=4 steps=30 optimizer=sgd lr=0.001 dtype=fp16:fp32 histograms=1");
  LigRunProgress progress = finish (run);
  g_assert_cmpint (progress.skipped, >, 0);
  g_autoptr (GPtrArray) all = read_histograms (f, lig_run_get_uuid (run));
  const LigHistogramSeries *gradient = all->pdata[1];
  const LigHistogram *first = &g_array_index (gradient->histograms, LigHistogram, 0);
  const LigHistogram *last = &g_array_index (gradient->histograms, LigHistogram, 29);
  g_assert_true (gradient->gradient);
  g_assert_cmpuint (first->nan + first->infinite, ==, 1);
  g_assert_true (isnan (first->rms));
  g_assert_cmpuint (last->nan + last->infinite, ==, 0);
  g_assert_cmpfloat (last->rms, >, 0);
}

/* A weight that is kept only in fp8 is counted by its master. */
static void
test_fp8 (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run =
    new_run (f,
             "linear(32, recipe=fp8-current) ! gelu ! linear(32, recipe=fp8-current) ! "
             "mean-squared-error",
             "32x32", "synthetic?samples=64", "steps=2 histograms=1 dtype=bf16:fp8");
  finish (run);
  g_autoptr (GPtrArray) all = read_histograms (f, lig_run_get_uuid (run));
  for (guint i = 0; i < all->len; i++) {
    const LigHistogramSeries *series = all->pdata[i];
    const LigHistogram *last = &g_array_index (series->histograms, LigHistogram, 1);
    g_assert_cmpuint (lig_histogram_get_total (last), ==,
                      g_str_has_suffix (series->parameter, "bias") ? 32 : 32 * 32);
    g_assert_cmpfloat (last->rms, >, 0);
  }
}

/* A store that does not take histograms is a problem that the run outlives. */
static void
test_store_fails (Fixture *f, gconstpointer data)
{
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (lig_store_get_path (f->store), &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "DROP TABLE histogram", NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
  g_autoptr (LigRun) run = new_run (f, "linear(4) ! mean-squared-error", "8x6",
                                    "synthetic?samples=64", "steps=6 histograms=6");
  LigRunProgress progress = finish (run);
  g_assert_cmpint (progress.status, ==, LIG_RUN_DONE);
  g_autoptr (GArray) losses = read_metric (f, lig_run_get_uuid (run), "loss", 1, 1);
  g_assert_cmpuint (losses->len, ==, 6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/train-histograms/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("values", test_values);
  ADD ("update", test_update);
  ADD ("steps", test_steps);
  ADD ("same", test_same);
  ADD ("frozen", test_frozen);
  ADD ("overflow", test_overflow);
  ADD ("fp8", test_fp8);
  ADD ("store-fails", test_store_fails);
  return run_tests ();
}
