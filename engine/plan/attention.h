/* SPDX-License-Identifier: MIT */
/* The choices between cuDNN and the built-in kernels of attention in a plan. */
#pragma once

#include "engine/plan/plan-private.h"

/* Takes over the choices for the steps of attention that the plan's tuning has, so that the plan
 * can name them. */
void lig_attention_recall (const LigPlan *plan);
