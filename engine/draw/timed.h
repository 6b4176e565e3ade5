/* SPDX-License-Identifier: MIT */
/* What the pictures of time share: groups as rows with their figures, those of a block's
 * repetitions folded into one. */
#pragma once

#include "engine/draw/canvas.h"

/**
 * LigTimedRow: a group, or the same group of all repetitions of a block.
 *
 * @name: `Linear + Bias + GELU`
 * @path: of its first op, `3.0.2`
 * @first, @count: expanded indexes of its first occurrence
 * @measured: 0 where nothing was measured; sums over the repetitions, as all figures
 */
typedef struct {
  char *name, *path;
  const LigFusion *fusion;
  LigPass pass;
  int first, count, repeats;
  double bytes, flops, predicted, measured;
} LigTimedRow;

/* (transfer full) (element-type LigTimedRow): the groups of a pass that have kernels, in op order;
 * of %LIG_PASS_UPDATE one row, where the plan has an update. */
GPtrArray *lig_timed_rows (const LigTimedPlan *timed, LigPass pass);

/* Seconds that can be drawn: a device may be described with any figures. */
double lig_timed_hold (double seconds);

/* Seconds of a step: measured, else predicted. */
double lig_timed_step (const LigTimedPlan *timed, guint step);

/* Returns the text that stands instead of a picture that has neither times nor predictions,
 * translated. */
const char *lig_timed_nothing_known (void);

/* Whether the plan's device has ceilings to predict from. */
gboolean lig_timed_is_predicted (const LigTimedPlan *timed);

/* Seconds of a row: measured, else predicted. */
double lig_timed_row_seconds (const LigTimedRow *row);

/* (transfer full): `Linear + Bias`: the titles of the ops that a group covers. */
char *lig_timed_name_ops (LigPlan *plan, int first, int count);

/* (transfer full): all that is known of a row, for a mark. */
char *lig_timed_describe (const LigTimedRow *row);

/* `Forward`, translated. */
const char *lig_timed_pass_title (LigPass pass);

/* A step of the axis from 0 to @most that gives about @wanted ticks: 1, 2 or 5 times a power of
 * ten. */
double lig_timed_tick (double most, int wanted);
