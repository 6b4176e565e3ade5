/* SPDX-License-Identifier: MIT */
/* The database of runs: training runs and profiles with their settings, results and measurements.
 * It is one SQLite file that any number of processes may read and write.
 *
 * Metrics, timings, fusions, verdicts and artifacts are queued, and a writer thread writes them
 * within 200 ms; everything else is on disk when the call returns. All functions may be called from
 * any thread. A `run` is the uuid that lig_store_begin_run() returned. Errors are %LIG_ERROR_STORE.
 * A run is reported as `interrupted` if its process has ended, or has not updated its heartbeat for
 * a minute. */
#pragma once

#include <ligature/store-rows.h>

G_BEGIN_DECLS

#define LIG_TYPE_STORE (lig_store_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigStore, lig_store, LIG, STORE, GObject)

/**
 * lig_store_open:
 * @path: (nullable): a file; %NULL for `$LIGATURE_STORE`, otherwise `ligature/ligature.db` in the
 *   user's data folder
 *
 * Opens a store to write runs into it. Creates missing folders and a missing file, which only this
 * user may read (0700 and 0600), updates an older schema, and marks runs whose process has ended. A
 * damaged SQLite file is renamed and replaced by a new one; before an update to schema N the file
 * is copied to `PATH.before-N`. lig_store_get_warning() then reports this.
 *
 * Returns: (transfer full): a store, or %NULL with an error that names the file: it is not an
 *   SQLite database, its schema is newer, it belongs to another program, or it cannot be read and
 *   written; the file is left unchanged
 */
LIG_API LigStore *lig_store_open (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_store_catch_truncation:
 *
 * Installs a handler for SIGBUS, which the system sends when another program has truncated a file
 * that SQLite has mapped. Writing to a store then fails with an error; a SIGBUS anywhere else ends
 * the process with a message and status 1. Programs call this once, when they start.
 */
LIG_API void lig_store_catch_truncation (void);

/**
 * lig_store_open_existing:
 * @path: (nullable): as for lig_store_open()
 * @access: whether the caller changes the store
 *
 * Opens an existing store. For reading, the file may be on a read-only file system, and a store of
 * an older schema is read from a copy. A damaged store is an error and is not renamed.
 *
 * Returns: (transfer full): a store, or %NULL with an error: no such file, or see lig_store_open()
 */
LIG_API LigStore *lig_store_open_existing (const char *path,
                                           LigStoreAccess access,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_store_get_path:
 * @self: a store
 *
 * Returns: (transfer none): the absolute path
 */
LIG_API const char *lig_store_get_path (LigStore *self);

/**
 * lig_store_get_warning:
 * @self: a store
 *
 * Returns: (transfer none) (nullable): a warning for the user about how the store was opened
 */
LIG_API const char *lig_store_get_warning (LigStore *self);

/**
 * lig_store_begin_run:
 * @self: a store
 * @record: the description of the run, copied
 *
 * Adds a run with status `running`, and an experiment unless one with the same name and sequence
 * exists. An open store updates the heartbeat of the run.
 *
 * Returns: (transfer full): the uuid of the run, or %NULL with an error set
 */
LIG_API char *lig_store_begin_run (LigStore *self,
                                   const LigRunRecord *record,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_store_add_metric:
 * @self: a store
 * @run: the uuid of a run
 * @step: an optimizer step, from 1
 * @name: the name of the metric, `loss`
 * @value: the value, which may be infinite or not a number
 *
 * Queues one value; never waits for the disk. A second value of the same run, name and step
 * replaces the first.
 */
LIG_API void
lig_store_add_metric (LigStore *self, const char *run, gint64 step, const char *name, double value);

/**
 * lig_store_flush:
 * @self: a store
 *
 * Waits until everything queued so far is on disk. Rows that could not be written stay queued and
 * are retried; once a million rows are queued, older values are thinned.
 *
 * Returns: %FALSE with the first unrecovered failure since the last flush, or with an error if the
 *   file was deleted or replaced
 */
LIG_API gboolean lig_store_flush (LigStore *self, GError **error);

/**
 * lig_store_finish_run:
 * @self: a store
 * @run: the uuid of a run
 * @status: `done`, `failed`, `cancelled` or `interrupted`
 * @message: (nullable): the reason for the status
 *
 * Flushes and sets the final status of the run; the status is set even if flushing fails. If values
 * that the run reported are permanently missing, `done` becomes `failed`, and both the message and
 * the returned error contain their number.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_finish_run (
  LigStore *self, const char *run, const char *status, const char *message, GError **error);

/**
 * lig_store_list_runs:
 * @self: a store
 * @filter: (nullable): the conditions that runs must meet; %NULL for all runs
 *
 * Returns: (transfer container) (element-type LigRunRow): the runs, newest first; %NULL with an
 *   error set
 */
LIG_API GPtrArray *lig_store_list_runs (LigStore *self, const LigRunFilter *filter, GError **error);

/**
 * lig_store_list_keys:
 * @self: a store
 * @filter: (nullable): the conditions that runs must meet; %NULL for all runs
 * @order: the column to sort by
 * @descending: whether the largest value is first
 *
 * Returns: (transfer full) (element-type gint64): a key for each matching run, sorted; the key of a
 *   run never changes, and the key of a deleted run is not used again
 */
LIG_API GArray *lig_store_list_keys (LigStore *self,
                                     const LigRunFilter *filter,
                                     LigRunOrder order,
                                     gboolean descending,
                                     GError **error);

/**
 * lig_store_read_runs:
 * @self: a store
 * @keys: (array length=count): keys from lig_store_list_keys()
 * @count: the number of keys
 *
 * Returns: (transfer container) (element-type LigRunRow): a row for each key, in the same order;
 *   %NULL for a deleted run
 */
LIG_API GPtrArray *
lig_store_read_runs (LigStore *self, const gint64 *keys, guint count, GError **error);

/**
 * lig_store_count_runs:
 * @self: a store
 *
 * Returns: the number of all runs; -1 with an error set
 */
LIG_API gint64 lig_store_count_runs (LigStore *self, GError **error);

/**
 * lig_store_list_values:
 * @self: a store
 * @column: `status`, `device`, `kind` or `tag`
 *
 * Returns: (transfer full): the values that occur in this column, in alphabetical order, or %NULL
 *   with an error set; a run whose process has ended counts as `interrupted`
 */
LIG_API GStrv lig_store_list_values (LigStore *self, const char *column, GError **error);

/**
 * lig_store_get_data_version:
 * @self: a store
 *
 * Returns: a number that changes whenever any process, including this one, changes the store; 0
 *   with an error set
 */
LIG_API gint64 lig_store_get_data_version (LigStore *self, GError **error);

/**
 * lig_store_find_run:
 * @self: a store
 * @selector: a selector as for lig_store_select_run()
 *
 * Returns: (transfer full): the run, or %NULL with %LIG_ERROR_STORE set
 */
LIG_API LigRunRow *lig_store_find_run (LigStore *self, const char *selector, GError **error);

/**
 * lig_store_get_metric:
 * @self: a store
 * @run: the uuid of a run
 * @name: the name of the metric, `loss`
 * @steps: (out) (element-type gint64): the steps in ascending order
 * @values: (out) (element-type double): the value at each step
 *
 * Reads one metric of a run; both arrays are empty if the run has no metric of this name.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_get_metric (LigStore *self,
                                       const char *run,
                                       const char *name,
                                       GArray **steps,
                                       GArray **values,
                                       GError **error);

/**
 * lig_store_get_metric_names:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer full): the names of the run's metrics, in alphabetical order
 */
LIG_API GStrv lig_store_get_metric_names (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_metrics:
 * @self: a store
 * @run: the uuid of a run
 * @error: (out) (optional): set if the store cannot be read
 *
 * Returns: (transfer container) (element-type LigMetricRow): the metrics of the run that have
 *   values, sorted by name, owned by the array; %NULL with an error
 */
LIG_API GPtrArray *lig_store_get_metrics (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_timings:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigTimingRow): rows owned by the array, sorted by
 *   pass, group and step
 */
LIG_API GPtrArray *lig_store_get_timings (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_fusions:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigFusionRow): rows owned by the array, in the order
 *   in which they were added
 */
LIG_API GPtrArray *lig_store_get_fusions (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_verdicts:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigVerdictRow): rows owned by the array, in the
 *   order in which they were added
 */
LIG_API GPtrArray *lig_store_get_verdicts (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_artifacts:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigArtifactRow): rows owned by the array, in the
 *   order in which they were added
 */
LIG_API GPtrArray *lig_store_get_artifacts (LigStore *self, const char *run, GError **error);

/**
 * lig_store_add_sample:
 * @self: a store
 * @run: the uuid of a run
 * @row: a text; replaces that of the same step and number
 *
 * Adds a text that the run generated.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_add_sample (LigStore *self,
                                       const char *run,
                                       const LigSampleRow *row,
                                       GError **error);

/**
 * lig_store_get_samples:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigSampleRow): rows owned by the array, in the order
 *   of steps and numbers; %NULL with %LIG_ERROR_STORE set
 */
LIG_API GPtrArray *lig_store_get_samples (LigStore *self, const char *run, GError **error);

/**
 * lig_store_set_star:
 * @self: a store
 * @run: the uuid of a run
 * @starred: whether the run has a star
 *
 * Adds a star to a run, or removes it.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_set_star (LigStore *self,
                                     const char *run,
                                     gboolean starred,
                                     GError **error);

/**
 * lig_store_set_note:
 * @self: a store
 * @run: the uuid of a run
 * @note: the notes, UTF-8; an empty string removes them
 *
 * Sets the notes of a run.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_set_note (LigStore *self,
                                     const char *run,
                                     const char *note,
                                     GError **error);

/**
 * lig_store_add_tag:
 * @self: a store
 * @run: the uuid of a run
 * @tag: a word
 *
 * Adds a tag to a run.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_add_tag (LigStore *self,
                                    const char *run,
                                    const char *tag,
                                    GError **error);

/**
 * lig_store_remove_tag:
 * @self: a store
 * @run: the uuid of a run
 * @tag: a word
 *
 * Removes a tag from a run.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_remove_tag (LigStore *self,
                                       const char *run,
                                       const char *tag,
                                       GError **error);

/**
 * lig_store_delete_runs:
 * @self: a store
 * @runs: (array length=count): the uuids of runs
 * @count: their number
 *
 * Deletes the runs and all their rows, all or none. Files that they wrote are kept.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_delete_runs (LigStore *self,
                                        const char *const *runs,
                                        guint count,
                                        GError **error);

/**
 * lig_store_compact:
 * @self: a store
 *
 * Returns the space of deleted rows to the file system. This rewrites the whole file, needs as much
 * additional free space, and fails while another process uses the store.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_compact (LigStore *self, GError **error);

/**
 * lig_store_new_document:
 *
 * Returns: (transfer full): a key for a document that this process edits
 */
LIG_API char *lig_store_new_document (void);

/**
 * lig_store_list_lost:
 * @self: a store
 *
 * Returns: (transfer full): keys of documents with edits whose process, on this machine, has ended,
 *   the most recently edited first; %NULL with an error set
 */
LIG_API GStrv lig_store_list_lost (LigStore *self, GError **error);

/**
 * lig_store_get_edits:
 * @self: a store
 * @document: a key from lig_store_new_document()
 *
 * Returns: (transfer full): the edits of the document, for undo and recovery, oldest first
 */
LIG_API GStrv lig_store_get_edits (LigStore *self, const char *document, GError **error);

/**
 * lig_store_append_edit:
 * @self: a store
 * @document: a key from lig_store_new_document()
 * @json: the edit as JSON
 *
 * Appends an edit to a document's journal.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_append_edit (LigStore *self,
                                        const char *document,
                                        const char *json,
                                        GError **error);

/**
 * lig_store_clear_edits:
 * @self: a store
 * @document: a key from lig_store_new_document()
 *
 * Deletes a document's journal.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_clear_edits (LigStore *self, const char *document, GError **error);

G_END_DECLS
