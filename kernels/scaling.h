/* SPDX-License-Identifier: MIT */
/* Dynamic loss scaling, for every backend (as PyTorch's GradScaler). fp16 gradients are multiplied
 * by a factor so that small ones do not underflow; if one of them overflows, the update is skipped
 * and the factor is halved. */
#pragma once

#include "kernels/formulas.h"
#include <ligature/loss-scaling.h>

/* Updates the state given the norm `length` of the scaled gradients; adapts the scale if it is
 * `dynamic`. Called by one thread, once per update. Returns the norm of the unscaled gradients. */
LIG_FORMULA float
lig_scaling_take_norm (LigScaling *scaling, float length, bool dynamic)
{
  float norm = length / scaling->carried;
  bool finite = norm - norm == 0;
  scaling->norm = norm;
  scaling->consecutive_skipped = finite ? 0 : scaling->consecutive_skipped + 1;
  scaling->skipped += finite ? 0 : 1;
  scaling->good = finite ? scaling->good + 1 : 0;
  if (!dynamic)
    return norm;
  if (!finite && scaling->scale > LIG_MIN_SCALE)
    scaling->scale *= 0.5f;
  if (scaling->good >= LIG_SCALE_INTERVAL) {
    scaling->good = 0;
    if (scaling->scale < LIG_MAX_SCALE)
      scaling->scale *= 2;
  }
  return norm;
}

/* Returns the number of updates that were not skipped, including this one, which is update `step`
 * of the run. It determines the bias correction of adamw's moments. */
LIG_FORMULA uint64_t
lig_scaling_count (const LigScaling *scaling, uint64_t step)
{
  float count = scaling ? scaling->skipped : 0;
  uint64_t skipped = count > 0 && count < 0x1p63f ? (uint64_t) count : 0;
  return step > skipped ? step - skipped : 1;
}
