/* SPDX-License-Identifier: MIT */
/* One scale for each row of inputs and gradients, and for each row and each column of weights. The
 * matmuls of weight gradients have one scale for each tensor, because rows are what they sum
 * over. */
#include "engine/recipes/define.h"

static const LigParam params[] = {
  LIG_RECIPE_POWERS (FALSE),
  LIG_RECIPE_FORMAT,
  LIG_RECIPE_FAST (0),
  {.name = NULL},
};

LIG_DEFINE_RECIPE (fp8_rows) = {
  .name = "fp8-rows",
  .title = N_ ("fp8, rows"),
  .help = N_ ("One scale for each row of activations and gradients, and for each output and each "
              "input of a weight"),
  .params = params,
  .row = LIG_FOR_ALL (LIG_SCALES_ROW),
  .transposed = {[LIG_ROLE_WEIGHT] = LIG_SCALES_ROW},
  .capability = 90,
  .multiple = 16,
  .bits = 8,
};
