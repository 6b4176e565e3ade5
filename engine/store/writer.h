/* SPDX-License-Identifier: MIT */
/* The thread that writes the data that runs report: callers queue rows under a short lock, and the
 * thread writes the queue in one transaction every 200 ms, or sooner if it is long. It also writes
 * the heartbeats of the runs of this process. */
#pragma once

#include "engine/store/batch.h"

G_BEGIN_DECLS

typedef struct _LigWriter LigWriter;

/* Creates a writer. It uses `db` with `db_lock` held; both must outlive the writer. */
LigWriter *lig_writer_new (sqlite3 *db, GMutex *db_lock);

/* Tries to write the queued rows, and ends the thread. */
void lig_writer_free (LigWriter *self);

/* Begin and end the heartbeats of a run; `id` is its number in the database. */
void lig_writer_enlist (LigWriter *self, const char *run, gint64 id);
void lig_writer_dismiss (LigWriter *self, const char *run);

void lig_writer_add_metric (
  LigWriter *self, const char *run, gint64 step, const char *name, double value);

/* Queues a timing; `numbers` are microseconds, bytes, flops. */
void lig_writer_add_timing (LigWriter *self,
                            const char *run,
                            gint64 step,
                            int group,
                            const char *pass,
                            const double numbers[3]);

/* Queues a row. Texts are copied and may be NULL; the statements in batch.c define the meaning of
 * each integer and text. */
void lig_writer_add_row (LigWriter *self,
                         const char *run,
                         LigRowKind kind,
                         const gint64 integers[LIG_ROW_INTEGERS],
                         const char *const texts[LIG_ROW_TEXTS]);

gboolean lig_writer_flush (LigWriter *self, GError **error);

/* Return and set whether the connection can never be used again; see guard.h. */
gboolean lig_writer_is_broken (LigWriter *self);
void lig_writer_break (LigWriter *self);

/* Returns the number of rows of a run that are not in the database after the last attempt, and sets
 * `why` (transfer full) (nullable) to the first failure. */
guint64 lig_writer_count_missing (LigWriter *self, const char *run, char **why);

G_END_DECLS
