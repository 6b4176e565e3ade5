/* SPDX-License-Identifier: MIT */
/* One scale per row of inputs and gradients, and per row and per column of weights. Weight-gradient
 * matmuls have one scale per tensor, because they sum over rows. */
#include "engine/recipes/define.h"

static const LigParam params[] = {
  LIG_RECIPE_POWERS (FALSE),
  LIG_RECIPE_FORMAT,
  LIG_RECIPE_FAST (0),
  {.name = NULL},
};

LIG_DEFINE_RECIPE (fp8_rows) = {
  .name = "fp8-rows",
  .title = N_ ("fp8-rows"),
  .help = N_ ("One scale per row of activations and gradients, and per output and per input "
              "channel of a weight"),
  .params = params,
  .row = LIG_FOR_ALL (LIG_SCALES_ROW),
  .transposed = {[LIG_ROLE_WEIGHT] = LIG_SCALES_ROW},
  .capability = 90,
  .multiple = 16,
  .bits = 8,
};
