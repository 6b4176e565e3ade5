/* SPDX-License-Identifier: MIT */
/* Groups of a store's runs: the mean and the spread of the results of runs that have a setting in
 * common. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * LigRunMean:
 * @count: the number of runs that have a value
 * @mean: their mean, NaN without a value
 * @deviation: their standard deviation, of the sample (divided by @count - 1); NaN for fewer than
 *   two values
 * @least: the least value
 * @most: the greatest value
 *
 * The mean and the spread of a figure over the runs of a group.
 */
typedef struct {
  guint count;
  double mean, deviation, least, most;
} LigRunMean;

/**
 * LigRunGroup:
 * @value: (nullable): the value that the runs have in common, as text; %NULL if they have no such
 *   setting
 * @runs: the number of runs
 * @sample: the key of the newest of them
 * @last_loss: over the last losses
 * @eval_loss: over the last held-out losses
 * @eval_accuracy: over the last held-out accuracies
 * @step_ms: over the milliseconds of a step
 *
 * Runs with the same value of a setting.
 */
typedef struct {
  char *value;
  guint runs;
  gint64 sample;
  LigRunMean last_loss, eval_loss, eval_accuracy, step_ms;
} LigRunGroup;

/* The name under which lig_store_group_runs() compares everything that describes a run but its
 * seed, so that each group has the repetitions of one run. */
#define LIG_RUN_ALL_BUT_SEED "*"

/**
 * lig_store_group_runs:
 * @self: a store
 * @filter: (nullable): the conditions that runs must meet; %NULL for all runs
 * @by: the name of a setting, like `lr`; one of `name`, `kind`, `device`, `dtype`, `recipe`,
 *   `policy`, `seed`, `host`, `sweep`; or %LIG_RUN_ALL_BUT_SEED
 *
 * Groups runs by the value of a setting and computes the mean and the spread of their results.
 *
 * Returns: (transfer container) (element-type LigRunGroup): the groups in the order of their
 * values, numbers by size, runs without the setting last; %NULL with an error set
 */
LIG_API GPtrArray *
lig_store_group_runs (LigStore *self, const LigRunFilter *filter, const char *by, GError **error);

G_END_DECLS
