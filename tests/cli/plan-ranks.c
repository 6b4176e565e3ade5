/* SPDX-License-Identifier: MIT */
/* Tests plans of several ranks on the command line: for device descriptions, and for devices of
 * this machine, whose links are unknown. */
#include "tests/cli/case.h"

#define MODEL "linear(64) ! gelu ! linear(16) ! mean-squared-error"
#define RANKS "--input", "64x32", "--ranks", "4"

static void
test_devices (void)
{
  g_auto (Outcome) described = lig ("fuse", MODEL, RANKS, "--device", "null:h200", NULL);
  g_auto (Outcome) own = lig ("fuse", MODEL, RANKS, "--device", "cpu", NULL);
  g_auto (Outcome) json = lig ("fuse", MODEL, RANKS, "--device", "cpu", "--json", NULL);
  g_assert_cmpint (described.code, ==, 0);
  assert_contains (described.out, "rank 0 of 4: predicted step without update ");
  assert_contains (described.out, " exposed; ");
  g_assert_cmpint (own.code, ==, 0);
  assert_contains (own.out, "rank 0 of 4: communicates ");
  g_assert_null (strstr (own.out, "waits"));
  JsonObject *ranks = json_object_get_object_member (json_node_get_object (json.json), "ranks");
  g_assert_cmpint (json_object_get_int_member (ranks, "count"), ==, 4);
}

/* Plans for several devices have the collectives of each. */
static void
test_several (void)
{
  g_auto (Outcome) alone =
    lig ("fuse", MODEL, "--input", "64x32", "--device", "null:h100,null:h200", NULL);
  g_auto (Outcome) pair = lig ("fuse", MODEL, RANKS, "--device", "null:h100,null:h200", NULL);
  g_auto (Outcome) all = lig ("fuse", MODEL, RANKS, "--device", "null:a100,null:h100,cpu", NULL);
  g_assert_cmpint (pair.code, ==, 0);
  g_assert_cmpint (all.code, ==, 0);
  assert_contains (pair.out, "ranks     4");
  assert_contains (pair.out, "comm      ≈ ");
  assert_contains (pair.out, " exposed");
  assert_contains (all.out, "comm      ≈ ");
  g_assert_null (strstr (alone.out, "ranks"));
}

/* A report of a plan has the same message; one of a run has its own ranks. */
static void
test_report (void)
{
  g_auto (Outcome) report =
    lig ("report", MODEL, RANKS, "--device", "null:h200", "-o", "-", "--format", "md", NULL);
  g_auto (Outcome) train = lig ("train", MODEL, "--input", "64x32", "--data", "synthetic",
                                "--steps", "1", "--device", "cpu", "--store", "r.db", NULL);
  g_auto (Outcome) foreign =
    lig ("report", "last", "--ranks", "2", "-o", "r.md", "--store", "r.db", NULL);
  g_assert_cmpint (report.code, ==, 0);
  assert_contains (report.out, "rank 0 of 4: predicted step without update ");
  g_assert_cmpint (train.code, ==, 0);
  g_assert_cmpint (foreign.code, ==, 2);
  assert_contains (foreign.err, "--ranks needs a sequence, but 'last' is a run; omit --ranks");
}

/* The LM head is often the largest matmul, and unsharded if the ranks cannot shard it. */
static void
test_whole (void)
{
  g_auto (Outcome) odd =
    lig ("fuse", "embedding(32) ! linear(257) ! cross-entropy", "--input", "8x8:int32", "--ranks",
         "2", "--parallel", "tensor=2", "--device", "cpu", "--policy", "none", NULL);
  g_auto (Outcome) even =
    lig ("fuse", "embedding(32) ! linear(258) ! cross-entropy", "--input", "8x8:int32", "--ranks",
         "2", "--parallel", "tensor=2", "--device", "cpu", "--policy", "none", NULL);
  g_autofree char *text = g_strdelimit (g_strdup (odd.out), "\n", ' ');
  g_assert_cmpint (odd.code, ==, 0);
  g_assert_nonnull (strstr (text, "out-features is 257,"));
  g_assert_cmpint (even.code, ==, 0);
  g_assert_null (strstr (even.out, "whole on each"));
}

static void
test_rejected (void)
{
  g_auto (Outcome) batch =
    lig ("fuse", MODEL, "--input", "62x32", "--ranks", "4", "--device", "null:h200", NULL);
  g_auto (Outcome) data = lig ("fuse", MODEL, "--input", "63x32", "--ranks", "4", "--parallel",
                               "tensor=2", "--device", "null:h200", NULL);
  g_auto (Outcome) count = lig ("plan", MODEL, "--ranks", "0", "--device", "null:h200", NULL);
  g_assert_cmpint (batch.code, !=, 0);
  assert_contains (batch.err,
                   "the batch size is 62, expected a multiple of 4, the number of ranks");
  assert_contains (data.err,
                   "the batch size is 63, expected a multiple of 2, the number of data ranks");
  g_assert_cmpint (count.code, ==, 2);
  assert_contains (count.err, "--ranks is 0, expected 1 to 1024");
}

/* `lig check` shows the shapes of a rank, and the memory that an update needs. */
static void
test_checked (void)
{
  g_auto (Outcome) check =
    lig ("check", MODEL, RANKS, "--batch", "128", "--optimizer", "adamw", "--json", NULL);
  g_auto (Outcome) shown = lig ("check", MODEL, RANKS, "--device", "null:h200", NULL);
  g_auto (Outcome) batch = lig ("check", MODEL, RANKS, "--batch", "30", NULL);
  g_assert_cmpint (check.code, ==, 0);
  g_assert_cmpint (int_at (check.json, "input.shape.0"), ==, 32);
  g_assert_cmpint (int_at (check.json, "ranks.count"), ==, 4);
  assert_contains (shown.out, "rank 0 of 4: ");
  /* The prediction is that of the plan with its fusions. */
  g_auto (Outcome) fuse = lig ("fuse", MODEL, RANKS, "--device", "null:h200", NULL);
  const char *predicted = strstr (fuse.out, "rank 0 of 4: ");
  g_assert_nonnull (predicted);
  g_autofree char *first = g_strndup (predicted, strcspn (predicted, "\n"));
  assert_contains (shown.out, first);
  g_auto (Outcome) merged = lig ("check", "linear(6) ! reshape([2, -1]) ! layer-norm", RANKS, NULL);
  g_assert_cmpint (merged.code, ==, 1);
  assert_contains (merged.err, "2x-1 has a fixed first axis, which is sharded (data=4)");
  g_assert_cmpint (batch.code, ==, 2);
  assert_contains (batch.err, "--ranks: the batch size is 30, expected a multiple of 4");
}

static void
check_problem (const char *model, const char *input, const char *ranks, const char *said)
{
  g_autofree char *parallel = g_strconcat ("tensor=", ranks, NULL);
  g_auto (Outcome) outcome =
    lig ("check", model, "--input", input, "--ranks", ranks, "--parallel", parallel, NULL);
  g_assert_cmpint (outcome.code, ==, 1);
  g_assert_cmpstr (outcome.err, ==, said);
}

/* Wrong sharding is one problem: the problems of later ops, whose inputs would be sharded
 * differently, are omitted, and so are edits that only cause another problem. */
static void
test_problems (void)
{
  check_problem ("block(2){transformer-layer(32, kv-heads=8)} ! rms-norm ! linear(8)", "2x8x64",
                 "3",
                 "lig: transformer-layer at 0.0.0: heads is 32, expected a multiple of the "
                 "tensor-parallel size, 3\n");
  check_problem ("linear(33, parallel=column) ! gelu ! linear(32, parallel=row) ! layer-norm",
                 "8x8", "2",
                 "lig: linear at 0: out-features is 33, expected a multiple of the "
                 "tensor-parallel size, 2\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/plan-ranks/devices", test_devices);
  g_test_add_func ("/cli/plan-ranks/several", test_several);
  g_test_add_func ("/cli/plan-ranks/report", test_report);
  g_test_add_func ("/cli/plan-ranks/whole", test_whole);
  g_test_add_func ("/cli/plan-ranks/rejected", test_rejected);
  g_test_add_func ("/cli/plan-ranks/checked", test_checked);
  g_test_add_func ("/cli/plan-ranks/problems", test_problems);
  return run_cli_tests ();
}
