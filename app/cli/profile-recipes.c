/* SPDX-License-Identifier: MIT */
/* The comparison of recipes. */
#include "app/cli/profile-recipes.h"

#include "app/cli/output-file.h"
#include "app/cli/table.h"
#include "app/cli/task.h"
#include <ligature/draw-recipes.h>
#include <ligature/recipe.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

GStrv
lig_cli_read_recipes (const char *text, GError **error)
{
  g_auto (GStrv) recipes = lig_recipe_split (text);
  guint count = g_strv_length (recipes);
  for (guint i = 0; i < count; i++) {
    g_autoptr (GError) local = NULL;
    if (!lig_recipe_check (recipes[i], &local)) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--compare-recipes: %s",
                   local->message);
      return NULL;
    }
    for (guint j = 0; j < i; j++)
      if (g_str_equal (recipes[i], recipes[j])) {
        g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                     "--compare-recipes lists %s twice; name different recipes", recipes[i]);
        return NULL;
      }
  }
  if (count == 1 && g_str_equal (recipes[0], "none")) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--compare-recipes lists only none; add a recipe, like fp8-current");
    return NULL;
  }
  return g_steal_pointer (&recipes);
}

GPtrArray *
lig_cli_measure_recipes (LigSequence *sequence,
                         LigDevice *device,
                         const LigPlanOptions *options,
                         const char *const *recipes,
                         GError **error)
{
  g_autoptr (GPtrArray) quantizing = g_ptr_array_new ();
  for (; *recipes; recipes++)
    if (!g_str_equal (*recipes, "none"))
      g_ptr_array_add (quantizing, (gpointer) *recipes);
  g_ptr_array_add (quantizing, NULL);
  lig_cli_task_detail ("comparing with the compute type", "errors");
  return lig_recipe_errors_measure (sequence, device, options,
                                    (const char *const *) quantizing->pdata, error);
}

static void
print_totals (GPtrArray *errors, int width)
{
  static const char *const header[] = {"recipe", ">error of y", ">of gradients", NULL};
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  for (guint i = 0; i < errors->len; i++) {
    const LigRecipeErrors *recipe = errors->pdata[i];
    char **cells = g_new0 (char *, G_N_ELEMENTS (header));
    cells[0] = g_strdup (recipe->recipe);
    cells[1] = lig_draw_error (recipe->output);
    cells[2] = lig_draw_error (recipe->gradient);
    g_ptr_array_add (rows, cells);
  }
  lig_cli_print_fitted (header, rows, width);
}

typedef struct {
  const char *title;
  gsize field; /* of LigOpErrors */
} Kind;

static const Kind kinds[] = {
  {"error of y", offsetof (LigOpErrors, output)},
  {"error of the gradient of y", offsetof (LigOpErrors, gradient)},
  {"error of the gradients of weights", offsetof (LigOpErrors, parameters)},
};

static double
get_error (GPtrArray *errors, guint recipe, guint op, const Kind *kind)
{
  const LigRecipeErrors *of_recipe = errors->pdata[recipe];
  return G_STRUCT_MEMBER (double, &of_recipe->ops[op], kind->field);
}

/* Prints one kind of error, op by op, without ops that have none. */
static void
print_ops (GPtrArray *errors, const Kind *kind, int width)
{
  const LigRecipeErrors *first = errors->pdata[0];
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  g_auto (GStrv) header = g_new0 (char *, errors->len + 2);
  header[0] = g_strdup (kind->title);
  for (guint i = 0; i < errors->len; i++)
    header[i + 1] = g_strconcat (">", ((LigRecipeErrors *) errors->pdata[i])->recipe, NULL);
  for (guint n = 0; n < first->n_ops; n++) {
    if (isnan (get_error (errors, 0, n, kind)))
      continue;
    char **cells = g_new0 (char *, errors->len + 2);
    cells[0] = g_strdup_printf ("%s %s", first->ops[n].path, first->ops[n].op);
    for (guint i = 0; i < errors->len; i++)
      cells[i + 1] = lig_draw_error (get_error (errors, i, n, kind));
    g_ptr_array_add (rows, cells);
  }
  if (rows->len == 0)
    return;
  printf ("\n");
  lig_cli_print_fitted ((const char *const *) header, rows, width);
}

void
lig_cli_print_recipes (GPtrArray *errors, int width)
{
  printf ("\nErrors against the compute type, on one random batch:\n");
  print_totals (errors, width);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    print_ops (errors, &kinds[i], width);
}

/* --- The picture ---------------------------------------------------------------------------- */

static void
draw (LigCanvas *canvas, gpointer errors)
{
  lig_draw_recipes (canvas, lig_colours (LIG_COLOURS_LIGHT), errors,
                    lig_draw_recipes_width (errors));
}

gboolean
lig_cli_check_picture (const char *file, GError **error)
{
  static const char *const formats[] = {".svg", ".png", ".pdf", NULL};
  const char *ending = strrchr (file, '.');
  if (ending && g_strv_contains (formats, ending))
    return lig_cli_check_file (file, error);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--picture is '%s', expected a name that ends in .svg, .png or .pdf", file);
  return FALSE;
}

gboolean
lig_cli_draw_recipes (GPtrArray *errors, const char *file, GError **error)
{
  g_autoptr (GBytes) bytes = lig_draw_to_file (
    strrchr (file, '.') + 1, lig_draw_recipes_width (errors), lig_draw_recipes_height (errors),
    lig_colours (LIG_COLOURS_LIGHT)->ground, draw, errors, error);
  return bytes && lig_cli_write_output (bytes, file, error);
}
