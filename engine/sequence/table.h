/* SPDX-License-Identifier: MIT */
/* The tables that embedding programs fill: bringing them to the size that this library knows,
 * checking those of ops, and keeping registrations and compilations apart. */
#pragma once

#include <ligature/op.h>

/* The params of a kernel, at most. */
#define LIG_MAX_KERNEL_PARAMS 64

/* Names of ops and fusions, and of ports, at most: bytes. */
#define LIG_LONGEST_NAME 60
#define LIG_LONGEST_PORT 31

/* Whether a struct has at least the fields without which there is no such table. `remedy` is the
 * thing to set: `LIG_OP_INFO_SIZES`. */
gboolean lig_table_check_size (
  const char *what, const char *remedy, gsize size, gsize least, int code, GError **error);

/* A copy of a table whose struct, like those of its arrays, has the size given in it: what it lacks
 * is zero. It is never freed once registered. Null with the error set where a size is none. */
LigOpInfo *lig_op_info_complete (const LigOpInfo *info, GError **error);
void lig_op_info_free (LigOpInfo *info);

/* Whether the table is whole and its parts fit each other; the sentence names the op. Nothing of
 * it is called. */
gboolean lig_op_info_check (const LigOpInfo *info, GError **error);

/* Whether what is called like that has that port, for forward or backward. */
gboolean lig_op_info_has_port (const LigOpInfo *info, const char *port);

/* Checks a table of that size, makes a class of it, and makes the op known to this thread alone
 * until lig_op_info_decide() makes it known to all or, where it was not accepted, to nobody. FALSE
 * where the table is faulty or its name taken: then there is nothing to decide. */
gboolean lig_op_info_propose (const LigOpInfo *info, GError **error);
void lig_op_info_decide (gboolean accepted);

/* Returns the kernel of that name, built in or registered; null without one. */
const LigKernel *lig_kernel_named (const char *name);

/* Makes a kernel, which stays for ever, known by its name; FALSE where the name is taken. Only
 * while the registry is open. */
gboolean lig_kernel_name (const LigKernel *kernel, GError **error);

/* Held while a compilation reads the registries; a thread may hold them several times. */
void lig_registry_hold (void);
void lig_registry_release (void);

/* Held while something is registered: no other thread compiles meanwhile. False, with the error
 * set, in a thread that compiles, which would wait for itself. `what`: `an op`. */
gboolean lig_registry_open (const char *what, int code, GError **error);
void lig_registry_close (void);
