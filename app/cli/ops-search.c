/* SPDX-License-Identifier: MIT */
/* `lig ops WORD` searches the names and summaries of ops, fusions and recipes; if that finds
 * nothing, the names and choices of parameters. */
#include "app/cli/ops-search.h"

#include "app/cli/fail.h"
#include "app/cli/modes.h"
#include "app/cli/ops-fusions.h"
#include "app/cli/ops-op.h"
#include "app/cli/ops-print.h"
#include "app/cli/ops-recipes.h"
#include "app/cli/print.h"

#include <ligature/suggest.h>

#include <stdio.h>
#include <string.h>

/* Returns whether each word is in the name, the title or the summary, in any case. */
static gboolean
matches (char **words, const char *name, const char *title, const char *summary)
{
  g_autofree char *all = g_strjoin ("\n", name, title ? title : "", summary ? summary : "", NULL);
  g_autofree char *text = g_utf8_casefold (all, -1);
  for (char **word = words; *word; word++) {
    g_autofree char *part = g_utf8_casefold (*word, -1);
    if (!strstr (text, part))
      return FALSE;
  }
  return TRUE;
}

/* Returns the title of an op with the names and choices of its parameters; (transfer full). */
static char *
list_params (const LigOpInfo *info)
{
  GString *text = g_string_new (info->title);
  for (const LigParam *param = info->params; param && param->name; param++)
    g_string_append_printf (text, "\n%s %s", param->name, param->choices ? param->choices : "");
  return g_string_free (text, FALSE);
}

static GPtrArray *
find_ops (char **words, gboolean by_params)
{
  const LigOpInfo *info;
  GPtrArray *found = g_ptr_array_new ();
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    g_autofree char *params = by_params ? list_params (info) : NULL;
    if (matches (words, info->name, params ? params : info->title, info->summary))
      g_ptr_array_add (found, (gpointer) info);
  }
  return found;
}

static GPtrArray *
find_fusions (char **words)
{
  const LigFusion *fusion;
  GPtrArray *found = g_ptr_array_new ();
  for (guint i = 0; (fusion = lig_fusion_nth (i)); i++)
    if (matches (words, fusion->name, fusion->pattern, fusion->summary))
      g_ptr_array_add (found, (gpointer) fusion);
  return found;
}

static GPtrArray *
find_recipes (char **words)
{
  const LigRecipeInfo *recipe;
  GPtrArray *found = g_ptr_array_new ();
  for (guint i = 0; (recipe = lig_recipe_info_nth (i)); i++)
    if (matches (words, recipe->name, recipe->title, recipe->help))
      g_ptr_array_add (found, (gpointer) recipe);
  return found;
}

/* Fails with the most similar name of an op, a fusion or a recipe. */
static int
fail (char **words)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *text = g_strjoinv (" ", words);
  for (guint i = 0; lig_op_info_nth (i); i++)
    g_ptr_array_add (names, (gpointer) lig_op_info_nth (i)->name);
  for (guint i = 0; lig_fusion_nth (i); i++)
    g_ptr_array_add (names, (gpointer) lig_fusion_nth (i)->name);
  for (guint i = 0; lig_recipe_info_nth (i); i++)
    g_ptr_array_add (names, (gpointer) lig_recipe_info_nth (i)->name);
  g_ptr_array_add (names, NULL);
  g_autofree char *ending = lig_suggest_ending (text, (const char *const *) names->pdata);
  return lig_cli_fail (g_error_new (
    LIG_ERROR, LIG_ERROR_OP, "no op, parameter, fusion or recipe is called '%s' or mentions it%s",
    text, *ending ? ending : "; lig ops lists them"));
}

static void
print_json (GPtrArray *ops, GPtrArray *fusions, GPtrArray *recipes)
{
  g_autoptr (JsonBuilder) to = json_builder_new ();
  json_builder_begin_object (to);
  lig_json_begin_array (to, "ops");
  for (guint i = 0; i < ops->len; i++)
    lig_ops_add (to, ops->pdata[i]);
  json_builder_end_array (to);
  lig_json_begin_array (to, "fusions");
  for (guint i = 0; i < fusions->len; i++)
    lig_ops_add_fusion (to, fusions->pdata[i]);
  json_builder_end_array (to);
  lig_json_begin_array (to, "recipes");
  for (guint i = 0; i < recipes->len; i++)
    lig_ops_add_recipe (to, recipes->pdata[i]);
  json_builder_end_array (to);
  json_builder_end_object (to);
  lig_cli_print_document ("ops-search", json_builder_get_root (to));
}

static void
print_text (GPtrArray *ops, GPtrArray *fusions, GPtrArray *recipes)
{
  if (ops->len > 0)
    printf ("Ops:\n");
  for (guint i = 0; i < ops->len; i++) {
    const LigOpInfo *info = ops->pdata[i];
    lig_ops_print_entry (info->name, LIG_OPS_COLUMN, info->summary);
  }
  if (fusions->len > 0)
    printf ("%sFusions:\n", ops->len > 0 ? "\n" : "");
  for (guint i = 0; i < fusions->len; i++) {
    const LigFusion *fusion = fusions->pdata[i];
    lig_ops_print_entry (fusion->name, LIG_OPS_COLUMN, fusion->summary);
  }
  if (recipes->len > 0)
    printf ("%sRecipes:\n", ops->len + fusions->len > 0 ? "\n" : "");
  for (guint i = 0; i < recipes->len; i++) {
    const LigRecipeInfo *recipe = recipes->pdata[i];
    lig_ops_print_entry (recipe->name, LIG_OPS_COLUMN, recipe->help);
  }
  printf ("\nlig ops NAME describes one of them.\n");
}

int
lig_ops_search (char **words)
{
  g_autoptr (GPtrArray) ops = find_ops (words, FALSE);
  g_autoptr (GPtrArray) fusions = find_fusions (words);
  g_autoptr (GPtrArray) recipes = find_recipes (words);
  const guint others = fusions->len + recipes->len;
  if (ops->len + others == 0) {
    g_ptr_array_unref (ops);
    ops = find_ops (words, TRUE);
  }
  if (ops->len + others == 0)
    return fail (words);
  if (lig_cli_json ())
    print_json (ops, fusions, recipes);
  else
    print_text (ops, fusions, recipes);
  return LIG_EXIT_OK;
}
