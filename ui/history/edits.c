/* SPDX-License-Identifier: MIT */
/* The user's changes of runs, written on a thread. */
#include "ui/history/edits.h"

#include <ligature/error.h>
#include <ligature/purge.h>
#include <ligature/store-rows.h>
#include <ligature/store.h>

#include <glib/gi18n.h>
#include <string.h>

/* The number of rows in memory at a time. */
#define CHUNK 256u

struct _LigHistoryEdits {
  GObject parent_instance;
  GThreadPool *thread;
};

G_DEFINE_FINAL_TYPE (LigHistoryEdits, lig_history_edits, G_TYPE_OBJECT)

enum { DONE, FAILED, N_SIGNALS };
static guint signals[N_SIGNALS];

typedef struct {
  GWeakRef edits;
  LigStore *store;
  LigHistoryEdit edit;
  GArray *keys;
  char *text;
  GError *error;
} Job;

static void
free_job (Job *self)
{
  g_weak_ref_clear (&self->edits);
  g_object_unref (self->store);
  g_array_unref (self->keys);
  g_free (self->text);
  g_clear_error (&self->error);
  g_free (self);
}

static gboolean
apply (Job *job, const char *run, GError **error)
{
  switch (job->edit) {
  case LIG_HISTORY_STAR:
  case LIG_HISTORY_UNSTAR:
    return lig_store_set_star (job->store, run, job->edit == LIG_HISTORY_STAR, error);
  case LIG_HISTORY_TAG:
    return lig_store_add_tag (job->store, run, job->text, error);
  case LIG_HISTORY_UNTAG:
    return lig_store_remove_tag (job->store, run, job->text, error);
  case LIG_HISTORY_NOTE:
    return lig_store_set_note (job->store, run, job->text, error);
  case LIG_HISTORY_DELETE:
    return lig_store_trash_runs (job->store, &run, 1, error);
  case LIG_HISTORY_RESTORE:
    return lig_store_restore_runs (job->store, &run, 1, error);
  default:
    return lig_purge_runs (job->store, &run, 1, error);
  }
}

static gboolean
tell (gpointer data)
{
  Job *job = data;
  g_autoptr (LigHistoryEdits) self = g_weak_ref_get (&job->edits);
  if (self && job->error)
    g_signal_emit (self, signals[FAILED], 0, job->edit, job->error->message);
  if (self)
    g_signal_emit (self, signals[DONE], 0, job->edit);
  free_job (job);
  return G_SOURCE_REMOVE;
}

/* Runs that were deleted in the meantime need no edit. */
static guint
apply_to_rows (Job *job, GPtrArray *rows)
{
  guint kept = 0;
  for (guint i = 0; i < rows->len && !job->error; i++) {
    const LigRunRow *row = rows->pdata[i];
    gboolean deletes = job->edit == LIG_HISTORY_DELETE || job->edit == LIG_HISTORY_PURGE;
    if (row && deletes && strcmp (row->status, "running") == 0)
      kept++;
    else if (row)
      apply (job, row->uuid, &job->error);
  }
  return kept;
}

static void
work (gpointer data, gpointer unused)
{
  Job *job = data;
  guint kept = 0;
  for (guint i = 0; i < job->keys->len && !job->error; i += CHUNK) {
    g_autoptr (GPtrArray) rows =
      lig_store_read_runs (job->store, &g_array_index (job->keys, gint64, i),
                           MIN (CHUNK, job->keys->len - i), &job->error);
    if (rows)
      kept += apply_to_rows (job, rows);
  }
  if (kept && !job->error)
    g_set_error (&job->error, LIG_ERROR, LIG_ERROR_STORE,
                 ngettext ("%u run is still running and was kept",
                           "%u runs are still running and were kept", kept),
                 kept);
  g_idle_add_full (G_PRIORITY_DEFAULT, tell, job, NULL);
}

void
lig_history_edits_add (LigHistoryEdits *self,
                       LigStore *store,
                       LigHistoryEdit edit,
                       const gint64 *keys,
                       guint count,
                       const char *text)
{
  Job *job = g_new0 (Job, 1);
  g_weak_ref_init (&job->edits, self);
  job->store = g_object_ref (store);
  job->edit = edit;
  job->keys = g_array_new (FALSE, FALSE, sizeof *keys);
  g_array_append_vals (job->keys, keys, count);
  job->text = g_strdup (text);
  g_thread_pool_push (self->thread, job, NULL);
}

/* Waits until all edits are written. */
static void
lig_history_edits_finalize (GObject *object)
{
  g_thread_pool_free (LIG_HISTORY_EDITS (object)->thread, FALSE, TRUE);
  G_OBJECT_CLASS (lig_history_edits_parent_class)->finalize (object);
}

static void
lig_history_edits_class_init (LigHistoryEditsClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_history_edits_finalize;
  signals[DONE] = g_signal_new ("done", LIG_TYPE_HISTORY_EDITS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[FAILED] = g_signal_new ("failed", LIG_TYPE_HISTORY_EDITS, G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 2, G_TYPE_UINT, G_TYPE_STRING);
}

static void
lig_history_edits_init (LigHistoryEdits *self)
{
  self->thread = g_thread_pool_new (work, NULL, 1, FALSE, NULL);
}

LigHistoryEdits *
lig_history_edits_new (void)
{
  return g_object_new (LIG_TYPE_HISTORY_EDITS, NULL);
}
