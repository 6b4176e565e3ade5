/* SPDX-License-Identifier: MIT */
/* --nondeterministic: plans, profiles and runs record it, and a file's value holds unless the
 * command line says otherwise. */
#include "tests/cli/case.h"

static void
test_plans (void)
{
  static const char *const commands[] = {"fuse", "plan"};
  static const struct {
    const char *option;
    gboolean value;
  } forms[] = {{"", FALSE},
               {"--nondeterministic", TRUE},
               {"--nondeterministic=0", FALSE},
               {"--nondeterministic 1", TRUE},
               {"--nondeterministic --no-nondeterministic", FALSE}};
  for (guint k = 0; k < G_N_ELEMENTS (commands); k++)
    for (guint i = 0; i < G_N_ELEMENTS (forms); i++) {
      g_autofree char *line =
        g_strdup_printf ("lig %s 'linear(2)' %s --input 4x8 --device null:h200 --json", commands[k],
                         forms[i].option);
      g_auto (Outcome) plan = shell (line);
      g_assert_cmpint (plan.code, ==, 0);
      g_assert_cmpint (json_node_get_boolean (at (plan.json, "nondeterministic")), ==,
                       forms[i].value);
    }
  g_auto (Outcome) text =
    shell ("lig plan 'linear(2)' --nondeterministic --input 4x8 --device null:h200");
  g_assert_nonnull (strstr (text.out, ", nondeterministic, policy"));
}

static void
test_runs (void)
{
  g_autofree char *file = in_folder ("order.lig");
  const char *text =
    "{\"ligature\": 1, \"input\": {\"shape\": [4, 2]}, \"ops\": [{\"op\": \"linear\", "
    "\"out-features\": 2}, {\"op\": \"mean-squared-error\"}], \"train\": {\"data\": "
    "\"synthetic\", \"steps\": 1, \"nondeterministic\": 1}}";
  g_assert_true (g_file_set_contents (file, text, -1, NULL));
  for (guint i = 0; i < 2; i++) {
    g_auto (Outcome) trained =
      lig ("train", "order.lig", "--device", "cpu", i ? "--no-nondeterministic" : NULL, NULL);
    g_assert_cmpint (trained.code, ==, 0);
    g_auto (Outcome) shown = lig ("runs", "show", "last", "--json", NULL);
    g_assert_cmpint (int_at (shown.json, "settings.nondeterministic"), ==, !i);
  }
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
