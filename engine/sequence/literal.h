/* SPDX-License-Identifier: MIT */
/* What files and expressions have in common, private to the engine: how a parameter's value is
 * spelt, how large a sequence may be, and which words are kept for later. */
#pragma once

#include <ligature/sequence.h>

/* How deep blocks nest, and how many ops a sequence has once its blocks are repeated. */
#define LIG_MAX_BLOCKS 16
#define LIG_MAX_OPS 1000000

/* More text than this is no sequence. */
#define LIG_MAX_TEXT ((gsize) 64 << 20)

/* Lengths of axes and elements of a tensor beyond these are mistakes. */
#define LIG_MAX_AXIS G_MAXINT32
#define LIG_LARGEST_SHAPE (G_GINT64_CONSTANT (1) << 40)

/* The parameter of that name, or null. */
const LigParam *lig_literal_param (LigOp *op, const char *name);

/* Sets a parameter from a gint64, double, boolean, string or boxed LigShape. The message says
 * what was expected and what was given; the caller says where. */
gboolean lig_literal_set (LigOp *op, const LigParam *param, const GValue *value, GError **error);

/* Appends one length, a gint64 or a whole double, to a shape. */
gboolean lig_literal_add_axis (LigShape *shape, const GValue *value, GError **error);

/* Whether a shape has at least one axis, none shorter than `least`, and no absurd size; -1 stands
 * for an unknown length. */
gboolean lig_literal_check_shape (const LigShape *shape, gint64 least, GError **error);

/* Adds an op, for a block its `inside` ops as often as it repeats them, to the count `total`. */
gboolean lig_literal_count (LigOp *op, gint64 inside, gint64 *total, GError **error);

/* False, with an error, for a word that a block will understand one day. */
gboolean lig_literal_check_reserved (LigOp *op, const char *name, GError **error);

/* Whether a file or an expression has to say the parameter; `value` is initialized in any case. */
gboolean lig_literal_get (LigOp *op, const LigParam *param, GValue *value);

/* The value as JSON, which but for bare names is how expressions spell it, too. Floats have the
 * fewest digits that give the same fp32 back. */
void lig_literal_append (GString *text, const GValue *value);

/* Whether the characters at `text` are UTF-8 without zeros, and no more than LIG_MAX_TEXT. */
gboolean lig_literal_check_text (const char *text, gsize length, GError **error);

/* What lig_sequence_from_json() does, for text that lig_literal_check_text() has passed; messages
 * begin with the name of the `file` where it is not null. */
LigSequence *lig_sequence_read (const char *text,
                                gsize length,
                                const char *file,
                                GStrv *warnings,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether a word can stand for itself in an expression, without quotes. */
gboolean lig_literal_is_name (const char *text);
