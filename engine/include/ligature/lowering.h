/* SPDX-License-Identifier: MIT */
/* The calls of the compiler for the tables of ops and fusions: how they become kernels, how a macro
 * becomes parts, and how an embedding program registers an op.
 *
 * Threads: lowering and parts belong to the thread that compiles and are valid only within the
 * call of the table's function. */
#pragma once

#include <ligature/op.h>

G_BEGIN_DECLS

/* --- Lowering: how an op or a fusion becomes kernels ---------------------------------------- */

/* Emits one kernel. `bindings` names the port for each operand whose name differs, like
 * "a=dy b=dextra y=dx"; in a fusion every operand needs one, "x=0.x weight=0.weight y=2.y", the
 * number being the pattern's element, `-` alone for none. Ports that are absent or not wanted give
 * absent operands; a kernel none of whose outputs is wanted is not emitted. `params` (at most 64
 * bytes) is copied; null takes the op's own (in a fusion: none). */
LIG_API void lig_lower_kernel (LigLowering *self,
                               const char *kernel,
                               const char *bindings,
                               const void *params,
                               gsize params_size);

/* The same with a kernel of the embedding program. */
LIG_API void lig_lower_custom (LigLowering *self,
                               const LigKernel *kernel,
                               const char *bindings,
                               const void *params,
                               gsize params_size);

/* Makes `to` another name of `from`: no bytes move. */
LIG_API void lig_lower_alias (LigLowering *self, const char *to, const char *from);

/* Whether the port exists here: an optional element that matched, a gradient that arrives or is
 * wanted, a value that somebody reads. */
LIG_API gboolean lig_lower_has (LigLowering *self, const char *port);

/* In a fusion: the params of element `index`, null where an optional element is missing. */
LIG_API const void *lig_lower_params (LigLowering *self, int index);

/* Bytes of the kernel params at the start of that struct. */
LIG_API gsize lig_lower_params_size (LigLowering *self, int index);

/* In a fusion: the name of the op that matched element `index`, null where it is missing. */
LIG_API const char *lig_lower_op (LigLowering *self, int index);

/* True in a plan that keeps what backward needs; dropout is identity elsewhere. */
LIG_API gboolean lig_lower_is_training (LigLowering *self);

/* --- Macros ------------------------------------------------------------------------------- */

/**
 * lig_parts_add:
 * @name: (nullable): lower-case letters, digits, `-` or `_` after a letter
 * @op: (transfer full) (nullable): a new op: a basic one, a block or another macro; null where it
 *   could not be made, which is an error when the sequence is compiled
 *
 * Adds the next part of a macro, in its `expand`. Parameters of a part with a name are called
 * `3.qkv.weight`, of one without `3.weight`; where two parts would share a parameter's path,
 * compiling fails with a sentence that names both. Channels among the parts are the macro's own;
 * `../NAME` is the channel NAME where the macro stands.
 */
LIG_API void lig_parts_add (LigParts *self, const char *name, LigOp *op);

/* How many parts a macro is taken apart into, those that are macros counted once; 1 for other ops.
 */
LIG_API guint lig_op_count_parts (LigOp *self);

/* --- Registering -------------------------------------------------------------------------- */

/**
 * lig_register_kernel: (skip)
 * @kernel: valid and unchanged for ever
 *
 * Makes a kernel of the embedding program known by its name, so that the tables of ops may name it
 * as `forward` and `backward`, and lig_lower_kernel() takes it. Call it before the ops that name
 * it are registered. May be called from any thread, like lig_register_op().
 *
 * Returns: %FALSE with %LIG_ERROR_OP set, a sentence that names the kernel and the fault: a name
 *   that is taken, a signature that cannot be read, no function for any backend
 */
LIG_API gboolean lig_register_kernel (const LigKernel *kernel, GError **error);

/**
 * lig_register_op:
 * @info: a table; its strings and functions stay valid for ever, the structs are copied
 *
 * Makes an op known to sequences, files and expressions. Call it before any use of its name; there
 * is no way back. The whole table is checked: names, ranges, ports, what backward saves, the
 * operands of the kernels; and its example is compiled for `null`, with and without a backward
 * pass, so its functions are called.
 *
 * Any thread may register at any time: it waits until compilations that have begun are through, and
 * those that begin wait for it. From within a compilation, that is, from a function of a table, it
 * is an error.
 *
 * Returns: %FALSE with %LIG_ERROR_OP set, a sentence that names the op and what is wrong: a name
 *   that is taken, or a table that is not whole
 */
LIG_API gboolean lig_register_op (const LigOpInfo *info, GError **error);

G_END_DECLS
