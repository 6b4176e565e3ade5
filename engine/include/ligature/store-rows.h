/* SPDX-License-Identifier: MIT */
/* Structs of the store: rows that it reads, and records and filters that callers fill in. They are
 * plain data; each thread may use its own. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* Names of the metrics that the list of runs displays. */
#define LIG_METRIC_LOSS "loss"
#define LIG_METRIC_EVAL_LOSS "eval-loss"
#define LIG_METRIC_EVAL_ACCURACY "eval-accuracy"

/* Names of the metrics of several ranks: the time per step that the other work of every rank waits
 * for collectives, the time that the fastest ranks wait for the slowest, and the slowest rank. */
#define LIG_METRIC_EXPOSED "exposed-ms"
#define LIG_METRIC_IMBALANCE "imbalance-ms"
#define LIG_METRIC_SLOWEST "slowest-rank"

/**
 * lig_metric_get_sense:
 * @name: the name of a metric
 *
 * Returns: -1 if lower is better, as for a loss or a time, 1 if higher is better, as for an
 * accuracy or a sample rate, 0 if neither
 */
LIG_API int lig_metric_get_sense (const char *name);

/**
 * LigStoreAccess:
 * @LIG_STORE_READ: no file is created, renamed or written; every function that writes fails
 * @LIG_STORE_CHANGE: existing rows can be changed
 */
typedef enum { LIG_STORE_READ, LIG_STORE_CHANGE } LigStoreAccess;

/**
 * LigRunRecord:
 * @name: the name of the experiment
 * @sequence: the sequence of the experiment, JSON
 * @kind: `train` or `profile`
 * @settings: the settings of the run, JSON
 * @versions: the versions of the libraries, JSON
 * @parent: the uuid of the run whose checkpoint this run continues
 * @inputs: the hashes of the run's data and everything else that its exact results depend on, JSON
 *
 * The description of a run that begins. A %NULL string counts as empty.
 */
typedef struct {
  const char *name, *sequence, *kind, *device, *dtype, *recipe, *policy;
  guint64 seed;
  const char *settings, *versions, *parent, *inputs;
} LigRunRecord;

/**
 * LigRunRow:
 * @status: `running`, `done`, `failed`, `cancelled` or `interrupted`
 * @started: the start in microseconds since 1970, UTC; @ended is 0 while the run is running
 * @last_step: the highest step of any metric, -1 if the run has no metrics
 * @first_loss: the first loss; it, @last_loss, @eval_loss, @eval_accuracy and @step_ms are NaN if
 *   unknown
 * @step_ms: the step time in milliseconds: for a finished training run the median of its last
 *   steps, at most 1,000; for a profile the median of whole steps
 * @parent: the uuid of the run whose checkpoint this run continued; it may be missing from the
 *   store
 * @saved_step: the step of the newest checkpoint, -1 without one
 * @sweep: the uuid of the sweep to which this run belongs
 * @point: the number of the run's settings in its sweep, -1 without a sweep
 * @eval_rows: the number of rows, for texts of tokens, that @eval_accuracy counts; 0 if unknown
 *
 * A run at the time when it was read. Missing strings are empty, never %NULL. Read-only.
 */
typedef struct {
  const char *uuid, *name, *kind, *device, *dtype, *recipe, *policy;
  guint64 seed;
  const char *settings, *versions, *sequence;
  const char *status, *message, *host, *revision, *notes;
  gint64 started, ended;
  gboolean starred;
  GStrv tags;
  gint64 last_step;
  double first_loss, last_loss, eval_loss, eval_accuracy, step_ms;
  const char *parent;
  gint64 saved_step;
  const char *sweep;
  gint64 point;
  gint64 eval_rows;
} LigRunRow;

#define LIG_TYPE_RUN_ROW (lig_run_row_get_type ())
LIG_API GType lig_run_row_get_type (void);

/**
 * lig_run_row_copy:
 * @row: a row
 *
 * Returns: (transfer full): a copy
 */
LIG_API LigRunRow *lig_run_row_copy (const LigRunRow *row);

/**
 * lig_run_row_free:
 * @row: (nullable) (transfer full): a row
 *
 * Releases a row.
 */
LIG_API void lig_run_row_free (LigRunRow *row);

/**
 * LigRunFilter:
 * @text: part of the name, notes, device, tags or uuid, %NULL for any
 * @status: a status, %NULL for any; also for @device and @tag
 * @starred: whether only starred runs match
 * @limit: the maximum number of rows, 0 for all
 * @kind: `train` or `profile`, %NULL for any
 * @started_from: the earliest start in microseconds since 1970, UTC; 0 for no bound
 * @started_to: the time before which runs must have started, in the same unit; 0 for no bound
 * @group_by: a setting as in lig_store_group_runs(), %NULL for none
 * @group: with @group_by, the value that the setting must have, as in #LigRunGroup; %NULL: runs
 *   without that setting
 * @order_by: the setting for %LIG_RUN_BY_SETTING, named as in lig_store_group_runs()
 * @sweep: the uuid of a sweep, %NULL for any
 * @name: the whole name, or a pattern with `*`, `?` and `[…]`; %NULL for any
 * @unstarred: whether only runs without a star match
 * @deleted: whether the runs in the trash are listed, instead of all others
 *
 * Conditions that a run must meet to be listed.
 */
typedef struct {
  const char *text, *status, *device, *tag;
  gboolean starred;
  int limit;
  const char *kind;
  gint64 started_from, started_to;
  const char *group_by, *group, *order_by;
  const char *sweep;
  const char *name;
  gboolean unstarred, deleted;
} LigRunFilter;

/* The column that a list of runs is sorted by. Runs without a value are last in both directions,
 * the newest first. */
typedef enum {
  LIG_RUN_BY_START,
  LIG_RUN_BY_NAME,
  LIG_RUN_BY_STATUS,
  LIG_RUN_BY_DEVICE,
  LIG_RUN_BY_DTYPE,
  LIG_RUN_BY_POLICY,
  LIG_RUN_BY_KIND,
  LIG_RUN_BY_DURATION,
  LIG_RUN_BY_STEPS,
  LIG_RUN_BY_LOSS,
  LIG_RUN_BY_EVAL_LOSS,
  LIG_RUN_BY_ACCURACY,
  LIG_RUN_BY_STEP_TIME,
  LIG_RUN_BY_STAR,
  LIG_RUN_BY_NOTES,
  LIG_RUN_BY_SETTING,
  LIG_RUN_N_ORDERS
} LigRunOrder;

/**
 * LigMetricRow:
 * @name: the name of the metric
 * @steps: (element-type gint64): the steps in ascending order, at least one
 * @values: (element-type double): the value at each step
 *
 * The values of one metric of a run.
 */
typedef struct {
  char *name;
  GArray *steps, *values;
} LigMetricRow;

typedef struct {
  gint64 step;
  int group;
  char *pass;
  double microseconds, bytes, flops;
} LigTimingRow;

typedef struct {
  char *pass;
  int group, first_op, count;
  char *fusion; /* NULL for a single unfused op */
} LigFusionRow;

typedef struct {
  char *fusion, *pass;
  int first_op, count;
  gboolean taken;
  char *reason, *observed, *required, *text; /* NULL if not given */
} LigVerdictRow;

typedef struct {
  char *kind, *path;
  gint64 created; /* microseconds since 1970, UTC */
} LigArtifactRow;

/**
 * LigSampleRow:
 * @step: the step after which the text was generated
 * @number: the index of its prompt, from 0
 * @prompt: the prompt
 * @text: the text that follows it
 * @tokens: the generated tokens, numbers separated by spaces
 * @microseconds: the time that it took; NaN if unknown
 *
 * A text that a run generated while it trained.
 */
typedef struct {
  gint64 step, number;
  char *prompt, *text, *tokens;
  double microseconds;
} LigSampleRow;

/**
 * lig_sample_row_free:
 * @self: (nullable) (transfer full): a row
 *
 * Frees it.
 */
LIG_API void lig_sample_row_free (LigSampleRow *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRunRow, lig_run_row_free)

G_END_DECLS
