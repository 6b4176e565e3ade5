/* SPDX-License-Identifier: MIT */
/* The rows of the list of runs: sweeps and repetitions are folded to one row each, which opens. */
#pragma once

#include <ligature/store-groups.h>

G_BEGIN_DECLS

/* A row is a gint64: the key of a run, or for a fold the negative of its smallest key. Immutable
 * and counted, so that threads and items share it. */
typedef struct {
  GPtrArray *folds;   /* LigRunFold */
  GPtrArray *members; /* of each fold: GArray of keys, in the order of the list */
  GHashTable *by_row; /* row of a fold to its index */
  GHashTable *by_key; /* key of a folded run to the index of its fold */
} LigRunFolds;

/**
 * lig_run_folds_new:
 * @keys: of the list, in its order
 *
 * Finds the folds; to be called on a thread.
 *
 * Returns: (transfer full): the folds, or %NULL with an error
 */
LigRunFolds *lig_run_folds_new (LigStore *store, const GArray *keys, GError **error);
LigRunFolds *lig_run_folds_ref (LigRunFolds *self);
void lig_run_folds_unref (LigRunFolds *self);

/* Returns: (nullable): the fold of a row. */
const LigRunFold *lig_run_folds_get (const LigRunFolds *self, gint64 row);

/* Returns whether the run with this key belongs to a fold. */
gboolean lig_run_folds_contains (const LigRunFolds *self, gint64 key);

/* Appends the keys of the row's runs that are not hidden. */
void lig_run_folds_append (const LigRunFolds *self, gint64 row, GHashTable *hidden, GArray *to);

/**
 * lig_run_folds_list:
 * @self: (nullable): null if nothing is folded
 * @keys: of the list
 * @hidden: keys that the list omits
 * @open: rows of folds whose runs follow them
 * @count: (out): the number of runs in the list, folded or not
 *
 * A fold has the place of its first run. One with less than two runs that are not hidden is not
 * folded.
 *
 * Returns: (transfer full): the rows
 */
GArray *lig_run_folds_list (
  const LigRunFolds *self, const GArray *keys, GHashTable *hidden, GHashTable *open, guint *count);

G_END_DECLS
