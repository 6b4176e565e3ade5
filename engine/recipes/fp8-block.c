/* SPDX-License-Identifier: MIT */
/* One scale per 128 values of activations and gradients, and per 128x128 block of weights
 * (TransformerEngine's Float8BlockScaling). */
#include "engine/recipes/define.h"

static const LigParam params[] = {
  LIG_RECIPE_POWERS (TRUE),
  {.name = NULL},
};

LIG_DEFINE_RECIPE (fp8_block) = {
  .name = "fp8-block",
  .title = N_ ("fp8-block"),
  .help = N_ ("One scale per 128 values of a row, and per 128x128 block of a weight"),
  .params = params,
  .row = {LIG_SCALES_BLOCK, LIG_SCALES_TILE, LIG_SCALES_BLOCK},
  .transposed = {LIG_SCALES_BLOCK, LIG_SCALES_TILE, LIG_SCALES_BLOCK},
  .capability = 90,
  .multiple = 16,
  .bits = 8,
};
