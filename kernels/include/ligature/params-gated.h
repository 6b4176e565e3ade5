/* SPDX-License-Identifier: MIT */
/* Parameters of the gated units. See <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdint.h>

/**
 * LigGatedParams:
 * @limit: clamped_swiglu: the maximum of the gate, and the maximum magnitude of the linear half;
 *   default 7
 * @alpha: clamped_swiglu: the factor of the gate inside the sigmoid; default 1.702
 * @offset: clamped_swiglu: the number added to the clamped linear half; default 1
 * @beta1: situ_glu: the bound of the gate; default 4
 * @beta2: situ_glu: the bound of the linear half; default 25
 * @interleave: the length of the blocks in which the two halves of a row alternate: a row is
 *   `interleave` columns of the gate, equally many of the linear half, and so on; it divides the
 * number of columns of a half; default 0: all of the gate, then all of the linear half
 *
 * Parameters of the gated units, their gradients and their fused and scaled variants. Kernels with
 * a bias do not support @interleave.
 */
typedef struct {
  float limit;
  float alpha;
  float offset;
  float beta1;
  float beta2;
  int64_t interleave;
} LigGatedParams;
