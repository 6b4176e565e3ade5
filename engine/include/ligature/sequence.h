/* SPDX-License-Identifier: MIT */
/* Sequences: a sequence is an ordered list of ops that the user edits. It is independent of any
 * device. It is a #GListModel of #LigOp; every edit, including edits of its ops' parameters,
 * increases its `version`. Negative indexes count from the end, as in Python.
 *
 * An op is in at most one sequence, once, and a block cannot contain itself. Adding an op that is
 * already in a sequence, or a block to its own body, directly or nested, is %LIG_ERROR_OP and
 * changes nothing; add a lig_op_copy(), or remove the op from its sequence first.
 *
 * Threads: a sequence and its ops may be used by one thread at a time; compiling them counts as
 * use. A plan (engine/include/ligature/plan.h) is independent of them: other threads may train and
 * read it while the sequence is edited. lig_sequence_copy() makes a sequence for another thread. */
#pragma once

#include <ligature/op.h>

#include <gio/gio.h>

G_BEGIN_DECLS

#define LIG_TYPE_SEQUENCE (lig_sequence_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigSequence, lig_sequence, LIG, SEQUENCE, GObject)

/* The maximum length of a name in characters, so that windows, tabs and tables can display it. */
#define LIG_SEQUENCE_LONGEST_NAME 200

LIG_API LigSequence *lig_sequence_new (void) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_copy:
 * @self: a sequence
 *
 * Returns: (transfer full): a sequence of copied ops with the same name, input, types and settings
 */
LIG_API LigSequence *lig_sequence_copy (LigSequence *self) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_get_name:
 * @self: a sequence
 *
 * Returns: (transfer none) (nullable): the name of a file or an experiment
 */
LIG_API const char *lig_sequence_get_name (LigSequence *self);

/**
 * lig_sequence_set_name:
 * @self: a sequence
 * @name: (nullable): the name, UTF-8
 *
 * Sets the name, cut to %LIG_SEQUENCE_LONGEST_NAME characters.
 */
LIG_API void lig_sequence_set_name (LigSequence *self, const char *name);

/**
 * lig_sequence_get_version:
 * @self: a sequence
 *
 * Returns: a number that increases with every edit, including edits of the ops' parameters
 */
LIG_API guint64 lig_sequence_get_version (LigSequence *self);

/**
 * lig_sequence_has_input:
 * @self: a sequence
 *
 * Returns: whether the input's shape is set
 */
LIG_API gboolean lig_sequence_has_input (LigSequence *self);

/**
 * lig_sequence_get_classes:
 * @self: a sequence
 *
 * Returns: the number of logits that are classes, according to the loss at the end; 0 if all are,
 *   or if there is no such loss
 */
LIG_API gint64 lig_sequence_get_classes (LigSequence *self);

/**
 * lig_sequence_get_input:
 * @self: a sequence
 * @shape: (out caller-allocates): the shape of the input
 * @dtype: (out): the type of the input
 *
 * Reads the main input, which must be set.
 */
LIG_API void lig_sequence_get_input (LigSequence *self, LigShape *shape, LigDtype *dtype);

/**
 * lig_sequence_set_input:
 * @self: a sequence
 * @shape: (nullable): the shape of the input, copied; the first axis is the batch; %NULL: unset
 * @dtype: the type of the input
 *
 * Sets the main input. lig_sequence_check_input() says whether a file can hold it.
 */
LIG_API void lig_sequence_set_input (LigSequence *self, const LigShape *shape, LigDtype dtype);

/**
 * lig_sequence_set_batch:
 * @self: a sequence
 * @batch: the length of the first axis
 *
 * Sets the first axis of the input. No effect without an input, or on an input without axes.
 */
LIG_API void lig_sequence_set_batch (LigSequence *self, gint64 batch);

/**
 * lig_sequence_check_input:
 * @shape: the shape of an input
 * @dtype: its type
 * @error: set to %LIG_ERROR_SHAPE with both numbers, or to %LIG_ERROR_MEMORY
 *
 * Returns: whether a .lig file can hold the input: one to eight axes, each of at most 2^31 - 1
 *   elements
 */
LIG_API gboolean lig_sequence_check_input (const LigShape *shape, LigDtype dtype, GError **error);

/* The name of the parameter type with which weights of quantized matmuls are kept only in fp8 and
 * fp32. */
#define LIG_FP8_PARAMETERS "fp8"

/**
 * lig_parameters_from_name:
 * @name: a name of a floating type, or `fp8`
 * @parameters: (out): set for lig_sequence_set_types() and `parameters` of #LigPlanOptions, if the
 *   name is one of these; `fp8` is %LIG_FP8_E4M3
 *
 * Returns: whether the name is one of these
 */
LIG_API gboolean lig_parameters_from_name (const char *name, int *parameters);

/**
 * lig_parameters_name:
 * @parameters: a type of parameters, a #LigDtype
 *
 * Returns: (transfer none): its name, `fp8` for %LIG_FP8_E4M3
 */
LIG_API const char *lig_parameters_name (int parameters);

/**
 * lig_sequence_get_compute:
 * @self: a sequence
 *
 * Returns: the #LigDtype of activations, -1 if they have the input's type
 */
LIG_API int lig_sequence_get_compute (LigSequence *self);

/**
 * lig_sequence_get_parameters:
 * @self: a sequence
 *
 * Returns: the #LigDtype of parameters, %LIG_FP8_E4M3 if the weights of quantized matmuls are kept
 *   in fp8 and fp32, -1 if they have the type of activations
 */
LIG_API int lig_sequence_get_parameters (LigSequence *self);

/**
 * lig_sequence_set_types:
 * @self: a sequence
 * @compute: a #LigDtype, or -1 for the input's type
 * @parameters: a #LigDtype, %LIG_FP8_E4M3 for `fp8`, or -1 for the type of activations
 *
 * Sets the types of activations and parameters.
 */
LIG_API void lig_sequence_set_types (LigSequence *self, int compute, int parameters);

/**
 * lig_sequence_get_recipe:
 * @self: a sequence
 *
 * Returns: (transfer none) (nullable): the recipe that quantizes the operands of matmuls, a text
 *   for lig_recipe_parse() like `fp8-current`; %NULL: they are not quantized
 */
LIG_API const char *lig_sequence_get_recipe (LigSequence *self);

/**
 * lig_sequence_set_recipe:
 * @self: a sequence
 * @text: (nullable): a text for lig_recipe_parse(); %NULL or `none`: nothing is quantized
 * @error: set to %LIG_ERROR_VALUE or %LIG_ERROR_OP if the text is not a recipe
 *
 * Sets the recipe that quantizes the operands of matmuls, unless a block or op overrides it.
 *
 * Returns: whether the text is a recipe
 */
LIG_API gboolean lig_sequence_set_recipe (LigSequence *self, const char *text, GError **error);

/**
 * lig_sequence_get_train:
 * @self: a sequence
 *
 * Returns: (transfer none) (nullable): the `train` object of the file as JSON text
 */
LIG_API const char *lig_sequence_get_train (LigSequence *self);

/**
 * lig_sequence_set_train:
 * @self: a sequence
 * @json: (nullable): the text of a JSON object
 *
 * Sets the `train` object.
 */
LIG_API void lig_sequence_set_train (LigSequence *self, const char *json);

/**
 * lig_sequence_get_unknown:
 * @self: a sequence
 *
 * Returns: (transfer none) (nullable): the unknown members of the file, as the text of a JSON
 *   object; saving writes them back
 */
LIG_API const char *lig_sequence_get_unknown (LigSequence *self);

/**
 * lig_sequence_set_unknown:
 * @self: a sequence
 * @json: (nullable): the text of a JSON object
 *
 * Sets the unknown members.
 */
LIG_API void lig_sequence_set_unknown (LigSequence *self, const char *json);

/**
 * lig_sequence_get_forbidden:
 * @self: a sequence
 *
 * Returns: (transfer none) (array zero-terminated=1): the fusions that are forbidden in the whole
 * sequence
 */
LIG_API const char *const *lig_sequence_get_forbidden (LigSequence *self);

/**
 * lig_sequence_set_forbidden:
 * @self: a sequence
 * @fusions: (array zero-terminated=1) (nullable): the names of fusions, copied
 *
 * Sets the fusions that are forbidden in the whole sequence.
 */
LIG_API void lig_sequence_set_forbidden (LigSequence *self, const char *const *fusions);

/**
 * lig_sequence_get_length:
 * @self: a sequence
 *
 * Returns: the number of ops
 */
LIG_API guint lig_sequence_get_length (LigSequence *self);

/**
 * lig_sequence_get:
 * @self: a sequence
 * @index: an index from 0, or from -1 backward
 *
 * Returns: (transfer none): the op at @index, or %NULL with %LIG_ERROR_INDEX set: `attempted to
 *   access index 7, but there are 3 entries`
 */
LIG_API LigOp *lig_sequence_get (LigSequence *self, int index, GError **error);

/**
 * lig_sequence_append:
 * @self: a sequence
 * @op: an op that is in no sequence
 *
 * Appends an op and takes a reference on it.
 *
 * Returns: %FALSE with %LIG_ERROR_OP set
 */
LIG_API gboolean lig_sequence_append (LigSequence *self, LigOp *op, GError **error);

/**
 * lig_sequence_extend:
 * @self: a sequence
 * @other: a sequence
 *
 * Appends copies of the ops of another sequence.
 */
LIG_API void lig_sequence_extend (LigSequence *self, LigSequence *other);

/**
 * lig_sequence_insert:
 * @self: a sequence
 * @index: the index of the op before which @op is inserted; may be the length
 * @op: an op that is in no sequence
 *
 * Inserts an op and takes a reference on it.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX or %LIG_ERROR_OP set
 */
LIG_API gboolean lig_sequence_insert (LigSequence *self, int index, LigOp *op, GError **error);

/**
 * lig_sequence_remove:
 * @self: a sequence
 * @index: an index from 0, or from -1 backward
 *
 * Removes an op.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX set
 */
LIG_API gboolean lig_sequence_remove (LigSequence *self, int index, GError **error);

/**
 * lig_sequence_move:
 * @self: a sequence
 * @from: the current index of the op
 * @to: the index of the op after the move
 *
 * Moves an op.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX set
 */
LIG_API gboolean lig_sequence_move (LigSequence *self, int from, int to, GError **error);

/**
 * lig_sequence_replace:
 * @self: a sequence
 * @index: an index from 0, or from -1 backward
 * @op: an op that is in no sequence
 *
 * Replaces the op at @index by @op and takes a reference on @op.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX or %LIG_ERROR_OP set
 */
LIG_API gboolean lig_sequence_replace (LigSequence *self, int index, LigOp *op, GError **error);

/**
 * lig_sequence_slice:
 * @self: a sequence
 * @start: the first index
 * @end: one past the last index
 *
 * Returns: (transfer full): a sequence of copies of the ops from @start up to and excluding @end;
 *   bounds past the ends are clamped, as in Python
 */
LIG_API LigSequence *
lig_sequence_slice (LigSequence *self, int start, int end) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_pop:
 * @self: a sequence
 * @index: an index from 0, or from -1 backward
 *
 * Removes an op and returns it.
 *
 * Returns: (transfer full): the removed op, or %NULL with %LIG_ERROR_INDEX set
 */
LIG_API LigOp *
lig_sequence_pop (LigSequence *self, int index, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_find:
 * @self: a sequence
 * @path: the path of an op, `1`, or `3.0.2` in a block
 *
 * Returns: (transfer none): the op with this path, or %NULL with %LIG_ERROR_INDEX set. The
 *   repetitions of a block share their ops, so `3.0.2` and `3.1.2` are the same op.
 */
LIG_API LigOp *lig_sequence_find (LigSequence *self, const char *path, GError **error);

/**
 * lig_sequence_load:
 * @path: a .lig file, or `-` for standard input
 * @warnings: (out) (transfer full) (nullable): warnings about unknown keys
 *
 * Reads a file. A relative path of data in its `train` object becomes absolute if the data exists
 * in the folder of the file; otherwise it is relative to the working folder.
 *
 * Returns: (transfer full): the sequence, or %NULL with an error that contains the JSON path
 */
LIG_API LigSequence *
lig_sequence_load (const char *path, GStrv *warnings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_from_json:
 * @text: the contents of a .lig file
 * @length: the length of @text in bytes, or -1 if it is zero-terminated
 * @warnings: (out) (optional) (transfer full) (nullable): warnings about unknown keys
 *
 * Returns: (transfer full): the sequence, or %NULL with an error that contains the position
 */
LIG_API LigSequence *lig_sequence_from_json (const char *text,
                                             gssize length,
                                             GStrv *warnings,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_from_expression:
 * @text: an expression, `layer-norm ! linear(28672, bias=false) ! swiglu ! linear(4096)`
 *
 * Returns: (transfer full): the sequence, or %NULL with an error that contains the position
 */
LIG_API LigSequence *lig_sequence_from_expression (const char *text,
                                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_open:
 * @text: a file if it ends in .lig, contains a slash, or is one word with a dot; `-` for standard
 *   input; otherwise an expression
 * @warnings: (out) (transfer full) (nullable): warnings about unknown keys
 *
 * Returns: (transfer full): the sequence, or %NULL with an error that contains the position
 */
LIG_API LigSequence *
lig_sequence_open (const char *text, GStrv *warnings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sequence_to_json:
 * @self: a sequence
 *
 * Returns: (transfer full): the canonical text of a .lig file: known keys in a fixed order, only
 *   parameters that differ from their defaults, two-space indentation, a final newline
 */
LIG_API char *lig_sequence_to_json (LigSequence *self);

/**
 * lig_sequence_to_expression:
 * @self: a sequence
 *
 * Returns: (transfer full): the shortest expression for the same ops
 */
LIG_API char *lig_sequence_to_expression (LigSequence *self);

/**
 * lig_sequence_save:
 * @self: a sequence
 * @path: (type filename): the name of the file
 *
 * Writes the canonical text to a temporary file and renames it, so that no incomplete file remains.
 * The path of data in the folder of the file, or below it, is written relative to that folder.
 *
 * Returns: %FALSE with %LIG_ERROR_FILE set
 */
LIG_API gboolean lig_sequence_save (LigSequence *self, const char *path, GError **error);

G_END_DECLS
