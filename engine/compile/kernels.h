/* SPDX-License-Identifier: MIT */
/* Whether the device has the kernels of steps, for the types that these have. */
#pragma once

#include "engine/compile/lower.h"

/* The type that a kernel has to serve: that of its first floating operand. */
LigDtype lig_served_dtype (const LigDraft *draft, const LigDraftStep *step);

/* The first kernel among the steps from `first` on that the device lacks, with the type that it
 * would have to serve, or null. Callbacks are nobody's kernels. */
const LigKernel *
lig_find_missing_kernel (const LigDraft *draft, const GArray *steps, guint first, LigDtype *dtype);

/* FALSE, with the error naming op, kernel and what it lacks, where one of the steps from `first` on
 * cannot run. */
gboolean lig_check_kernels (
  const LigDraft *draft, const LigGroup *group, const GArray *steps, guint first, GError **error);

/* The same for every op alone, in both passes: `measured` times them all. */
gboolean lig_check_single_ops (LigDraft *draft, GError **error);
