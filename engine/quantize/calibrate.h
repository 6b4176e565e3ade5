/* SPDX-License-Identifier: MIT */
/* The amaxes that a plan records for recipes whose matmuls it computes in the compute type. */
#pragma once

#include "engine/graph/graph.h"

/* Finds the operands whose amaxes are recorded. */
void lig_calibrate_matmuls (LigGraph *graph);

/* The maximum number of values that are equal to an operand. */
#define LIG_MAX_CALIBRATED 8

/* Lists the values that are equal to an operand, and returns their number: with fusions, not all
 * gradients that a bias passes on have memory. */
int lig_calibration_list (const LigGraph *graph,
                          const LigCalibration *calibration,
                          int values[LIG_MAX_CALIBRATED]);

/* Adds the steps that record the amaxes of a group's matmuls in the pass: of inputs or of
 * gradients; without a group, those of weights, which depend only on parameters. */
void lig_schedule_calibration (LigGraph *graph, const LigPlanGroup *group, LigPass pass);
