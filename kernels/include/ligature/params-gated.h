/* SPDX-License-Identifier: MIT */
/* Parameters of the gated units. See <ligature/params.h> for the rules of all parameters. */
#pragma once

/**
 * LigClampedParams:
 * @limit: the maximum of the gate, and the maximum magnitude of the linear half; default 7
 * @alpha: the factor of the gate inside the sigmoid; default 1.702
 * @offset: the number added to the clamped linear half; default 1
 *
 * Parameters of clamped_swiglu and its backward and fused variants.
 */
typedef struct {
  float limit;
  float alpha;
  float offset;
} LigClampedParams;
