/* SPDX-License-Identifier: MIT */
/* For authors of macros: the parts that a macro expands to. */
#pragma once

#include <ligature/op.h>

G_BEGIN_DECLS

/**
 * lig_parts_add: (skip)
 * @self: the parts that `expand` was given
 * @name: (nullable): lower-case letters, digits, `-` or `_` after a letter
 * @op: (transfer full) (nullable): a new basic op, block or macro; %NULL if it could not be made,
 *   which becomes a compile error
 *
 * Adds the next part of a macro, called from its `expand`. The parameters of a named part have
 * paths like `3.qkv.weight`, those of an unnamed part like `3.weight`; if two parts share a
 * parameter's path, compiling fails with an error that names both. Channels between the parts are
 * local to the macro; `../NAME` is the channel NAME of the list that contains the macro.
 */
LIG_API void lig_parts_add (LigParts *self, const char *name, LigOp *op);

/**
 * lig_parts_add_scaled: (skip)
 * @self: the parts that `expand` was given
 * @name: (nullable): as for lig_parts_add()
 * @op: (transfer full) (nullable): a new basic op, %NULL as for lig_parts_add()
 * @param: the name of an integer parameter of the op, "out-features"
 * @multiple: a factor from 1
 * @divisor: a divisor from 1
 *
 * Adds the next part of a macro like lig_parts_add(), with a size that depends on the features of
 * the macro's input, which are not yet known when `expand` is called: once they are, @param is set
 * to @multiple / @divisor times the length of the input's last axis. A length that @divisor does
 * not divide evenly is a compile error.
 */
LIG_API void lig_parts_add_scaled (
  LigParts *self, const char *name, LigOp *op, const char *param, gint64 multiple, gint64 divisor);

/**
 * lig_parts_share_parameters: (skip)
 * @self: the parts that `expand` was given
 * @name: (nullable): the name of an earlier part, or %NULL for that of a part without a name
 *
 * Lets the part that was added last use the trained parameters of an earlier part instead of its
 * own. Both have the same parameters, in the same order.
 */
LIG_API void lig_parts_share_parameters (LigParts *self, const char *name);

/**
 * lig_parts_reject: (skip)
 * @self: the parts that `expand` was given
 * @format: a printf() format of a sentence without a full stop that names the parameters and gives
 *   both values @...: its arguments
 *
 * Rejects an invalid combination of a macro's parameters: compiling the sequence fails with this
 * sentence after `NAME at PATH: `. The first of several calls counts.
 */
LIG_API void lig_parts_reject (LigParts *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/**
 * lig_parts_check_sharding: (skip)
 * @self: the parts that `expand` was given
 * @name: the name of a parameter
 * @count: its value
 *
 * Rejects the parameter, like lig_parts_reject(), if its value is not divisible by the number of
 * ranks of a tensor group. When a macro is expanded in a sequence, no ranks are known yet and
 * nothing is rejected.
 */
LIG_API void lig_parts_check_sharding (LigParts *self, const char *name, gint64 count);

/**
 * lig_parts_get_n_ranks: (skip)
 * @self: the parts that `expand` was given
 * @group: a group of ranks
 *
 * Returns: the number of ranks in the group, for macros whose parts depend on whether there are
 *   several; 2 when the macro is expanded in a sequence
 */
LIG_API int lig_parts_get_n_ranks (const LigParts *self, LigRankGroup group);

/**
 * lig_parts_on_gpu: (skip)
 * @self: the parts that `expand` was given
 *
 * Returns: whether the parts are for a GPU, for macros whose parts differ there
 */
LIG_API gboolean lig_parts_on_gpu (const LigParts *self);

/**
 * lig_parts_nth: (skip)
 * @self: the parts that `collect` was given
 * @n: a number from 0
 * @name: (out) (optional) (nullable): the part's name
 *
 * Returns: (transfer none) (nullable): the part; %NULL after the last
 */
LIG_API LigOp *lig_parts_nth (const LigParts *self, guint n, const char **name);

/**
 * lig_parts_replace: (skip)
 * @self: the parts that `collect` was given
 * @n: the number of a part
 * @op: (transfer full) (nullable): an op; %NULL removes the part
 *
 * Replaces a part, which keeps its name.
 */
LIG_API void lig_parts_replace (LigParts *self, guint n, LigOp *op);

/**
 * lig_parts_shards_vocabulary: (skip)
 * @self: the parts that `expand` was given
 *
 * Returns: whether a tensor group shards the out-features of a macro that does not choose a
 *   sharding itself: it is the matmul before a cross-entropy, and all ops that share its weight can
 *   shard the vocabulary
 */
LIG_API gboolean lig_parts_shards_vocabulary (const LigParts *self);

/**
 * lig_op_name_params: (skip)
 * @self: a part
 * @macro: the macro
 * @names: (nullable): the parameters that the part gets from the macro, separated by spaces: a name
 *   that both have, or the macro's and the part's, `rotary-base=base`
 *
 * Sets the names by which errors of the part call its parameters: those that the user has given to
 * the macro. Other parameters have the same name in both.
 */
LIG_API void lig_op_name_params (LigOp *self, LigOp *macro, const char *names);

/**
 * lig_op_count_parts:
 * @self: an op
 *
 * Returns: the number of parts that a macro expands to, with nested macros counted once; 1 for
 *   other ops
 */
LIG_API guint lig_op_count_parts (LigOp *self);

G_END_DECLS
