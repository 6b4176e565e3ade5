/* SPDX-License-Identifier: MIT */
/* --nondeterministic: plans, profiles and runs record it, and a file's value holds unless the
 * command line says otherwise. */
#include "tests/cli/switch.h"

static void
test_plans (void)
{
  static const struct {
    const char *option;
    gboolean value;
  } forms[] = {{"", FALSE},
               {"--nondeterministic", TRUE},
               {"--nondeterministic=0", FALSE},
               {"--nondeterministic 1", TRUE},
               {"--nondeterministic --no-nondeterministic", FALSE}};
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    check_plans ("nondeterministic", forms[i].option, forms[i].value);
  g_auto (Outcome) text =
    shell ("lig plan 'linear(2)' --nondeterministic --input 4x8 --device null:h200");
  g_assert_nonnull (strstr (text.out, ", nondeterministic, policy"));
}

static void
test_runs (void)
{
  check_runs ("nondeterministic", "order.lig");
  g_auto (Outcome) profiled = lig ("profile", "order.lig", "--device", "cpu", "--steps", "1",
                                   "--nondeterministic", "--json", NULL);
  g_assert_cmpint (profiled.code, ==, 0);
  g_assert_true (json_node_get_boolean (at (profiled.json, "nondeterministic")));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/order/plans", test_plans);
  g_test_add_func ("/order/runs", test_runs);
  return run_cli_tests ();
}
