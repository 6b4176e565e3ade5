/* SPDX-License-Identifier: MIT */
/* Shared by the pictures of times: groups as rows with their figures. The same group in all
 * repetitions of a block is one row. */
#pragma once

#include "engine/draw/canvas.h"
#include <ligature/draw.h>

/**
 * LigTimedRow: a group, or the same group in all repetitions of a block.
 *
 * @name: `Linear + bias + GELU`
 * @path: the path of its first op, `3.0.2`; or null
 * @first, @count: expanded indexes of its first occurrence
 * @measured: seconds, 0 if nothing was measured; like all figures, a sum over the repetitions
 */
typedef struct {
  char *name, *path;
  const LigFusion *fusion;
  LigPass pass;
  int first, count, repeats;
  double bytes, flops, predicted, floor, measured;
} LigTimedRow;

/* Returns (transfer full) (element-type LigTimedRow) the groups of a pass that have kernels, in op
 * order, and a row without a path for the steps outside of any group, if there are any: the update,
 * conversions of parameters. The rows' sums are the pass's. */
GPtrArray *lig_timed_rows (const LigTimedPlan *timed, LigPass pass);

/* Returns the seconds clamped to a range that can be drawn, because the description of a device may
 * have any figures.
 */
double lig_timed_hold (double seconds);

/* Returns the seconds of a step: measured, otherwise predicted. */
double lig_timed_step (const LigTimedPlan *timed, guint step);

/* The position of a step on the time axis, in seconds. */
typedef struct {
  double start, seconds;
  guint step;
  LigLane lane;
} LigTimedSpan;

/* Appends the span of each step, in plan order. Returns the end of the last. Spans are the times of
 * single steps, without gaps; only predicted collectives overlap other steps. */
double lig_timed_place (const LigTimedPlan *timed, GArray *spans);

/* Returns the translated text shown if neither measured nor predicted times are available. */
const char *lig_timed_nothing_known (void);

/* Returns whether the plan's device has peak rates to predict from. */
gboolean lig_timed_is_predicted (const LigTimedPlan *timed);

/* Returns the seconds of a row: measured, otherwise predicted. */
double lig_timed_row_seconds (const LigTimedRow *row);

/* Returns (transfer full) the description of a row for a mark. */
char *lig_timed_describe (const LigTimedRow *row);

/* Returns the translated title of a pass: `Forward`. */
const char *lig_timed_pass_title (LigPass pass);

/* Returns the step of an axis from 0 to @max that gives about @wanted ticks: 1, 2 or 5 times a
 * power of ten. */
double lig_timed_tick (double max, int wanted);
