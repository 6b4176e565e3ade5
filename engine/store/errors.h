/* SPDX-License-Identifier: MIT */
/* The errors of recipes in the store. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/* The errors of one recipe; lig_profile_get_errors() reads all of them. */
typedef struct {
  char *run;        /* the uuid of the recipe's profile */
  char *comparison; /* the identifier that all profiles of one comparison share */
  char *recipe;     /* a text for lig_recipe_parse() */
  char *ops;        /* the errors of its ops, a JSON array */
  double output;    /* the relative error of the output of the sequence */
  double gradient;  /* the relative error of all gradients of parameters together */
  gint64 bytes;     /* of a training run with this recipe, 0 if unknown */
} LigRecipeErrorRow;

/* Stores the errors of a recipe, replacing those of the run. As in all tables, an error that is not
 * a number becomes NULL. */
gboolean lig_store_put_errors (LigStore *self, const LigRecipeErrorRow *row, GError **error);

/* Returns (transfer full) (element-type LigRecipeErrorRow) the errors of all recipes that were
 * compared with this run, including its own, in the order of the comparison; empty for a run
 * without a comparison; NULL with LIG_ERROR_STORE set. */
GPtrArray *lig_store_get_errors (LigStore *self, const char *run, GError **error);

G_END_DECLS
