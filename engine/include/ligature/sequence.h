/* SPDX-License-Identifier: MIT */
/* A sequence: ops in order, what a person edits. It knows no device. It is a #GListModel of
 * #LigOp; its `version` grows with every edit, of its ops' parameters too. Indexes may be negative,
 * counting from the end, as in Python.
 *
 * An op stands in one sequence, once; a block not among the ops that it repeats. Adding an op that
 * stands somewhere already, or a block to its own body, directly or deeper, is %LIG_ERROR_OP and
 * changes nothing; add a lig_op_copy(), or take it out there first.
 *
 * Threads: a sequence and its ops are used by one thread at a time, the one that edits them;
 * compiling reads them and counts as use. A plan (engine/include/ligature/plan.h) is independent of
 * them: it may be trained and read elsewhere while the sequence is edited. lig_sequence_copy()
 * gives another thread one of its own. */
#pragma once

#include <ligature/op.h>

#include <gio/gio.h>

G_BEGIN_DECLS

#define LIG_TYPE_SEQUENCE (lig_sequence_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigSequence, lig_sequence, LIG, SEQUENCE, GObject)

/* Of a name, in characters: windows, tabs and tables show it whole. */
#define LIG_SEQUENCE_LONGEST_NAME 200

LIG_API LigSequence *lig_sequence_new (void) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_copy:
 *
 * Returns: (transfer full): a sequence of copied ops with the same name, input, types and settings
 */
LIG_API LigSequence *lig_sequence_copy (LigSequence *self) G_GNUC_WARN_UNUSED_RESULT;

/* Properties. `version` is read-only. A dtype of -1 means: not said. */
LIG_API const char *lig_sequence_get_name (LigSequence *self);
/* A longer name than LIG_SEQUENCE_LONGEST_NAME characters is cut there. */
LIG_API void lig_sequence_set_name (LigSequence *self, const char *name);
LIG_API guint64 lig_sequence_get_version (LigSequence *self);
LIG_API gboolean lig_sequence_has_input (LigSequence *self);
LIG_API void lig_sequence_get_input (LigSequence *self, LigShape *shape, LigDtype *dtype);
LIG_API void lig_sequence_set_input (LigSequence *self, const LigShape *shape, LigDtype dtype);
LIG_API int lig_sequence_get_compute (LigSequence *self);
LIG_API int lig_sequence_get_parameters (LigSequence *self);
LIG_API void lig_sequence_set_types (LigSequence *self, int compute, int parameters);

/* The `train` object of a file, as JSON text; null where there is none. */
LIG_API const char *lig_sequence_get_train (LigSequence *self);
LIG_API void lig_sequence_set_train (LigSequence *self, const char *json);

/* Unknown keys of a file, as a JSON object's text. */
LIG_API const char *lig_sequence_get_unknown (LigSequence *self);
LIG_API void lig_sequence_set_unknown (LigSequence *self, const char *json);

/* Fusions forbidden everywhere. */
LIG_API const char *const *lig_sequence_get_forbidden (LigSequence *self);
LIG_API void lig_sequence_set_forbidden (LigSequence *self, const char *const *fusions);

LIG_API guint lig_sequence_get_length (LigSequence *self);

/**
 * lig_sequence_get:
 *
 * Returns: (transfer none): the op there, or %NULL with %LIG_ERROR_INDEX set: `attempted to access
 *   index 7, but there are 3 entries`
 */
LIG_API LigOp *lig_sequence_get (LigSequence *self, int index, GError **error);

/* Takes a reference on the op. */
LIG_API gboolean lig_sequence_append (LigSequence *self, LigOp *op, GError **error);

/* Appends copies of the ops of @other. */
LIG_API void lig_sequence_extend (LigSequence *self, LigSequence *other);

/* Inserts before @index, which may be the length; takes a reference on the op. */
LIG_API gboolean lig_sequence_insert (LigSequence *self, int index, LigOp *op, GError **error);
LIG_API gboolean lig_sequence_remove (LigSequence *self, int index, GError **error);

/* Moves the op at @from so that it is at @to afterwards. */
LIG_API gboolean lig_sequence_move (LigSequence *self, int from, int to, GError **error);

/* Puts @op where another one was, and takes a reference on it. */
LIG_API gboolean lig_sequence_replace (LigSequence *self, int index, LigOp *op, GError **error);

/**
 * lig_sequence_slice:
 *
 * Returns: (transfer full): a sequence of copies of the ops from @start up to, not with, @end;
 *   bounds beyond the ends are cut as Python cuts them
 */
LIG_API LigSequence *
lig_sequence_slice (LigSequence *self, int start, int end) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_pop:
 *
 * Returns: (transfer full): the op that was there
 */
LIG_API LigOp *
lig_sequence_pop (LigSequence *self, int index, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_find:
 * @path: `1`, or `3.0.2` in a block
 *
 * Returns: (transfer none): the op of that path, or %NULL with %LIG_ERROR_INDEX set. The
 *   repetitions of a block share their ops, so `3.0.2` and `3.1.2` are one op.
 */
LIG_API LigOp *lig_sequence_find (LigSequence *self, const char *path, GError **error);

/**
 * lig_sequence_load:
 * @path: a .lig file, or `-` for standard input
 * @warnings: (out) (transfer full) (nullable): sentences on unknown keys
 *
 * Returns: (transfer full): the sequence, or %NULL with an error that gives the JSON path
 */
LIG_API LigSequence *
lig_sequence_load (const char *path, GStrv *warnings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_from_json:
 * @length: bytes of @text, or -1 where it ends with a zero
 * @warnings: (out) (transfer full) (nullable): sentences on unknown keys
 *
 * Returns: (transfer full): the sequence, or %NULL with an error that gives the place
 */
LIG_API LigSequence *lig_sequence_from_json (const char *text,
                                             gssize length,
                                             GStrv *warnings,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_from_expression:
 * @text: `layer-norm ! linear(28672, bias=false) ! swiglu ! linear(4096)`
 *
 * Returns: (transfer full): the sequence, or %NULL with an error that gives the place
 */
LIG_API LigSequence *lig_sequence_from_expression (const char *text,
                                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_open:
 * @text: what a command takes: a file if it ends in .lig or contains a slash, `-` for standard
 *   input, else an expression
 * @warnings: (out) (transfer full) (nullable): sentences on unknown keys
 *
 * Returns: (transfer full): the sequence, or %NULL with an error that gives the place
 */
LIG_API LigSequence *
lig_sequence_open (const char *text, GStrv *warnings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_to_json:
 *
 * Returns: (transfer full): the canonical text of a .lig file: known keys in the design's order,
 *   only parameters that differ from their defaults, two-space indentation, a final newline
 */
LIG_API char *lig_sequence_to_json (LigSequence *self);

/* The shortest expression that gives the same ops. */
LIG_API char *lig_sequence_to_expression (LigSequence *self);

/* Writes the canonical text to a temporary name, then renames it: never half a file. */
LIG_API gboolean lig_sequence_save (LigSequence *self, const char *path, GError **error);

G_END_DECLS
