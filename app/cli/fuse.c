/* SPDX-License-Identifier: MIT */
/* lig fuse: both rails and the verdicts. */
#include "app/cli/sequence-options.h"
#include <ligature/report.h>

#include <stdio.h>

static int run (int argc, char **argv);

LIG_COMMAND (fuse) = {
  .name = "fuse",
  .usage = "P [--input I] [--device D] [--dtype T] [--policy none|all|measured] …",
  .summary = "Which fusions are chosen, forward and backward, and why others are not",
  .example = "lig fuse 'layer-norm ! linear(3072) ! gelu ! linear(768)' --input 2048x768",
  .run = run,
};

static int
run (int argc, char **argv)
{
  g_auto (LigSequenceOptions) options = {0};
  gboolean all = FALSE;
  const GOptionEntry more[] = {
    {"all", 0, 0, G_OPTION_ARG_NONE, &all, "Also the fusions whose pattern does not fit", NULL},
    {NULL},
  };
  g_autofree GOptionEntry *entries = lig_cli_sequence_entries (&options, LIG_OPTION_PLAN, more);
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_fuse, entries, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  g_autoptr (LigPlan) plan = lig_cli_compile (argv[1], &options, &error);
  if (!plan)
    return lig_cli_fail (g_steal_pointer (&error));
  if (lig_cli_json ()) {
    lig_cli_print_json (lig_plan_to_json (plan));
    return LIG_EXIT_OK;
  }
  g_autofree char *rails = lig_plan_to_rails (plan, lig_cli_colour (), all);
  fputs (rails, stdout);
  return LIG_EXIT_OK;
}
