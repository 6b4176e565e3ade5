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

/**
 * lig_draw_load_strip_width: (skip)
 * @experts: the number of experts
 *
 * Returns: the width in pixels at which a strip shows each of some experts, at most 120
 */
LIG_API double lig_draw_load_strip_width (guint experts);

/**
 * lig_draw_load_strip: (skip)
 * @canvas: the canvas
 * @colours: the colours
 * @load: (array length=experts): the rows that each expert received
 * @experts: the number of experts
 * @x: the left edge in pixels
 * @y: the upper edge in pixels
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Draws a bar for each expert, whose height and colour are its load, up to twice the mean, and a
 * line at the mean. Experts without rows have a mark in the colour of errors. If there are more
 * experts than fit, a bar shows the largest load of neighbours.
 */
LIG_API void lig_draw_load_strip (LigCanvas *canvas,
                                  const LigColours *colours,
                                  const double *load,
                                  guint experts,
                                  double x,
                                  double y,
                                  double width,
                                  double height);

G_END_DECLS
