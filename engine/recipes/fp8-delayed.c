/* SPDX-License-Identifier: MIT */
/* One scale per tensor, from the amax history of earlier steps (TransformerEngine's
 * DelayedScaling). */
#include "engine/recipes/define.h"

static const LigParam params[] = {
  LIG_INT (LigRecipeParams,
           history,
           "history",
           N_ ("History"),
           N_ ("Length of the amax history in steps"),
           1,
           65536,
           1024,
           0),
  LIG_CHOICE (LigRecipeParams,
              amax,
              "amax",
              N_ ("Amax"),
              N_ ("max: the largest amax of the history; most-recent: the last one"),
              "max|most-recent",
              0),
  LIG_INT (LigRecipeParams,
           margin,
           "margin",
           N_ ("Margin"),
           N_ ("Power of two by which scales stay below the largest possible value"),
           -32,
           32,
           0,
           0),
  LIG_RECIPE_FORMAT,
  LIG_RECIPE_FAST (0),
  {.name = NULL},
};

LIG_DEFINE_RECIPE (fp8_delayed) = {
  .name = "fp8-delayed",
  .title = N_ ("fp8-delayed"),
  .help = N_ ("One scale per tensor, from the amax history of earlier steps"),
  .params = params,
  .capability = 89,
  .multiple = 16,
  .has_history = TRUE,
  .bits = 8,
};
