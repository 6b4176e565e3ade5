/* SPDX-License-Identifier: MIT */
/* The journal: what was edited and not saved, in the store, so that it survives a killed program.
 * Writing happens on a thread of its own, in order. */
#pragma once

#include <ligature/store.h>

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigJournal LigJournal;

/* @store: (nullable): without one nothing is kept. */
LigJournal *lig_journal_new (LigStore *store);

/* Waits until what was appended is written. What it holds stays unless it was cleared. */
void lig_journal_free (LigJournal *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigJournal, lig_journal_free)

/* What an entry does to the history: it adds a state that needs no rescue, adds an edit, changes
 * the last one, goes back or forth by one. */
typedef enum {
  LIG_JOURNAL_START,
  LIG_JOURNAL_EDIT,
  LIG_JOURNAL_MERGE,
  LIG_JOURNAL_UNDO,
  LIG_JOURNAL_REDO,
} LigJournalKind;

/* @path: (nullable): the file of the document; @sequence: the whole text of its .lig file. */
void lig_journal_append (
  LigJournal *self, LigJournalKind kind, const char *label, const char *path, const char *sequence);

/* Whether nothing was appended since the beginning or since it was cleared. */
gboolean lig_journal_is_empty (LigJournal *self);

/* The document was saved, or given up. */
void lig_journal_clear (LigJournal *self);

typedef struct {
  char *label, *sequence; /* the first one's label is empty */
} LigLostState;

/**
 * LigLostEdit: a journal of a process that is gone.
 *
 * @key: of the journal in the store
 * @path: (nullable): the file it was an edit of
 * @label: of the last edit; @edits: how many there were; @when: microseconds since 1970
 * @sequence: the text after the last edit
 * @states: (element-type LigLostState): what could be undone and done again; @now: the last one
 */
typedef struct {
  char *key, *path, *label, *sequence;
  GPtrArray *states;
  guint now;
  guint edits;
  gint64 when;
} LigLostEdit;

void lig_lost_edit_free (LigLostEdit *lost);

/* (transfer container) (element-type LigLostEdit): never null; also those of other users of the
 * store on this machine whose process is gone. */
GPtrArray *lig_journal_find_lost (LigStore *store);
void lig_journal_forget (LigStore *store, const char *key);

G_END_DECLS
