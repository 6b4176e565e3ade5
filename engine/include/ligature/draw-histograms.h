/* SPDX-License-Identifier: MIT */
/* The picture of the histograms of a weight or a gradient over the steps of a run. Threads: as
 * <ligature/draw.h>. */
#pragma once

#include <ligature/canvas.h>
#include <ligature/histogram.h>

G_BEGIN_DECLS

/**
 * LigHistogramMarks:
 * @LIG_HISTOGRAM_MARK_STEPS: a mark for each step, with the figures of its histogram
 * @LIG_HISTOGRAM_MARK_CELLS: also a mark for each bin with values, above that of its step
 */
typedef enum { LIG_HISTOGRAM_MARK_STEPS, LIG_HISTOGRAM_MARK_CELLS } LigHistogramMarks;

/**
 * lig_draw_histograms_height:
 * @series: the histograms
 *
 * Returns: the height in pixels at which each bin is easy to see
 */
LIG_API double lig_draw_histograms_height (const LigHistogramSeries *series);

/**
 * lig_draw_histograms:
 * @canvas: the canvas
 * @colours: the colours
 * @series: the histograms
 * @marks: which parts have marks
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Draws a heat map: a column for each step, a row for each power of two, the positive values above
 * a row of zeros and the negative ones below it, the largest magnitudes outermost. The colour of a
 * cell is the share of the tensor's elements on a logarithmic scale from 0.01 % to 100 %, the same
 * in all pictures; rows that never have 0.01 % are omitted. A column extends from the step before
 * to its own. Steps with values that are infinite or not a number have a mark above the map.
 */
LIG_API void lig_draw_histograms (LigCanvas *canvas,
                                  const LigColours *colours,
                                  const LigHistogramSeries *series,
                                  LigHistogramMarks marks,
                                  double width,
                                  double height);

G_END_DECLS
