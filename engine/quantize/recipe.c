/* SPDX-License-Identifier: MIT */
/* Finds the recipe of each matmul, decides whether the matmul can follow it, and places the
 * histories of its quantizers in the state. */
#include "engine/device/device-private.h"
#include "engine/graph/op.h"
#include "engine/quantize/quantizers.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

gboolean
lig_recipe_choose (LigRequest *request, GError **error)
{
  const char *text =
    request->options.recipe ? request->options.recipe : lig_sequence_get_recipe (request->sequence);
  if (!text)
    return TRUE;
  if (!lig_recipe_parse (&request->recipe, text, error))
    return lig_error_set_setting (error, "recipe");
  return !request->recipe.info ||
         lig_recipe_check_on (request->device, &request->recipe, FALSE, error);
}

const LigRecipe *
lig_recipe_of_op (LigGraph *graph, LigOp *op, const LigRecipe *around, GError **error)
{
  g_autofree char *name = NULL;
  LigRecipe recipe;
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (op), "recipe");
  /* The options disable quantization for all ops. */
  if (graph->request->options.recipe && !graph->request->recipe.info)
    return NULL;
  if (!spec || G_PARAM_SPEC_VALUE_TYPE (spec) != G_TYPE_STRING)
    return around;
  g_object_get (op, "recipe", &name, NULL);
  if (!name || g_str_equal (name, "inherit"))
    return around;
  if (!lig_recipe_parse (&recipe, name, error) || !recipe.info)
    return NULL;
  /* If both name the same recipe, the sequence's has the parameters. */
  if (graph->request->recipe.info == recipe.info)
    return &graph->request->recipe;
  for (guint i = 0; i < graph->recipes->len; i++)
    if (((const LigRecipe *) graph->recipes->pdata[i])->info == recipe.info)
      return graph->recipes->pdata[i];
  if (!lig_recipe_check_on (graph->request->device, &recipe, TRUE, error))
    return NULL;
  g_ptr_array_add (graph->recipes, g_memdup2 (&recipe, sizeof recipe));
  return graph->recipes->pdata[graph->recipes->len - 1];
}

/* --- The matmuls that follow their recipe --------------------------------------------------- */

/* Returns a sentence about a dimension of a matmul that is not a multiple of its recipe's blocks,
 * or null. Matmuls of groups of rows may have any number of rows. */
static const char *
find_rejection (LigGraph *graph, const LigPart *part)
{
  gboolean grouped = part->plan.info->flags & LIG_OP_GROUPED;
  const LigShape *x = &lig_value (graph, part->x)->shape;
  gint64 columns = lig_shape_columns (x), rows = lig_shape_size (x) / MAX (columns, 1);
  gint64 outputs = lig_shape_columns (&lig_value (graph, part->y)->shape);
  const struct {
    const char *side;
    gint64 length;
  } sides[] = {{N_ ("rows"), grouped ? 0 : rows},
               {N_ ("input features"), columns},
               {N_ ("output features"), outputs}};
  gint64 multiple = part->recipe->info->multiple;
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    if (sides[i].length % multiple != 0) {
      g_autofree char *text =
        g_strdup_printf (_ ("%" PRId64 " %s, %s needs a multiple of %" PRId64), sides[i].length,
                         _ (sides[i].side), part->recipe->info->name, multiple);
      return g_string_chunk_insert_const (graph->strings, text);
    }
  return NULL;
}

/* Returns a sentence if matmuls of groups of rows cannot follow the recipe, else null. */
static const char *
reject_groups (LigGraph *graph, const LigPart *part)
{
  const LigRecipeInfo *info = part->recipe->info;
  if (!lig_part_rejects_recipe (part))
    return NULL;
  g_autofree char *text = g_strdup_printf (
    _ ("matmuls of groups of rows cannot follow %s; choose %s"), info->name, LIG_RECIPES_OF_GROUPS);
  return g_string_chunk_insert_const (graph->strings, text);
}

void
lig_decide_quantized (LigGraph *graph)
{
  for (int i = 0; i < (int) graph->parts->len; i++) {
    LigPart *part = lig_part (graph, i);
    if (!part->recipe || !lig_part_is_matmul (part))
      continue;
    part->plan.unquantized = reject_groups (graph, part);
    if (!part->plan.unquantized)
      part->plan.unquantized = find_rejection (graph, part);
    if (!part->plan.unquantized)
      part->plan.unquantized = lig_find_joint (graph, i);
    part->calibrating = graph->request->options.calibrating;
  }
}

/* --- Histories -------------------------------------------------------------------------------- */

static void
add_histories (LigGraph *graph, LigPart *part)
{
  part->histories = (int) graph->layout->histories->len;
  for (LigMatmulRole role = 0; role < LIG_N_ROLES; role++) {
    LigHistory history = {
      .path = g_strdup (part->plan.prefix),
      .role = role,
      .recipe = *part->recipe,
      .length = part->recipe->params.history + 1,
      .offset = graph->layout->history_elements,
    };
    graph->layout->history_elements += history.length;
    g_array_append_val (graph->layout->histories, history);
  }
}

gboolean
lig_place_histories (LigGraph *graph, GError **error)
{
  /* Grouped by recipe, so that one launch updates all histories of a recipe. */
  for (int n = -1; n < (int) graph->recipes->len; n++) {
    const LigRecipe *recipe = n < 0 ? &graph->request->recipe : graph->recipes->pdata[n];
    for (int i = 0; recipe->info && recipe->info->has_history && i < (int) graph->parts->len; i++)
      if (lig_part (graph, i)->recipe == recipe &&
          lig_part (graph, i)->plan.info->flags & LIG_OP_MATMUL)
        add_histories (graph, lig_part (graph, i));
  }
  if (graph->layout->history_elements < G_MAXINT32)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
               _ ("the histories of recipe %s take more than 2^31 numbers; shorten them"),
               g_array_index (graph->layout->histories, LigHistory, 0).recipe.info->name);
  return lig_error_set_setting (error, "recipe");
}
