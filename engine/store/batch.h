/* SPDX-License-Identifier: MIT */
/* Rows on their way to the database, and how they are written there in one transaction. */
#pragma once

#include "engine/store/sql.h"

G_BEGIN_DECLS

#define LIG_ROW_TEXTS 6
#define LIG_ROW_INTEGERS 3

/* Rows that are rare enough to own their texts. */
typedef enum { LIG_ROW_FUSION, LIG_ROW_VERDICT, LIG_ROW_ARTIFACT, LIG_ROW_SAVED } LigRowKind;

/* A run that rows are queued for; it outlives them, so they point to it. After it was made only
 * the thread that writes touches the fields from `id` on, and with the writer's lock it alone
 * changes `missing` and `why`. */
typedef struct {
  char *uuid;
  gboolean active; /* this process gives its signs of life */
  guint64 missing; /* rows that wait for another try, or that will never be written */
  char *why;       /* the first failure of a row that will never be written */
  gint64 id;       /* in the database; 0 until looked up, -1 if there is none */
  gboolean touched;
  gint64 last_step; /* of the metrics in this batch, if touched */
  guint64 waiting;  /* rows in the batch that could not be written */
  guint64 refused;  /* rows that the database refused in this try */
  guint64 lost;     /* rows that were refused or left out for good */
} LigQueuedRun;

/* The fields that every value of a series begins with. */
typedef struct {
  LigQueuedRun *run;
  const char *name; /* of the metric or the pass; equal ones are the same pointer */
  gint64 step;
} LigQueuedKey;

typedef struct {
  LigQueuedKey key;
  double value;
} LigQueuedMetric;

typedef struct {
  LigQueuedKey key;
  int group;
  double numbers[3]; /* microseconds, bytes, flops */
} LigQueuedTiming;

typedef struct {
  LigQueuedRun *run;
  LigRowKind kind;
  gint64 integers[LIG_ROW_INTEGERS];
  char *texts[LIG_ROW_TEXTS];
} LigQueuedRow;

typedef struct {
  GArray *metrics, *timings, *rows;
} LigBatch;

void lig_batch_init (LigBatch *self);
void lig_batch_clear (LigBatch *self);
void lig_batch_empty (LigBatch *self);
guint lig_batch_count (const LigBatch *self);

/* Moves all rows of `from` behind those of `self`. */
void lig_batch_append (LigBatch *self, LigBatch *from);

/* Leaves values out until at most `most` rows remain: of each long series the newest are kept, and
 * of the older ones those whose step is a multiple of `stride`, which grows as long as it has to.
 * Rows that are left out are added to `lost` of their run. */
void lig_batch_thin (LigBatch *self, guint most, gint64 *stride);

/* Sets `waiting` of every run that has rows in the batch; it is 0 before. */
void lig_batch_count_waiting (const LigBatch *self);

/* The statements that write batches. */
typedef struct {
  sqlite3 *db;
  GMutex *db_lock;
  sqlite3_stmt *statements[10];
  GPtrArray *touched;
  GError *refused; /* the first row that the database refused for what it is */
} LigInserter;

void lig_inserter_init (LigInserter *self, sqlite3 *db, GMutex *db_lock);
void lig_inserter_clear (LigInserter *self);

/* Writes a batch, what the list shows of its runs, and a sign of life for each LigQueuedRun in
 * `beating`: all of it, or nothing with an error set. Rows that would be refused for ever are left
 * out, and `refused` is set. */
gboolean lig_inserter_write (LigInserter *self,
                             const LigBatch *batch,
                             const GPtrArray *beating,
                             GError **error);

/* The part of an UPDATE that brings up to date what the list shows of the run with number ?1,
 * from the metrics that store.h names. */
#define LIG_SQL_LOSSES \
  " first_loss = (SELECT value FROM metric WHERE run = ?1 AND name = 'loss'" \
  "               ORDER BY step LIMIT 1)," \
  " last_loss = (SELECT value FROM metric WHERE run = ?1 AND name = 'loss'" \
  "              ORDER BY step DESC LIMIT 1)," \
  " eval_loss = (SELECT value FROM metric WHERE run = ?1 AND name = 'eval-loss'" \
  "              ORDER BY step DESC LIMIT 1)," \
  " eval_accuracy = (SELECT value FROM metric WHERE run = ?1 AND name = 'eval-accuracy'" \
  "                  ORDER BY step DESC LIMIT 1)"

G_END_DECLS
