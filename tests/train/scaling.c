/* SPDX-License-Identifier: MIT */
/* Runs with difficult gradients: too small or too large for fp16, not finite, or so many that 16
 * bits cannot represent their sum. */
#include "tests/train/case.h"
#include <ligature/device.h>
#include <ligature/loss-scaling.h>
#include <ligature/plan-options.h>
#include <ligature/register.h>
#include <ligature/state.h>

#define TINY "linear(1, init-std=1) ! constant-scale(2e-8) ! mean-squared-error"
#define PLAIN "linear(1, init-std=1) ! mean-squared-error"

/* --- Sums ---------------------------------------------------------------------------------- */

/* Micro-batches of the same rows: the mean of their gradients equals the gradient of one. */
static void
test_accumulate (Fixture *f, gconstpointer data)
{
  static const char *const types[] = {"bf16:bf16", "fp16:fp16", "fp32:bf16"};
  g_autoptr (GString) text = g_string_new ("a,b,y\n");
  for (int i = 0; i < 40; i++)
    g_string_append (text, "1,0.5,2\n");
  g_autofree char *file = write_data (f, "csv", "same.csv", text->str, -1);
  g_autofree char *spec = g_strconcat (file, "?validation=0", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    g_autofree char *once =
      g_strdup_printf ("batch=4 steps=1 optimizer=sgd lr=0.125 loss-scale=1 dtype=%s", types[i]);
    g_autofree char *often = g_strconcat (once, " accumulate=1024", NULL);
    LigRunProgress one = train (f, PLAIN, NULL, spec, once);
    LigRunProgress many = train (f, PLAIN, NULL, spec, often);
    g_assert_cmpfloat (one.gradient_norm, >, 0.1);
    g_assert_cmpfloat_with_epsilon (many.gradient_norm, one.gradient_norm,
                                    0.01 * one.gradient_norm);
  }
}

/* --- The loss scale ------------------------------------------------------------------------ */

/* Gradients that fp16 would round to zero train nevertheless. */
static void
test_small (Fixture *f, gconstpointer data)
{
  const char *spec = "synthetic?samples=64&validation=0";
  LigRunProgress lost = train (f, TINY, "8x6", spec, "steps=1 dtype=fp16:fp16 loss-scale=1");
  LigRunProgress half = train (f, TINY, "8x6", spec, "steps=1 dtype=fp16:fp16");
  LigRunProgress fixed = train (f, TINY, "8x6", spec, "steps=1 dtype=fp16:fp16 loss-scale=32768");
  LigRunProgress exact = train (f, TINY, "8x6", spec, "steps=1");
  g_assert_cmpfloat (lost.gradient_norm, ==, 0);
  g_assert_cmpfloat (exact.gradient_norm, >, 0);
  g_assert_cmpfloat_with_epsilon (half.gradient_norm, exact.gradient_norm,
                                  0.01 * exact.gradient_norm);
  g_assert_cmpfloat_with_epsilon (fixed.gradient_norm, exact.gradient_norm,
                                  0.01 * exact.gradient_norm);
  g_assert_cmpfloat (half.loss_scale, ==, 65536);
  g_assert_cmpfloat (fixed.loss_scale, ==, 32768);
  g_assert_true (isnan (lost.loss_scale));
  g_assert_true (isnan (exact.loss_scale));
}

/* y = 300 a: the first gradients overflow, the scale comes down, and the line is found. */
static char *
write_steep (Fixture *f)
{
  g_autoptr (GString) text = g_string_new ("a,y\n");
  guint32 seed = 5;
  for (int i = 0; i < 200; i++) {
    double a = draw (&seed);
    g_string_append_printf (text, "%.9g,%.9g\n", a, 300 * a);
  }
  return write_data (f, "csv", "steep.csv", text->str, -1);
}

static void
test_overflow (Fixture *f, gconstpointer data)
{
  g_autofree char *spec = write_steep (f);
  const char *settings = "batch=4 steps=300 optimizer=sgd lr=0.25 dtype=fp16:fp32";
  g_autoptr (LigRun) run = new_run (f, PLAIN, NULL, spec, settings);
  LigRunProgress progress = finish (run);
  g_autoptr (GArray) scales = read_metric (f, lig_run_get_uuid (run), "loss-scale", 1, 1);
  g_assert_cmpint (progress.status, ==, LIG_RUN_DONE);
  g_assert_cmpuint (scales->len, ==, 300);
  g_assert_cmpint (progress.skipped, >=, 3);
  g_assert_cmpint (progress.skipped, <, 20);
  for (guint i = 1; i < scales->len; i++)
    g_assert_cmpfloat (value_at (scales, i), <=, value_at (scales, i - 1));
  g_assert_cmpfloat (value_at (scales, 299), ==, ldexp (65536, -(int) progress.skipped));
  g_assert_cmpfloat (progress.loss_scale, ==, value_at (scales, 299));
  g_assert_cmpfloat (progress.loss, <, 1e-3 * progress.first_loss);
}

/* After 2,000 updates without overflow the scale doubles. */
static void
test_growth (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run = new_run (f, TINY, "8x6", "synthetic?samples=64&validation=0",
                                    "steps=2001 dtype=fp16:fp16 lr=1e-6");
  LigRunProgress progress = finish (run);
  g_autoptr (GArray) scales = read_metric (f, lig_run_get_uuid (run), "loss-scale", 1, 1);
  g_assert_cmpint (progress.skipped, ==, 0);
  g_assert_cmpfloat (value_at (scales, 1998), ==, 65536);
  g_assert_cmpfloat (value_at (scales, 1999), ==, 131072);
}

/* The scale and the count of skipped updates continue with the checkpoint's values. */
static void
test_resume (Fixture *f, gconstpointer data)
{
  g_autofree char *spec = write_steep (f);
  g_autoptr (GError) error = NULL;
  const char *const more[] = {"steps=40", NULL}, *const other[] = {"loss-scale=8", NULL};
  const char *settings = "batch=4 lr=0.5 dtype=fp16:fp16";
  g_autofree char *long_settings = g_strconcat (settings, " steps=40", NULL);
  g_autofree char *short_settings = g_strconcat (settings, " steps=6", NULL);
  g_autoptr (LigRun) whole = new_run (f, PLAIN, NULL, spec, long_settings);
  g_autoptr (LigRun) part = new_run (f, PLAIN, NULL, spec, short_settings);
  LigRunProgress expected = finish (whole), halfway = finish (part);
  g_assert_cmpint (halfway.skipped, >, 0);
  g_assert_null (
    lig_run_resume (lig_run_get_checkpoint (part), f->device, other, f->store, &error));
  assert_message (error, "loss-scale 8 does not match");
  g_clear_error (&error);
  g_autoptr (LigRun) rest =
    lig_run_resume (lig_run_get_checkpoint (part), f->device, more, f->store, &error);
  g_assert_no_error (error);
  LigRunProgress result = finish (rest);
  g_assert_cmpint (result.skipped, ==, expected.skipped);
  g_assert_cmpfloat (result.loss_scale, ==, expected.loss_scale);
  g_assert_cmpfloat (result.loss, ==, expected.loss);
  assert_same_tensors (lig_run_get_checkpoint (whole), lig_run_get_checkpoint (rest));
}

/* A checkpoint's loss scale is validated. */
static void
test_hostile (Fixture *f, gconstpointer data)
{
  static const float bad[][4] = {{NAN, 0, 0, 0},   {0, 0, 0, 0},  {-2, 0, 0, 0},
                                 {1e30f, 0, 0, 0}, {8, -1, 0, 0}, {8, 0, 0, INFINITY},
                                 {8, 0, 5, 4},     {8, NAN, 0, 0}};
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression ("linear(2)", NULL);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 4, (gint64) 3);
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  g_autoptr (LigState) state = lig_state_new (sequence, f->device, &options, 1, NULL);
  for (guint i = 0; i <= G_N_ELEMENTS (bad); i++) {
    gboolean fine = i == G_N_ELEMENTS (bad);
    static const float good[] = {32, 7, 1, 3};
    g_autoptr (GError) error = NULL;
    g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
    lig_shape_init (&shape, 1, (gint64) 4);
    g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, NULL);
    memcpy (tensor->data, fine ? good : bad[i], sizeof good);
    lig_tensor_file_add (file, "optimizer.scaling", tensor);
    g_assert_cmpint (lig_state_load_moments (state, file, &error), ==, fine);
    if (!fine)
      assert_message (error, "loss scale");
    LigScaling scaling;
    g_assert_true (lig_state_get_scaling (state, &scaling, NULL));
    g_assert_cmpfloat (scaling.scale, ==, fine ? 32 : 65536);
    g_assert_cmpfloat (scaling.skipped, ==, fine ? 3 : 0);
  }
}

/* --- Gradients that are not finite --------------------------------------------------------- */

static int passes, good_passes;

static void
copy_operand (const LigOperand *from, const LigOperand *to)
{
  memcpy (to->data, from->data, (gsize) from->size * lig_dtype_size (from->dtype));
}

static gboolean
copy_forward (const LigOpaqueCall *call, GError **error)
{
  copy_operand (&call->operands[0], &call->operands[1]);
  return TRUE;
}

/* After the given number of good passes every gradient contains one NaN, for a while or for ever.
 */
static gboolean
spoil_backward (const LigOpaqueCall *call, GError **error)
{
  const float nan = NAN;
  const LigOperand *dx = &call->operands[3];
  copy_operand (&call->operands[0], dx);
  if (passes++ >= good_passes && passes <= good_passes + *(const int *) call->data)
    lig_narrow (dx->dtype, &nan, dx->data, 1);
  return TRUE;
}

static const int forever = G_MAXINT / 2, a_while = 7;
static const LigOpInfo spoil = {LIG_OP_INFO_SIZES,
                                .name = "spoil-gradient",
                                .example = "spoil-gradient @ 4x8",
                                .title = "Spoil",
                                .category = "Other",
                                .summary = "Its input, whose gradient is not finite",
                                .opaque_forward = copy_forward,
                                .opaque_backward = spoil_backward,
                                .opaque_data = (gpointer) &forever};
static const LigOpInfo spoil_a_while = {LIG_OP_INFO_SIZES,
                                        .name = "spoil-gradient-a-while",
                                        .example = "spoil-gradient-a-while @ 4x8",
                                        .title = "Spoil a while",
                                        .category = "Other",
                                        .summary = "Its input, whose gradient is not finite",
                                        .opaque_forward = copy_forward,
                                        .opaque_backward = spoil_backward,
                                        .opaque_data = (gpointer) &a_while};

/* The run ends with an error, and the checkpoint has the weights from before. */
static void
test_not_finite (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  LigRunProgress progress;
  g_autofree char *path = in_folder (f, "good.safetensors");
  g_autofree char *settings =
    g_strconcat ("steps=100 lr=0.01 checkpoint-every=1 checkpoint=", path, NULL);
  passes = 0;
  good_passes = 10;
  g_autoptr (LigRun) run = new_run (f, "linear(3) ! spoil-gradient ! mean-squared-error", "8x6",
                                    "synthetic?samples=64&validation=0", settings);
  lig_run_start (run);
  g_assert_false (lig_run_wait (run, &error));
  assert_message (error, "not finite in the last 8 steps up to step 18");
  lig_run_get_progress (run, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_FAILED);
  g_assert_cmpint (progress.step, ==, 18);
  g_assert_cmpint (progress.skipped, ==, 8);

  passes = 0;
  good_passes = 1000;
  g_autofree char *other = in_folder (f, "ten.safetensors");
  g_autofree char *ten = g_strconcat ("steps=10 lr=0.01 checkpoint=", other, NULL);
  train (f, "linear(3) ! spoil-gradient ! mean-squared-error", "8x6",
         "synthetic?samples=64&validation=0", ten);
  g_autoptr (LigTensorFile) left = load_tensors (path), right = load_tensors (other);
  static const char *const names[] = {"0.weight", "0.bias", "optimizer.moment.0.weight",
                                      "optimizer.variance.0.bias"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (LigTensor) x = get_tensor (left, names[i]), y = get_tensor (right, names[i]);
    g_assert_cmpmem (x->data, lig_tensor_bytes (x), y->data, lig_tensor_bytes (y));
  }
}

/* Seven skipped updates in a row do not end the run. */
static void
test_a_while (Fixture *f, gconstpointer data)
{
  passes = 0;
  good_passes = 10;
  LigRunProgress progress = train (f, "linear(3) ! spoil-gradient-a-while ! mean-squared-error",
                                   "8x6", "synthetic?samples=64&validation=0", "steps=100 lr=0.01");
  g_assert_cmpint (progress.skipped, ==, 7);
  g_assert_true (isfinite (progress.loss));
  g_assert_true (isnan (progress.loss_scale));
}

/* A fixed scale that is too large for the gradients ends the run. */
static void
test_fixed (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) run = new_run (f, PLAIN, "8x6", "synthetic?samples=64&validation=0",
                                    "steps=100 dtype=fp16 loss-scale=16777216");
  lig_run_start (run);
  g_assert_false (lig_run_wait (run, &error));
  assert_message (error, "not finite in the last 8 steps up to step 8");
}

/* The search for a scale takes longer, but also ends. */
static void
test_no_scale (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  passes = good_passes = 0;
  g_autoptr (LigRun) run = new_run (f, "linear(3) ! spoil-gradient ! mean-squared-error", "8x6",
                                    "synthetic?samples=64&validation=0", "steps=100 dtype=fp16");
  lig_run_start (run);
  g_assert_false (lig_run_wait (run, &error));
  assert_message (error, "not finite in the last 32 steps up to step 32");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_true (lig_register_op (&spoil, NULL));
  g_assert_true (lig_register_op (&spoil_a_while, NULL));
#define ADD(path, function) \
  g_test_add ("/train/scaling/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("accumulate", test_accumulate);
  ADD ("small", test_small);
  ADD ("overflow", test_overflow);
  ADD ("growth", test_growth);
  ADD ("resume", test_resume);
  ADD ("hostile", test_hostile);
  ADD ("not-finite", test_not_finite);
  ADD ("a-while", test_a_while);
  ADD ("fixed", test_fixed);
  ADD ("no-scale", test_no_scale);
  return g_test_run ();
}
