/* SPDX-License-Identifier: MIT */
/* Pictures of plans, profiles and comparisons: the score, timelines, rooflines, memory maps. */
#pragma once

#include <ligature/canvas.h>
#include <ligature/comparison.h>
#include <ligature/figures.h>
#include <ligature/profile.h>

G_BEGIN_DECLS

/* --- The score ----------------------------------------------------------------------------- */

/**
 * lig_draw_score_height:
 * @plan: a plan
 *
 * Returns: the height of the plan's score in pixels, which depends on its ops
 */
LIG_API double lig_draw_score_height (LigPlan *plan);

/**
 * lig_draw_score:
 * @canvas: a canvas
 * @colours: the colours
 * @timed: the plan, with times if it was profiled
 * @width: the width in pixels
 *
 * Draws the forward rail, the ops and the backward rail with brackets, names, times, channels and
 * fences. The repetitions of a block are drawn once, with their number.
 */
LIG_API void lig_draw_score (LigCanvas *canvas,
                             const LigColours *colours,
                             const LigTimedPlan *timed,
                             double width);

/**
 * lig_draw_comparison_height:
 * @comparison: a comparison of two plans
 *
 * Returns: the height of lig_draw_comparison()'s picture in pixels, which depends on the ops
 */
LIG_API double lig_draw_comparison_height (LigPlanComparison *comparison);

/**
 * lig_draw_comparison:
 * @canvas: a canvas
 * @colours: the colours
 * @comparison: a comparison of two plans
 * @before: a short title of the first plan
 * @after: a short title of the second plan
 * @width: the width in pixels
 *
 * Draws both plans' groups next to each other on each rail, and marks those that only one plan has.
 * The repetitions of a block are drawn once, with their number.
 */
LIG_API void lig_draw_comparison (LigCanvas *canvas,
                                  const LigColours *colours,
                                  LigPlanComparison *comparison,
                                  const char *before,
                                  const char *after,
                                  double width);

/* --- Times and memory ---------------------------------------------------------------------- */

/**
 * lig_draw_times_height:
 * @timed: a plan with times
 *
 * Returns: the height of the picture of lig_draw_times() in pixels
 */
LIG_API double lig_draw_times_height (const LigTimedPlan *timed);

/**
 * lig_draw_times:
 * @canvas: a canvas
 * @colours: the colours
 * @timed: a plan with times
 * @width: the width in pixels
 *
 * Draws a bar for each group of both passes: the measured time next to the predicted one.
 */
LIG_API void lig_draw_times (LigCanvas *canvas,
                             const LigColours *colours,
                             const LigTimedPlan *timed,
                             double width);

/**
 * lig_draw_timeline:
 * @canvas: a canvas
 * @colours: the colours
 * @timed: a plan with times
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Draws one step of training from left to right, with a row each for forward, backward and update.
 */
LIG_API void lig_draw_timeline (LigCanvas *canvas,
                                const LigColours *colours,
                                const LigTimedPlan *timed,
                                double width,
                                double height);

/**
 * lig_draw_roofline:
 * @canvas: a canvas
 * @colours: the colours
 * @timed: a plan with times
 * @unfused: (nullable): the plan of the same sequence without fusions; an arrow leads from its
 *   unfused ops to each fusion of @timed
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Draws operations per second over operations per byte, both logarithmic, under the device's
 * peak rates.
 */
LIG_API void lig_draw_roofline (LigCanvas *canvas,
                                const LigColours *colours,
                                const LigTimedPlan *timed,
                                const LigTimedPlan *unfused,
                                double width,
                                double height);

/**
 * lig_draw_memory:
 * @canvas: a canvas
 * @colours: the colours
 * @plan: a plan
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Draws the bytes in use at each step by kind: parameters, gradients, optimizer state, saved for
 * backward, other.
 */
LIG_API void lig_draw_memory (
  LigCanvas *canvas, const LigColours *colours, LigPlan *plan, double width, double height);

/**
 * lig_draw_map:
 * @canvas: a canvas
 * @colours: the colours
 * @plan: a plan
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Draws the plan's arena: the lifetime of each value against its offset.
 */
LIG_API void lig_draw_map (
  LigCanvas *canvas, const LigColours *colours, LigPlan *plan, double width, double height);

/* --- Formatted quantities ------------------------------------------------------------------ */

/**
 * lig_draw_time:
 * @seconds: a time
 *
 * Returns: (transfer full): the formatted time: `142 µs`, `5.37 ms`
 */
LIG_API char *lig_draw_time (double seconds);

/**
 * lig_draw_bytes:
 * @bytes: the number of bytes
 *
 * Returns: (transfer full): the formatted size: `1.41 GB`
 */
LIG_API char *lig_draw_bytes (double bytes);

/**
 * lig_draw_rate:
 * @flops: floating-point operations per second
 *
 * Returns: (transfer full): the formatted rate: `12.5 TFLOP/s`
 */
LIG_API char *lig_draw_rate (double flops);

G_END_DECLS
