/* SPDX-License-Identifier: MIT */
/* The comparison of recipes: their names on the command line, their errors as text, JSON and
 * picture. */
#pragma once

#include <ligature/recipe-errors.h>

G_BEGIN_DECLS

/* Splits `none,fp8-delayed:history=16,margin=1,fp8-rows` into recipes; a duplicate, or `none` by
 * itself, is an error. Returns NULL with a G_OPTION_ERROR set. */
GStrv lig_cli_read_recipes (const char *text, GError **error);

/* Measures the errors of each recipe except `none`; (element-type LigRecipeErrors). */
GPtrArray *lig_cli_measure_recipes (LigSequence *sequence,
                                    LigDevice *device,
                                    const LigPlanOptions *options,
                                    const char *const *recipes,
                                    GError **error);

/* Prints a table of recipes, then one of ops. */
void lig_cli_print_recipes (GPtrArray *errors, int width);

/* Checks that a picture can be saved under the name, before anything is computed. */
gboolean lig_cli_check_picture (const char *file, GError **error);

/* Writes the picture; the ending of the name is its format. */
gboolean lig_cli_draw_recipes (GPtrArray *errors, const char *file, GError **error);

G_END_DECLS
