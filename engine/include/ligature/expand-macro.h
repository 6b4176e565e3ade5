/* SPDX-License-Identifier: MIT */
/* Macros expanded: their parts in their place, so that each can be edited. */
#pragma once

#include <ligature/sequence.h>

G_BEGIN_DECLS

/**
 * lig_op_count_ops:
 * @self: an op
 *
 * Returns: the number of ops that a plan has for a macro, whose parts may be macros, too; a block
 *   among them counts once; 1 for other ops
 */
LIG_API guint lig_op_count_ops (LigOp *self);

/**
 * lig_sequence_expand_macro:
 * @self: a sequence, or the body of a block
 * @index: the place of a macro; negative numbers count from the end
 * @features: the length of the last axis of the macro's input, as its first op has it in a plan; 0
 *   if it is not known, which is an error where a part depends on it
 *
 * Replaces a macro by its parts, in their order, so that the sequence computes the same and each
 * part can be edited. Parts that are macros stay whole, and a matmul and its bias become a
 * `linear`. A channel of the macro gets another name where its name is taken. The parameters keep
 * their order, and get the paths of their new ops. The fence is the first part's; fusions that are
 * forbidden or forced at the macro are so at its parts, which are frozen if it is. Ties to a macro
 * or to a part of it name the new ops. The parts of a macro that sets `recompute` itself are in a
 * block that is repeated once and sets the same.
 *
 * Returns: %FALSE with an error set, and the sequence unchanged
 */
LIG_API gboolean lig_sequence_expand_macro (LigSequence *self,
                                            int index,
                                            gint64 features,
                                            GError **error);

G_END_DECLS
