/* SPDX-License-Identifier: MIT */
/* Recipes for the operands of matmuls. */
#pragma once

#include <ligature/recipe.h>

G_BEGIN_DECLS

/* Returns `input`, `weight` or `gradient`, as in the names of a checkpoint. */
const char *lig_matmul_role_name (LigMatmulRole role);

/* Returns whether a parameter of the recipe's table has its default. */
gboolean lig_recipe_has_default (const LigRecipe *self, const LigParam *param);

/* Returns the type of the operand's quantized copies by a recipe that is not none. */
LigDtype lig_recipe_dtype (const LigRecipe *self, LigMatmulRole role);

G_END_DECLS
