/* SPDX-License-Identifier: MIT */
/* Rules shared by files and expressions, private to the engine: the spelling of parameter values,
 * the limits on sequences, and the reserved words. */
#pragma once

#include <ligature/sequence.h>

/* The maximum nesting depth of blocks, and the maximum number of ops with all blocks repeated. */
#define LIG_MAX_BLOCKS 16
#define LIG_MAX_OPS 1000000

/* The maximum length of a sequence's text, in bytes. */
#define LIG_MAX_TEXT ((gsize) 64 << 20)

/* Longer axes, and tensors with more elements, are rejected as mistakes. */
#define LIG_MAX_AXIS G_MAXINT32
#define LIG_LARGEST_SHAPE (G_GINT64_CONSTANT (1) << 40)

/* Returns the parameter called `name`, or null. */
const LigParam *lig_literal_param (LigOp *op, const char *name);

/* Sets a parameter from a gint64, double, boolean, string or boxed LigShape. The message contains
 * the expected and the given value; the caller adds the position. */
gboolean lig_literal_set (LigOp *op, const LigParam *param, const GValue *value, GError **error);

/* Sets whether the op's parameters are trained, from a boolean; errors as above. */
gboolean lig_literal_set_trained (LigOp *op, const GValue *value, GError **error);

/* Sets the index of a choice by its name, null for the default; FALSE for an unknown name. */
gboolean lig_choice_store (const LigParam *param, const char *name, gint32 *index);

/* Sets a LIG_PARAM_CHOICE by name; the error lists the names. */
gboolean lig_choice_set (LigOp *op, const LigParam *param, const GValue *value, GError **error);

/* Appends one length, a gint64 or a whole double, to a shape. */
gboolean lig_literal_add_axis (LigShape *shape, const GValue *value, GError **error);

/* Returns whether a shape has at least one axis, none shorter than `min`, and no more elements
 * than LIG_LARGEST_SHAPE; -1 means an unknown length. */
gboolean lig_literal_check_shape (const LigShape *shape, gint64 min, GError **error);

/* Returns whether a channel's name is not empty, not too long and free of control characters. */
gboolean lig_literal_check_channel (const char *name, GError **error);

/* Adds an op to the count `total`; a block adds its `inside` ops once for each repetition. */
gboolean lig_literal_count (LigOp *op, gint64 inside, gint64 *total, GError **error);

/* Returns false, with an error, for a word that is reserved for a future parameter of blocks. */
gboolean lig_literal_check_reserved (LigOp *op, const char *name, GError **error);

/* Returns whether a file or an expression must contain the parameter; `value` is always
 * initialized. */
gboolean lig_literal_get (LigOp *op, const LigParam *param, GValue *value);

/* Appends the value as JSON; expressions use the same spelling, except for names without quotes.
 * Floats have the fewest digits that read back as the same fp32. */
void lig_literal_append (GString *text, const GValue *value);

/* Returns whether the text is UTF-8 without zero bytes and has at most LIG_MAX_TEXT bytes. */
gboolean lig_literal_check_text (const char *text, gsize length, GError **error);

/* Implements lig_sequence_from_json() for text that lig_literal_check_text() has accepted; messages
 * begin with the name of the `file` unless it is null. */
LigSequence *lig_sequence_read (const char *text,
                                gsize length,
                                const char *file,
                                GStrv *warnings,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Returns whether a word can be written without quotes in an expression. */
gboolean lig_literal_is_name (const char *text);
