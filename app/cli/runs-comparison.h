/* SPDX-License-Identifier: MIT */
/* A comparison of runs: settings, results and step times. */
#pragma once

#include <ligature/spread.h>
#include <ligature/store-rows.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/* The values of one metric of a run; the spread is that of the last 10 % of its steps. */
typedef struct {
  double last, min, max;
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
  LigSpread *steps;    /* the runs' step times in seconds */
} LigRunsComparison;

/* Reads the settings, results and times of the runs with the given LigRunRow. Returns NULL with an
 * error set. */
LigRunsComparison *lig_runs_comparison_new (LigStore *store, GPtrArray *runs, GError **error);

void lig_runs_comparison_free (LigRunsComparison *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRunsComparison, lig_runs_comparison_free)

/* Returns whether the runs have different values. */
gboolean lig_runs_line_differs (const LigRunsLine *line, guint n_runs);

G_END_DECLS
