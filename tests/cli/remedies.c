/* SPDX-License-Identifier: MIT */
/* Messages about values that are almost right: they name the remedies. */
#include "tests/cli/case.h"

static void
check (const Outcome *outcome, int code, const char *sentence)
{
  g_assert_cmpint (outcome->code, ==, code);
  assert_contains (outcome->err, sentence);
}

/* A folder gets the files of another program and needs --names; a file does not. */
static void
test_folder (void)
{
  g_autofree char *present = in_folder ("present");
  g_assert_cmpint (g_mkdir (present, 0700), ==, 0);
  g_auto (Outcome) slash =
    lig ("export-weights", "linear(3)", "--input", "4x8", "-o", "absent/", NULL);
  check (&slash, 2,
         "-o absent/ is a folder, which needs --names, gpt-oss, gpt2, llama, mixtral or qwen3-moe; "
         "a file like "
         "absent/model.safetensors gets the parameters by their paths");
  g_auto (Outcome) known =
    lig ("export-weights", "linear(3)", "--input", "4x8", "-o", "present", NULL);
  check (&known, 2, "a file like present/model.safetensors gets");
  g_auto (Outcome) file =
    lig ("export-weights", "linear(3)", "--input", "4x8", "-o", "present/w.safetensors", NULL);
  g_assert_cmpint (file.code, ==, 0);
}

/* A number that means that a parameter is unset is in its range, and in the message. */
static void
test_range (void)
{
  g_auto (Outcome) attention = lig ("ops", "attention", NULL);
  assert_contains (attention.out, "none      0 … 65535\n");
  g_auto (Outcome) linear = lig ("ops", "linear", NULL);
  assert_contains (linear.out, "none      at least 0\n");
  g_auto (Outcome) negative = lig ("check", "attention(4, kv-heads=-1)", "--input", "2x4x24", NULL);
  check (&negative, 1, "kv-heads is -1, expected 1 to 65535, or 0 to omit it");
  g_auto (Outcome) required = lig ("check", "attention(0)", "--input", "2x4x24", NULL);
  check (&required, 1, "heads is 0, expected 1 to 65535");
  g_assert_null (strstr (required.err, "leave it out"));
}

/* Options that would replace the parameters of a file or a run are rejected, not ignored. */
static void
test_sources (void)
{
  g_auto (Outcome) made =
    lig ("export-weights", "linear(3)", "--input", "4x8", "-o", "own.safetensors", NULL);
  g_assert_cmpint (made.code, ==, 0);
  g_auto (Outcome) weights = lig ("export-weights", "own.safetensors", "--weights",
                                  "own.safetensors", "-o", "x.safetensors", NULL);
  check (&weights, 2,
         "--weights is for a sequence, and 'own.safetensors' has parameters of its own; omit it");
  g_auto (Outcome) seed =
    lig ("export-weights", "own.safetensors", "--seed", "3", "-o", "x.safetensors", NULL);
  check (&seed, 2, "--seed is for a sequence");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/remedies/folder", test_folder);
  g_test_add_func ("/remedies/range", test_range);
  g_test_add_func ("/remedies/sources", test_sources);
  return run_cli_tests ();
}
