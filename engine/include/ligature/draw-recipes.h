/* SPDX-License-Identifier: MIT */
/* The picture of the quantization errors of recipes, op by op. Threads: as <ligature/draw.h>. */
#pragma once

#include <ligature/draw.h>
#include <ligature/recipe-errors.h>

G_BEGIN_DECLS

/**
 * lig_draw_recipes_height:
 * @errors: (element-type LigRecipeErrors): the errors of each recipe
 *
 * Returns: the height of the picture in pixels
 */
LIG_API double lig_draw_recipes_height (GPtrArray *errors);

/**
 * lig_draw_recipes_width:
 * @errors: (element-type LigRecipeErrors): the errors of each recipe
 *
 * Returns: the width in pixels at which the names and numbers of all recipes fit
 */
LIG_API double lig_draw_recipes_width (GPtrArray *errors);

/**
 * lig_draw_recipes:
 * @canvas: the canvas
 * @colours: the colours
 * @errors: (element-type LigRecipeErrors): the errors of each recipe, of the same sequence
 * @width: the width in pixels
 *
 * Draws a row for each op, those of a macro below its name, and for each recipe three cells: the
 * relative errors of the op's output, of the gradient that it gets, and of the gradients of its
 * parameters. Each cell has its number and a mark. Larger errors have stronger colours, on a
 * logarithmic scale that fits the errors and is drawn below them. The largest error of a column is
 * outlined; matmuls with quantized operands have a dot.
 */
LIG_API void
lig_draw_recipes (LigCanvas *canvas, const LigColours *colours, GPtrArray *errors, double width);

/**
 * lig_draw_recipes_get_op:
 * @errors: (element-type LigRecipeErrors): the errors of each recipe
 * @mark: the number of a mark of the picture
 *
 * Returns: (nullable) (transfer none): the op in whose row the mark is
 */
LIG_API const LigOpErrors *lig_draw_recipes_get_op (GPtrArray *errors, guint mark);

/**
 * lig_draw_error:
 * @error: a relative error, or NaN
 *
 * Returns: (transfer full): the error in per cent, `2.3 %`, `< 0.01 %`; empty for NaN
 */
LIG_API char *lig_draw_error (double error);

G_END_DECLS
