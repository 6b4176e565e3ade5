/* SPDX-License-Identifier: MIT */
/* Compares lig apply with numbers computed by hand: outputs, all gradients, extra tensors; and
 * tests each kind of mismatch between a file and a sequence. */
#include "tests/cli/case.h"

#include <ligature/tensor-file.h>
#include <math.h>

/* y = 4 (x W^T + b + e); x is also an extra output. */
#define SEQUENCE \
  "make-extra-output ! linear(2) ! add-extra-input ! make-extra-output(to=r) ! constant-scale(3) " \
  "! add-extra-input(from=r)"

static void
add (LigTensorFile *file, const char *name, int rows, int columns, const float *values)
{
  LigShape shape;
  g_autoptr (GError) error = NULL;
  if (rows > 0)
    lig_shape_init (&shape, 2, (gint64) rows, (gint64) columns);
  else
    lig_shape_init (&shape, 1, (gint64) columns);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, &error);
  g_assert_no_error (error);
  memcpy (tensor->data, values, lig_tensor_bytes (tensor));
  lig_tensor_file_add (file, name, tensor);
}

static void
save (LigTensorFile *file, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder (name);
  lig_tensor_file_save (file, path, &error);
  g_assert_no_error (error);
}

static LigTensorFile *
load (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder (name);
  LigTensorFile *file = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  return file;
}

static void
expect (LigTensorFile *file, const char *name, int count, const float *values)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensor) tensor = lig_tensor_file_get (file, name, &error);
  g_assert_no_error (error);
  g_assert_cmpint (tensor->size, ==, count);
  for (int i = 0; i < count; i++)
    g_assert_cmpfloat_with_epsilon (lig_tensor_get (tensor, i), values[i], 1e-4);
}

#define EXPECT(file, name, ...) \
  G_STMT_START \
  { \
    const float values_[] = {__VA_ARGS__}; \
    expect (file, name, G_N_ELEMENTS (values_), values_); \
  } \
  G_STMT_END

/* Writes a file byte by byte, because lig_tensor_file_save() does not write int64. */
static void
save_bytes (const char *name, const char *header, gconstpointer body, gsize size)
{
  guint64 length = GUINT64_TO_LE ((guint64) strlen (header));
  g_autofree char *path = in_folder (name);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_byte_array_append (bytes, (const guint8 *) &length, sizeof length);
  g_byte_array_append (bytes, (const guint8 *) header, (guint) strlen (header));
  g_byte_array_append (bytes, body, (guint) size);
  g_assert_true (g_file_set_contents (path, (const char *) bytes->data, bytes->len, NULL));
}

static void
save_files (void)
{
  g_autoptr (LigTensorFile) inputs = lig_tensor_file_new ();
  g_autoptr (LigTensorFile) weights = lig_tensor_file_new ();
  g_autoptr (LigTensorFile) gradients = lig_tensor_file_new ();
  add (inputs, "input", 2, 3, (float[]){1, 2, 3, 4, 5, 6});
  add (inputs, "extra.0", 2, 2, (float[]){10, 20, 30, 40});
  add (weights, "1.weight", 2, 3, (float[]){1, 0, 1, 0, 1, 0});
  add (weights, "1.bias", 0, 2, (float[]){0.5f, -0.5f});
  add (gradients, "output", 2, 2, (float[]){1, 2, 3, 4});
  add (gradients, "extra.0", 2, 3, (float[]){100, 100, 100, 100, 100, 100});
  save (inputs, "x.safetensors");
  save (weights, "w.safetensors");
  save (gradients, "g.safetensors");
}

static Outcome
apply (const char *inputs, const char *weights, const char *gradients)
{
  return lig ("apply", SEQUENCE, "--device", "cpu", "--json", "-o", "y.safetensors", "--input",
              inputs, "--weights", weights, gradients ? "--grad" : NULL, gradients, NULL);
}

static void
test_evaluation (void)
{
  save_files ();
  g_auto (Outcome) outcome = apply ("x.safetensors", "w.safetensors", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  g_assert_cmpint (int_at (outcome.json, "output.shape.1"), ==, 2);
  g_assert_cmpstr (text_at (outcome.json, "output.dtype"), ==, "fp32");
  g_assert_cmpstr (text_at (outcome.json, "file"), ==, "y.safetensors");
  g_autoptr (LigTensorFile) file = load ("y.safetensors");
  g_assert_cmpuint (g_strv_length ((GStrv) lig_tensor_file_get_names (file)), ==, 2);
  EXPECT (file, "output", 58, 86, 162, 178);
  EXPECT (file, "extra.0", 1, 2, 3, 4, 5, 6);
}

static void
test_gradients (void)
{
  static const char *const policies[] = {"none", "all", "measured"};
  save_files ();
  for (guint i = 0; i < G_N_ELEMENTS (policies); i++) {
    g_auto (Outcome) outcome =
      lig ("apply", SEQUENCE, "--device", "cpu", "-o", "y.safetensors", "--input", "x.safetensors",
           "--weights", "w.safetensors", "--grad", "g.safetensors", "--policy", policies[i], NULL);
    g_assert_cmpint (outcome.code, ==, 0);
    g_autoptr (LigTensorFile) file = load ("y.safetensors");
    g_assert_cmpuint (g_strv_length ((GStrv) lig_tensor_file_get_names (file)), ==, 6);
    EXPECT (file, "output", 58, 86, 162, 178);
    EXPECT (file, "grad.1.weight", 52, 68, 84, 72, 96, 120);
    EXPECT (file, "grad.1.bias", 16, 24);
    EXPECT (file, "grad.extra.0", 4, 8, 12, 16);
    EXPECT (file, "grad.input", 104, 108, 104, 112, 116, 112);
  }
}

/* A gradient that is missing from the file is zero. Only the extra output's may be missing, because
 * the main one is required unless the output is a loss. */
static void
test_zero_gradient (void)
{
  g_autoptr (LigTensorFile) some = lig_tensor_file_new ();
  g_autoptr (LigTensorFile) none = lig_tensor_file_new ();
  save_files ();
  add (some, "output", 2, 2, (float[]){1, 2, 3, 4});
  save (some, "some.safetensors");
  g_auto (Outcome) outcome = apply ("x.safetensors", "w.safetensors", "some.safetensors");
  g_assert_cmpint (outcome.code, ==, 0);
  g_autoptr (LigTensorFile) file = load ("y.safetensors");
  EXPECT (file, "grad.1.weight", 52, 68, 84, 72, 96, 120);
  EXPECT (file, "grad.extra.0", 4, 8, 12, 16);
  EXPECT (file, "grad.input", 4, 8, 4, 12, 16, 12);
  add (none, "extra.0", 2, 3, (float[]){1, 1, 1, 1, 1, 1});
  save (none, "none.safetensors");
  g_auto (Outcome) missing = apply ("x.safetensors", "w.safetensors", "none.safetensors");
  assert_failed (&missing, 1, "shape", "output is missing");
}

/* The error names each tensor that is missing, surplus or of another shape; no file is
 * written. */
static void
test_misfits (void)
{
  g_autofree char *output = in_folder ("y.safetensors");
  g_autoptr (LigTensorFile) wrong = lig_tensor_file_new ();
  save_files ();
  g_remove (output);
  add (wrong, "1.weight", 3, 2, (float[]){1, 0, 1, 0, 1, 0});
  add (wrong, "output", 2, 3, (float[]){1, 0, 1, 0, 1, 0});
  save (wrong, "wrong.safetensors");
  g_auto (Outcome) weights = apply ("x.safetensors", "wrong.safetensors", NULL);
  assert_failed (&weights, 1, "shape", "1.weight is 3x2, expected 2x3");
  assert_contains (weights.err, "1.bias is missing");
  assert_contains (weights.err, "output is surplus");
  g_auto (Outcome) inputs = apply ("wrong.safetensors", "w.safetensors", NULL);
  assert_failed (&inputs, 1, "shape", "input is missing");
  assert_contains (inputs.err, "1.weight is surplus");
  g_auto (Outcome) gradients = apply ("x.safetensors", "w.safetensors", "wrong.safetensors");
  assert_failed (&gradients, 1, "shape", "output is 2x3, expected 2x2");
  assert_contains (gradients.err, "1.weight is surplus");
  add (wrong, "input", 2, 3, (float[]){1, 2, 3, 4, 5, 6});
  save (wrong, "wrong.safetensors");
  g_auto (Outcome) extra = apply ("wrong.safetensors", "w.safetensors", NULL);
  assert_failed (&extra, 1, "shape", "extra.0 is missing");
  g_assert_false (g_file_test (output, G_FILE_TEST_EXISTS));
}

/* Non-finite weights are rejected with their path. */
static void
test_not_finite (void)
{
  g_autoptr (LigTensorFile) wrong = lig_tensor_file_new ();
  save_files ();
  add (wrong, "1.weight", 2, 3, (float[]){1, 0, 1, 0, INFINITY, NAN});
  add (wrong, "1.bias", 0, 2, (float[]){0.5f, -0.5f});
  save (wrong, "wrong.safetensors");
  g_auto (Outcome) outcome = apply ("x.safetensors", "wrong.safetensors", NULL);
  assert_failed (&outcome, 1, "value", "1.weight is inf at 4, expected a finite number");
}

static void
test_damaged (void)
{
  g_autofree char *output = in_folder ("y.safetensors");
  save_files ();
  g_autofree char *before = NULL, *kept = in_folder ("x.safetensors");
  gsize length, after;
  g_assert_true (g_file_get_contents (kept, &before, &length, NULL));
  g_assert_true (g_file_set_contents (output, before, (gssize) length, NULL));
  save_bytes ("cut.safetensors",
              "{\"input\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", "1234", 4);
  g_auto (Outcome) cut = apply ("cut.safetensors", "w.safetensors", NULL);
  g_assert_cmpint (cut.code, ==, 1);
  assert_contains (cut.err, "cut.safetensors");
  g_auto (Outcome) device = lig ("apply", "gelu", "--device", "null:h200", "--input",
                                 "x.safetensors", "-o", "y.safetensors", "--json", NULL);
  assert_failed (&device, 2, "usage", "null:h200");
  g_auto (Outcome) nowhere = lig ("apply", SEQUENCE, "--input", "x.safetensors", "-o",
                                  "nowhere/y.safetensors", "--json", NULL);
  assert_failed (&nowhere, 1, "file", "nowhere");
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents (output, &text, &after, NULL));
  g_assert_cmpmem (text, after, before, length);
}

/* int64 tokens and targets; the gradient of the loss is 1; rows with -100 are ignored. */
static void
test_loss (void)
{
  static const char header[] =
    "{\"input\":{\"dtype\":\"I64\",\"shape\":[3],\"data_offsets\":[0,24]},"
    "\"extra.0\":{\"dtype\":\"I64\",\"shape\":[3],\"data_offsets\":[24,48]}}";
  gint64 body[6] = {1, 0, 1, 1, 0, -100};
  g_autoptr (LigTensorFile) weights = lig_tensor_file_new ();
  g_autoptr (LigTensorFile) none = lig_tensor_file_new ();
  save_bytes ("x.safetensors", header, body, sizeof body);
  add (weights, "0.weight", 2, 2, (float[]){0, 0, 0, 1.0986123f});
  save (weights, "w.safetensors");
  save (none, "none.safetensors");
  g_auto (Outcome) outcome =
    lig ("apply", "embedding(2, vocabulary=2) ! cross-entropy", "--input", "x.safetensors",
         "--weights", "w.safetensors", "--grad", "none.safetensors", "-o", "y.safetensors", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  g_autoptr (LigTensorFile) file = load ("y.safetensors");
  /* -log (3/4) and -log (1/2), then (softmax - one-hot) / 2. */
  EXPECT (file, "output", (0.2876821f + 0.6931472f) / 2);
  EXPECT (file, "grad.0.weight", -0.25f, 0.25f, 0.125f, -0.125f);
  g_assert_false (lig_tensor_file_has (file, "grad.input"));
  body[2] = 2;
  save_bytes ("x.safetensors", header, body, sizeof body);
  g_auto (Outcome) token = lig ("apply", "embedding(2, vocabulary=2) ! cross-entropy", "--input",
                                "x.safetensors", "-o", "y.safetensors", "--json", NULL);
  assert_failed (&token, 1, "value", "embedding at 0: input[2] is 2, expected 0 to 1");
  body[2] = 1;
  body[3] = -1;
  save_bytes ("x.safetensors", header, body, sizeof body);
  g_auto (Outcome) target = lig ("apply", "embedding(2, vocabulary=2) ! cross-entropy", "--input",
                                 "x.safetensors", "-o", "y.safetensors", "--json", NULL);
  assert_failed (&target, 1, "value",
                 "extra.0: cross-entropy at 1: targets[0] is -1, expected 0 to 1");
}

/* Dropout is the identity without --grad; equal seeds give equal parameters; --dtype sets the
 * types.
 */
static void
test_seed (void)
{
  save_files ();
  g_autoptr (LigTensorFile) inputs = lig_tensor_file_new ();
  add (inputs, "input", 2, 3, (float[]){1, 2, 3, 4, 5, 6});
  save (inputs, "x.safetensors");
  g_auto (Outcome) dropout =
    lig ("apply", "dropout(0.9)", "--input", "x.safetensors", "-o", "y.safetensors", NULL);
  g_assert_cmpint (dropout.code, ==, 0);
  g_autoptr (LigTensorFile) same = load ("y.safetensors");
  EXPECT (same, "output", 1, 2, 3, 4, 5, 6);
  float first[3] = {0};
  for (int i = 0; i < 3; i++) {
    g_auto (Outcome) outcome = lig ("apply", "linear(4)", "--input", "x.safetensors", "-o",
                                    "y.safetensors", "--seed", i == 2 ? "8" : "7", "--json", NULL);
    g_assert_cmpint (outcome.code, ==, 0);
    g_autoptr (LigTensorFile) file = load ("y.safetensors");
    g_autoptr (LigTensor) output = lig_tensor_file_get (file, "output", NULL);
    first[i] = lig_tensor_get (output, 0);
  }
  g_assert_cmpfloat (first[0], ==, first[1]);
  g_assert_cmpfloat (first[0], !=, first[2]);
  g_auto (Outcome) types = lig ("apply", "linear(4)", "--input", "x.safetensors", "-o",
                                "y.safetensors", "--dtype", "bf16:fp32", "--json", NULL);
  g_assert_cmpstr (text_at (types.json, "output.dtype"), ==, "bf16");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/apply/evaluation", test_evaluation);
  g_test_add_func ("/cli/apply/gradients", test_gradients);
  g_test_add_func ("/cli/apply/zero-gradient", test_zero_gradient);
  g_test_add_func ("/cli/apply/misfits", test_misfits);
  g_test_add_func ("/cli/apply/not-finite", test_not_finite);
  g_test_add_func ("/cli/apply/damaged", test_damaged);
  g_test_add_func ("/cli/apply/loss", test_loss);
  g_test_add_func ("/cli/apply/seed", test_seed);
  return run_cli_tests ();
}
