/* SPDX-License-Identifier: MIT */
/* The picture of the errors that recipes bring, op by op. Threads: as <ligature/draw.h>. */
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
 * lig_draw_recipes:
 * @canvas: the canvas
 * @colours: the colours
 * @errors: (element-type LigRecipeErrors): the errors of each recipe, of the same sequence
 * @width: the width in pixels
 *
 * Draws a row for each op and for each recipe three cells: the relative errors of the op's output,
 * of the gradient that it gets, and of the gradients of its parameters. The colour of a cell is the
 * stronger, the greater the error, from 0.1 % to 100 %. Products with quantized operands have a
 * dot. Each cell has a mark with its error.
 */
LIG_API void
lig_draw_recipes (LigCanvas *canvas, const LigColours *colours, GPtrArray *errors, double width);

/**
 * lig_draw_error:
 * @error: a relative error, or NaN
 *
 * Returns: (transfer full): the error in per cent, `2.3 %`, `< 0.01 %`; empty for NaN
 */
LIG_API char *lig_draw_error (double error);

G_END_DECLS
