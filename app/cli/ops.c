/* SPDX-License-Identifier: MIT */
/* lig ops: lists ops and recipes, describes one or a fusion, or searches all of them. */
#include "app/cli/command.h"
#include "app/cli/ops-fusions.h"
#include "app/cli/ops-op.h"
#include "app/cli/ops-print.h"
#include "app/cli/ops-recipes.h"
#include "app/cli/ops-search.h"

#include <stdio.h>
#include <string.h>

static int run (int argc, char **argv);

LIG_COMMAND (ops) = {
  .name = "ops",
  .usage = "[OP|FUSION|RECIPE|WORD…]",
  .summary = "Lists ops and recipes; describes one, or a fusion; or searches them",
  .example = "lig ops layer-norm",
  .run = run,
  .pages = TRUE,
};

/* Prints one op per line below its category. The ops of a category may be scattered in the
 * registry. */
static void
print_all (void)
{
  const LigOpInfo *info, *before, *other;
  const char *bold = lig_cli_colour () ? "\033[1m" : "",
             *plain = lig_cli_colour () ? "\033[0m" : "";
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    gboolean seen = FALSE;
    for (guint j = 0; j < i && (before = lig_op_info_nth (j)); j++)
      seen |= strcmp (before->category, info->category) == 0;
    if (seen)
      continue;
    printf ("%s%s%s%s\n", i > 0 ? "\n" : "", bold, info->category, plain);
    for (guint j = i; (other = lig_op_info_nth (j)); j++)
      if (strcmp (other->category, info->category) == 0)
        lig_ops_print_entry (other->name, 22, other->summary);
  }
  printf ("\n%sRecipes%s\n", bold, plain);
  lig_ops_print_recipes (22);
}

/* Describes the op, the fusion or the recipe of exactly that name, else searches. */
static int
show (char **words)
{
  gboolean single = !words[1];
  const LigOpInfo *info = single ? lig_op_info_find (words[0]) : NULL;
  const LigFusion *fusion = single ? lig_fusion_find (words[0]) : NULL;
  const LigRecipeInfo *recipe = single ? lig_recipe_info_find (words[0], NULL) : NULL;
  if (info)
    lig_ops_show (info);
  else if (fusion)
    lig_ops_show_fusion (fusion);
  else if (recipe)
    lig_ops_show_recipe (recipe);
  else
    return lig_ops_search (words);
  return LIG_EXIT_OK;
}

static int
run (int argc, char **argv)
{
  const LigOpInfo *info;
  if (!lig_cli_parse (&lig_command_ops, NULL, &argc, &argv, 0, 4))
    return LIG_EXIT_USAGE;
  if (argc > 1)
    return show (argv + 1);
  if (!lig_cli_json ()) {
    print_all ();
    return LIG_EXIT_OK;
  }
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_array (builder);
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    lig_ops_add (builder, info);
  json_builder_end_array (builder);
  lig_cli_print_document ("ops", json_builder_get_root (builder));
  return LIG_EXIT_OK;
}
