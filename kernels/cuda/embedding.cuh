/* SPDX-License-Identifier: MIT */
/* The check of the position kernels. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"
#include "kernels/positions.h"
#include <ligature/params-positions.h>

namespace lig
{
/* Returns the number of positions of a row of the batch; 0 if it has rejected the launch. */
inline LigPositionParams
positions_of (LigLaunch *launch, const LigOperand *rows_of, const LigOperand *weight)
{
  const LigPositionParams *params = (const LigPositionParams *) launch->params;
  LigPositionParams p = {rows (weight), 0, 0};
  if (params)
    p = *params;
  if (p.length >= 1 && p.length * (p.ranks > 1 ? p.ranks : 1) <= rows (weight) &&
      rows (rows_of) % p.length == 0)
    return p;
  (void) LIG_FAIL (
    launch, LIG_FAILED,
    "position-embedding: the positions do not fit the rows or the table; correct them");
  return LigPositionParams{};
}
} /* namespace lig */
