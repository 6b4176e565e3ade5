/* SPDX-License-Identifier: MIT */
/* The part of the Profile page that compares recipes: the progress, a table with a row for each
 * recipe, and the error heat map. It is visible while recipes are compared and while there are
 * results.
 *
 * Actions: recipes.run compares the same recipes again, recipes.cancel, recipes.forget. */
#pragma once

#include "ui/profile/comparing.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_RECIPE_SECTION (lig_recipe_section_get_type ())
G_DECLARE_FINAL_TYPE (LigRecipeSection, lig_recipe_section, LIG, RECIPE_SECTION, GtkBox)

GtkWidget *lig_recipe_section_new (LigDocument *document);

G_END_DECLS
