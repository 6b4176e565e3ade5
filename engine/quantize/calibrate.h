/* SPDX-License-Identifier: MIT */
/* The amaxes that a plan records for recipes whose matmuls it computes in the compute type. */
#pragma once

#include "engine/graph/graph.h"

/* Finds the operands whose amaxes are recorded. */
void lig_calibrate_matmuls (LigGraph *graph);

/* The most values that are equal to an operand. */
#define LIG_MAX_CALIBRATED 8

/* Lists the values that are equal to an operand, and returns their number: not all gradients that a
 * bias passes on have memory where fusions leave it to others. */
int lig_calibration_list (const LigGraph *graph,
                          const LigCalibration *calibration,
                          int values[LIG_MAX_CALIBRATED]);

/* Adds the steps that record those of a group's matmuls in the pass: inputs, or gradients; without
 * a group those of weights, which depend on parameters alone. */
void lig_schedule_calibration (LigGraph *graph, const LigPlanGroup *group, LigPass pass);
