/* SPDX-License-Identifier: MIT */
/* A document: the sequence that a window shows, its file, its history of edits, what is selected,
 * and the plan that was compiled from it. Whoever changes the sequence calls the functions of
 * ui/document/edit.h, or changes it and then calls lig_document_commit().
 *
 * Signals, all without arguments:
 *   changed    the sequence was edited or replaced, or a block was opened: the rows are new
 *   planned    the plan, its staleness or the problems are new
 *   selected   the selection or the cursor is new
 *   titled     name, file or modification are new
 *   settings   device or policy are new
 */
#pragma once

#include "ui/document/journal.h"
#include "ui/session/session.h"
#include <ligature/plan.h>

G_BEGIN_DECLS

#define LIG_TYPE_DOCUMENT (lig_document_get_type ())
G_DECLARE_FINAL_TYPE (LigDocument, lig_document, LIG, DOCUMENT, GObject)

/* An empty sequence with an input of 2048 x 768. */
LigDocument *lig_document_new (LigSession *session);

LigSession *lig_document_get_session (LigDocument *self);

/* (transfer none). Another object after undo, redo and opening a file. */
LigSequence *lig_document_get_sequence (LigDocument *self);

/* --- Files --------------------------------------------------------------------------------- */

/* On failure nothing changes. @warnings: sentences on unknown keys. */
gboolean lig_document_load (LigDocument *self, const char *path, GStrv *warnings, GError **error);

/* Writes to @path, null for the file it came from. */
gboolean lig_document_save (LigDocument *self, const char *path, GError **error);

/* For who reads and writes files on a thread: what was loaded from @path, and what was written to
 * it; edits made since then stay unsaved. */
void lig_document_take_loaded (LigDocument *self, LigSequence *sequence, const char *path);
void lig_document_take_saved (LigDocument *self, LigSequence *sequence, const char *path);

/* (nullable) for a document that has not been saved yet. */
const char *lig_document_get_path (LigDocument *self);

/* `layer-norm-mlp`: the sequence's name, else the file's, else `Untitled`. */
char *lig_document_get_title (LigDocument *self);
gboolean lig_document_is_modified (LigDocument *self);

/* No file, no op, no edit: another file may be opened in its place. */
gboolean lig_document_is_pristine (LigDocument *self);

/* --- Edits --------------------------------------------------------------------------------- */

/**
 * lig_document_commit:
 * @label: of the edit for undo, translated: `Add Linear`
 * @merge: (nullable): edits in a row with equal @merge, half a second apart at most, are one
 *
 * Ends an edit: what the sequence is now goes into the history and the journal, is compiled, and
 * `changed` is emitted. Does nothing where the sequence is what it was.
 */
void lig_document_commit (LigDocument *self, const char *label, const char *merge);

/* One edit that makes the sequence another one: a template, an expression, a run's sequence. */
void lig_document_replace (LigDocument *self, LigSequence *sequence, const char *label);

/* Null where there is nothing to undo or redo. */
const char *lig_document_get_undo_label (LigDocument *self);
const char *lig_document_get_redo_label (LigDocument *self);
void lig_document_undo (LigDocument *self);
void lig_document_redo (LigDocument *self);

/* Takes over the edits of a window that was killed; see ui/document/journal.h. */
void lig_document_recover (LigDocument *self, const LigLostEdit *lost);

/* What was edited is given up: the journal forgets it. For closing a window. */
void lig_document_discard (LigDocument *self);

/* --- Rows ---------------------------------------------------------------------------------- */

/**
 * LigRow: an op as the score shows it. Valid until the next `changed`.
 *
 * @parent, @index: where it stands: the document's sequence, or a block's body
 * @path: `3`; in an opened block `3.0.2` (its repetitions share their ops, the first stands for
 * all)
 * @depth: blocks around it
 * @open: of a block: whether the rows of its ops follow
 */
typedef struct {
  LigOp *op;
  LigSequence *parent;
  int index;
  char *path;
  int depth;
  gboolean open;
} LigRow;

const LigRow *lig_document_get_rows (LigDocument *self, guint *count);

/* (nullable): the row of an op, or of a path as messages give it; that of a block for what lies in
 * a folded one. */
const LigRow *lig_document_find_row (LigDocument *self, LigOp *op);
const LigRow *lig_document_find_path (LigDocument *self, const char *path);

void lig_document_set_open (LigDocument *self, LigOp *block, gboolean open);

/* --- Selection ----------------------------------------------------------------------------- */

typedef enum { LIG_SELECT_ONLY, LIG_SELECT_TOGGLE, LIG_SELECT_RANGE } LigSelectHow;

/* @op null with ONLY: nothing. RANGE: from the cursor to @op. The op becomes the cursor. */
void lig_document_select (LigDocument *self, LigOp *op, LigSelectHow how);
void lig_document_select_all (LigDocument *self);
gboolean lig_document_is_selected (LigDocument *self, LigOp *op);

/* (nullable): the op with the keyboard focus in the score, and that the inspector shows. */
LigOp *lig_document_get_cursor (LigDocument *self);

/* (transfer container) (element-type LigRow): in row order; valid like rows. */
GPtrArray *lig_document_get_selection (LigDocument *self);

/* --- Compiling ----------------------------------------------------------------------------- */

const char *lig_document_get_device (LigDocument *self);
void lig_document_set_device (LigDocument *self, const char *name);

/* The device's ceilings were measured: where the document plans for it, it does so anew. */
void lig_document_refresh_device (LigDocument *self, const char *name);
LigPolicy lig_document_get_policy (LigDocument *self);
void lig_document_set_policy (LigDocument *self, LigPolicy policy);

/* The options with which it compiles; pointers in it belong to the document. */
void lig_document_get_options (LigDocument *self, LigPlanOptions *options);

/**
 * lig_document_get_plan:
 *
 * Returns: (transfer none) (nullable): the last plan. Where the sequence has a problem, that of the
 *   ops before it. Its ops are copies: rows are found by path. While `stale` it is of an older
 *   sequence.
 */
LigPlan *lig_document_get_plan (LigDocument *self);
gboolean lig_document_is_stale (LigDocument *self);

/**
 * lig_document_find_parts:
 * @path: of a row
 * @count: (out): a macro's parts; all repetitions' ops where the row is a folded block
 *
 * Returns: (transfer none) (nullable): the ops of the plan that the row stands for
 */
const LigPlanOp *lig_document_find_parts (LigDocument *self, const char *path, guint *count);

/* (nullable): what is being measured on the device just now, for a line of progress. */
const char *lig_document_get_measuring (LigDocument *self);

/**
 * LigProblem: why there is no whole plan, or why it cannot run.
 *
 * @path: (nullable): of the op it is at; null where it is no op's
 * @text: the engine's sentence
 * @whole: there is a whole plan, which does not fit its device
 */
typedef struct {
  char *path, *text;
  gboolean whole;
} LigProblem;

/* Null after the last. */
const LigProblem *lig_document_get_problem (LigDocument *self, guint n);

/* (transfer full) (nullable): `lig fuse FILE --device …` for what the window shows; @command is
 * `fuse`, `plan`, `profile`, `train`, `report`. An unsaved sequence stands there as an expression.
 */
char *lig_document_to_command (LigDocument *self, const char *command);

G_END_DECLS
