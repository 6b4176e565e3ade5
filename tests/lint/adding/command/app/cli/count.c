/* SPDX-License-Identifier: MIT */
/* lig count: prints the number of ops of a sequence. */
#include "app/cli/sequence-options.h"

static int run (int argc, char **argv);

LIG_COMMAND (count) = {
  .name = "count",
  .usage = "P",
  .summary = "Counts the ops of a sequence",
  .example = "lig count 'linear(8) ! gelu'",
  .run = run,
};

static int
run (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_count, NULL, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (argv[1], &error);
  if (!sequence)
    return lig_cli_fail (g_steal_pointer (&error));
  lig_cli_print ("%u", lig_sequence_get_length (sequence));
  return LIG_EXIT_OK;
}
