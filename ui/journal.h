/* SPDX-License-Identifier: MIT */
/* The journal: what was edited and not saved, in the store, so that it survives a killed program.
 * Writing happens on a thread of its own, in order. */
#pragma once

#include "engine/store.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigJournal LigJournal;

/* @store: (nullable): without one nothing is kept. */
LigJournal *lig_journal_new (LigStore *store);

/* Waits until what was appended is written. What it holds stays unless it was cleared. */
void lig_journal_free (LigJournal *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigJournal, lig_journal_free)

/* @path: (nullable): the file of the document; @sequence: the whole text of its .lig file. */
void
lig_journal_append (LigJournal *self, const char *label, const char *path, const char *sequence);

/* The document was saved, or given up. */
void lig_journal_clear (LigJournal *self);

/**
 * LigLostEdit: a journal of a process that is gone.
 *
 * @key: of the journal in the store
 * @path: (nullable): the file it was an edit of
 * @label: of the last edit; @edits: how many there were; @when: microseconds since 1970
 * @sequence: the text after the last edit
 */
typedef struct {
  char *key, *path, *label, *sequence;
  guint edits;
  gint64 when;
} LigLostEdit;

void lig_lost_edit_free (LigLostEdit *lost);

/* (transfer container) (element-type LigLostEdit): never null; also those of other users of the
 * store on this machine whose process is gone. */
GPtrArray *lig_journal_find_lost (LigStore *store);
void lig_journal_forget (LigStore *store, const char *key);

G_END_DECLS
