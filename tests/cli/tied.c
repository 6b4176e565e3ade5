/* SPDX-License-Identifier: MIT */
/* `lig check` names the parameters that an op shares with another op. */
#include "tests/cli/case.h"

#define HEAD "embedding(8, vocabulary=16) ! linear(16, tied=0) ! gelu ! linear(16) ! cross-entropy"

static void
test_text (void)
{
  g_auto (Outcome) text = lig ("check", HEAD, "--input", "2x4:int32", NULL);
  g_assert_cmpint (text.code, ==, 0);
  assert_contains (text.out, "1.weight is 0.weight");
  assert_contains (text.out, "0.weight 16x8:fp32");
  assert_contains (text.out, "3.weight 16x16:fp32");
  g_assert_null (strstr (text.out, "3.weight is"));
}

static void
test_json (void)
{
  g_auto (Outcome) json = lig ("check", HEAD, "--input", "2x4:int32", "--json", NULL);
  g_assert_cmpuint (length_at (json.json, "ops.0.tied"), ==, 0);
  g_assert_cmpuint (length_at (json.json, "ops.1.parameters"), ==, 0);
  g_assert_cmpstr (text_at (json.json, "ops.1.tied.0.name"), ==, "1.weight");
  g_assert_cmpstr (text_at (json.json, "ops.1.tied.0.path"), ==, "0.weight");
  g_assert_cmpuint (length_at (json.json, "ops.2.tied"), ==, 0);
}

/* A part of a macro, tied through an op that is tied itself. */
static void
test_parts (void)
{
  g_auto (Outcome) text = lig ("check",
                               "layer-norm-linear(8) ! linear(8, tied=0.linear, bias=false) ! "
                               "linear(8, tied=1, bias=false)",
                               "--input", "4x8", NULL);
  assert_contains (text.out, "1.weight is 0.linear.weight");
  assert_contains (text.out, "2.weight is 0.linear.weight");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tied/text", test_text);
  g_test_add_func ("/tied/json", test_json);
  g_test_add_func ("/tied/parts", test_parts);
  return run_cli_tests ();
}
