/* SPDX-License-Identifier: MIT */
#include "app/cli/ops-recipes.h"

#include "app/cli/ops-params.h"
#include "app/cli/ops-print.h"

#include <stdio.h>

void
lig_ops_print_recipes (int column)
{
  const LigRecipeInfo *info;
  for (guint i = 0; (info = lig_recipe_info_nth (i)); i++)
    lig_ops_print_entry (info->name, column, info->help);
}

void
lig_ops_add_recipe (JsonBuilder *to, const LigRecipeInfo *info)
{
  json_builder_begin_object (to);
  lig_json_add_text (to, "recipe", info->name);
  lig_json_add_text (to, "title", info->title);
  lig_json_add_text (to, "summary", info->help);
  lig_json_add_integer (to, "bits", info->bits);
  lig_json_add_number (to, "capability", info->capability / 10.0);
  lig_json_add_integer (to, "multiple", info->multiple);
  lig_json_add_truth (to, "described", info->described);
  lig_json_add_truth (to, "history", info->has_history);
  lig_json_begin_array (to, "params");
  for (const LigParam *param = info->params; param && param->name; param++)
    lig_ops_add_param (to, param, NULL);
  json_builder_end_array (to);
  json_builder_end_object (to);
}

static void
print_text (const LigRecipeInfo *info)
{
  g_autoptr (GArray) params = g_array_new (FALSE, FALSE, sizeof (LigOpsParam));
  for (const LigParam *param = info->params; param && param->name; param++) {
    const LigOpsParam one = {param, NULL};
    g_array_append_val (params, one);
  }
  lig_ops_print_title (info->name, info->help);
  lig_ops_print_line ("bits", g_strdup_printf ("%d per element", info->bits));
  lig_ops_print_line ("devices",
                      g_strdup_printf (info->described
                                         ? "described GPUs of compute capability %d.%d or higher"
                                         : "the CPU; GPUs of compute capability %d.%d or higher",
                                       info->capability / 10, info->capability % 10));
  lig_ops_print_line (
    "sizes", g_strdup_printf ("M, N and K must be multiples of %" G_GINT64_FORMAT, info->multiple));
  lig_ops_print_line ("state", g_strdup (info->has_history ? "scales and amax histories" : "none"));
  lig_ops_print_params ((const LigOpsParam *) params->data, params->len);
  printf ("\nExample:\n  lig plan 'linear(64)' --input 64x64 --device null:%s --recipe %s\n",
          info->described ? "b200" : "h200", info->name);
}

void
lig_ops_show_recipe (const LigRecipeInfo *info)
{
  if (!lig_cli_json ()) {
    print_text (info);
    return;
  }
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  lig_ops_add_recipe (builder, info);
  lig_cli_print_document ("recipe", json_builder_get_root (builder));
}
