/* SPDX-License-Identifier: MIT */
/* Checks that the device has the kernels of steps for their types. */
#pragma once

#include "engine/lower/lower.h"

/* Returns the first kernel among the steps from `first` on that the device lacks, and the type that
 * it would have to support; null for none. Steps with callbacks have no kernel and are skipped. */
const LigKernel *
lig_find_missing_kernel (const LigGraph *graph, const GArray *steps, guint first, LigDtype *dtype);

/* Checks that all steps from `first` on can run; otherwise the error names the op, the kernel and
 * the unsupported device or type. */
gboolean lig_check_kernels (const LigGraph *graph,
                            const LigPlanGroup *group,
                            const GArray *steps,
                            guint first,
                            GError **error);

/* Checks every op unfused, in both passes: the policy `measured` times them all. */
gboolean lig_check_single_ops (LigGraph *graph, GError **error);
