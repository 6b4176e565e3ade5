/* SPDX-License-Identifier: MIT */
/* Finds the recipe of each product, decides whether the product can follow it, and places the
 * histories of its quantizers in the state. */
#include "engine/compile/quantizers.h"

#include "engine/device/device-private.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* Checks that a device computes with a recipe, which is an op's own or that of the options. On a
 * processor those of 8 bits are emulated. */
static gboolean
check_device (LigDevice *on, const LigRecipe *recipe, gboolean own, GError **error)
{
  const LigDeviceFacts *facts = lig_device_get_facts (on);
  const LigRecipeInfo *info = recipe->info;
  const char *device = lig_device_get_name (on);
  gboolean emulated = facts->capability == 0 && !info->described;
  gboolean computes = facts->capability >= info->capability &&
                      (!info->described || lig_device_has (on, LIG_DEVICE_DESCRIBED));
  if (emulated || computes)
    return TRUE;
  const char *remedy =
    own ? _ ("set its parameter recipe to another one") : _ ("choose another one");
  if (facts->capability == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("recipe %s is planned for GPUs of compute capability %d.%d and up, not for %s; "
                    "%s"),
                 info->name, info->capability / 10, info->capability % 10, device, remedy);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("recipe %s needs compute capability %d.%d, %s has %d.%d; %s"), info->name,
                 info->capability / 10, info->capability % 10, device, facts->capability / 10,
                 facts->capability % 10, remedy);
  return own ? FALSE : lig_error_set_setting (error, "recipe");
}

gboolean
lig_recipe_check_device (const char *recipe, LigDevice *device, GError **error)
{
  LigRecipe parsed;
  g_return_val_if_fail (recipe && LIG_IS_DEVICE (device), FALSE);
  if (!lig_recipe_parse (&parsed, recipe, error))
    return FALSE;
  return !parsed.info || check_device (device, &parsed, FALSE, error);
}

gboolean
lig_recipe_choose (LigDraft *draft, GError **error)
{
  const char *text =
    draft->options.recipe ? draft->options.recipe : lig_sequence_get_recipe (draft->sequence);
  if (!text)
    return TRUE;
  if (!lig_recipe_parse (&draft->recipe, text, error))
    return lig_error_set_setting (error, "recipe");
  return !draft->recipe.info || check_device (draft->device, &draft->recipe, FALSE, error);
}

const LigRecipe *
lig_recipe_of_op (LigDraft *draft, LigOp *op, const LigRecipe *around, GError **error)
{
  g_autofree char *name = NULL;
  LigRecipe recipe;
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (op), "recipe");
  /* The options say that nothing is quantized, whatever ops say. */
  if (draft->options.recipe && !draft->recipe.info)
    return NULL;
  if (!spec || G_PARAM_SPEC_VALUE_TYPE (spec) != G_TYPE_STRING)
    return around;
  g_object_get (op, "recipe", &name, NULL);
  if (!name || g_str_equal (name, "inherit"))
    return around;
  if (!lig_recipe_parse (&recipe, name, error) || !recipe.info)
    return NULL;
  /* Of two recipes with one name, the sequence's has the parameters. */
  if (draft->recipe.info == recipe.info)
    return &draft->recipe;
  for (guint i = 0; i < draft->recipes->len; i++)
    if (((const LigRecipe *) draft->recipes->pdata[i])->info == recipe.info)
      return draft->recipes->pdata[i];
  if (!check_device (draft->device, &recipe, TRUE, error))
    return NULL;
  g_ptr_array_add (draft->recipes, g_memdup2 (&recipe, sizeof recipe));
  return draft->recipes->pdata[draft->recipes->len - 1];
}

/* --- The products that follow their recipe --------------------------------------------------- */

gboolean
lig_part_is_product (const LigPart *part)
{
  return g_str_equal (part->info->name, "basic-linear");
}

gboolean
lig_part_is_quantized (const LigPart *part)
{
  return part->recipe && lig_part_is_product (part) && !part->unquantized && !part->calibrating;
}

/* Returns a sentence about a side of a product that its recipe does not divide, or null. */
static const char *
find_refusal (LigDraft *draft, const LigPart *part)
{
  const LigShape *x = &lig_value (draft, part->x)->shape;
  gint64 columns = lig_shape_columns (x), rows = lig_shape_size (x) / MAX (columns, 1);
  gint64 outputs = lig_shape_columns (&lig_value (draft, part->y)->shape);
  const struct {
    const char *side;
    gint64 length;
  } sides[] = {
    {N_ ("rows"), rows}, {N_ ("input features"), columns}, {N_ ("output features"), outputs}};
  gint64 multiple = part->recipe->info->multiple;
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    if (sides[i].length % multiple != 0) {
      g_autofree char *text =
        g_strdup_printf (_ ("%" PRId64 " %s, %s needs a multiple of %" PRId64), sides[i].length,
                         _ (sides[i].side), part->recipe->info->name, multiple);
      return g_string_chunk_insert_const (draft->strings, text);
    }
  return NULL;
}

void
lig_decide_quantized (LigDraft *draft)
{
  for (int i = 0; i < (int) draft->parts->len; i++) {
    LigPart *part = lig_part (draft, i);
    if (!part->recipe || !lig_part_is_product (part))
      continue;
    part->unquantized = find_refusal (draft, part);
    if (!part->unquantized)
      part->unquantized = lig_find_joint (draft, i);
    part->calibrating = draft->options.calibrating;
  }
}

/* --- Histories -------------------------------------------------------------------------------- */

static void
add_histories (LigDraft *draft, LigPart *part)
{
  part->histories = (int) draft->histories->len;
  for (LigProductRole role = 0; role < LIG_N_ROLES; role++) {
    LigHistory history = {
      .path = g_strdup (part->prefix),
      .role = role,
      .recipe = part->recipe,
      .length = part->recipe->params.history + 1,
      .offset = draft->history_elements,
    };
    draft->history_elements += history.length;
    g_array_append_val (draft->histories, history);
  }
}

gboolean
lig_place_histories (LigDraft *draft, GError **error)
{
  /* Recipe by recipe, so that one launch serves all of one recipe. */
  for (int n = -1; n < (int) draft->recipes->len; n++) {
    const LigRecipe *recipe = n < 0 ? &draft->recipe : draft->recipes->pdata[n];
    for (int i = 0; recipe->info && recipe->info->has_history && i < (int) draft->parts->len; i++)
      if (lig_part (draft, i)->recipe == recipe && lig_part_is_product (lig_part (draft, i)))
        add_histories (draft, lig_part (draft, i));
  }
  if (draft->history_elements < G_MAXINT32)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
               _ ("the histories of recipe %s take more than 2^31 numbers; shorten them"),
               g_array_index (draft->histories, LigHistory, 0).recipe->info->name);
  return lig_error_set_setting (error, "recipe");
}
