/* SPDX-License-Identifier: MIT */
/* What the store keeps of runs, as structs: rows that were read, records and filters that callers
 * fill. Plain data: any thread may use its own. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* Metrics that the list of runs shows. */
#define LIG_METRIC_LOSS "loss"
#define LIG_METRIC_EVAL_LOSS "eval-loss"
#define LIG_METRIC_EVAL_ACCURACY "eval-accuracy"

/**
 * LigStoreAccess:
 * @LIG_STORE_READ: nothing is made, renamed or written; every function that writes fails
 * @LIG_STORE_CHANGE: what is there can be changed
 */
typedef enum { LIG_STORE_READ, LIG_STORE_CHANGE } LigStoreAccess;

/**
 * LigRunRecord:
 * @name: of the experiment
 * @sequence: its sequence, JSON
 * @kind: `train` or `profile`
 * @settings: JSON
 * @versions: of the libraries, JSON
 * @parent: the run from whose checkpoint this one goes on
 *
 * What a run is begun with. A string that is %NULL counts as empty.
 */
typedef struct {
  const char *name, *sequence, *kind, *device, *dtype, *recipe, *policy;
  guint64 seed;
  const char *settings, *versions, *parent;
} LigRunRecord;

/**
 * LigRunRow:
 * @status: `running`, `done`, `failed`, `cancelled` or `interrupted`
 * @started: microseconds since 1970, UTC; @ended is 0 while the run is running
 * @last_step: the greatest step of any metric, -1 without one
 * @first_loss: NaN where there is none; so are @last_loss, @eval_loss, @eval_accuracy and @step_ms
 * @step_ms: of a run that ended: the median of its last steps, up to 1,000; of a profile one step
 * @parent: the uuid of the run from whose checkpoint it went on; it need not be in the store
 * @saved_step: of its newest checkpoint, -1 without one
 *
 * One run as it was when it was read. Strings are never %NULL, but empty. Read-only.
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
 * @text: part of the name, notes, device, tags or uuid, or %NULL
 * @status: %NULL for any; so are @device and @tag
 * @starred: only the starred ones
 * @limit: most rows, 0 for all
 * @kind: `train` or `profile`, %NULL for any
 * @started_from: microseconds since 1970, UTC: begun not before; 0 for no bound
 * @started_to: likewise: begun before; 0 for no bound
 */
typedef struct {
  const char *text, *status, *device, *tag;
  gboolean starred;
  int limit;
  const char *kind;
  gint64 started_from, started_to;
} LigRunFilter;

/* By what a list of runs is sorted; runs that lack it come last either way, newer ones first. */
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
  LIG_RUN_N_ORDERS
} LigRunOrder;

/**
 * LigMetricRow:
 * @name: the metric's name
 * @steps: (element-type gint64): ascending
 * @values: (element-type double): as many; at least one
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
  char *fusion; /* NULL for an op alone */
} LigFusionRow;

typedef struct {
  char *fusion, *pass;
  int first_op, count;
  gboolean taken;
  char *reason, *observed, *required, *text; /* NULL where not given */
} LigVerdictRow;

typedef struct {
  char *kind, *path;
  gint64 created; /* microseconds since 1970, UTC */
} LigArtifactRow;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRunRow, lig_run_row_free)

G_END_DECLS
