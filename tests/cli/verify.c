/* SPDX-License-Identifier: MIT */
/* `lig verify`: plans, training runs with their data, and checkpoints against their exports. */
#include "tests/cli/case.h"

#include <ligature/tensor-file.h>

#define MODEL "layer-norm ! linear(32) ! gelu ! linear(8)"
#define TRAINED \
  "embedding(16, vocabulary=256) ! position-embedding(8) ! block(2) { transformer-layer(2) } ! " \
  "layer-norm ! linear(256, bias=false) ! cross-entropy"

static void
test_plan (void)
{
  g_auto (Outcome) text =
    lig ("verify", MODEL, "--input", "16x16", "--dtype", "bf16", "--device", "cpu", NULL);
  g_assert_cmpint (text.code, ==, 0);
  assert_contains (text.out, "cpu, bf16:bf16, recipe none, policy all, recompute none");
  assert_contains (text.out, "all 7 groups agree up to rounding, on 3 batches");
  g_auto (Outcome) json = lig ("verify", MODEL, "--input", "16x16", "--device", "cpu", "--seeds",
                               "2", "--policy", "none", "--json", NULL);
  g_assert_cmpint (json.code, ==, 0);
  g_assert_cmpint (int_at (json.json, "batches"), ==, 2);
  /* In fp32 without fusions the plan is the unfused reference plan. */
  g_assert_cmpfloat (json_node_get_double (at (json.json, "groups.0.error")), ==, 0);
  g_assert_cmpfloat (json_node_get_double (at (json.json, "groups.0.scale")), ==, 1);
}

static void
train (const char *name)
{
  g_autofree char *text = g_strnfill (2000, 'a');
  for (int i = 0; i < 2000; i++)
    text[i] = (char) ('a' + i * i % 23);
  g_autofree char *path = g_build_filename (folder, "text.txt", NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_auto (Outcome) trained =
    lig ("train", TRAINED, "--input", "4x8:int32", "--data", "text:text.txt", "--steps", "3",
         "--device", "cpu", "--name", name, "--checkpoint", "trained.safetensors", NULL);
  g_assert_cmpint (trained.code, ==, 0);
}

/* A run provides its parameters, its settings and its data. */
static void
test_run (void)
{
  train ("verified");
  g_auto (Outcome) run =
    lig ("verify", "last", "--device", "cpu", "--seeds", "1", "--batches", "2", "--json", NULL);
  g_assert_cmpint (run.code, ==, 0);
  assert_contains (run.err, "verifying");
  g_assert_cmpint (int_at (run.json, "batches"), ==, 3);
  g_assert_cmpstr (text_at (run.json, "results.0.value"), ==, "loss");
  g_auto (Outcome) other = lig ("verify", "trained.safetensors", "--device", "cpu", "--dtype",
                                "bf16:fp32", "--recompute", "all", "--json", NULL);
  g_assert_cmpint (other.code, ==, 0);
  g_assert_cmpstr (text_at (other.json, "compute"), ==, "bf16");
  g_assert_cmpstr (text_at (other.json, "recompute"), ==, "all");
  g_auto (Outcome) foreign = lig ("verify", "last", "--input", "4x8:int32", NULL);
  g_assert_cmpint (foreign.code, ==, 2);
  assert_contains (foreign.err, "--input is for a sequence");
}

/* Multiplies one tensor of a file by 2^-7. */
static void
spoil (const char *name, const char *tensor)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  g_autoptr (LigTensorFile) other = lig_tensor_file_new ();
  for (const char *const *at = lig_tensor_file_get_names (file); *at; at++) {
    g_autoptr (LigTensor) values = lig_tensor_file_get (file, *at, &error);
    g_assert_no_error (error);
    for (gint64 i = 0; g_str_equal (*at, tensor) && i < values->size; i++)
      lig_tensor_set (values, i, 0x1p-7F * lig_tensor_get (values, i));
    lig_tensor_file_add (other, *at, values);
  }
  lig_tensor_file_save (other, path, &error);
  g_assert_no_error (error);
}

static void
test_against (void)
{
  train ("exported");
  g_auto (Outcome) exported = lig ("export-weights", "last", "--names", "gpt2", "-o", "e/", NULL);
  g_assert_cmpint (exported.code, ==, 0);
  g_auto (Outcome) same = lig ("verify", "last", "--against", "e", NULL);
  g_assert_cmpint (same.code, ==, 0);
  assert_contains (same.out, "the parameters of e are those of the checkpoint: 29 compared");
  g_auto (Outcome) rounded =
    lig ("export-weights", "last", "--type", "bf16", "-o", "rounded.safetensors", NULL);
  g_assert_cmpint (rounded.code, ==, 0);
  g_auto (Outcome) near =
    lig ("verify", "last", "--against", "rounded.safetensors", "--json", NULL);
  g_assert_cmpint (near.code, ==, 0);
  g_assert_cmpfloat (json_node_get_double (at (near.json, "parameters.0.limit")), ==, 0x1p-8);
  g_assert_cmpfloat (json_node_get_double (at (near.json, "parameters.0.error")), >, 0);
  spoil ("e/model.safetensors", "transformer.h.1.mlp.c_fc.weight");
  g_auto (Outcome) wrong = lig ("verify", "last", "--against", "e", NULL);
  g_assert_cmpint (wrong.code, ==, 1);
  assert_contains (wrong.out, "2.1.0.fc1.weight of e has a relative error of 0.99");
  g_auto (Outcome) sequence = lig ("verify", MODEL, "--against", "e", NULL);
  g_assert_cmpint (sequence.code, ==, 2);
  assert_contains (sequence.err, "--against compares a run or a checkpoint");
}

static void
test_wrong (void)
{
  g_auto (Outcome) none =
    lig ("verify", MODEL, "--input", "16x16", "--device", "cpu", "--seeds", "0", NULL);
  g_assert_cmpint (none.code, ==, 1);
  assert_contains (none.err, "expected 1 to 1000 batches in total");
  g_auto (Outcome) many = lig ("verify", MODEL, "--input", "16x16", "--seeds", "1001", NULL);
  g_assert_cmpint (many.code, ==, 2);
  assert_contains (many.err, "expected a whole number from 0 to 1000");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/verify/plan", test_plan);
  g_test_add_func ("/verify/run", test_run);
  g_test_add_func ("/verify/against", test_against);
  g_test_add_func ("/verify/wrong", test_wrong);
  return run_cli_tests ();
}
