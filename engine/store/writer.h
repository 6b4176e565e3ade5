/* SPDX-License-Identifier: MIT */
/* The thread that writes what runs report: callers queue under a short lock, the thread writes
 * what is queued in one transaction every 200 ms, or sooner where much waits. It also gives the
 * signs of life of the runs of this process. */
#pragma once

#include "engine/store/batch.h"

G_BEGIN_DECLS

typedef struct _LigWriter LigWriter;

/* `db` is used with `db_lock` held and outlives the writer. */
LigWriter *lig_writer_new (sqlite3 *db, GMutex *db_lock);

/* Writes what is queued, as far as it can, and ends the thread. */
void lig_writer_free (LigWriter *self);

/* Begins or ends giving signs of life for a run; `id` is its number in the database. */
void lig_writer_enlist (LigWriter *self, const char *run, gint64 id);
void lig_writer_dismiss (LigWriter *self, const char *run);

void lig_writer_add_metric (
  LigWriter *self, const char *run, gint64 step, const char *name, double value);

/* `numbers` are microseconds, bytes, flops. */
void lig_writer_add_timing (LigWriter *self,
                            const char *run,
                            gint64 step,
                            int group,
                            const char *pass,
                            const double numbers[3]);

/* Texts are copied and may be NULL; the statements in batch.c say what stands where. */
void lig_writer_add_row (LigWriter *self,
                         const char *run,
                         LigRowKind kind,
                         const gint64 integers[LIG_ROW_INTEGERS],
                         const char *const texts[LIG_ROW_TEXTS]);

gboolean lig_writer_flush (LigWriter *self, GError **error);

/* Whether the connection can never be used again, and setting that; see guard.h. */
gboolean lig_writer_is_broken (LigWriter *self);
void lig_writer_break (LigWriter *self);

/* How many rows of a run are not in the database after the last try, and the first failure that
 * kept one of them out (transfer full) (nullable). */
guint64 lig_writer_count_missing (LigWriter *self, const char *run, char **why);

G_END_DECLS
