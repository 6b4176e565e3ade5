/* SPDX-License-Identifier: MIT */
/* How updates take note of a norm, for every backend: GradScaler's rule. Gradients in fp16 are
 * multiplied beforehand so that small ones are not lost; where one of them overflows, nothing is
 * updated and the scale halves. */
#pragma once

#include "kernels/formulas.h"
#include <ligature/params.h>

/* By one thread, once an update: `length` is the norm of the gradients as they are. The norm
 * without what they carry. */
LIG_FORMULA float
lig_scaling_take_norm (LigScaling *scaling, float length, bool dynamic)
{
  float norm = length / scaling->carried;
  bool finite = norm - norm == 0;
  scaling->norm = norm;
  scaling->row = finite ? 0 : scaling->row + 1;
  scaling->skipped += finite ? 0 : 1;
  scaling->good = finite ? scaling->good + 1 : 0;
  if (!dynamic)
    return norm;
  if (!finite && scaling->scale > LIG_LEAST_SCALE)
    scaling->scale *= 0.5f;
  if (scaling->good >= LIG_SCALE_INTERVAL) {
    scaling->good = 0;
    if (scaling->scale < LIG_MOST_SCALE)
      scaling->scale *= 2;
  }
  return norm;
}

/* Updates that wrote something, up to and with this one, which is update `step` of the run: by
 * which moments are corrected. */
LIG_FORMULA uint64_t
lig_scaling_count (const LigScaling *scaling, uint64_t step)
{
  float count = scaling ? scaling->skipped : 0;
  uint64_t skipped = count > 0 && count < 0x1p63f ? (uint64_t) count : 0;
  return step > skipped ? step - skipped : 1;
}
