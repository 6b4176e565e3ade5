/* SPDX-License-Identifier: MIT */
/* The tables that embedding programs fill: bringing them to the size that this library knows,
 * checking them when they are registered, and keeping registrations and compilations apart. */
#pragma once

#include <ligature/fusion.h>
#include <ligature/plan.h>

/* The params of a kernel, at most. */
#define LIG_MAX_KERNEL_PARAMS 64

/* Names of ops and fusions, and of ports, at most: bytes. */
#define LIG_LONGEST_NAME 60
#define LIG_LONGEST_PORT 31

/* A copy of a table whose struct, like those of its arrays, has the size given in it: what it lacks
 * is zero. It is never freed once registered. Null with the error set where a size is none. */
LigOpInfo *lig_op_info_complete (const LigOpInfo *info, GError **error);
void lig_op_info_free (LigOpInfo *info);
LigFusion *lig_fusion_complete (const LigFusion *fusion, GError **error);

/* Whether the table is whole and its parts fit each other; the sentence names the op or fusion.
 * Nothing of it is called. The ops of a fusion's pattern are registered already. */
gboolean lig_op_info_check (const LigOpInfo *info, GError **error);
gboolean lig_fusion_check (const LigFusion *fusion, GError **error);

/* Whether what is called like that has that port, for forward or backward. */
gboolean lig_op_info_has_port (const LigOpInfo *info, const char *port);

/* Compiles the example of the op, which is known to this thread alone so far. */
gboolean lig_op_info_try (const LigOpInfo *info, GError **error);

/* The kernel at the size that this library knows, checked at its first use; null with the error set
 * (`kernel …`) where it is faulty. */
const LigKernel *lig_kernel_adopt (const LigKernel *kernel, GError **error);

/* The kernel of that name, built in or registered; null without one. */
const LigKernel *lig_kernel_named (const char *name);

/* Options at the size that this library knows: what they lack, or all where they are null, has its
 * default. */
gboolean
lig_plan_options_read (const LigPlanOptions *options, LigPlanOptions *whole, GError **error);

/* Held while a compilation reads the registries; a thread may hold them several times. */
void lig_registry_hold (void);
void lig_registry_release (void);

/* Held while something is registered: no other thread compiles meanwhile. False, with the error
 * set, in a thread that compiles, which would wait for itself. `what`: `an op`. */
gboolean lig_registry_open (const char *what, int code, GError **error);
void lig_registry_close (void);
