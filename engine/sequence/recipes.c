/* SPDX-License-Identifier: MIT */
/* Finds the tables of recipes, and reads and writes the values of their parameters. */
#include "engine/sequence/recipes.h"

#include "engine/base/suggest.h"
#include <ligature/recipe.h>

#include <glib/gi18n-lib.h>
#include <string.h>

#define LIG_RECIPE(name) extern const LigRecipeInfo lig_recipe_##name;
#include "recipe-list.h"
#undef LIG_RECIPE

static const LigRecipeInfo *const recipes[] = {
#define LIG_RECIPE(name) &lig_recipe_##name,
#include "recipe-list.h"
#undef LIG_RECIPE
};

/* The value of `format` without e5m2, and the full name of the recipe none. */
enum { FORMAT_HYBRID };
#define NONE "none"

const char *
lig_matmul_role_name (LigMatmulRole role)
{
  static const char *const names[] = {"input", "weight", "gradient"};
  return (guint) role < G_N_ELEMENTS (names) ? names[role] : NULL;
}

const LigRecipeInfo *
lig_recipe_info_nth (guint n)
{
  return n < G_N_ELEMENTS (recipes) ? recipes[n] : NULL;
}

static const char *
get_name (guint n)
{
  return n < G_N_ELEMENTS (recipes) ? recipes[n]->name : NULL;
}

const LigRecipeInfo *
lig_recipe_info_find (const char *name, GError **error)
{
  g_autoptr (GString) names = g_string_new (NONE);
  for (guint i = 0; i < G_N_ELEMENTS (recipes); i++) {
    if (g_str_equal (recipes[i]->name, name))
      return recipes[i];
    g_string_append_printf (names, ", %s", recipes[i]->name);
  }
  g_autofree char *like = lig_suggest_nth (name, get_name);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("recipe is '%.60s', expected one of %s%s"),
               name, names->str, like);
  return NULL;
}

static void *
field (const LigRecipe *self, const LigParam *param)
{
  return (char *) &self->params + param->offset;
}

static void
put (LigRecipe *self, const LigParam *param, gint64 value)
{
  if (param->kind == LIG_PARAM_INT)
    *(gint64 *) field (self, param) = value;
  else if (param->kind == LIG_PARAM_BOOL)
    *(bool *) field (self, param) = value != 0;
  else
    *(gint32 *) field (self, param) = (gint32) value;
}

void
lig_recipe_init (LigRecipe *self, const LigRecipeInfo *info)
{
  memset (self, 0, sizeof *self);
  self->info = info;
  for (const LigParam *param = info ? info->params : NULL; param && param->name; param++)
    put (self, param, (gint64) param->initial);
}

/* Describes the values that a parameter may have. */
static char *
describe_values (const LigParam *param)
{
  if (param->kind == LIG_PARAM_BOOL)
    return g_strdup (_ ("true or false"));
  if (param->kind == LIG_PARAM_CHOICE) {
    g_auto (GStrv) names = g_strsplit (param->choices, "|", -1);
    return g_strjoinv (_ (" or "), names);
  }
  return g_strdup_printf (_ ("a whole number from %.15g to %.15g"), param->minimum, param->maximum);
}

static gboolean
read_value (const LigParam *param, const char *text, gint64 *value)
{
  if (param->kind == LIG_PARAM_BOOL) {
    *value = g_str_equal (text, "true");
    return *value || g_str_equal (text, "false");
  }
  if (param->kind == LIG_PARAM_CHOICE) {
    *value = lig_param_find_choice (param, text);
    return *value >= 0;
  }
  return g_ascii_string_to_signed (text, 10, (gint64) param->minimum, (gint64) param->maximum,
                                   value, NULL);
}

/* Returns (transfer full) the end of an error that names a similar parameter, or else all. */
static char *
suggest_param (const LigRecipe *self, const char *name)
{
  g_autofree char *like =
    self->info ? LIG_SUGGEST_FROM (name, self->info->params, LigParam) : g_strdup ("");
  if (!self->info || *like)
    return g_steal_pointer (&like);
  g_autoptr (GString) names = g_string_new (NULL);
  for (const LigParam *param = self->info->params; param->name; param++)
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", param->name);
  return names->len > 0 ? g_strdup_printf (_ ("; its parameters are %s"), names->str)
                        : g_strdup ("");
}

gboolean
lig_recipe_set (LigRecipe *self, const char *name, const char *text, GError **error)
{
  const char *recipe = self->info ? self->info->name : NONE;
  const LigParam *param = self->info ? self->info->params : NULL;
  gint64 value;
  while (param && param->name && !g_str_equal (param->name, name))
    param++;
  if (!param || !param->name) {
    g_autofree char *ending = suggest_param (self, name);
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("recipe %s has no parameter '%.60s'%s"), recipe,
                 name, ending);
    return FALSE;
  }
  if (!read_value (param, text, &value)) {
    g_autofree char *expected = describe_values (param);
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s of recipe %s is '%.60s', expected %s"),
                 name, recipe, text, expected);
    return FALSE;
  }
  put (self, param, value);
  return TRUE;
}

static gint64
get (const LigRecipe *self, const LigParam *param)
{
  return param->kind == LIG_PARAM_INT    ? *(const gint64 *) field (self, param)
         : param->kind == LIG_PARAM_BOOL ? *(const bool *) field (self, param)
                                         : *(const gint32 *) field (self, param);
}

char *
lig_recipe_get (const LigRecipe *self, const LigParam *param)
{
  gint64 value = get (self, param);
  if (param->kind == LIG_PARAM_BOOL)
    return g_strdup (value ? "true" : "false");
  if (param->kind == LIG_PARAM_CHOICE)
    return g_strdup (lig_param_get_choice (param, (int) value));
  return g_strdup_printf ("%" G_GINT64_FORMAT, value);
}

gboolean
lig_recipe_has_default (const LigRecipe *self, const LigParam *param)
{
  return get (self, param) == (gint64) param->initial;
}

/* Reads `history=16,margin=1`; each parameter is given once. */
static gboolean
read_params (LigRecipe *self, const char *name, const char *text, GError **error)
{
  g_auto (GStrv) pairs = g_strsplit (text, ",", -1);
  g_autoptr (GHashTable) given = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i == 0 || pairs[i]; i++) {
    char *pair = pairs[i] ? pairs[i] : (char *) "", *equals = strchr (pair, '=');
    if (!equals) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("recipe %s: '%.60s' is not a parameter, expected one like margin=1"), name,
                   pair);
      return FALSE;
    }
    *equals = '\0';
    if (!g_hash_table_add (given, pair)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("recipe %s: %.60s is given twice; give it once"), name, pair);
      return FALSE;
    }
    if (!lig_recipe_set (self, pair, equals + 1, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_recipe_parse (LigRecipe *self, const char *text, GError **error)
{
  g_auto (GStrv) halves = g_strsplit (text, ":", 2);
  const char *name = halves[0] ? halves[0] : "";
  gboolean none = g_str_equal (name, NONE);
  const LigRecipeInfo *info = none ? NULL : lig_recipe_info_find (name, error);
  lig_recipe_init (self, info);
  if (!info && !none)
    return FALSE;
  return !halves[0] || !halves[1] || read_params (self, name, halves[1], error);
}

GStrv
lig_recipe_split (const char *list)
{
  g_auto (GStrv) pieces = g_strsplit (list, ",", -1);
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  for (char **piece = pieces; *piece; piece++) {
    char *before = found->len > 0 ? found->pdata[found->len - 1] : NULL;
    if (before && strchr (*piece, '=') && !strchr (*piece, ':')) {
      found->pdata[found->len - 1] = g_strconcat (before, ",", *piece, NULL);
      g_free (before);
    } else
      g_ptr_array_add (found, g_strdup (*piece));
  }
  g_ptr_array_add (found, NULL);
  return (GStrv) g_ptr_array_steal (found, NULL);
}

gboolean
lig_recipe_check (const char *text, GError **error)
{
  LigRecipe recipe;
  return lig_recipe_parse (&recipe, text, error);
}

char *
lig_recipe_format (const LigRecipe *self)
{
  GString *text = g_string_new (self->info ? self->info->name : NONE);
  char separator = ':';
  for (const LigParam *param = self->info ? self->info->params : NULL; param && param->name;
       param++) {
    if (lig_recipe_has_default (self, param))
      continue;
    g_autofree char *value = lig_recipe_get (self, param);
    g_string_append_printf (text, "%c%s=%s", separator, param->name, value);
    separator = ',';
  }
  return g_string_free (text, FALSE);
}

LigDtype
lig_recipe_dtype (const LigRecipe *self, LigMatmulRole role)
{
  gboolean hybrid = FALSE;
  for (const LigParam *param = self->info->params; param->name; param++)
    hybrid |= g_str_equal (param->name, "format") && self->params.format == FORMAT_HYBRID;
  if (self->info->bits < 8)
    return LIG_UINT8;
  return hybrid && role == LIG_ROLE_GRADIENT ? LIG_FP8_E5M2 : LIG_FP8_E4M3;
}
