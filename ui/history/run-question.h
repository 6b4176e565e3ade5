/* SPDX-License-Identifier: MIT */
/* What the list of runs asks its store on a thread, and the answer. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

typedef enum { LIG_RUN_KEYS, LIG_RUN_ROWS, LIG_RUN_VALUES } LigRunQuestionKind;

/* What there is to choose from: LIG_RUN_VALUES asks for these columns. */
#define LIG_RUN_COLUMNS 4
extern const char *const lig_run_columns[LIG_RUN_COLUMNS];

/**
 * LigRunQuestion:
 *
 * @owner: who asked; a reference that only the main thread may drop
 * @version: of the store that is known; where it is still that and @forced is not set, there is no
 *   answer in @keys
 * @latest, @serial: a question for keys is not answered once they differ
 * @positions: of rows that are wanted with the keys
 * @hidden: keys that are left out when positions are counted
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
  GHashTable *hidden;
  GArray *wanted; /* gint64: of LIG_RUN_ROWS */

  GArray *keys;
  GHashTable *rows;
  GStrv values[LIG_RUN_COLUMNS];
  guint total;
  GError *error;
} LigRunQuestion;

LigRunQuestion *lig_run_question_new (LigRunQuestionKind kind, gpointer owner, LigStore *store);
void lig_run_question_free (LigRunQuestion *self);

/* On the thread. */
void lig_run_question_answer (LigRunQuestion *self);

void lig_run_filter_copy (const LigRunFilter *from, LigRunFilter *to);
void lig_run_filter_clear (LigRunFilter *self);

/* A set of keys of its own. */
GHashTable *lig_run_keys_new (void);
void lig_run_keys_add (GHashTable *keys, gint64 key);

G_END_DECLS
