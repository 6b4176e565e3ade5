/* SPDX-License-Identifier: MIT */
/* The database of runs: what was trained and profiled, with which settings, how it went, and what
 * was measured on the way. One SQLite file; any number of processes may read and write it.
 *
 * Metrics, timings, fusions, verdicts and artifacts are queued and written by a thread within
 * 200 ms; everything else is on disk when the call returns. All functions may be called from any
 * thread. A `run` is the uuid that lig_store_begin_run() returned. Errors are %LIG_ERROR_STORE.
 *
 * A run whose process is gone, or that gave no sign of life for a minute, reads as `interrupted`.
 */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* Metrics that the list of runs shows. */
#define LIG_METRIC_LOSS "loss"
#define LIG_METRIC_EVAL_LOSS "eval-loss"
#define LIG_METRIC_EVAL_ACCURACY "eval-accuracy"

#define LIG_TYPE_STORE (lig_store_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigStore, lig_store, LIG, STORE, GObject)

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
LIG_API LigRunRow *lig_run_row_copy (const LigRunRow *row);
LIG_API void lig_run_row_free (LigRunRow *row);

/**
 * LigRunFilter:
 * @text: part of the name, notes, device, tags or uuid, or %NULL
 * @status: %NULL for any; so are @device and @tag
 * @starred: only the starred ones
 * @limit: most rows, 0 for all
 * @kind: `train` or `profile`, %NULL for any
 * @started_from, @started_to: microseconds since 1970, UTC: not before the one, before the other;
 *   0 for no bound
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

/**
 * lig_store_open:
 * @path: (nullable): a file; %NULL for `$LIGATURE_STORE`, else `ligature/ligature.db` in the
 *   person's data folder
 *
 * Opens a store to write runs into it. Makes missing folders and a missing file, which only this
 * person may read (0700 and 0600), brings an older schema up to date, and marks runs whose process
 * is gone. A damaged SQLite file is set aside under another name; lig_store_get_warning() then says
 * so.
 *
 * Returns: (transfer full): a store, or %NULL with an error that names the file, which is left as
 *   it was: it does not begin as an SQLite database does, its schema is newer, it is another
 *   program's, or it cannot be read and written
 */
LIG_API LigStore *lig_store_open (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_store_catch_truncation:
 *
 * For programs, once, when they begin: handles SIGBUS, which comes where another program cuts off a
 * file that SQLite has mapped. Writing to a store then fails with an error, and everything else
 * that meets it ends the process with a sentence and status 1.
 */
LIG_API void lig_store_catch_truncation (void);

/* Whether that happened: this process can write nothing more to the store. From any thread. */
LIG_API gboolean lig_store_is_lost (LigStore *self);

/**
 * LigStoreAccess:
 * @LIG_STORE_READ: nothing is made, renamed or written; every function that writes fails
 * @LIG_STORE_CHANGE: what is there can be changed
 */
typedef enum { LIG_STORE_READ, LIG_STORE_CHANGE } LigStoreAccess;

/**
 * lig_store_open_existing:
 * @path: (nullable): as for lig_store_open()
 *
 * Opens a store that is there. To be read, the file may lie on a read-only file system, and a store
 * of an older schema is read from a copy. A damaged one is an error, never set aside.
 *
 * Returns: (transfer full): a store, or %NULL with an error: there is none, or as above
 */
LIG_API LigStore *lig_store_open_existing (const char *path,
                                           LigStoreAccess access,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The absolute file name. */
LIG_API const char *lig_store_get_path (LigStore *self);

/* Returns: (nullable): what a person should know about how the store was opened. */
LIG_API const char *lig_store_get_warning (LigStore *self);

/**
 * lig_store_begin_run:
 *
 * Adds a run with status `running`, and the experiment unless there is one with this name and
 * this very sequence. While the store is open it gives a sign of life for the run.
 *
 * Returns: (transfer full): its uuid, or %NULL with an error set
 */
LIG_API char *lig_store_begin_run (LigStore *self,
                                   const LigRunRecord *record,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_store_resume_run:
 *
 * Makes this process the one that runs it; refused while another one does.
 */
LIG_API gboolean lig_store_resume_run (LigStore *self, const char *run, GError **error);

/**
 * lig_store_add_metric:
 * @value: may be infinite or not a number
 *
 * Queues one value; never waits for the disk. A second value of the same run, name and step
 * replaces the first.
 */
LIG_API void
lig_store_add_metric (LigStore *self, const char *run, gint64 step, const char *name, double value);

/**
 * lig_store_add_timing:
 * @group: its number in the pass
 * @pass: `forward`, `backward` or `update`
 *
 * Queues what one group took in one step.
 */
LIG_API void lig_store_add_timing (LigStore *self,
                                   const char *run,
                                   gint64 step,
                                   int group,
                                   const char *pass,
                                   double microseconds,
                                   double bytes,
                                   double flops);

/**
 * lig_store_add_fusion:
 * @fusion: (nullable): %NULL for an op alone
 *
 * Queues one group of a pass: it covers @count ops from index @first_op.
 */
LIG_API void lig_store_add_fusion (LigStore *self,
                                   const char *run,
                                   const char *pass,
                                   int group,
                                   int first_op,
                                   int count,
                                   const char *fusion);

/**
 * lig_store_add_verdict:
 * @reason: (nullable): %NULL where the fusion was taken; so may be the texts after it
 *
 * Queues why a fusion was taken or refused at @first_op.
 */
LIG_API void lig_store_add_verdict (LigStore *self,
                                    const char *run,
                                    const char *fusion,
                                    const char *pass,
                                    int first_op,
                                    int count,
                                    gboolean taken,
                                    const char *reason,
                                    const char *observed,
                                    const char *required,
                                    const char *text);

/* Queues the name of a file that the run wrote; `kind` is one word, `checkpoint`. */
LIG_API void
lig_store_add_artifact (LigStore *self, const char *run, const char *kind, const char *path);

/* Queues that the run's state after @step is in a checkpoint. */
LIG_API void lig_store_add_saved_step (LigStore *self, const char *run, gint64 step);

/**
 * lig_store_flush:
 *
 * Waits until everything queued so far is on disk.
 *
 * Returns: %FALSE with the first failure since the last flush that was not made good since; rows
 *   that could not be written stay queued and are tried again; when a million of them wait, older
 *   values are thinned. Fails, too, where the file was deleted or replaced
 */
LIG_API gboolean lig_store_flush (LigStore *self, GError **error);

/**
 * lig_store_finish_run:
 * @status: `done`, `failed`, `cancelled` or `interrupted`
 * @message: (nullable): why
 *
 * Flushes and sets how the run ended; the status is set even where flushing fails. If values that
 * the run reported are missing for good, `done` becomes `failed`, the message says how many, and so
 * does the error that is returned.
 */
LIG_API gboolean lig_store_finish_run (
  LigStore *self, const char *run, const char *status, const char *message, GError **error);

/* Replaces the settings that the run was begun with, JSON: it goes on for more steps. */
LIG_API gboolean lig_store_set_settings (LigStore *self,
                                         const char *run,
                                         const char *settings,
                                         GError **error);

/**
 * lig_store_list_runs:
 * @filter: (nullable): %NULL for all
 *
 * Returns: (transfer container) (element-type LigRunRow): newest first
 */
LIG_API GPtrArray *lig_store_list_runs (LigStore *self, const LigRunFilter *filter, GError **error);

/* --- Lists that are too long to be read whole ---------------------------------------------- */

/**
 * lig_store_list_keys:
 * @filter: (nullable): %NULL for all
 *
 * Returns: (transfer full) (element-type gint64): a key for each run that fits, sorted; keys stay
 *   what they are as long as the run is there, and no other run gets the key of a deleted one
 */
LIG_API GArray *lig_store_list_keys (LigStore *self,
                                     const LigRunFilter *filter,
                                     LigRunOrder order,
                                     gboolean descending,
                                     GError **error);

/**
 * lig_store_read_runs:
 *
 * Returns: (transfer container) (element-type LigRunRow): as many rows as there are keys, in the
 *   same order; %NULL for a run that is no longer there
 */
LIG_API GPtrArray *
lig_store_read_runs (LigStore *self, const gint64 *keys, guint count, GError **error);

/* Runs in all; -1 with an error set. */
LIG_API gint64 lig_store_count_runs (LigStore *self, GError **error);

/**
 * lig_store_list_values:
 * @column: `status`, `device`, `kind` or `tag`
 *
 * Returns: (transfer full): the values that the runs have of it, in order of the alphabet, or %NULL
 *   with an error set. A run that is gone counts as `interrupted`.
 */
LIG_API GStrv lig_store_list_values (LigStore *self, const char *column, GError **error);

/* A number that is another one after any process, this one too, changed the store; 0 with an error
 * set. */
LIG_API gint64 lig_store_get_data_version (LigStore *self, GError **error);

/**
 * lig_store_find_run:
 * @selector: a uuid, the beginning of one (at least 4 characters, only one may fit) or `last`
 */
LIG_API LigRunRow *lig_store_find_run (LigStore *self, const char *selector, GError **error);

/**
 * lig_store_find_last:
 * @kind: (nullable): `train` or `profile`, %NULL for any
 *
 * Returns: (transfer full): the run that was begun last, or %NULL with an error set
 */
LIG_API LigRunRow *lig_store_find_last (LigStore *self, const char *kind, GError **error);

/**
 * lig_store_get_metric:
 * @steps: (out) (element-type gint64): ascending
 * @values: (out) (element-type double): as many
 *
 * One metric of a run; both are empty where it has none of this name.
 */
LIG_API gboolean lig_store_get_metric (LigStore *self,
                                       const char *run,
                                       const char *name,
                                       GArray **steps,
                                       GArray **values,
                                       GError **error);

/**
 * lig_store_get_metric_names:
 *
 * Returns: (transfer full): the names of a run's metrics, in order of the alphabet
 */
LIG_API GStrv lig_store_get_metric_names (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_metrics:
 * @self: a store
 * @run: the run's uuid
 * @error: (out) (optional): the store cannot be read
 *
 * Returns: (transfer container) (element-type LigMetricRow): all metrics of a run that have values,
 *   in order of their names, which belong to the array; %NULL with an error
 */
LIG_API GPtrArray *lig_store_get_metrics (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_timings:
 *
 * Returns: (transfer container) (element-type LigTimingRow): rows that belong to the array, in the
 *   order of pass, group and step
 */
LIG_API GPtrArray *lig_store_get_timings (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_fusions:
 *
 * Returns: (transfer container) (element-type LigFusionRow): rows that belong to the array, in the
 *   order in which they were added
 */
LIG_API GPtrArray *lig_store_get_fusions (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_verdicts:
 *
 * Returns: (transfer container) (element-type LigVerdictRow): rows that belong to the array, in the
 *   order in which they were added
 */
LIG_API GPtrArray *lig_store_get_verdicts (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_artifacts:
 *
 * Returns: (transfer container) (element-type LigArtifactRow): rows that belong to the array, in
 *   the order in which they were added
 */
LIG_API GPtrArray *lig_store_get_artifacts (LigStore *self, const char *run, GError **error);

LIG_API gboolean lig_store_set_star (LigStore *self,
                                     const char *run,
                                     gboolean starred,
                                     GError **error);
LIG_API gboolean lig_store_set_note (LigStore *self,
                                     const char *run,
                                     const char *note,
                                     GError **error);
LIG_API gboolean lig_store_add_tag (LigStore *self,
                                    const char *run,
                                    const char *tag,
                                    GError **error);
LIG_API gboolean lig_store_remove_tag (LigStore *self,
                                       const char *run,
                                       const char *tag,
                                       GError **error);

/* Deletes the run with all that belongs to it; the files it wrote stay. */
LIG_API gboolean lig_store_delete_run (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_tuning:
 * @key: device, library versions, kernel or fusion, shapes and types, joined by `|`
 * @microseconds: (out) (optional): what was measured
 * @noise: (out) (optional): by how many microseconds that may be wrong
 * @choice: (out) (optional) (nullable): what was chosen, to be freed
 *
 * Returns: %FALSE if nothing is known
 */
LIG_API gboolean lig_store_get_tuning (
  LigStore *self, const char *key, double *microseconds, double *noise, char **choice);

/**
 * lig_store_put_tuning:
 * @choice: (nullable): what was chosen; it replaces an earlier one
 *
 * Keeps what was measured. A time without a choice stays as it was first kept, so that all who
 * decide by it decide alike.
 */
LIG_API gboolean lig_store_put_tuning (LigStore *self,
                                       const char *key,
                                       double microseconds,
                                       double noise,
                                       const char *choice,
                                       GError **error);

/* What was measured of a device, as JSON. Returns: (nullable) (transfer full): %NULL with no
 * error set if nothing is known. */
LIG_API char *lig_store_get_device (LigStore *self, const char *name, GError **error);
LIG_API gboolean lig_store_put_device (LigStore *self,
                                       const char *name,
                                       const char *json,
                                       GError **error);

/* --- The journal of edits ------------------------------------------------------------------ */

/**
 * lig_store_new_document:
 *
 * Returns: (transfer full): a key for a document that this process edits
 */
LIG_API char *lig_store_new_document (void);

/**
 * lig_store_list_lost:
 *
 * Returns: (transfer full): keys of documents with edits whose process on this machine is gone,
 *   the one edited last first; %NULL with an error set
 */
LIG_API GStrv lig_store_list_lost (LigStore *self, GError **error);

/**
 * lig_store_get_edits:
 *
 * Returns: (transfer full): a document's edits, for undo and recovery, oldest first
 */
LIG_API GStrv lig_store_get_edits (LigStore *self, const char *document, GError **error);
LIG_API gboolean lig_store_append_edit (LigStore *self,
                                        const char *document,
                                        const char *json,
                                        GError **error);
LIG_API gboolean lig_store_clear_edits (LigStore *self, const char *document, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRunRow, lig_run_row_free)

G_END_DECLS
