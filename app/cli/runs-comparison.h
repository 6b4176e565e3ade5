/* SPDX-License-Identifier: MIT */
/* A comparison of runs: their settings, their results and the times of their steps. */
#pragma once

#include <ligature/spread.h>
#include <ligature/store-rows.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/* The values of one metric of a run, of which the spread is that of the last tenth of its steps. */
typedef struct {
  double last, min, greatest;
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

/* Reads the settings, results and times of runs, of which LigRunRow are given. Returns NULL with an
 * error set. */
LigRunsComparison *lig_runs_comparison_new (LigStore *store, GPtrArray *runs, GError **error);

void lig_runs_comparison_free (LigRunsComparison *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRunsComparison, lig_runs_comparison_free)

/* Returns whether not all runs have the same value. */
gboolean lig_runs_line_differs (const LigRunsLine *line, guint n_runs);

G_END_DECLS
