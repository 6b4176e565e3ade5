/* SPDX-License-Identifier: MIT */
/* Tests that lig apply checks the integers of a file where they are used: tokens after a
 * load-branch, and lengths inside a layer. */
#include "tests/cli/case.h"

#include <ligature/tensor-file.h>

static void
add_tensor (LigTensorFile *file, const char *name, const char *text, float value)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype;
  lig_shape_parse (text, &shape, &dtype, &error);
  g_assert_no_error (error);
  g_autoptr (LigTensor) tensor = lig_tensor_new (dtype, &shape, &error);
  g_assert_no_error (error);
  for (gint64 i = 0; i < tensor->size; i++)
    lig_tensor_set (tensor, i, value);
  lig_tensor_file_add (file, name, tensor);
}

/* Applies a sequence to an input that is -1 everywhere, and to the integers. */
static Outcome
apply (const char *sequence, const char *input, const char *shape, float value)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autofree char *path = in_folder ("x.safetensors");
  add_tensor (file, "input", input, -1);
  add_tensor (file, "extra.0", shape, value);
  lig_tensor_file_save (file, path, &error);
  g_assert_no_error (error);
  return lig ("apply", sequence, "--input", path, "-o", "y.safetensors", "--device", "cpu", NULL);
}

static void
expect (
  const char *sequence, const char *input, const char *shape, float value, const char *message)
{
  g_auto (Outcome) outcome = apply (sequence, input, shape, value);
  g_test_message ("%s", outcome.err);
  g_assert_cmpint (outcome.code, ==, message ? 1 : 0);
  if (message)
    assert_contains (outcome.err, message);
}

static void
test_recalled (void)
{
  const char *const sequence = "load-branch(shape=[4], dtype=int32) ! embedding(8, vocabulary=3)";
  expect (sequence, "2x8:fp32", "4:int32", 2, NULL);
  expect (sequence, "2x8:fp32", "4:int32", 3,
          "extra.0: embedding at 1: input[0] is 3, expected 0 to 2");
  /* The input is used elsewhere, and may be anything. */
  const char *const both = "make-extra-output(caller=true) ! load-branch(shape=[4], dtype=int32) ! "
                           "make-extra-output ! embedding(8, vocabulary=3)";
  expect (both, "2:int32", "4:int32", 1, NULL);
  expect (both, "2:int32", "4:int32", -5,
          "extra.0: embedding at 3: input[0] is -5, expected 0 to 2");
}

static void
test_layer (void)
{
  expect ("transformer-layer(2, lengths=caller)", "3x4x8:fp32", "3:int32", 4, NULL);
  expect ("transformer-layer(2, lengths=caller)", "3x4x8:fp32", "3:int32", 5,
          "extra.0: transformer-layer at 0: lengths[0] is 5, expected 0 to 4");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/integers/recalled", test_recalled);
  g_test_add_func ("/integers/layer", test_layer);
  return run_cli_tests ();
}
