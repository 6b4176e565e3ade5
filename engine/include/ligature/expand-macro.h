/* SPDX-License-Identifier: MIT */
/* Expanding macros: replacing a macro by its parts, so that each can be edited. */
#pragma once

#include <ligature/sequence.h>

G_BEGIN_DECLS

/**
 * lig_op_count_ops:
 * @self: an op
 *
 * Returns: the number of ops that a macro expands to in a plan, with nested macros expanded and
 *   each block counted once; 1 for other ops
 */
LIG_API guint lig_op_count_ops (LigOp *self);

/**
 * lig_sequence_expand_macro:
 * @self: a sequence, or the body of a block
 * @index: the index of a macro; negative numbers count from the end
 * @features: the length of the last axis of the macro's input, taken from its first op in a plan; 0
 *   if it is not known, which is an error if a part depends on it
 *
 * Replaces a macro by its parts, in order, so that the sequence computes the same and each part can
 * be edited. Parts that are macros are kept, and a matmul and its bias become a `linear`. A channel
 * of the macro is renamed if its name is taken. The parameters keep their order, and get the paths
 * of their new ops. A fence before the macro moves to its first part; fusions that are forbidden or
 * forced at the macro apply to its parts, which are frozen if it is. Ties to a macro or to a part
 * of it are redirected to the new ops. If the macro itself sets `recompute`, its parts are put in a
 * block that is repeated once and has the same setting.
 *
 * Returns: %FALSE with an error set, and the sequence unchanged
 */
LIG_API gboolean lig_sequence_expand_macro (LigSequence *self,
                                            int index,
                                            gint64 features,
                                            GError **error);

G_END_DECLS
