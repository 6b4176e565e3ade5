/* SPDX-License-Identifier: MIT */
/* A document: the sequence that a window shows, its file, edit history and selection, and the plan
 * compiled from it. A caller that changes the sequence uses the functions of ui/document/edit.h, or
 * changes it and then calls lig_document_commit().
 *
 * Signals, all without arguments:
 *   changed    the sequence was edited or replaced, or a block was opened: the rows changed
 *   planned    the plan, its staleness or the problems changed
 *   selected   the selection or the cursor changed
 *   titled     name, file or modification state changed
 *   settings   device, policy, ranks or parallelism changed
 *   wanted     a parameter of the op under the cursor should get the focus
 *   previewed  a preview began, arrived or ended, see ui/document/preview.h
 *   timed      measured times or the comparison with the unfused ops changed, see
 *              ui/document/times.h and ui/document/check.h
 *   savings    what would save most was found, or is not known any more, see
 *              ui/document/savings.h
 *   pinned     another plan is pinned, or compared with the pinned one, see ui/document/pin.h */
#pragma once

#include "ui/document/journal.h"
#include "ui/session/session.h"
#include <ligature/policy.h>

G_BEGIN_DECLS

typedef struct _LigOp LigOp;
typedef struct _LigSequence LigSequence;
typedef struct _LigPlan LigPlan;
typedef struct _LigPlanOp LigPlanOp;
typedef struct _LigPlanOptions LigPlanOptions;

#define LIG_TYPE_DOCUMENT (lig_document_get_type ())
G_DECLARE_FINAL_TYPE (LigDocument, lig_document, LIG, DOCUMENT, GObject)

/* Returns a document with an empty sequence and an input of 2048 x 768. */
LigDocument *lig_document_new (LigSession *session);

LigSession *lig_document_get_session (LigDocument *self);

/* Returns: (transfer none): the sequence; a new object after undo, redo and opening a file. */
LigSequence *lig_document_get_sequence (LigDocument *self);

/* --- Files --------------------------------------------------------------------------------- */

/* Loads a file. On failure nothing changes. @warnings: sentences on unknown keys. */
gboolean lig_document_load (LigDocument *self, const char *path, GStrv *warnings, GError **error);

/* Writes the sequence to @path, null for the document's own file. */
gboolean lig_document_save (LigDocument *self, const char *path, GError **error);

/* For callers that do file I/O on a thread: take the sequence that was loaded from @path, or
 * written to it. Edits made since then stay unsaved. */
void lig_document_take_loaded (LigDocument *self, LigSequence *sequence, const char *path);
void lig_document_take_saved (LigDocument *self, LigSequence *sequence, const char *path);

/* Returns: (nullable): null for a document that has not been saved yet. */
const char *lig_document_get_path (LigDocument *self);

/* Returns the sequence's name, like `layer-norm-mlp`, else the file's, else `Untitled`. */
char *lig_document_get_title (LigDocument *self);
gboolean lig_document_is_modified (LigDocument *self);

/* Returns whether it has no file, no op and no edit, so that another file may replace it. */
gboolean lig_document_is_pristine (LigDocument *self);

/* --- Edits --------------------------------------------------------------------------------- */

/**
 * lig_document_commit:
 * @label: of the edit for undo, translated: `Add Linear`
 * @merge: (nullable): consecutive edits with equal @merge, at most half a second apart, become one
 *
 * Ends an edit: adds the sequence to the history and the journal, compiles it, and emits `changed`.
 * Does nothing if the sequence is unchanged.
 */
void lig_document_commit (LigDocument *self, const char *label, const char *merge);

/* Replaces the sequence as one edit: by a template, an expression, a run's sequence.
 */
void lig_document_replace (LigDocument *self, LigSequence *sequence, const char *label);

/* Return null if there is nothing to undo or redo. */
const char *lig_document_get_undo_label (LigDocument *self);
const char *lig_document_get_redo_label (LigDocument *self);
void lig_document_undo (LigDocument *self);
void lig_document_redo (LigDocument *self);

/* Returns: (transfer full): the labels of the edits that can be undone, or redone, the next one
 *   first. */
GStrv lig_document_list_edits (LigDocument *self, gboolean redo);

/* Undoes @steps edits, or redoes them if it is negative; at most as many as exist. */
void lig_document_step (LigDocument *self, int steps);

/* Takes over the edits of a killed window; see ui/document/journal.h. */
void lig_document_recover (LigDocument *self, const LigLostEdit *lost);

/* Discards the edits: the journal forgets them. For closing a window. */
void lig_document_discard (LigDocument *self);

/* --- Rows ---------------------------------------------------------------------------------- */

/**
 * LigRow: an op as the score shows it. Valid until the next `changed`.
 *
 * @parent, @index: its place in the document's sequence or in a block's body
 * @path: `3`; in an opened block `3.0.2` (its repetitions share their ops; the first represents
 *   all)
 * @depth: blocks around it
 * @folds: whether it is a block, or a macro with many parts
 * @open: whether the rows of its ops follow, or the row has sub-rows for its parts
 */
typedef struct {
  LigOp *op;
  LigSequence *parent;
  int index;
  char *path;
  int depth;
  gboolean folds, open;
} LigRow;

/* Returns whether the op's row can be folded. The parts of a macro of few parts are always shown.
 */
gboolean lig_row_folds (LigOp *op);

const LigRow *lig_document_get_rows (LigDocument *self, guint *count);

/* Return: (nullable): the row of an op, or of a path as in messages; for an op in a folded block,
 * the block's row. */
const LigRow *lig_document_find_row (LigDocument *self, LigOp *op);
const LigRow *lig_document_find_path (LigDocument *self, const char *path);

/* Opens all blocks, including nested ones, and leaves macros folded. */
void lig_document_open_blocks (LigDocument *self);

/* Opens or folds all blocks and macros, including nested ones. */
void lig_document_set_all_open (LigDocument *self, gboolean open);
void lig_document_set_open (LigDocument *self, LigOp *op, gboolean open);

/* --- Selection ----------------------------------------------------------------------------- */

typedef enum { LIG_SELECT_ONLY, LIG_SELECT_TOGGLE, LIG_SELECT_RANGE } LigSelectHow;

/* A null @op with ONLY clears the selection. RANGE: from the cursor to @op. The op becomes the
 * cursor. */
void lig_document_select (LigDocument *self, LigOp *op, LigSelectHow how);
void lig_document_select_all (LigDocument *self);
gboolean lig_document_is_selected (LigDocument *self, LigOp *op);

/* Returns: (nullable): the op that has the keyboard focus in the score and that the inspector
 *   shows. */
LigOp *lig_document_get_cursor (LigDocument *self);

/* Returns: (transfer container) (element-type LigRow): in row order; valid as long as the rows. */
GPtrArray *lig_document_get_selection (LigDocument *self);

/* Moves the keyboard focus to a parameter of the op under the cursor. */
void lig_document_want_parameter (LigDocument *self, const char *name);
const char *lig_document_get_wanted (LigDocument *self);

/* --- Compiling ----------------------------------------------------------------------------- */

const char *lig_document_get_device (LigDocument *self);
void lig_document_set_device (LigDocument *self, const char *name);

/* Compiles again if the document plans for this device, whose peak rates were just measured. */
void lig_document_refresh_device (LigDocument *self, const char *name);
LigPolicy lig_document_get_policy (LigDocument *self);
void lig_document_set_policy (LigDocument *self, LigPolicy policy);

/* Fills in the options with which it compiles; pointers in them belong to the document. */
void lig_document_get_options (LigDocument *self, LigPlanOptions *options);

/**
 * lig_document_get_plan:
 *
 * Returns: (transfer none) (nullable): the last plan; if the sequence has a problem, the plan of
 *   the ops before it. Its ops are copies: find rows by path. While `stale`, it belongs to an older
 *   sequence.
 */
LigPlan *lig_document_get_plan (LigDocument *self);
gboolean lig_document_is_stale (LigDocument *self);

/**
 * lig_document_find_parts:
 * @path: of a row
 * @count: (out): a macro's parts; for a folded block, the ops of all repetitions
 *
 * Returns: (transfer none) (nullable): the ops of the plan that the row represents
 */
const LigPlanOp *lig_document_find_parts (LigDocument *self, const char *path, guint *count);

/* Returns: (nullable): the measurement in progress on the device, for a progress line. */
const char *lig_document_get_measuring (LigDocument *self);

/**
 * LigProblem: the reason why there is no complete plan, or why it cannot run.
 *
 * @path: (nullable): of its op; null if it is not about a single op
 * @text: the engine's sentence
 * @fixes: (element-type LigProblemFix): edits that remove it, for lig_edit_fix_problem(), best
 *   first; may be empty
 * @whole: whether the plan is complete, but does not fit its device, or the ranks cannot share its
 *   batch
 */
typedef struct {
  char *path, *text;
  GPtrArray *fixes;
  gboolean whole;
} LigProblem;

/* Returns: (nullable): in the order of the rows; null after the last. */
const LigProblem *lig_document_get_problem (LigDocument *self, guint n);

/* Returns: (nullable): the first problem of an op, or of an op inside it if it is a folded
 * block. */
const LigProblem *lig_document_find_problem (LigDocument *self, LigOp *op);

/* Returns: (transfer full) (nullable): the command for the window's content, like `lig fuse FILE
 * --device …`; @command is `fuse`, `plan`, `profile`, `train`, `report`. An unsaved sequence is
 * written as an expression. */
char *lig_document_to_command (LigDocument *self, const char *command);

G_END_DECLS
