/* SPDX-License-Identifier: MIT */
/* The load of the experts of a mixture: how many rows each received. Threads: any thread may read a
 * series that none changes. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * LigLoadSeries:
 * @path: the path of the op with the router
 * @experts: the number of experts
 * @steps: (element-type gint64): the steps, ascending
 * @loads: (element-type double): @experts numbers for each step
 * @balance: (element-type double): the load-balancing loss of each step, before its coefficient
 * @z: (element-type double): the z-loss of each step, before its coefficient
 * @dropped: (element-type double): the rows that had no room in their expert in each step
 *
 * The load of a router's experts during a run.
 */
typedef struct {
  char *path;
  guint experts;
  GArray *steps, *loads, *balance, *z, *dropped;
} LigLoadSeries;

/**
 * LigLoadFigures:
 * @rows: the number of rows that all experts received
 * @imbalance: the largest number of rows of an expert divided by the mean; 1: all are equally
 *   loaded; NaN without rows
 * @busiest: the expert with the most rows
 * @idle: the number of experts without rows
 * @dropped: the number of those rows that had no room in their expert
 *
 * Figures of the load of a router's experts.
 */
typedef struct {
  double rows, imbalance, dropped;
  guint busiest, idle;
} LigLoadFigures;

/**
 * lig_load_measure: (skip)
 * @load: (array length=experts): the rows that each expert received
 * @experts: the number of experts
 * @figures: (out caller-allocates): figures of that load, without dropped rows
 *
 * Measures how evenly experts are loaded.
 */
LIG_API void lig_load_measure (const double *load, guint experts, LigLoadFigures *figures);

/**
 * lig_load_series_free: (skip)
 * @self: (nullable) (transfer full): a series
 *
 * Frees it.
 */
LIG_API void lig_load_series_free (LigLoadSeries *self);

/**
 * lig_load_series_sum: (skip)
 * @self: a series
 * @first: the index of the first step to sum
 * @count: the number of steps; more than there are: all from @first on
 * @load: (out caller-allocates) (array): @experts numbers, the rows that each expert received
 * @figures: (out caller-allocates) (optional): figures of that load
 *
 * Sums the load over some steps.
 */
LIG_API void lig_load_series_sum (
  const LigLoadSeries *self, guint first, guint count, double *load, LigLoadFigures *figures);

/**
 * lig_load_series_last: (skip)
 * @values: (element-type double): one of the arrays of a series with a number for each step
 *
 * Returns: the number of the last step; NaN without steps
 */
LIG_API double lig_load_series_last (const GArray *values);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigLoadSeries, lig_load_series_free)

G_END_DECLS
