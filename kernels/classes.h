/* SPDX-License-Identifier: MIT */
/* The classes of sharded, padded logits: of all ranks, and of one rank without the padding. Plain
 * C, shared by all backends. */
#pragma once

#include "kernels/formulas.h"
#include <ligature/params-loss.h>

/* Returns the number of classes of all ranks; this rank has `columns` logits per row. */
LIG_FORMULA int64_t
lig_count_classes (const LigCrossEntropyParams *params, int64_t columns)
{
  if (params->classes > 0)
    return params->classes;
  return params->part.count > 0 ? params->part.count : columns;
}

/* Returns how many of the `columns` logits from class `first` on are not padding. */
LIG_FORMULA int64_t
lig_shown_classes (const LigCrossEntropyParams *params, int64_t first, int64_t columns)
{
  int64_t shown = params->classes > 0 ? params->classes - first : columns;
  return shown < 0 ? 0 : shown < columns ? shown : columns;
}
