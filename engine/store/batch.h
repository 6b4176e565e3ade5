/* SPDX-License-Identifier: MIT */
/* Rows that wait to be written to the database, and their writing in one transaction. */
#pragma once

#include "engine/store/sql.h"

G_BEGIN_DECLS

#define LIG_ROW_TEXTS 6
#define LIG_ROW_INTEGERS 3

/* Kinds of rare rows, each of which owns its texts. */
typedef enum {
  LIG_ROW_FUSION,
  LIG_ROW_VERDICT,
  LIG_ROW_ARTIFACT,
  LIG_ROW_SAVED,
  LIG_ROW_EVALUATED
} LigRowKind;

/* A run with queued rows; it outlives the rows, so they point to it. After its creation only the
 * writer thread uses the fields from `id` on. Only the writer thread changes `missing` and `why`,
 * and holds the writer's lock to do so. */
typedef struct {
  char *uuid;
  gboolean active; /* whether this process writes the run's heartbeat */
  guint64 missing; /* rows that wait for another attempt, or that will never be written */
  char *why;       /* the first failure of a row that will never be written */
  gint64 id;       /* in the database; 0 until looked up, -1 if the database has no such run */
  gboolean touched;
  gint64 last_step; /* of the metrics in this batch, if touched */
  guint64 waiting;  /* rows in the batch that could not be written */
  guint64 rejected; /* rows that the database rejected in this attempt */
  guint64 lost;     /* rows that were rejected or thinned out for good */
} LigQueuedRun;

/* The first fields of every value of a series. */
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

/* Moves all rows of `from` to the end of `self`. */
void lig_batch_append (LigBatch *self, LigBatch *from);

/* Drops values until at most `max` rows remain: each long series keeps its newest values, and of
 * the older ones those whose step is a multiple of `stride`, which is doubled as often as needed.
 * Dropped rows are added to `lost` of their run. */
void lig_batch_thin (LigBatch *self, guint max, gint64 *stride);

/* Counts the rows of the batch in `waiting` of their runs, which must be 0 before. */
void lig_batch_count_waiting (const LigBatch *self);

/* The statements that write batches. */
typedef struct {
  sqlite3 *db;
  GMutex *db_lock;
  sqlite3_stmt *statements[10];
  GPtrArray *touched;
  GError *rejected; /* the first row whose content the database rejected */
} LigInserter;

void lig_inserter_init (LigInserter *self, sqlite3 *db, GMutex *db_lock);
void lig_inserter_clear (LigInserter *self);

/* Writes a batch, the columns of the list of runs that depend on it, and a heartbeat for each
 * LigQueuedRun in `beating`: all of it, or nothing with an error set. Rows that the database would
 * always reject are skipped, and `rejected` is set. */
gboolean lig_inserter_write (LigInserter *self,
                             const LigBatch *batch,
                             const GPtrArray *beating,
                             GError **error);

/* The part of an UPDATE that refreshes the losses and the accuracy in the list of runs for the run
 * with number ?1, from the metrics that store.h names. */
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
