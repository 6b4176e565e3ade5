/* SPDX-License-Identifier: MIT */
/* The classes of logits: of all ranks, and of a rank's part without the padding. Plain C, shared by
 * all backends. */
#pragma once

#include "kernels/formulas.h"
#include <ligature/params-loss.h>

/* Returns the number of classes of all ranks, of which this one has logits of `columns`. */
LIG_FORMULA int64_t
lig_count_classes (const LigCrossEntropyParams *params, int64_t columns)
{
  if (params->classes > 0)
    return params->classes;
  return params->part.count > 0 ? params->part.count : columns;
}

/* Returns how many of `columns` logits, whose first class is `first`, are not padding. */
LIG_FORMULA int64_t
lig_shown_classes (const LigCrossEntropyParams *params, int64_t first, int64_t columns)
{
  int64_t shown = params->classes > 0 ? params->classes - first : columns;
  return shown < 0 ? 0 : shown < columns ? shown : columns;
}
