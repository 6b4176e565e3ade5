/* SPDX-License-Identifier: MIT */
/* Sweeps: successive training runs of one sequence over lists of settings. A sweep is recorded in
 * the store, so that any process can continue it with the missing runs.
 *
 * Threads: one thread at a time uses a sweep; only lig_sweep_prepare() and lig_sweep_get_training()
 * may be called on another thread at the same time. */
#pragma once

#include <ligature/foreign.h>
#include <ligature/run.h>

G_BEGIN_DECLS

typedef struct LigRanks LigRanks;

/* The maximum number of points of a sweep. */
#define LIG_SWEEP_MAX 10000

#define LIG_TYPE_SWEEP (lig_sweep_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigSweep, lig_sweep, LIG, SWEEP, GObject)

/**
 * LigSweepAxis:
 * @key: the name of a setting, `recipe` of the sequence, or `PATH.PARAMETER` of an op
 * @values: (array zero-terminated=1): its values as text
 * @with: the index of the first axis that this one advances together with; its own index in a grid
 *
 * One setting of a sweep and its values.
 */
typedef struct {
  char *key;
  GStrv values;
  guint with;
} LigSweepAxis;

/**
 * LigSweepPoint:
 * @number: the index of the point, from 0
 * @values: (array zero-terminated=1): the value of each axis
 * @run: (nullable): the uuid of its run, %NULL before it begins
 * @status: (nullable): the status of its run, `failed` also if the run could not begin; %NULL if it
 *   has not run
 * @message: (nullable): the reason for a failure
 * @steps: the total number of optimizer steps
 * @done: the number of completed steps
 * @first_loss: the first loss; it and the following figures are NaN if unknown
 * @loss: the last loss
 * @eval_loss: the validation loss
 * @eval_accuracy: the validation accuracy, from 0 to 1
 * @step_ms: the median step time in milliseconds
 * @seconds: the duration of the run in seconds
 *
 * One combination of settings with its result.
 */
typedef struct {
  guint number;
  GStrv values;
  char *run, *status, *message;
  gint64 steps, done;
  double first_loss, loss, eval_loss, eval_accuracy, step_ms, seconds;
} LigSweepPoint;

/**
 * LigSweepSummary:
 * @values: (array zero-terminated=1): the value of each axis; for the seed, that of the best point
 * @points: the number of points that differ only in the seed
 * @count: the number of those with a result
 * @validation: whether the losses are validation losses instead of those of the last step
 * @mean: the mean loss; NaN without a result, like the following figures
 * @std: the standard deviation of the losses, NaN with fewer than two
 * @min: the lowest loss
 * @greatest: the highest loss
 * @accuracy: the mean validation accuracy
 * @step_ms: the mean of the median step times in milliseconds
 * @best: the index of the point with the lowest loss, or of the first point
 *
 * The results of all points that differ only in the seed.
 */
typedef struct {
  GStrv values;
  guint points, count;
  gboolean validation;
  double mean, std, min, greatest, accuracy, step_ms;
  guint best;
} LigSweepSummary;

/**
 * lig_sweep_new:
 * @sequence: a sequence, copied
 * @device: the name of the device
 * @settings: the settings of all runs, copied except for the checkpoint path, which differs for
 *   each run
 * @init: (nullable) (type filename): a file with initial parameters for all runs
 *
 * Returns: (transfer full): a sweep without axes, which is a single run
 */
LIG_API LigSweep *lig_sweep_new (LigSequence *sequence,
                                 const char *device,
                                 const LigRunSettings *settings,
                                 const char *init) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sweep_set_ranks:
 * @self: a sweep that has not begun
 * @ranks: the number of processes that train each point together
 * @parallel: (nullable): their parallelism, as lig_layout_to_string() writes it; %NULL with one
 *   rank
 */
LIG_API void lig_sweep_set_ranks (LigSweep *self, int ranks, const char *parallel);

/**
 * lig_sweep_add:
 * @self: a sweep that has not begun
 * @over: a setting and its values: `lr=0.1,0.01`, `seed=1..5`, `1.out-features=64,128`
 * @zip: whether it advances together with the previous axis instead of being combined with all axes
 *
 * Adds an axis and checks its values.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_sweep_add (LigSweep *self, const char *over, gboolean zip, GError **error);

/**
 * lig_sweep_add_list:
 * @self: a sweep that has not begun
 * @text: lines of comma-separated cells; the first line has the names of the settings
 *
 * Adds axes that advance together, one point for each further line.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_sweep_add_list (LigSweep *self, const char *text, GError **error);

/**
 * lig_sweep_check:
 * @self: a sweep that has not begun
 *
 * Creates the points and checks the settings of each, without recording anything.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_sweep_check (LigSweep *self, GError **error);

/**
 * lig_sweep_begin:
 * @self: a sweep that has not begun
 * @store: the store that records it
 *
 * Checks the settings of every point and records the sweep.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_sweep_begin (LigSweep *self, LigStore *store, GError **error);

/**
 * lig_sweep_open:
 * @store: a store
 * @selector: the uuid of a sweep, its beginning, or `last`
 *
 * Reads a sweep with its results.
 *
 * Returns: (transfer full): the sweep, or %NULL with an error set
 */
LIG_API LigSweep *
lig_sweep_open (LigStore *store, const char *selector, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sweep_share:
 * @self: (nullable): rank 0's sweep, begun or opened; %NULL on the other ranks
 * @ranks: (nullable): the ranks that train it; all of them call this
 *
 * Gives all ranks rank 0's sweep, so that each can prepare the points. Only rank 0 has the store:
 * the others have no results, must not refresh, and learn from rank 0 which point is next.
 *
 * Returns: (transfer full): the sweep, or %NULL with an error set
 */
LIG_API LigSweep *
lig_sweep_share (LigSweep *self, LigRanks *ranks, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sweep_refresh:
 * @self: a sweep that has begun
 *
 * Reads the results from the store again.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_sweep_refresh (LigSweep *self, GError **error);

/**
 * lig_sweep_get_uuid:
 * @self: a sweep
 *
 * Returns: (transfer none) (nullable): the uuid of the sweep, %NULL before it begins
 */
LIG_API const char *lig_sweep_get_uuid (LigSweep *self);

/**
 * lig_sweep_get_name:
 * @self: a sweep
 *
 * Returns: (transfer none): the name of the experiment
 */
LIG_API const char *lig_sweep_get_name (LigSweep *self);

/**
 * lig_sweep_get_device:
 * @self: a sweep
 *
 * Returns: (transfer none): the name of the device
 */
LIG_API const char *lig_sweep_get_device (LigSweep *self);

/**
 * lig_sweep_get_init:
 * @self: a sweep
 *
 * Returns: (transfer none) (nullable) (type filename): the file with the initial parameters of all
 *   runs
 */
LIG_API const char *lig_sweep_get_init (LigSweep *self);

/**
 * lig_sweep_get_ranks:
 * @self: a sweep
 *
 * Returns: the number of processes that train each point together
 */
LIG_API int lig_sweep_get_ranks (LigSweep *self);

/**
 * lig_sweep_get_parallel:
 * @self: a sweep
 *
 * Returns: (transfer none) (nullable): the parallelism of its ranks, %NULL with one rank
 */
LIG_API const char *lig_sweep_get_parallel (LigSweep *self);

/**
 * lig_sweep_get_axes: (skip)
 * @self: a sweep
 * @count: (out): the number of axes
 *
 * Returns: (transfer none) (array length=count): the axes
 */
LIG_API const LigSweepAxis *lig_sweep_get_axes (LigSweep *self, guint *count);

/**
 * lig_sweep_get_points: (skip)
 * @self: a sweep
 * @count: (out): the number of points
 *
 * Returns: (transfer none) (array length=count): the points, valid until the sweep changes
 */
LIG_API const LigSweepPoint *lig_sweep_get_points (LigSweep *self, guint *count);

/**
 * lig_sweep_count_ended:
 * @self: a sweep
 *
 * Returns: the number of points that are done or failed
 */
LIG_API guint lig_sweep_count_ended (LigSweep *self);

/**
 * lig_sweep_next:
 * @self: a sweep
 *
 * Returns: the index of the first point that has not run, or was interrupted or cancelled; -1 if
 * there is none
 */
LIG_API int lig_sweep_next (LigSweep *self);

/**
 * lig_sweep_prepare:
 * @self: a sweep that has begun
 * @point: the index of a point
 * @device: the opened device of the sweep, which has joined its ranks
 *
 * Prepares the run of a point, and records that it belongs to the sweep. An interrupted run is
 * continued from its checkpoint if possible. Another thread may use @self at the same time. All
 * ranks prepare the same point, and fail together.
 *
 * Returns: (transfer full): a run that is ready, or %NULL with an error set
 */
LIG_API LigRun *lig_sweep_prepare (LigSweep *self, guint point, LigDevice *device, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sweep_get_training:
 * @self: a sweep that has begun
 * @point: the index of a point
 * @settings: (out caller-allocates): the settings of its run, which the caller clears
 *
 * Returns the sequence and settings of a point for a program that trains it in other processes
 * instead of calling lig_sweep_prepare(). The program has to record the run with
 * lig_store_set_sweep(). Another thread may use @self at the same time.
 *
 * Returns: (transfer full): the sequence of the point, or %NULL with an error set
 */
LIG_API LigSequence *lig_sweep_get_training (LigSweep *self,
                                             guint point,
                                             LigRunSettings *settings,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sweep_find_checkpoint:
 * @self: a sweep that has begun or was opened
 * @point: the index of a point
 *
 * Finds the checkpoint from which the interrupted run of a point can be continued.
 *
 * Returns: (transfer full) (nullable) (type filename): its newest checkpoint, %NULL if it has none
 */
LIG_API char *lig_sweep_find_checkpoint (LigSweep *self, guint point);

/**
 * lig_sweep_fail:
 * @self: a sweep
 * @point: the index of a point
 * @message: the reason
 *
 * Marks a point as failed because its run could not begin. This is not recorded: when the sweep is
 * opened again, the point has not run.
 */
LIG_API void lig_sweep_fail (LigSweep *self, guint point, const char *message);

/**
 * lig_sweep_retry:
 * @self: a sweep
 *
 * Resets failed points, so that they are trained again.
 */
LIG_API void lig_sweep_retry (LigSweep *self);

/**
 * lig_sweep_estimate_left:
 * @self: a sweep
 * @point: the index of the point that is training, -1 for none
 * @progress: (nullable): the progress of its run
 *
 * Estimates the remaining time of the sweep from the steps done so far.
 *
 * Returns: seconds, NaN before the first step
 */
LIG_API double lig_sweep_estimate_left (LigSweep *self, int point, const LigRunProgress *progress);

/**
 * lig_sweep_describe_point:
 * @self: a sweep
 * @point: the index of a point
 *
 * Returns: (transfer full): its settings, `lr 0.1, seed 2`
 */
LIG_API char *lig_sweep_describe_point (LigSweep *self, guint point);

/**
 * lig_sweep_summarize:
 * @self: a sweep
 *
 * Returns: (transfer full) (element-type LigSweepSummary): the results of points that differ only
 *   in the seed, by increasing mean loss, those without a result last
 */
LIG_API GPtrArray *lig_sweep_summarize (LigSweep *self);

/**
 * lig_sweep_rank:
 * @self: a sweep
 *
 * Returns: (transfer full) (array): for each point, the position of its settings in
 *   lig_sweep_summarize(): 0 for the settings with the lowest mean loss
 */
LIG_API guint *lig_sweep_rank (LigSweep *self);

/**
 * lig_sweep_find_best:
 * @self: a sweep
 *
 * Finds the best settings: those with the lowest mean loss over all points that differ only in the
 * seed. A single lucky seed does not make settings the best.
 *
 * Returns: the index of the point with the lowest loss among those with the best settings; -1
 *   before the first result
 */
LIG_API int lig_sweep_find_best (LigSweep *self);

/**
 * lig_sweep_describe_settings:
 * @self: a sweep
 * @point: the index of a point
 *
 * Returns: (transfer full): its settings without the seed, `lr 0.1`
 */
LIG_API char *lig_sweep_describe_settings (LigSweep *self, guint point);

/**
 * lig_sweep_apply_point:
 * @self: a sweep
 * @point: the index of a point
 * @sequence: a sequence, which is not changed
 *
 * Copies a sequence and sets the values of the point in it, except for the seed: parameters of ops
 * and the recipe where they are, settings of training in its `train` object.
 *
 * Returns: (transfer full): the copy, or %NULL with an error set if the sequence has no such op or
 *   parameter
 */
LIG_API LigSequence *lig_sweep_apply_point (LigSweep *self,
                                            guint point,
                                            LigSequence *sequence,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_sweep_to_json:
 * @self: a sweep
 *
 * Returns: (transfer full): an object with the axes, the settings and result of each point, and the
 *   summaries
 */
LIG_API JsonNode *lig_sweep_to_json (LigSweep *self);

G_END_DECLS
