/* SPDX-License-Identifier: MIT */
/* One scale per tensor, from its current amax (TransformerEngine's Float8CurrentScaling). */
#include "engine/recipes/define.h"

static const LigParam params[] = {
  LIG_RECIPE_POWERS (FALSE),
  LIG_RECIPE_FORMAT,
  LIG_RECIPE_FAST (0),
  {.name = NULL},
};

LIG_DEFINE_RECIPE (fp8_current) = {
  .name = "fp8-current",
  .title = N_ ("fp8-current"),
  .help = N_ ("One scale per tensor, from its current amax"),
  .params = params,
  .capability = 89,
  .multiple = 16,
  .bits = 8,
};
