/* SPDX-License-Identifier: MIT */
/* The tables that embedding programs fill: adapting them to this library's struct sizes, checking
 * those of ops, and preventing registrations during compilations. */
#pragma once

#include "engine/sequence/table-size.h"
#include <ligature/op.h>

typedef struct LigKernel LigKernel;

/* The maximum lengths of the names of ops and fusions, and of ports, in bytes. */
#define LIG_LONGEST_NAME 60
#define LIG_LONGEST_PORT 31

/* Returns a copy of a table whose struct and arrays have the sizes given in it: missing fields are
 * zero. It is never freed once registered. Null with the error set if a size is too small. */
LigOpInfo *lig_op_info_complete (const LigOpInfo *info, GError **error);
void lig_op_info_free (LigOpInfo *info);

/* Returns whether the table is complete and consistent; the error names the op. Calls none of the
 * table's functions. */
gboolean lig_op_info_check (const LigOpInfo *info, GError **error);

/* Returns whether the names and the default of a LIG_PARAM_CHOICE are valid. */
gboolean lig_choices_check (const LigOpInfo *info, const LigParam *param, GError **error);

/* Returns whether the groups of an op's parameters name parameters of the op, each at most once. */
gboolean lig_op_groups_check (const LigOpInfo *info, GError **error);

/* Returns whether the op has a port of this name, in its forward or backward pass. */
gboolean lig_op_info_has_port (const LigOpInfo *info, const char *port);

/* Checks a table of that size, makes a class from it, and makes the op visible only to this thread
 * until lig_op_info_decide() makes it visible to all threads or, if it was not accepted, to none.
 * FALSE if the table is invalid or its name is taken: then lig_op_info_decide() must not be
 * called. */
gboolean lig_op_info_propose (const LigOpInfo *info, GError **error);
void lig_op_info_decide (gboolean accepted);

/* Returns the built-in or registered kernel of that name, or null. */
const LigKernel *lig_kernel_named (const char *name);

/* Registers a kernel, which is never freed, by its name; FALSE if the name is taken. May be called
 * only between lig_registry_open() and lig_registry_close(). */
gboolean lig_kernel_name (const LigKernel *kernel, GError **error);
