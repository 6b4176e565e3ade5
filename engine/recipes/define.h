/* SPDX-License-Identifier: MIT */
/* Included by the files of engine/recipes, each of which defines one table. */
#pragma once

#include <ligature/recipe.h>

#define N_(text) text

/* Begins the table of a recipe: LIG_DEFINE_RECIPE (fp8_current) = { … }; the name is that of the
 * file, with `_`. */
#define LIG_DEFINE_RECIPE(name) \
  extern const LigRecipeInfo lig_recipe_##name; \
  const LigRecipeInfo lig_recipe_##name

#define LIG_RECIPE_FORMAT \
  LIG_CHOICE (LigRecipeParams, format, "format", N_ ("Format"), \
              N_ ("hybrid: e4m3, and e5m2 with its larger range for gradients; e4m3: for all"), \
              "hybrid|e4m3", 0)

#define LIG_RECIPE_FAST(initial) \
  LIG_CHOICE (LigRecipeParams, fast, "fast-accumulation", N_ ("Fast accumulation"), \
              N_ ("Matmuls that may accumulate with fewer bits than fp32 where that is " \
                  "faster"), \
              "forward|none|all", initial)

#define LIG_RECIPE_POWERS(initial) \
  LIG_BOOLEAN (LigRecipeParams, powers, "power-of-two", N_ ("Powers of two"), \
               N_ ("Rounds scales down to powers of two"), initial)

/* All operands with the same scales. */
#define LIG_FOR_ALL(scales) \
  { \
    scales, scales, scales \
  }
