/* SPDX-License-Identifier: MIT */
/* `--ranks N`: starts the same command line N times through mpirun. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The maximum number of ranks on one machine. */
#define LIG_CLI_MAX_RANKS 1024

/* The value of --ranks if it is not given, which no command line can contain. */
#define LIG_CLI_UNSET_RANKS G_MININT

/* The option --ranks of commands that only plan. */
#define LIG_CLI_PLAN_RANKS_ENTRY(variable) \
  { \
    "ranks", 0, 0, G_OPTION_ARG_INT, variable, \
      "Plan for N ranks; the plan is that of rank 0 [default: 1]", "N" \
  }

/* The option --ranks of commands that start ranks. */
#define LIG_CLI_RANKS_ENTRY(variable) \
  { \
    "ranks", 0, 0, G_OPTION_ARG_INT, variable, "Run on N ranks, which mpirun starts [default: 1]", \
      "N" \
  }

/* The option --parallel. */
#define LIG_CLI_PARALLEL_ENTRY(variable) \
  { \
    "parallel", 0, 0, G_OPTION_ARG_STRING, variable, \
      "How work is split among ranks: data=N shards the rows of the batch (DP), context=N the " \
      "sequence (CP), tensor=N the weights (TP), expert=N the experts over data ranks (EP); " \
      "combine " \
      "them with commas [default: data=N]", \
      "data=N,context=N,tensor=N" \
  }

/* Checks --ranks against the ranks that a launcher started, and --parallel (nullable), before any
 * rank is started; prints what is wrong. */
gboolean lig_cli_check_ranks (int wanted, const char *parallel);

/* Returns whether ranks have to be started. */
gboolean lig_cli_needs_launch (int wanted);

/* Starts the ranks and waits for them; signals go to rank 0. `words` are the command's name and all
 * its arguments, null-terminated. Returns the exit code of rank 0. */
int lig_cli_launch (int count, char **words);

G_END_DECLS
