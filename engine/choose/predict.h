/* SPDX-License-Identifier: MIT */
/* Predicts the times of steps from what is known of a device. */
#pragma once

#include "engine/graph/graph.h"

/* Returns the least seconds that a step takes by the roofline: max(bytes / copy bandwidth, flops /
 * matmul rate) plus a launch; 0 where the device's peak rates are unknown. */
double lig_predict_floor (const LigGraph *graph, const LigGraphStep *step);

/* Predicts the seconds that each step of a list adds to its pass, by the measured costs of the
 * device, and returns their sum; where the costs are not known, by the floors; 0 where the peak
 * rates are unknown too. A step that overlaps others adds its floor and half of the rest, but the
 * list takes at least as long as all such steps. */
double lig_predict_steps (const LigGraph *graph, LigGraphStep *steps, guint count);

/* Returns the seconds of a list whose steps took `seconds` without the ranks with which it
 * exchanges: with these collectives as predicted, beside other steps where they are in another
 * lane.
 */
double
lig_predict_collectives (const LigGraph *graph, LigGraphStep *steps, guint count, double seconds);

/* Returns the share of a step's speed that is left while a collective runs in another lane, whose
 * kernel occupies multiprocessors. Attention, which has many times as many blocks as run at once,
 * shares the others; most kernels lose more. */
double lig_speed_beside (const LigGraph *graph, const LigGraphStep *step);

/* Sets when each step of a list begins and how long it lasts, beside those of other lanes, and
 * replaces the prediction of steps of the communication lane by the seconds that they add to the
 * list. The lanes meet before step `met` and at the end. Returns the seconds of the list. */
double lig_predict_overlap (const LigGraph *graph, LigGraphStep *steps, int count, int met);

/* After all other passes: likewise, of the graph. */
void lig_predict_lanes (LigGraph *graph);

/* Marks those backward steps of a group, from `first` on, that may overlap others and moves them to
 * the front, so that they begin as soon as their operands are available. */
void lig_start_beside (LigGraph *graph, GArray *steps, guint first);
