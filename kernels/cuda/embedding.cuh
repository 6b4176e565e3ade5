/* SPDX-License-Identifier: MIT */
/* The check that the kernels of positions share. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"

namespace lig
{
/* Returns the number of positions of a row of the batch; 0 after it refused the launch. */
inline int64_t
positions_of (LigLaunch *launch, const LigOperand *rows_of, const LigOperand *weight)
{
  const LigPositionParams *params = (const LigPositionParams *) launch->params;
  int64_t length = params ? params->length : rows (weight);
  if (length >= 1 && length <= rows (weight) && rows (rows_of) % length == 0)
    return length;
  (void) LIG_FAIL (
    launch, LIG_FAILED,
    "position-embedding: the positions do not fit the rows or the table; correct them");
  return 0;
}
} /* namespace lig */
