/* SPDX-License-Identifier: MIT */
/* Predicts the times of steps from the peak rates and costs of a device. */
#pragma once

#include "engine/graph/graph.h"

/* Returns the minimum seconds of a step by the roofline: max(bytes / copy bandwidth, flops / matmul
 * rate) plus a launch; 0 if the device's peak rates are unknown. */
double lig_predict_floor (const LigGraph *graph, const LigGraphStep *step);

/* Predicts the seconds that each step of a list adds to its pass, by the measured costs of the
 * device, and returns their sum; if the costs are unknown, by the floors; 0 if the peak rates are
 * unknown too. A step that overlaps others adds its floor and half of the rest, but the list takes
 * at least as long as all such steps. */
double lig_predict_steps (const LigGraph *graph, LigGraphStep *steps, guint count);

/* Returns the seconds of a list whose steps took `seconds` without its collectives: adds the
 * predicted collectives, which overlap other steps if they are in another lane. */
double
lig_predict_collectives (const LigGraph *graph, LigGraphStep *steps, guint count, double seconds);

/* Returns the fraction of a step's speed that remains while a collective, whose kernel occupies
 * SMs, runs in another lane. Attention, which has many more blocks than run at once, spreads over
 * the other SMs; most kernels lose more. */
double lig_speed_beside (const LigGraph *graph, const LigGraphStep *step);

/* Sets the start and duration of each step of a list, concurrently with those of other lanes, and
 * replaces the prediction of steps of the communication lane with the seconds that they add to the
 * list. The lanes meet before step `met` and at the end. Returns the seconds of the list. */
double lig_predict_overlap (const LigGraph *graph, LigGraphStep *steps, int count, int met);

/* Runs after all other passes: does the same for the graph. */
void lig_predict_lanes (LigGraph *graph);

/* Marks those backward steps of a group, from `first` on, that may overlap others and moves them to
 * the front, so that they begin as soon as their operands are available. */
void lig_start_beside (LigGraph *graph, GArray *steps, guint first);
