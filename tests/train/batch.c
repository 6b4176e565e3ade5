/* SPDX-License-Identifier: MIT */
/* Batches that no machine can hold are rejected before any memory is allocated for them. */
#include "tests/cli/case.h"

#include <sys/resource.h>

/* Starts a run that does not fit; until its failure the program must not have used `max` KiB. */
static void
check_rejected (
  const char *model, const char *input, const char *batch, const char *numbers, long max)
{
  g_auto (Outcome) outcome =
    lig ("train", model, "--input", input, "--data", "synthetic", "--batch", batch, "--steps", "1",
         "--device", "cpu", "--json", NULL);
  struct rusage usage;
  assert_error (&outcome, 1, "memory", numbers);
  getrusage (RUSAGE_CHILDREN, &usage);
  g_assert_cmpint (usage.ru_maxrss, <, max);
  g_test_message ("%ld KiB: %s", usage.ru_maxrss, outcome.err);
}

/* 10^9 samples of 8000 features and one target take 32 TB. */
static void
test_batch (void)
{
  const char *model = "linear(1) ! mean-squared-error";
  const char *numbers = "a batch of 1000000000 takes 32.0 TB, the host has ";
  check_rejected (model, "32x8000", "1000000000", numbers, 1 << 20);
  check_rejected (model, "32x8000", "1e9", numbers, 1 << 20);
  check_rejected (model, "32x8000", "1e9", "set a smaller batch", 1 << 20);
}

/* The batch takes 900 MB, which a machine may have, and what is computed from it 10 TB. */
static void
test_activations (void)
{
  check_rejected ("linear(100000) ! gelu ! linear(1) ! mean-squared-error", "32x8", "25000000",
                  "the plan does not fit cpu: it needs 20.0 TB", 800000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train-batch/batch", test_batch);
  g_test_add_func ("/train-batch/activations", test_activations);
  return run_cli_tests ();
}
