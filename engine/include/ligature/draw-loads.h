/* SPDX-License-Identifier: MIT */
/* The picture of the load of experts in a run. Threads: as <ligature/draw.h>. */
#pragma once

#include <ligature/canvas.h>

G_BEGIN_DECLS

/**
 * lig_draw_loads_height:
 * @loads: (element-type LigLoadSeries): the loads of all routers of a run
 *
 * Returns: the height in pixels at which each router is easy to see
 */
LIG_API double lig_draw_loads_height (GPtrArray *loads);

/**
 * lig_draw_loads:
 * @canvas: the canvas
 * @colours: the colours
 * @loads: (element-type LigLoadSeries): the loads of all routers of a run
 * @step: the index of the recorded step; -1: the sum of all
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Draws a heat map: a row for each router, a column for each expert. The colour of a cell is the
 * number of rows that the expert received, from none to four times the mean of its router or more.
 * Experts without rows have a mark. Each cell has a mark with its figures.
 */
LIG_API void lig_draw_loads (LigCanvas *canvas,
                             const LigColours *colours,
                             GPtrArray *loads,
                             int step,
                             double width,
                             double height);

G_END_DECLS
