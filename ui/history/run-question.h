/* SPDX-License-Identifier: MIT */
/* A query from the list of runs to its store, on a thread, and the answer. */
#pragma once

#include "ui/history/run-folds.h"

G_BEGIN_DECLS

typedef enum { LIG_RUN_KEYS, LIG_RUN_ROWS, LIG_RUN_VALUES } LigRunQuestionKind;

/* LIG_RUN_VALUES reads the values of these columns. */
#define LIG_RUN_COLUMNS 4
extern const char *const lig_run_columns[LIG_RUN_COLUMNS];

/**
 * LigRunQuestion:
 *
 * @owner: the list; a reference that only the main thread may release
 * @version: of the store at the last query; if it is unchanged and @forced is not set, @keys
 *   remains null
 * @latest, @serial: a query for keys is dropped once they differ
 * @positions: of rows to read with the keys
 * @hidden: keys that are skipped when positions are counted
 * @folding: whether sweeps and repetitions are folded
 * @open: rows of folds that are open
 * @rows: key to LigRunRow
 */
typedef struct {
  LigRunQuestionKind kind;
  GObject *owner;
  LigStore *store;
  gint64 version;
  gboolean forced;
  const int *latest;
  int serial;
  LigRunFilter filter;
  LigRunOrder order;
  gboolean descending;
  GArray *positions; /* guint */
  GHashTable *hidden, *open;
  gboolean folding;
  GArray *wanted; /* gint64: of LIG_RUN_ROWS */

  GArray *keys;
  LigRunFolds *folds; /* (nullable) */
  GHashTable *rows;
  GStrv varying; /* (nullable): the columns whose values differ among the first keys */
  GStrv values[LIG_RUN_COLUMNS];
  guint total, trashed;
  GError *error;
} LigRunQuestion;

LigRunQuestion *lig_run_question_new (LigRunQuestionKind kind, gpointer owner, LigStore *store);
void lig_run_question_free (LigRunQuestion *self);

/* Answers the query; called on the thread. */
void lig_run_question_answer (LigRunQuestion *self);

void lig_run_filter_copy (const LigRunFilter *from, LigRunFilter *to);
void lig_run_filter_clear (LigRunFilter *self);

/* Returns a copy of a set of keys. */
GHashTable *lig_run_keys_new (void);
void lig_run_keys_add (GHashTable *keys, gint64 key);

G_END_DECLS
