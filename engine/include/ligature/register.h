/* SPDX-License-Identifier: MIT */
/* Registering custom ops. */
#pragma once

#include <ligature/op.h>

G_BEGIN_DECLS

/**
 * lig_register_op:
 * @info: a table; its strings and functions must stay valid until the process ends, the structs are
 *   copied
 *
 * Registers an op, so that sequences, files and expressions may use it. It must be registered
 * before its name is used, and cannot be removed. The whole table is checked: names, ranges, ports,
 * saved values and the operands of the kernels. Its example is compiled for `null`, with and
 * without a backward pass, which calls the table's functions.
 *
 * Any thread may register at any time: the call waits for the compilations in progress, and new
 * ones wait for the call. Calling it during a compilation on the same thread, from a function of a
 * table, is an error.
 *
 * Returns: %FALSE with %LIG_ERROR_OP set, a sentence that names the op and the fault: the name is
 *   taken, or the table is incomplete or inconsistent
 */
LIG_API gboolean lig_register_op (const LigOpInfo *info, GError **error);

G_END_DECLS
