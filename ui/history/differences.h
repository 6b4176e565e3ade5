/* SPDX-License-Identifier: MIT */
/* Compares runs: settings, sequences op by op, results. */
#pragma once

#include <ligature/profile.h>
#include <ligature/store-rows.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

typedef enum { LIG_LINE_SETTING, LIG_LINE_SEQUENCE, LIG_LINE_RESULT } LigLineKind;

/**
 * LigLine: one line of a comparison.
 *
 * @name: as in `lig runs compare`: `settings.lr`, `loss`; of an op its index in the merged
 * sequence: `op 3`
 * @cells: a text for each run; a dash if it has none
 * @numbers: of results: NaN if there is none
 * @differs: whether any run differs from the first
 * @spreads: (nullable): of repeatedly measured times, and of metrics of every batch at the end of
 *   the run: their spreads, with a count of 0 if there is none
 * @rows: (nullable): of accuracies: the numbers of rows that they count, 0 if unknown
 * @sense: of results: 1 if greater is better, -1 if less is better, else 0
 */
typedef struct {
  LigLineKind kind;
  char *name;
  GStrv cells;
  double *numbers;
  LigSpread *spreads;
  gint64 *rows;
  gboolean differs;
  int sense;
} LigLine;

/**
 * lig_compare_runs:
 * @runs: (element-type LigRunRow)
 *
 * Reads the last values of all metrics; to be called on a thread.
 *
 * Returns: (transfer container) (element-type LigLine): settings, sequence, results; or %NULL with
 *   an error
 */
GPtrArray *lig_compare_runs (LigStore *store, GPtrArray *runs, GError **error);

/* Returns: (nullable): the difference between a run's number and the first run's, like `−0.12 (−4.3
 * %), better`; `no difference (noise 3 %)` for times and losses that differ by no more than their
 * noise, and `no difference that 150 rows could show` for such accuracies. */
char *lig_line_get_delta (const LigLine *self, guint run);

/* Returns 1 if the number is better, -1 if it is worse, else 0. */
int lig_line_judge (const LigLine *self, guint run);

G_END_DECLS
