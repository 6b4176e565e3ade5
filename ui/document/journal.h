/* SPDX-License-Identifier: MIT */
/* The journal: unsaved edits, kept in the store so that they survive if the program is killed. A
 * separate thread writes them in order. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

typedef struct _LigJournal LigJournal;

/* Creates a journal. @store: (nullable): null: nothing is kept. */
LigJournal *lig_journal_new (LigStore *store);

/* Waits until all entries are written. They remain in the store unless the journal was cleared. */
void lig_journal_free (LigJournal *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigJournal, lig_journal_free)

/* The effect of an entry on the history: it adds a saved state, adds an edit, replaces the last
 * edit, undoes one or redoes one. */
typedef enum {
  LIG_JOURNAL_START,
  LIG_JOURNAL_EDIT,
  LIG_JOURNAL_MERGE,
  LIG_JOURNAL_UNDO,
  LIG_JOURNAL_REDO,
} LigJournalKind;

/* Appends an entry. @path: (nullable): the file of the document; @sequence: the whole text of its
 * .lig file. */
void lig_journal_append (
  LigJournal *self, LigJournalKind kind, const char *label, const char *path, const char *sequence);

/* Returns whether nothing was appended since the journal was created or cleared. */
gboolean lig_journal_is_empty (LigJournal *self);

/* Removes all entries, because the document was saved or discarded. */
void lig_journal_clear (LigJournal *self);

typedef struct {
  char *label, *sequence; /* the first one's label is empty */
} LigLostState;

/**
 * LigLostEdit: the journal of a process that has ended.
 *
 * @key: the journal's key in the store
 * @path: (nullable): the edited file
 * @label: of the last edit; @edits: how many there were; @when: microseconds since 1970
 * @sequence: the text after the last edit
 * @states: (element-type LigLostState): for undo and redo; @now: index of the last state
 */
typedef struct {
  char *key, *path, *label, *sequence;
  GPtrArray *states;
  guint now;
  guint edits;
  gint64 when;
} LigLostEdit;

void lig_lost_edit_free (LigLostEdit *lost);

/* Returns: (transfer container) (element-type LigLostEdit): the journals of ended processes on this
 *   machine, other users' too; never null. */
GPtrArray *lig_journal_find_lost (LigStore *store);
void lig_journal_forget (LigStore *store, const char *key);

G_END_DECLS
