/* SPDX-License-Identifier: MIT */
/* Registering the ops, fusions and kernels of embedding programs. */
#pragma once

#include <ligature/fusion.h>

/* Compiles the example of the op, which may be known to this thread alone so far. */
gboolean lig_op_info_try (const LigOpInfo *info, GError **error);

/* A copy of a table at the size that this library knows: what it lacks is zero. It is never freed
 * once registered. Null with the error set where its size is none. */
LigFusion *lig_fusion_complete (const LigFusion *fusion, GError **error);

/* Whether the table is whole and its parts fit each other; the sentence names the fusion. Nothing
 * of it is called. The ops of its pattern are registered already. */
gboolean lig_fusion_check (const LigFusion *fusion, GError **error);

/* The kernel at the size that this library knows, checked at its first use; null with the error set
 * (`kernel …`) where it is faulty. */
const LigKernel *lig_kernel_adopt (const LigKernel *kernel, GError **error);
