/* SPDX-License-Identifier: MIT */
/* The positions on which ops depend. */
#pragma once

#include <ligature/plan-tables.h>

/* Returns the positions of x on which a position of y depends, and the reason if it depends on
 * later ones. */
LigPositions lig_plan_op_positions (const LigPlanOp *op, const char **reason);
