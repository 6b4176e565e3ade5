/* SPDX-License-Identifier: MIT */
/* Recipes: how the operands of matmuls are quantized. Each recipe is described by a table, which
 * defines its parameters, its formats and scales, and the devices that support it.
 *
 * The formulas are those of TransformerEngine's recipes (common/recipe), the formats those of the
 * OCP 8-bit and microscaling specifications (2023).
 *
 * Threads: tables are constant; any thread may read them. */
#pragma once

#include <ligature/op.h>
#include <ligature/scales.h>

G_BEGIN_DECLS

/**
 * LigMatmulRole:
 * @LIG_ROLE_INPUT: the input of a matmul
 * @LIG_ROLE_WEIGHT: its weight
 * @LIG_ROLE_GRADIENT: the gradient of its output
 * @LIG_N_ROLES: their number
 *
 * The operands of a matmul that a recipe quantizes.
 */
typedef enum { LIG_ROLE_INPUT, LIG_ROLE_WEIGHT, LIG_ROLE_GRADIENT, LIG_N_ROLES } LigMatmulRole;

/* The number of roles, for array lengths: bindings cannot use enumerators there. */
#define LIG_MATMUL_ROLES 3
#ifndef __GI_SCANNER__
G_STATIC_ASSERT (LIG_MATMUL_ROLES == LIG_N_ROLES);
#endif

/**
 * LigRecipeParams:
 * @history: the number of steps whose amaxes determine a scale, including the current one
 * @margin: the exponent of the power of two by which scales are below the largest possible ones
 * @amax: 0: the maximum of the amax history; 1: the most recent amax
 * @format: 0: e4m3, e5m2 for gradients; 1: e4m3
 * @fast: the matmuls that may accumulate with fewer bits: 0: those of the forward pass; 1: none; 2:
 * all
 * @powers: whether scales are powers of two
 *
 * The values of all recipes' parameters; each recipe has some of them.
 */
typedef struct {
  gint64 history, margin;
  gint32 amax, format, fast;
  bool powers;
} LigRecipeParams;

/**
 * LigRecipeInfo:
 * @name: kebab-case, as in `--recipe fp8-current`
 * @title: the displayed name, translatable
 * @help: one sentence without a full stop, translatable
 * @params: the adjustable parameters, fields of #LigRecipeParams; ends with a null name
 * @row: by role, the #LigScales of the untransposed copy of a matrix
 * @transposed: the same for its transposed copy
 * @capability: the minimum compute capability of GPUs that support it, 89 for 8.9
 * @multiple: the number that all dimensions of a matmul must be a multiple of
 * @has_history: whether scales depend on earlier steps, so that they are part of the state
 * @described: whether it can only be planned, for described devices
 * @bits: the bits per element
 *
 * The table of a recipe.
 */
typedef struct {
  const char *name, *title, *help;
  const LigParam *params;
  LigScales row[LIG_MATMUL_ROLES], transposed[LIG_MATMUL_ROLES];
  int capability;
  gint64 multiple;
  gboolean has_history, described;
  int bits;
} LigRecipeInfo;

/**
 * LigRecipe:
 * @info: (nullable): the table; %NULL: nothing is quantized
 * @params: the values of its parameters
 *
 * A recipe with values for its parameters.
 */
typedef struct {
  const LigRecipeInfo *info;
  LigRecipeParams params;
} LigRecipe;

/**
 * lig_recipe_info_nth:
 * @n: an index from 0
 *
 * Returns: (nullable) (transfer none): the table of a recipe; %NULL after the last
 */
LIG_API const LigRecipeInfo *lig_recipe_info_nth (guint n);

/**
 * lig_recipe_info_find:
 * @name: the name of a recipe
 * @error: set to %LIG_ERROR_VALUE, naming all recipes, if the name is unknown
 *
 * Returns: (nullable) (transfer none): the table of the recipe
 */
LIG_API const LigRecipeInfo *lig_recipe_info_find (const char *name, GError **error);

/**
 * lig_recipe_init: (skip)
 * @self: (out caller-allocates): set to the defaults of the table
 * @info: (nullable): a table; %NULL: none
 */
LIG_API void lig_recipe_init (LigRecipe *self, const LigRecipeInfo *info);

/**
 * lig_recipe_set: (skip)
 * @self: a recipe
 * @param: the name of one of its parameters
 * @value: its value as text: a whole number, `true`, `false` or the name of a choice
 * @error: set to %LIG_ERROR_OP if the recipe has no such parameter, to %LIG_ERROR_VALUE if @value
 *   is not valid
 *
 * Returns: whether the parameter was set
 */
LIG_API gboolean lig_recipe_set (LigRecipe *self,
                                 const char *param,
                                 const char *value,
                                 GError **error);

/**
 * lig_recipe_get: (skip)
 * @self: a recipe
 * @param: a parameter of its table
 *
 * Returns: (transfer full): the parameter's value as text
 */
LIG_API char *lig_recipe_get (const LigRecipe *self, const LigParam *param);

/**
 * lig_recipe_parse: (skip)
 * @self: (out caller-allocates): set to the recipe
 * @text: `none`, or a name and any non-default parameters,
 *   `fp8-delayed:history=16,amax=most-recent`
 * @error: set to %LIG_ERROR_VALUE or %LIG_ERROR_OP if the text is invalid
 *
 * Returns: whether the text is a recipe
 */
LIG_API gboolean lig_recipe_parse (LigRecipe *self, const char *text, GError **error);

/**
 * lig_recipe_check:
 * @text: a text for lig_recipe_parse()
 * @error: set to %LIG_ERROR_VALUE or %LIG_ERROR_OP if it is not one
 *
 * Returns: whether the text is a recipe
 */
LIG_API gboolean lig_recipe_check (const char *text, GError **error);

/**
 * lig_recipe_split:
 * @list: recipes, separated by commas: `none,fp8-delayed:history=16,margin=1`
 *
 * Splits a list. An item like `margin=1` is a further parameter of the recipe before it.
 *
 * Returns: (transfer full): the recipes, unchecked
 */
LIG_API GStrv lig_recipe_split (const char *list) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_recipe_format: (skip)
 * @self: a recipe
 *
 * Returns: (transfer full): a text for lig_recipe_parse(), without parameters that have default
 *   values
 */
LIG_API char *lig_recipe_format (const LigRecipe *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
