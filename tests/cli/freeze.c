/* SPDX-License-Identifier: MIT */
/* Tests --freeze, and what commands print about frozen and shared parameters. */
#include "tests/cli/case.h"

#define NETWORK "linear(4) ! gelu ! linear(3) ! cross-entropy"

static void
test_train (void)
{
  g_auto (Outcome) trained =
    lig ("train", NETWORK, "--input", "8x5", "--data", "synthetic?samples=90", "--steps", "3",
         "--device", "cpu", "--freeze", "0.*", "--freeze", "2.bias", "--checkpoint",
         "frozen.safetensors", "--json", NULL);
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) shown = lig ("runs", "show", "last", "--json", NULL);
  g_assert_cmpstr (text_at (shown.json, "settings.freeze"), ==, "0.*,2.bias");
  g_auto (Outcome) resumed = lig ("train", "--resume", "frozen.safetensors", "--steps", "5",
                                  "--device", "cpu", "--json", NULL);
  g_assert_cmpint (resumed.code, ==, 0);
  g_auto (Outcome) other = lig ("train", "--resume", "frozen.safetensors", "--steps", "7",
                                "--freeze", "0.*", "--json", NULL);
  g_assert_cmpint (other.code, !=, 0);
}

static void
test_rejected (void)
{
  g_auto (Outcome) none = lig ("train", NETWORK, "--input", "8x5", "--data", "synthetic", "--steps",
                               "3", "--device", "cpu", "--freeze", "7.*", NULL);
  g_assert_cmpint (none.code, !=, 0);
  assert_contains (none.err, "no parameter has a path like '7.*' to freeze; there are 0.weight, "
                             "0.bias, 2.weight …");
  g_auto (Outcome) commas = lig ("train", NETWORK, "--input", "8x5", "--data", "synthetic",
                                 "--steps", "3", "--device", "cpu", "--freeze", ",,", NULL);
  g_assert_cmpint (commas.code, ==, 1);
  assert_contains (commas.err, "freeze is ',,': a pattern is empty");
  g_auto (Outcome) empty = lig ("train", NETWORK, "--input", "8x5", "--data", "synthetic",
                                "--steps", "3", "--device", "cpu", "--freeze", "", NULL);
  g_assert_cmpint (empty.code, ==, 2);
  assert_contains (empty.err, "--freeze is empty, expected PATTERN");
  /* A pattern from the file does not count as a given option. */
  static const char file[] =
    "{\"ligature\": 1, \"input\": {\"shape\": [8, 4], \"dtype\": \"fp32\"}, \"ops\": [{\"op\": "
    "\"linear\", \"out-features\": 4}, {\"op\": \"mean-squared-error\"}], \"train\": "
    "{\"freeze\": \"7.*\", \"data\": \"synthetic\"}}";
  g_autofree char *path = in_folder ("frozen.lig");
  g_assert_true (g_file_set_contents (path, file, -1, NULL));
  g_auto (Outcome) own = lig ("train", path, "--steps", "3", "--device", "cpu", NULL);
  g_assert_cmpint (own.code, ==, 1);
  assert_contains (own.err, " (freeze of the file)");
}

static void
test_check (void)
{
  g_auto (Outcome) frozen =
    lig ("check", "linear(4, trained=false) ! gelu ! linear(3)", "--input", "8x5", NULL);
  assert_contains (frozen.out, "15 trained elements, 60 B and 24 frozen ones, 96 B;");
  g_auto (Outcome) tied =
    lig ("check", "linear(5) ! gelu ! linear(5, tied=0)", "--input", "8x5", NULL);
  assert_contains (tied.out, "35 trained elements, 140 B;");
  g_auto (Outcome) own =
    lig ("check", "linear(4) ! router(2, score=sigmoid, balance=0.1)", "--input", "8x5", NULL);
  g_auto (Outcome) ops = lig ("ops", "router", NULL);
  assert_contains (ops.out, "updated     correction");
  assert_contains (own.out, "24 trained elements, 96 B and 4 that ops change themselves, 16 B;");
}

/* Nothing is saved for the gradient of a frozen weight. */
static void
test_saved (void)
{
  g_auto (Outcome) trained =
    lig ("check", "linear(4) ! linear(5) ! linear(3)", "--input", "8x5", "--json", NULL);
  g_auto (Outcome) frozen = lig ("check", "linear(4) ! linear(5, trained=false) ! linear(3)",
                                 "--input", "8x5", "--json", NULL);
  g_assert_cmpint (int_at (trained.json, "saved_bytes"), ==, 4 * 8 * (5 + 4 + 5));
  g_assert_cmpint (int_at (frozen.json, "saved_bytes"), ==, 4 * 8 * (5 + 5));
}

static void
test_ops (void)
{
  g_auto (Outcome) op = lig ("ops", "linear", NULL);
  assert_contains (op.out, "tied");
  assert_contains (op.out, "path");
  g_auto (Outcome) norm = lig ("ops", "qk-norm", NULL);
  assert_contains (norm.out, "omitted or 0: as many as query");
  g_auto (Outcome) none =
    lig ("check", "qk-norm(2, kv-heads=0, kind=layer)", "--input", "4x12", NULL);
  g_assert_cmpint (none.code, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/freeze/train", test_train);
  g_test_add_func ("/freeze/rejected", test_rejected);
  g_test_add_func ("/freeze/check", test_check);
  g_test_add_func ("/freeze/saved", test_saved);
  g_test_add_func ("/freeze/ops", test_ops);
  return run_cli_tests ();
}
