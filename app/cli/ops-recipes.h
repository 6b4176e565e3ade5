/* SPDX-License-Identifier: MIT */
/* `lig ops`: the recipes, which quantize the operands of matmuls. */
#pragma once

#include "app/cli/command.h"
#include <ligature/recipe.h>

/* Prints the name and the summary of each recipe; summaries begin at a column. */
void lig_ops_print_recipes (int column);

/* Prints a recipe: the devices and sizes that it needs, and its parameters. */
void lig_ops_show_recipe (const LigRecipeInfo *info);

/* Adds a recipe as an object. */
void lig_ops_add_recipe (JsonBuilder *to, const LigRecipeInfo *info);
