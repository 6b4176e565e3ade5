/* SPDX-License-Identifier: MIT */
/* The choice of the document's recipe. */
#include "ui/run/recipe-choice.h"

#include "ui/document/edit.h"
#include "ui/widgets/tooltip.h"
#include <ligature/recipe.h>

#include <glib/gi18n.h>

/* Returns the recipe of the document; its table is null for none. */
static LigRecipe
get_recipe (LigDocument *doc)
{
  LigRecipe recipe = {NULL};
  const char *text = lig_sequence_get_recipe (lig_document_get_sequence (doc));
  if (text)
    lig_recipe_parse (&recipe, text, NULL);
  return recipe;
}

/* Returns the position of a recipe in the list, after `none`. */
static guint
find_place (const LigRecipeInfo *info)
{
  for (guint i = 0; lig_recipe_info_nth (i); i++)
    if (lig_recipe_info_nth (i) == info)
      return i + 1;
  return 0;
}

/* Shows the document's recipe; the tooltip has its description and the parameters that differ from
 * their defaults. */
static void
show_recipe (GtkDropDown *choice, LigDocument *doc)
{
  LigRecipe recipe = get_recipe (doc);
  g_autofree char *text = lig_recipe_format (&recipe);
  g_autofree char *tooltip = recipe.info ? g_strdup_printf ("%s\n%s", text, _ (recipe.info->help))
                                         : g_strdup (_ ("Quantization of matmul operands: none"));
  if (gtk_drop_down_get_selected (choice) != find_place (recipe.info))
    gtk_drop_down_set_selected (choice, find_place (recipe.info));
  lig_tooltip_set (GTK_WIDGET (choice), tooltip);
}

static void
recipe_chosen (GtkDropDown *choice, GParamSpec *spec, LigDocument *doc)
{
  guint chosen = gtk_drop_down_get_selected (choice);
  LigRecipe recipe = get_recipe (doc);
  const LigRecipeInfo *info = chosen > 0 ? lig_recipe_info_nth (chosen - 1) : NULL;
  if (chosen != GTK_INVALID_LIST_POSITION && info != recipe.info)
    lig_edit_set_recipe (doc, info ? info->name : NULL);
}

void
lig_recipe_choice_set_up (GtkDropDown *choice, LigDocument *doc)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  gtk_string_list_append (names, _ ("No recipe"));
  for (guint i = 0; lig_recipe_info_nth (i); i++)
    gtk_string_list_append (names, _ (lig_recipe_info_nth (i)->title));
  gtk_drop_down_set_model (choice, G_LIST_MODEL (names));
  show_recipe (choice, doc);
  g_signal_connect_object (choice, "notify::selected", G_CALLBACK (recipe_chosen), doc, 0);
  g_signal_connect_object (doc, "changed", G_CALLBACK (show_recipe), choice, G_CONNECT_SWAPPED);
}
