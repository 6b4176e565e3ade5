/* SPDX-License-Identifier: MIT */
/* The user's changes of runs, written in order on a thread: a store locked by another process must
 * not block the window. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

typedef enum {
  LIG_HISTORY_STAR,
  LIG_HISTORY_UNSTAR,
  LIG_HISTORY_TAG,
  LIG_HISTORY_UNTAG,
  LIG_HISTORY_NOTE,
  LIG_HISTORY_DELETE, /* moves to the trash */
  LIG_HISTORY_RESTORE,
  LIG_HISTORY_PURGE /* deletes for good, with checkpoints */
} LigHistoryEdit;

#define LIG_TYPE_HISTORY_EDITS (lig_history_edits_get_type ())
G_DECLARE_FINAL_TYPE (LigHistoryEdits, lig_history_edits, LIG, HISTORY_EDITS, GObject)

/* Signals, with the LigHistoryEdit: `done` after each; if it failed, `failed` before that, with the
 * error's sentence, too. */
LigHistoryEdits *lig_history_edits_new (void);

/**
 * lig_history_edits_add:
 * @keys: of the runs; copied
 * @text: (nullable): the tag or the note
 *
 * Running runs are not deleted: `failed` then has the number of runs that were kept.
 */
void lig_history_edits_add (LigHistoryEdits *self,
                            LigStore *store,
                            LigHistoryEdit edit,
                            const gint64 *keys,
                            guint count,
                            const char *text);

G_END_DECLS
