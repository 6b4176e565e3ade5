/* SPDX-License-Identifier: MIT */
/* Edits: all changes of a document's sequence. Each is one step of its history, with its own label.
 * Those that can be rejected return %FALSE with the engine's error. */
#pragma once

#include "ui/document/document.h"
#include <ligature/problem-fix.h>

G_BEGIN_DECLS

typedef struct _LigSaving LigSaving;

/* A gap is given by a sequence, the document's or a block's body, and the index of the op that
 * follows it; the sequence's length is the gap at the end. */

/* Inserts copies of @ops and selects them. */
gboolean lig_edit_insert (
  LigDocument *doc, LigSequence *parent, int index, LigSequence *ops, GError **error);

/* Inserts one op of that name after the cursor, or at the end without a cursor. */
gboolean lig_edit_add (LigDocument *doc, const char *op, GError **error);
gboolean lig_edit_insert_op (
  LigDocument *doc, LigSequence *parent, int index, const char *op, GError **error);

/* Delete or duplicate the selection, and return its number of ops. */
guint lig_edit_delete (LigDocument *doc);
guint lig_edit_duplicate (LigDocument *doc);

/* Moves the selection into a gap; rejected for a block into itself. */
gboolean lig_edit_move (LigDocument *doc, LigSequence *parent, int index, GError **error);

/* Moves the selection by one row, up (-1) or down (1), into and out of open blocks. */
void lig_edit_move_by (LigDocument *doc, int rows);

/* Makes the selection, whose ops must be adjacent, the body of a block. */
gboolean lig_edit_group (LigDocument *doc, int repeat, GError **error);

/* Replaces the block at the cursor with its ops, or the macro with its parts. */
gboolean lig_edit_ungroup (LigDocument *doc, GError **error);
gboolean lig_edit_can_ungroup (LigOp *op);

/* Sets a parameter as lig_op_set_value() does; a null value restores the default. */
gboolean lig_edit_set_value (
  LigDocument *doc, LigOp *op, const char *param, const GValue *value, GError **error);

/* Freezes or unfreezes the parameters of an op. */
void lig_edit_set_trained (LigDocument *doc, LigOp *op, gboolean trained);

/* Set or move a fence, which is in the gap before an op. */
void lig_edit_set_fence (LigDocument *doc, LigOp *op, gboolean fence);
void lig_edit_move_fence (LigDocument *doc, LigOp *from, LigOp *to);

/* Force or forbid a fusion, or remove that override. @op: its first op; null, for forbidding only:
 * everywhere.
 */
void lig_edit_forbid (LigDocument *doc, LigOp *op, const char *fusion, gboolean forbid);
void lig_edit_force (LigDocument *doc, LigOp *op, const char *fusion, gboolean force);

/* Connects the first extra output of @from with the first free extra input of @to by a channel with
 * an unused name; an op in a nested block reads it as `../NAME`. */
gboolean lig_edit_connect (LigDocument *doc, LigOp *from, LigOp *to, GError **error);
gboolean lig_edit_can_connect (LigDocument *doc, LigOp *from, LigOp *to);

/* Gives unique names to the channels of copied ops that are already in the sequence, so that a
 * copied branch is read by its copied reader. */
void lig_edit_separate_channels (LigSequence *parent, GPtrArray *copies);

/* Disconnects all ends of an op. */
void lig_edit_disconnect (LigDocument *doc, LigOp *op);

/* Disconnects one reader from a channel, and @from too if that was the last reader. @channel: as
 * @to writes it, `../NAME` */
void lig_edit_disconnect_channel (LigDocument *doc, LigOp *from, LigOp *to, const char *channel);

/* Renames the channel that starts at @from in all its readers, including those that read `../NAME`
 * in blocks. */
gboolean lig_edit_rename_channel (
  LigDocument *doc, LigOp *from, const char *channel, const char *name, GError **error);

/* Returns the next row's op, below a start and above a reader, that has an open end for the open
 * end of @op. Returns: (nullable) (transfer none) */
LigOp *lig_edit_find_partner (LigDocument *doc, LigOp *op);

/* Connects two selected rows, or @op (nullable) with the next row that has a free end for it. */
gboolean lig_edit_connect_selection (LigDocument *doc, LigOp *op, GError **error);

/* Makes the edit that removes a problem. */
gboolean lig_edit_fix_problem (LigDocument *doc, const LigProblemFix *fix, GError **error);

/* Makes a saving of the current plan: an edit, or another policy. */
gboolean lig_edit_apply_saving (LigDocument *doc, const LigSaving *saving, GError **error);

/* Forbids the fusion of the plan that starts at an op; if one is forbidden there, allows it again.
 */
gboolean lig_edit_toggle_forbidden (LigDocument *doc, LigOp *op, GError **error);

void lig_edit_set_name (LigDocument *doc, const char *name);
void lig_edit_set_input (LigDocument *doc, const LigShape *shape, LigDtype dtype);

/* Sets axis 0 of the input. */
void lig_edit_set_batch (LigDocument *doc, gint64 batch);

/* Sets the types, a #LigDtype each, or -1 for the type that follows from the input. */
void lig_edit_set_types (LigDocument *doc, int compute, int parameters);

/* Sets how the operands of matmuls are quantized, a text for lig_recipe_parse(); null: not at
 * all. */
void lig_edit_set_recipe (LigDocument *doc, const char *recipe);

/* Sets the `train` object of the file, as JSON. */
void lig_edit_set_train (LigDocument *doc, const char *json);

/* Returns: (transfer full) (nullable): the selection as the text of a .lig file; null if nothing is
 *   selected. */
char *lig_edit_copy (LigDocument *doc);

/* Inserts the text of a .lig file, or an expression, after the cursor. */
gboolean lig_edit_paste (LigDocument *doc, const char *text, GError **error);

G_END_DECLS
