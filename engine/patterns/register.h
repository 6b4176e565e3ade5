/* SPDX-License-Identifier: MIT */
/* Registers the ops, fusions and kernels of embedding programs. */
#pragma once

#include <ligature/fusion.h>

/* Returns a copy of a table with the size that this library knows; missing fields are zero. A
 * registered copy is never freed. Null with the error set if the size is invalid. */
LigFusion *lig_fusion_complete (const LigFusion *fusion, GError **error);

/* Returns whether the table is complete and consistent; the error names the fusion. Calls none of
 * the table's functions. The ops of its pattern must already be registered. */
gboolean lig_fusion_check (const LigFusion *fusion, GError **error);

/* Returns the kernel with the size that this library knows, checked at its first use; null with the
 * error set (`kernel …`) if it is invalid. */
const LigKernel *lig_kernel_adopt (const LigKernel *kernel, GError **error);
