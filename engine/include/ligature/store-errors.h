/* SPDX-License-Identifier: MIT */
/* The errors of recipes in the store. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * LigRecipeErrorRow:
 * @run: the uuid of the recipe's profile
 * @comparison: the identifier that all profiles of one comparison share
 * @recipe: the recipe, a text for lig_recipe_parse()
 * @ops: the errors of its ops, a JSON array
 * @output: the relative error of the output of the sequence
 * @gradient: the relative error of all gradients of parameters together
 * @bytes: the bytes of a training by this recipe, 0 if they are unknown
 *
 * The errors of one recipe. lig_profile_get_errors() reads them whole.
 */
typedef struct {
  char *run, *comparison, *recipe, *ops;
  double output, gradient;
  gint64 bytes;
} LigRecipeErrorRow;

/**
 * lig_store_put_errors:
 * @self: a store
 * @row: the errors of a recipe, copied; they replace those that the run has
 *
 * Stores the errors of a recipe. As in all tables, an error that is not a number becomes NULL.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_put_errors (LigStore *self,
                                       const LigRecipeErrorRow *row,
                                       GError **error);

/**
 * lig_store_get_errors:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer full) (element-type LigRecipeErrorRow): the errors of all recipes that were
 *   compared with this run, its own among them, in the order of the comparison; empty for a run of
 *   no comparison; %NULL with an error set
 */
LIG_API GPtrArray *lig_store_get_errors (LigStore *self, const char *run, GError **error);

/**
 * lig_recipe_error_row_free: (skip)
 * @row: (nullable) (transfer full): a row
 */
LIG_API void lig_recipe_error_row_free (LigRecipeErrorRow *row);

G_END_DECLS
