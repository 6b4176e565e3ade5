/* SPDX-License-Identifier: MIT */
/* A comparison of runs: their settings, their results and the times of their steps. */
#pragma once

#include "app/cli/runs.h"
#include <ligature/spread.h>

G_BEGIN_DECLS

/* The values of one metric of a run, of which the spread is that of the last tenth of its steps. */
typedef struct {
  double last, least, greatest;
  LigSpread spread;
} LigRunsResult;

/* A line of the comparison: a setting, NULL for a run without it, or the results of a metric. */
typedef struct {
  char *name;
  JsonNode **settings;
  LigRunsResult *results;
} LigRunsLine;

typedef struct {
  GPtrArray *runs;     /* of LigRunRow */
  GPtrArray *settings; /* of LigRunsLine, in the order of their first appearance */
  GPtrArray *metrics;  /* of LigRunsLine */
  LigSpread *steps;    /* the times of the runs' steps in seconds */
} LigRunsComparison;

/* Returns whether not all runs have the same value. */
gboolean lig_runs_line_differs (const LigRunsLine *line, guint n_runs);

/* Prints the comparison as tables that fit the terminal. */
void lig_runs_print_comparison (const LigRunsComparison *self);

G_END_DECLS
