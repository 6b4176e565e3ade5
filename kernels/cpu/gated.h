/* SPDX-License-Identifier: MIT */
/* The formulas of gated units and the defaults of their parameters. */
#pragma once

#include "kernels/cpu/cpu.h"
#include "kernels/gated-formulas.h"
#include <ligature/params-gated.h>

/* Returns a launch's parameters, or the defaults. */
static inline LigGatedParams
lig_gated_params (const void *params)
{
  static const LigGatedParams defaults = {
    .limit = 7, .alpha = 1.702f, .offset = 1, .beta1 = 4, .beta2 = 25};
  return params ? *(const LigGatedParams *) params : defaults;
}
