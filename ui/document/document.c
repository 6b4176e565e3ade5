/* SPDX-License-Identifier: MIT */
/* Documents: files and the edit history. Each state of the history is the whole text of the file, a
 * few kilobytes, so undo restores everything. */
#include "ui/document/private.h"

#include <glib/gi18n.h>
#include <string.h>

/* Consecutive edits of one thing, like typing a number, are merged into one. */
#define MERGE_MICROSECONDS 500000

/* The minimum number of edits that can be undone in a restored document. */
#define MAX_JOURNALLED 100

G_DEFINE_FINAL_TYPE (LigDocument, lig_document, G_TYPE_OBJECT)

static void
free_state (gpointer data)
{
  LigDocumentState *state = data;
  g_free (state->text);
  g_free (state->label);
  g_strfreev (state->open);
  g_free (state);
}

static void
lig_document_dispose (GObject *object)
{
  LigDocument *self = LIG_DOCUMENT (object);
  lig_document_clear_preview (self);
  lig_document_clear_times (self);
  lig_document_clear_checks (self);
  lig_document_clear_savings (self);
  lig_document_clear_loads (self);
  lig_document_clear_pin (self);
  lig_document_clear_plan (self);
  g_clear_pointer (&self->journal, lig_journal_free);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lig_document_parent_class)->dispose (object);
}

static void
lig_document_finalize (GObject *object)
{
  LigDocument *self = LIG_DOCUMENT (object);
  lig_document_clear_rows (self);
  g_clear_object (&self->sequence);
  g_ptr_array_unref (self->states);
  g_free (self->path);
  g_free (self->merge);
  G_OBJECT_CLASS (lig_document_parent_class)->finalize (object);
}

static void
lig_document_class_init (LigDocumentClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_document_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_document_finalize;
  lig_document_install_signals (G_OBJECT_CLASS (class));
}

static void
lig_document_init (LigDocument *self)
{
  self->states = g_ptr_array_new_with_free_func (free_state);
  lig_document_init_rows (self);
}

static LigSequence *
new_sequence (void)
{
  LigSequence *sequence = lig_sequence_new ();
  LigShape shape = {.n_axes = 2, .axes = {2048, 768}};
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  return sequence;
}

static void
push_state (LigDocument *self, char *text, const char *label)
{
  LigDocumentState *state = g_new0 (LigDocumentState, 1);
  state->text = text;
  state->label = g_strdup (label);
  g_ptr_array_add (self->states, state);
}

/* Starts a history with the unmodified sequence. */
static void
begin_history (LigDocument *self)
{
  g_ptr_array_set_size (self->states, 0);
  push_state (self, lig_sequence_to_json (self->sequence), NULL);
  self->now = self->saved = 0;
  g_clear_pointer (&self->merge, g_free);
}

static void begin_journal (LigDocument *self);

/* From here on, edits can be recovered from the open store. */
static void
follow_store (LigDocument *self)
{
  lig_journal_clear (self->journal);
  lig_journal_free (self->journal);
  self->journal = lig_journal_new (lig_session_get_store (self->session));
  if (self->now != self->saved)
    begin_journal (self);
}

LigDocument *
lig_document_new (LigSession *session)
{
  LigDocument *self = g_object_new (LIG_TYPE_DOCUMENT, NULL);
  self->session = g_object_ref (session);
  self->journal = lig_journal_new (lig_session_get_store (session));
  self->sequence = new_sequence ();
  begin_history (self);
  g_signal_connect_object (session, "store-changed", G_CALLBACK (follow_store), self,
                           G_CONNECT_SWAPPED);
  lig_document_init_plan (self);
  lig_document_build_rows (self);
  lig_document_compile (self);
  return self;
}

/* --- Effects of a change ------------------------------------------------------------------- */

/* Records which rows are open in the current state before the history leaves it. */
static void
remember_open (LigDocument *self)
{
  LigDocumentState *state = self->states->pdata[self->now];
  g_strfreev (state->open);
  state->open = lig_document_list_open (self);
}

/* An edit may have removed an open row, such as a block that was expanded; the state that the
 * history returns to has recorded it.
 * @paths: (nullable): of the rows to select */
static void
show_sequence (LigDocument *self, LigSequence *sequence, const char *const *paths)
{
  if (sequence) {
    const LigDocumentState *state = self->states->pdata[self->now];
    lig_document_carry_open (self, sequence);
    if (state->open)
      lig_document_open_paths (self, sequence, (const char *const *) state->open);
    g_clear_object (&self->sequence);
    self->sequence = sequence;
  }
  lig_document_build_rows (self);
  if (paths)
    lig_document_restore_selection (self, paths);
  lig_document_compile (self);
  lig_document_emit (self, LIG_DOCUMENT_CHANGED);
  lig_document_emit (self, LIG_DOCUMENT_SELECTED);
  lig_document_emit (self, LIG_DOCUMENT_TITLED);
}

static void
append_journal (LigDocument *self, LigJournalKind kind, guint number)
{
  const LigDocumentState *state = self->states->pdata[number];
  lig_journal_append (self->journal, kind, state->label ? state->label : "", self->path,
                      state->text);
}

/* Writes the last states of the history into an empty journal. States up to the saved one cannot be
 * lost. */
static void
begin_journal (LigDocument *self)
{
  guint known = self->saved == G_MAXUINT ? 0 : self->saved;
  guint first = self->now > MAX_JOURNALLED ? self->now - MAX_JOURNALLED : 0;
  for (guint i = first; i < self->states->len; i++)
    append_journal (self, i <= MAX (known, first) ? LIG_JOURNAL_START : LIG_JOURNAL_EDIT, i);
  for (guint i = self->states->len - 1; i > self->now; i--)
    append_journal (self, LIG_JOURNAL_UNDO, i - 1);
}

static void
write_journal (LigDocument *self, LigJournalKind kind)
{
  if (self->now == self->saved)
    lig_journal_clear (self->journal);
  else if (lig_journal_is_empty (self->journal))
    begin_journal (self);
  else
    append_journal (self, kind, self->now);
}

/* --- Edits --------------------------------------------------------------------------------- */

/* Returns whether the edit is merged with the last one. */
static gboolean
merges (LigDocument *self, const char *merge)
{
  return merge && self->now > 0 && self->now != self->saved &&
         g_strcmp0 (merge, self->merge) == 0 &&
         g_get_monotonic_time () - self->merged < MERGE_MICROSECONDS;
}

static void
commit (LigDocument *self, const char *label, const char *merge)
{
  g_autofree char *text = lig_sequence_to_json (self->sequence);
  LigDocumentState *state = self->states->pdata[self->now];
  if (g_str_equal (text, state->text))
    return;
  if (self->saved > self->now)
    self->saved = G_MAXUINT;
  g_ptr_array_set_size (self->states, (int) self->now + 1);
  gboolean merged = merges (self, merge);
  if (merged) {
    g_free (state->text);
    state->text = g_steal_pointer (&text);
  } else {
    push_state (self, g_steal_pointer (&text), label);
    self->now++;
  }
  g_free (self->merge);
  self->merge = g_strdup (merge);
  self->merged = g_get_monotonic_time ();
  write_journal (self, merged ? LIG_JOURNAL_MERGE : LIG_JOURNAL_EDIT);
  show_sequence (self, NULL, NULL);
}

/* The rows are still those before the edit. */
void
lig_document_commit (LigDocument *self, const char *label, const char *merge)
{
  remember_open (self);
  commit (self, label, merge);
}

void
lig_document_replace (LigDocument *self, LigSequence *sequence, const char *label)
{
  static const char *const none[] = {NULL};
  LigSequence *copy = lig_sequence_copy (sequence);
  if (!lig_sequence_has_input (copy)) {
    LigShape shape;
    LigDtype dtype;
    lig_sequence_get_input (self->sequence, &shape, &dtype);
    lig_sequence_set_input (copy, &shape, dtype);
  }
  remember_open (self);
  lig_document_carry_open (self, copy);
  g_autoptr (LigSequence) old = g_steal_pointer (&self->sequence);
  self->sequence = copy;
  lig_document_build_rows (self);
  lig_document_restore_selection (self, none);
  commit (self, label, NULL);
}

static void
go_to (LigDocument *self, guint state)
{
  g_auto (GStrv) paths = lig_document_remember_selection (self);
  const LigDocumentState *wanted = self->states->pdata[state];
  LigSequence *sequence = lig_sequence_from_json (wanted->text, -1, NULL, NULL);
  /* A recovered state may have been damaged in the store. */
  if (!sequence)
    return;
  remember_open (self);
  /* An entry of the journal is one step. */
  while (self->now > state) {
    self->now--;
    write_journal (self, LIG_JOURNAL_UNDO);
  }
  while (self->now < state) {
    self->now++;
    write_journal (self, LIG_JOURNAL_REDO);
  }
  g_clear_pointer (&self->merge, g_free);
  show_sequence (self, sequence, (const char *const *) paths);
}

const char *
lig_document_get_undo_label (LigDocument *self)
{
  const LigDocumentState *state = self->states->pdata[self->now];
  return self->now > 0 ? state->label : NULL;
}

const char *
lig_document_get_redo_label (LigDocument *self)
{
  if (self->now + 1 >= self->states->len)
    return NULL;
  const LigDocumentState *state = self->states->pdata[self->now + 1];
  return state->label;
}

GStrv
lig_document_list_edits (LigDocument *self, gboolean redo)
{
  g_autoptr (GStrvBuilder) labels = g_strv_builder_new ();
  for (guint i = redo ? self->now + 1 : self->now; i > 0 && i < self->states->len;
       i += redo ? 1u : -1u) {
    const LigDocumentState *state = self->states->pdata[i];
    g_strv_builder_add (labels, state->label ? state->label : "");
  }
  return g_strv_builder_end (labels);
}

void
lig_document_step (LigDocument *self, int steps)
{
  gint64 wanted = CLAMP ((gint64) self->now - steps, 0, (gint64) self->states->len - 1);
  if (wanted != self->now)
    go_to (self, (guint) wanted);
}

void
lig_document_undo (LigDocument *self)
{
  lig_document_step (self, 1);
}

void
lig_document_redo (LigDocument *self)
{
  lig_document_step (self, -1);
}

/* --- Files --------------------------------------------------------------------------------- */

void
lig_document_take_loaded (LigDocument *self, LigSequence *sequence, const char *path)
{
  static const char *const none[] = {NULL};
  lig_journal_clear (self->journal);
  g_free (self->path);
  self->path = g_canonicalize_filename (path, NULL);
  g_set_object (&self->sequence, sequence);
  begin_history (self);
  show_sequence (self, NULL, none);
}

gboolean
lig_document_load (LigDocument *self, const char *path, GStrv *warnings, GError **error)
{
  g_autoptr (LigSequence) sequence = lig_sequence_load (path, warnings, error);
  if (sequence)
    lig_document_take_loaded (self, sequence, path);
  return sequence != NULL;
}

void
lig_document_take_saved (LigDocument *self, LigSequence *sequence, const char *path)
{
  g_autofree char *text = lig_sequence_to_json (sequence);
  char *copy = g_canonicalize_filename (path, NULL);
  g_free (self->path);
  self->path = copy;
  self->saved = G_MAXUINT;
  for (guint i = 0; i < self->states->len; i++) {
    const LigDocumentState *state = self->states->pdata[i];
    if (g_str_equal (state->text, text) && (self->saved == G_MAXUINT || i <= self->now))
      self->saved = i;
  }
  /* The file lacks edits made while it was written. */
  lig_journal_clear (self->journal);
  if (self->now != self->saved)
    begin_journal (self);
  lig_document_emit (self, LIG_DOCUMENT_TITLED);
}

gboolean
lig_document_save (LigDocument *self, const char *path, GError **error)
{
  const char *to = path ? path : self->path;
  g_return_val_if_fail (to, FALSE);
  if (!lig_sequence_save (self->sequence, to, error))
    return FALSE;
  lig_document_take_saved (self, self->sequence, to);
  return TRUE;
}

void
lig_document_recover (LigDocument *self, const LigLostEdit *lost)
{
  static const char *const none[] = {NULL};
  LigSequence *sequence = lig_sequence_from_json (lost->sequence, -1, NULL, NULL);
  if (!sequence)
    return;
  g_free (self->path);
  self->path = g_strdup (lost->path);
  g_ptr_array_set_size (self->states, 0);
  for (guint i = 0; i < lost->states->len; i++) {
    const LigLostState *state = lost->states->pdata[i];
    push_state (self, g_strdup (state->sequence), i > 0 ? state->label : NULL);
  }
  self->now = lost->now;
  self->saved = G_MAXUINT;
  g_clear_pointer (&self->merge, g_free);
  lig_journal_clear (self->journal);
  begin_journal (self);
  show_sequence (self, sequence, none);
}

void
lig_document_discard (LigDocument *self)
{
  lig_journal_clear (self->journal);
}

const char *
lig_document_get_path (LigDocument *self)
{
  return self->path;
}

char *
lig_document_get_title (LigDocument *self)
{
  const char *name = lig_sequence_get_name (self->sequence);
  if (name && *name)
    return g_strdup (name);
  if (!self->path)
    return g_strdup (_ ("Untitled"));
  g_autofree char *base = g_path_get_basename (self->path);
  if (g_str_has_suffix (base, ".lig"))
    base[strlen (base) - strlen (".lig")] = '\0';
  return g_filename_display_name (base);
}

gboolean
lig_document_is_modified (LigDocument *self)
{
  return self->now != self->saved;
}

gboolean
lig_document_is_pristine (LigDocument *self)
{
  return !self->path && self->states->len == 1 && lig_sequence_get_length (self->sequence) == 0;
}
