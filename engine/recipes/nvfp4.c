/* SPDX-License-Identifier: MIT */
/* Values of 4 bits, two in a byte, with one scale of 8 bits for each 16 of a row and one of 32 bits
 * for the whole (TransformerEngine's NVFP4BlockScaling). Its scales of weights are equal in squares
 * of 16, gradients are rounded at random, and blocks of transposed copies of activations and
 * gradients are rotated before by a Hadamard transform; none of that changes the forms or the bytes
 * that a plan has. */
#include "engine/recipes/define.h"

static const LigParam params[] = {
  {.name = NULL},
};

LIG_DEFINE_RECIPE (nvfp4) = {
  .name = "nvfp4",
  .title = N_ ("NV fp4"),
  .help = N_ ("One e4m3 scale for each 16 values of a row, in squares for weights, and one for the "
              "tensor; stochastic rounding and Hadamard transform of gradients; planned for "
              "described GPUs alone"),
  .params = params,
  .row = LIG_FOR_ALL (LIG_SCALES_NV),
  .transposed = LIG_FOR_ALL (LIG_SCALES_NV),
  .capability = 100,
  .multiple = 16,
  .described = TRUE,
  .bits = 4,
};
