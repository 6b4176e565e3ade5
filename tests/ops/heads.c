/* SPDX-License-Identifier: MIT */
/* Sizes of packed heads that would overflow in kernels are rejected with both numbers, and the
 * largest that fit are accepted. */
#include "tests/plan/case.h"

#define MEMORY(positions) \
  "make-extra-output(q) ! load-branch(shape=[1, " positions \
  ", 4]) ! make-extra-output(m) ! load-branch(q) " \
  "! attention(1, memory=m)"

static void
sizes (void)
{
  static const struct {
    const char *expression, *input, *message; /* message null: it fits */
  } cases[] = {
    {"attention(1)", "1x1x3000000000",
     "attention at 0: input has 3000000000 features, expected at most 1000000000"},
    {"rotary(1)", "1x12884901888",
     "rotary at 0: input has 12884901888 features, expected at most 1000000000"},
    {"qk-norm(1)", "1x12884901888",
     "qk-norm at 0: input has 12884901888 features, expected at most 1000000000"},
    {"attention(1)", "1x1073741825x3",
     "attention at 0: input has 1073741825 positions, expected at most 1073741824"},
    {"attention(1)", "1x1073741824x3", NULL},
    {"attention(1)", "1x1x999999999", NULL},
    {"multi-head-attention(2)", "2x4x0",
     "multi-head-attention at 0: input has 0 features, expected at least 1"},
    {MEMORY ("1073741825"), "1x4x2",
     "attention at 4: memory has 1073741825 positions, expected at most 1073741824"},
    {MEMORY ("1073741824"), "1x4x2", NULL},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.policy = LIG_POLICY_NONE;
    options.training = FALSE;
    g_autoptr (LigSequence) sequence = new_sequence (cases[i].expression, cases[i].input);
    g_test_message ("%s @ %s", cases[i].expression, cases[i].input);
    if (cases[i].message) {
      check_rejected (sequence, &options, LIG_ERROR_SHAPE, cases[i].message);
      continue;
    }
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    g_assert_nonnull (plan);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops-heads/sizes", sizes);
  return g_test_run ();
}
