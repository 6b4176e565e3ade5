/* SPDX-License-Identifier: MIT */
/* Checks that the device has the kernels of steps for their types. */
#pragma once

#include "engine/compile/lower.h"

/* Returns the type that the kernel of a step has to support: that of its first floating operand. */
LigDtype lig_served_dtype (const LigDraft *draft, const LigDraftStep *step);

/* Returns the first kernel among the steps from `first` on that the device lacks, and the type that
 * it would have to support; null for none. Steps with callbacks have no kernel and are skipped. */
const LigKernel *
lig_find_missing_kernel (const LigDraft *draft, const GArray *steps, guint first, LigDtype *dtype);

/* Checks that all steps from `first` on can run; otherwise the error names the op, the kernel and
 * the unsupported device or type. */
gboolean lig_check_kernels (
  const LigDraft *draft, const LigGroup *group, const GArray *steps, guint first, GError **error);

/* Checks every op alone, in both passes: the policy `measured` times them all. */
gboolean lig_check_single_ops (LigDraft *draft, GError **error);
