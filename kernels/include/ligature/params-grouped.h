/* SPDX-License-Identifier: MIT */
/* Parameters of grouped matmuls that compute more than the matmul. See <ligature/params.h> for the
 * rules of all parameters. */
#pragma once

#include <ligature/params-experts.h>
#include <ligature/params-gated.h>

/**
 * LigGroupedGatedParams:
 * @grouped: the parameters of the grouped matmul
 * @gated: those of the gated unit
 * @unit: the number of the gated unit, a LigGatedNumber of functions.h
 *
 * Parameters of grouped_linear_gated and grouped_gated_backward_input.
 */
typedef struct {
  LigGroupedParams grouped;
  LigGatedParams gated;
  int32_t unit;
} LigGroupedGatedParams;
