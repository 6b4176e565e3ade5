/* SPDX-License-Identifier: MIT */
/* Tests commands on whole layers: names of their parts, and one message for each wrong input. */
#include "tests/cli/case.h"

#include <ligature/tensor-file.h>

static void
test_parts (void)
{
  g_auto (Outcome) ops = lig ("ops", "transformer-layer", NULL);
  g_assert_cmpint (ops.code, ==, 0);
  assert_contains (ops.out, "attention-norm.weight, ");
  assert_contains (ops.out, "fc2.bias");
  g_auto (Outcome) plain = lig ("ops", "linear", NULL);
  assert_contains (plain.out, "weight, bias\n");
}

/* Each value that needs memory has its own name. */
static void
test_values (void)
{
  guint found = 0;
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_auto (Outcome) plan =
    lig ("plan", "linear(8) ! transformer-layer(2)", "--input", "2x4x8", "--device", "cpu", NULL);
  g_assert_cmpint (plan.code, ==, 0);
  g_auto (GStrv) lines = g_strsplit (plan.out, "\n", -1);
  for (char **line = lines; *line; line++) {
    char *end = strchr (*line, ' ');
    if (!end || !g_str_has_prefix (*line, "1."))
      continue;
    *end = '\0';
    if (!g_str_has_suffix (*line, ".mean"))
      continue;
    found++;
    if (!g_hash_table_add (names, *line))
      g_error ("two values are called %s", *line);
  }
  g_assert_cmpuint (found, ==, 2);
  g_assert_true (g_hash_table_contains (names, "1.attention-norm.mean"));
  g_assert_true (g_hash_table_contains (names, "1.mlp-norm.mean"));
}

typedef struct {
  const char *expression, *input, *message;
} Wrong;

static const Wrong wrong[] = {
  {"transformer-layer(3)", "2x4x10",
   "transformer-layer at 0: input has 10 features, expected a multiple of 3"},
  {"attention(5)", "2x4x24",
   "attention at 0: the number of features is 24; the heads of queries, keys and "
   "values in a packed row are 5, 5 and 5, so expected a multiple of 15"},
  {"transformer-layer(4, kv-heads=3)", "2x4x16",
   "transformer-layer at 0: heads is 4, expected a multiple of kv-heads, 3"},
  {"embedding(8) ! position-embedding(4)", "2x5:int32",
   "position-embedding at 1: input has 5 positions, expected at most 4"},
  {"rotary(2, fraction=0.5)", "2x5x18",
   "rotary at 0: it rotates 1 of a head dim of 3, expected an even number"},
  {"linear(4) ! linear(5, tied=0)", "2x4",
   "linear at 1: its weight is 5x4, but 0.weight, to which it is tied, is 4x4"},
  {"linear(8, tied=-1)", "2x8",
   "linear: tied is '-1', expected the path of an op like 0, 3.qkv or ../0"},
  {"make-extra-output(a) ! load-branch(c) ! make-extra-output(c) ! add-extra-input(a)", "2x4",
   "branch 'c', which load-branch at 1 reads, is only written later"},
  {"linear(8) ! load-branch", "2x4",
   "linear at 0: nothing reads its output, because load-branch at 1 continues from another value"},
  {"attention(2, mask=casual)", "2x4x12",
   "attention: mask is 'casual', expected causal, none or causal-bottom-right; did you mean "
   "'causal'?"},
};

static void
test_wrong (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_auto (Outcome) outcome = lig ("check", wrong[i].expression, "--input", wrong[i].input, NULL);
    g_assert_cmpint (outcome.code, ==, 1);
    assert_contains (outcome.err, wrong[i].message);
  }
}

static void
add_tensor (LigTensorFile *file, const char *name, LigDtype dtype, const char *shape, float value)
{
  g_autoptr (GError) error = NULL;
  LigShape axes;
  lig_shape_parse (shape, &axes, &dtype, &error);
  g_assert_no_error (error);
  g_autoptr (LigTensor) tensor = lig_tensor_new (dtype, &axes, &error);
  g_assert_no_error (error);
  for (gint64 i = 0; i < tensor->size; i++)
    lig_tensor_set (tensor, i, value);
  lig_tensor_file_add (file, name, tensor);
}

/* Runs attention over 4 tokens, after adding an extra input. */
static Outcome
apply_lengths (float length)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autofree char *path = in_folder ("x.safetensors");
  add_tensor (file, "input", LIG_FP32, "2x4x12", 1);
  add_tensor (file, "extra.0", LIG_FP32, "2x4x12", 1);
  add_tensor (file, "extra.1", LIG_INT32, "2", length);
  lig_tensor_file_save (file, path, &error);
  g_assert_no_error (error);
  return lig ("apply", "add-extra-input ! attention(2, lengths=caller)", "--input", path, "-o",
              "y.safetensors", "--device", "cpu", NULL);
}

static void
test_lengths (void)
{
  g_auto (Outcome) right = apply_lengths (4);
  g_assert_cmpint (right.code, ==, 0);
  g_auto (Outcome) none = apply_lengths (0);
  g_assert_cmpint (none.code, ==, 0);
  g_auto (Outcome) longer = apply_lengths (5);
  g_assert_cmpint (longer.code, ==, 1);
  assert_contains (longer.err, "extra.1: attention at 1: lengths[0] is 5, expected 0 to 4");
  g_auto (Outcome) negative = apply_lengths (-1);
  g_assert_cmpint (negative.code, ==, 1);
  assert_contains (negative.err, "extra.1: attention at 1: lengths[0] is -1, expected 0 to 4");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_unsetenv ("COLUMNS");
  g_test_add_func ("/layers/parts", test_parts);
  g_test_add_func ("/layers/values", test_values);
  g_test_add_func ("/layers/wrong", test_wrong);
  g_test_add_func ("/layers/lengths", test_lengths);
  return run_cli_tests ();
}
