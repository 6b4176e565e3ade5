/* SPDX-License-Identifier: MIT */
/* Sentences about quantized matmuls. */
#pragma once

#include <ligature/plan.h>

/* Returns a translated sentence if the weight gradient of a quantized matmul is computed in the
 * compute type; else null. */
char *lig_explain_weight_gradient (LigPlan *plan, const LigPlanOp *op);
