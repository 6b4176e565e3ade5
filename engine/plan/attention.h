/* SPDX-License-Identifier: MIT */
/* The choices between cuDNN and the built-in attention kernels in a plan. */
#pragma once

#include "engine/plan/plan-private.h"

/* Loads the choices for attention steps from the plan's tuning, so that the plan can report
 * them. */
void lig_attention_recall (const LigPlan *plan);
