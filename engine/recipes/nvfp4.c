/* SPDX-License-Identifier: MIT */
/* 4-bit values, two per byte, with an 8-bit scale per 16 values of a row and a 32-bit scale per
 * tensor (TransformerEngine's NVFP4BlockScaling). Weights have one scale per 16x16 block, gradients
 * are rounded stochastically, and blocks of the transposed copies of activations and gradients
 * first get a Hadamard transform; none of this changes the forms or bytes in a plan. */
#include "engine/recipes/define.h"

static const LigParam params[] = {
  {.name = NULL},
};

LIG_DEFINE_RECIPE (nvfp4) = {
  .name = "nvfp4",
  .title = N_ ("NVFP4"),
  .help = N_ ("One e4m3 scale per 16 values of a row, per 16x16 block of a weight, and one "
              "scale per tensor; stochastic rounding and Hadamard transform of gradients; can be "
              "planned for described devices, but not run"),
  .params = params,
  .row = LIG_FOR_ALL (LIG_SCALES_NV),
  .transposed = LIG_FOR_ALL (LIG_SCALES_NV),
  .capability = 100,
  .multiple = 16,
  .described = TRUE,
  .bits = 4,
};
