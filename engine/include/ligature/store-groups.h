/* SPDX-License-Identifier: MIT */
/* Groups of a store's runs: the mean and the spread of the results of runs that share the value of
 * a setting. */
#pragma once

#include <ligature/store-rows.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/**
 * LigRunMean:
 * @count: the number of runs that have a value
 * @mean: their mean, NaN without a value
 * @std: their sample standard deviation (divided by @count - 1); NaN for fewer than two values
 * @min: the smallest value
 * @max: the largest value
 *
 * The mean and the spread of a figure over the runs of a group.
 */
typedef struct {
  guint count;
  double mean, std, min, max;
} LigRunMean;

/**
 * LigRunGroup:
 * @value: (nullable): the common value as text; %NULL if the runs do not have the setting
 * @runs: the number of runs
 * @sample: the key of the newest of them
 * @last_loss: over the last losses
 * @eval_loss: over the last validation losses
 * @eval_accuracy: over the last validation accuracies
 * @step_ms: over the step times in milliseconds
 *
 * Runs with the same value of a setting.
 */
typedef struct {
  char *value;
  guint runs;
  gint64 sample;
  LigRunMean last_loss, eval_loss, eval_accuracy, step_ms;
} LigRunGroup;

/* The name with which lig_store_group_runs() compares everything that describes a run except its
 * seed, so that each group has the same run with different seeds. */
#define LIG_RUN_ALL_BUT_SEED "*"

/* The name of a run's lowest validation loss. */
#define LIG_RUN_BEST_EVAL_LOSS "best-eval-loss"

/**
 * lig_store_group_runs:
 * @self: a store
 * @filter: (nullable): the conditions that runs must meet; %NULL for all runs
 * @by: the name of a setting, like `lr`; one of `name`, `kind`, `device`, `dtype`, `recipe`,
 *   `policy`, `seed`, `host`, `sweep`, `run`, `ended`, `parent`, `ranks`, `parallel`, `revision`,
 * `tags`, `first-loss`, `saved-step`; %LIG_RUN_BEST_EVAL_LOSS; or %LIG_RUN_ALL_BUT_SEED
 *
 * Groups runs by the value of a setting and computes the mean and the spread of their results.
 *
 * Returns: (transfer container) (element-type LigRunGroup): the groups in the order of their
 * values, numbers by size, runs without the setting last; %NULL with an error set
 */
LIG_API GPtrArray *
lig_store_group_runs (LigStore *self, const LigRunFilter *filter, const char *by, GError **error);

/**
 * LigRunFold:
 * @sweep: (nullable): the uuid of the sweep of the runs; %NULL: they are repetitions, which differ
 *   at most in the seed
 * @runs: the number of runs, at least two
 * @done: the number of those with the status `done`
 * @running: the number of those with the status `running`
 * @settings: the number of different settings, not counting the seed: 1 for repetitions
 * @started: the start of the newest run in microseconds since 1970, UTC
 * @sample: the key of the newest run with the best settings
 * @last_loss: over the last losses of the finished runs with the best settings, as are the
 *   following means
 * @eval_loss: over the last validation losses
 * @eval_accuracy: over the last validation accuracies
 * @step_ms: over the step times in milliseconds
 *
 * Runs that a list can show as one. The best settings are those with the lowest mean validation
 * loss, without validation with the lowest mean loss, like those of lig_sweep_find_best().
 */
typedef struct {
  char *sweep;
  guint runs, done, running, settings;
  gint64 started, sample;
  LigRunMean last_loss, eval_loss, eval_accuracy, step_ms;
} LigRunFold;

/**
 * lig_store_fold_runs: (skip)
 * @self: a store
 * @keys: (array length=count): keys from lig_store_list_keys()
 * @count: the number of keys
 * @places: (out caller-allocates) (array length=count): for each key, the index of its fold;
 *   %G_MAXUINT for a run by itself
 *
 * Finds the runs of each sweep, and among the others the repetitions of each run. Groups of which
 * only one run is among the keys are not folded.
 *
 * Returns: (transfer container) (element-type LigRunFold): the folds in the order of their first
 *   keys; %NULL with an error set
 */
LIG_API GPtrArray *lig_store_fold_runs (
  LigStore *self, const gint64 *keys, guint count, guint *places, GError **error);

/**
 * lig_store_read_setting:
 * @self: a store
 * @keys: (array length=count): keys from lig_store_list_keys()
 * @count: the number of keys
 * @name: the name of a setting as in lig_store_group_runs()
 *
 * Returns: (transfer container) (element-type utf8): for each key the value of the setting as text,
 *   %NULL for a run without it; owned by the array; %NULL with an error set
 */
LIG_API GPtrArray *lig_store_read_setting (
  LigStore *self, const gint64 *keys, guint count, const char *name, GError **error);

/**
 * lig_store_is_parameter:
 * @name: (nullable): a name
 *
 * Returns: whether the name has the form of an op's parameter, the op's path and the parameter:
 *   `0.out-features`, or in a block `3.0.2.out-features`. Functions that take the name of a setting
 *   also accept it, for the value in a run's sequence
 */
LIG_API gboolean lig_store_is_parameter (const char *name);

/**
 * lig_store_list_settings:
 * @self: a store
 *
 * Returns: (transfer full): the names of all settings that any run has, in alphabetical order;
 *   %NULL with an error set
 */
LIG_API GStrv lig_store_list_settings (LigStore *self, GError **error);

G_END_DECLS
