/* SPDX-License-Identifier: MIT */
/* The database of runs: what was trained and profiled, with which settings, how it went, and what
 * was measured on the way. One SQLite file; any number of processes may read and write it.
 *
 * Metrics, timings, fusions, verdicts and artifacts are queued and written by a thread within
 * 200 ms; everything else is on disk when the call returns. All functions may be called from any
 * thread. A `run` is the uuid that lig_store_begin_run() returned. Errors are %LIG_ERROR_STORE. A
 * run whose process is gone, or silent for a minute, reads as `interrupted`. */
#pragma once

#include <ligature/store-rows.h>

G_BEGIN_DECLS

#define LIG_TYPE_STORE (lig_store_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigStore, lig_store, LIG, STORE, GObject)

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

/**
 * lig_store_is_lost:
 * @self: a store
 *
 * Returns: whether this process can write nothing more to the store, as another program cut off
 *   its file. Any thread may ask.
 */
LIG_API gboolean lig_store_is_lost (LigStore *self);

/**
 * lig_store_open_existing:
 * @path: (nullable): as for lig_store_open()
 * @access: whether it is changed
 *
 * Opens a store that is there. To be read, the file may lie on a read-only file system, and a store
 * of an older schema is read from a copy. A damaged one is an error, never set aside.
 *
 * Returns: (transfer full): a store, or %NULL with an error: there is none, or as above
 */
LIG_API LigStore *lig_store_open_existing (const char *path,
                                           LigStoreAccess access,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_store_get_path:
 * @self: a store
 *
 * Returns: (transfer none): the absolute file name
 */
LIG_API const char *lig_store_get_path (LigStore *self);

/**
 * lig_store_get_warning:
 * @self: a store
 *
 * Returns: (transfer none) (nullable): what a person should know about how the store was opened
 */
LIG_API const char *lig_store_get_warning (LigStore *self);

/**
 * lig_store_begin_run:
 * @self: a store
 * @record: what the run is begun with, copied
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
 * @self: a store
 * @run: the uuid of a run
 *
 * Makes this process the one that runs it; refused while another one does.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_resume_run (LigStore *self, const char *run, GError **error);

/**
 * lig_store_add_metric:
 * @self: a store
 * @run: the uuid of a run
 * @step: an optimizer step, from 1
 * @name: of the metric, `loss`
 * @value: may be infinite or not a number
 *
 * Queues one value; never waits for the disk. A second value of the same run, name and step
 * replaces the first.
 */
LIG_API void
lig_store_add_metric (LigStore *self, const char *run, gint64 step, const char *name, double value);

/**
 * lig_store_add_timing:
 * @self: a store
 * @run: the uuid of a run
 * @step: an optimizer step, from 1
 * @group: its number in the pass
 * @pass: `forward`, `backward` or `update`
 * @microseconds: that it took
 * @bytes: read and written
 * @flops: floating-point operations
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
 * @self: a store
 * @run: the uuid of a run
 * @pass: `forward` or `backward`
 * @group: its number in the pass
 * @first_op: expanded index of its first op
 * @count: how many ops it covers
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
 * @self: a store
 * @run: the uuid of a run
 * @fusion: its name
 * @pass: `forward` or `backward`
 * @first_op: expanded index of the first op
 * @count: how many ops were looked at
 * @taken: whether it was taken
 * @reason: (nullable): %NULL where the fusion was taken; so may be the texts after it
 * @observed: (nullable): the condition as it is
 * @required: (nullable): as the fusion requires it
 * @text: (nullable): the sentence
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

/**
 * lig_store_add_artifact:
 * @self: a store
 * @run: the uuid of a run
 * @kind: one word, `checkpoint`
 * @path: (type filename): the file
 *
 * Queues the name of a file that the run wrote.
 */
LIG_API void
lig_store_add_artifact (LigStore *self, const char *run, const char *kind, const char *path);

/**
 * lig_store_add_saved_step:
 * @self: a store
 * @run: the uuid of a run
 * @step: an optimizer step, from 1
 *
 * Queues that the run's state after a step is in a checkpoint.
 */
LIG_API void lig_store_add_saved_step (LigStore *self, const char *run, gint64 step);

/**
 * lig_store_flush:
 * @self: a store
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
 * @self: a store
 * @run: the uuid of a run
 * @status: `done`, `failed`, `cancelled` or `interrupted`
 * @message: (nullable): why
 *
 * Flushes and sets how the run ended; the status is set even where flushing fails. If values that
 * the run reported are missing for good, `done` becomes `failed`, the message says how many, and so
 * does the error that is returned.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_finish_run (
  LigStore *self, const char *run, const char *status, const char *message, GError **error);

/**
 * lig_store_set_settings:
 * @self: a store
 * @run: the uuid of a run
 * @settings: JSON
 *
 * Replaces the settings that the run was begun with: it goes on for more steps.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_set_settings (LigStore *self,
                                         const char *run,
                                         const char *settings,
                                         GError **error);

/**
 * lig_store_list_runs:
 * @self: a store
 * @filter: (nullable): %NULL for all
 *
 * Returns: (transfer container) (element-type LigRunRow): newest first
 */
LIG_API GPtrArray *lig_store_list_runs (LigStore *self, const LigRunFilter *filter, GError **error);

/**
 * lig_store_list_keys:
 * @self: a store
 * @filter: (nullable): %NULL for all
 * @order: by what they are sorted
 * @descending: whether the greatest comes first
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
 * @self: a store
 * @keys: (array length=count): of lig_store_list_keys()
 * @count: how many
 *
 * Returns: (transfer container) (element-type LigRunRow): as many rows as there are keys, in the
 *   same order; %NULL for a run that is no longer there
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
 * Returns: (transfer full): the values that the runs have of it, in order of the alphabet, or %NULL
 *   with an error set. A run that is gone counts as `interrupted`.
 */
LIG_API GStrv lig_store_list_values (LigStore *self, const char *column, GError **error);

/**
 * lig_store_get_data_version:
 * @self: a store
 *
 * Returns: a number that is another one after any process, this one too, changed the store; 0
 *   with an error set
 */
LIG_API gint64 lig_store_get_data_version (LigStore *self, GError **error);

/**
 * lig_store_find_run:
 * @self: a store
 * @selector: a uuid, the beginning of one (at least 4 characters, only one may fit) or `last`
 *

 *
 * Returns: (transfer full): the run, or %NULL with %LIG_ERROR_STORE set
 */
LIG_API LigRunRow *lig_store_find_run (LigStore *self, const char *selector, GError **error);

/**
 * lig_store_find_last:
 * @self: a store
 * @kind: (nullable): `train` or `profile`, %NULL for any
 *
 * Returns: (transfer full): the run that was begun last, or %NULL with an error set
 */
LIG_API LigRunRow *lig_store_find_last (LigStore *self, const char *kind, GError **error);

/**
 * lig_store_get_metric:
 * @self: a store
 * @run: the uuid of a run
 * @name: of the metric, `loss`
 * @steps: (out) (element-type gint64): ascending
 * @values: (out) (element-type double): as many
 *
 * One metric of a run; both are empty where it has none of this name.
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
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigTimingRow): rows that belong to the array, in the
 *   order of pass, group and step
 */
LIG_API GPtrArray *lig_store_get_timings (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_fusions:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigFusionRow): rows that belong to the array, in the
 *   order in which they were added
 */
LIG_API GPtrArray *lig_store_get_fusions (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_verdicts:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigVerdictRow): rows that belong to the array, in the
 *   order in which they were added
 */
LIG_API GPtrArray *lig_store_get_verdicts (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_artifacts:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigArtifactRow): rows that belong to the array, in
 *   the order in which they were added
 */
LIG_API GPtrArray *lig_store_get_artifacts (LigStore *self, const char *run, GError **error);

/**
 * lig_store_set_star:
 * @self: a store
 * @run: the uuid of a run
 * @starred: whether it has one
 *
 * Stars a run, or takes the star away.
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
 * @note: UTF-8; empty removes them
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
 * Tags a run.
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
 * Takes a tag away.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_remove_tag (LigStore *self,
                                       const char *run,
                                       const char *tag,
                                       GError **error);

/**
 * lig_store_delete_run:
 * @self: a store
 * @run: the uuid of a run
 *
 * Deletes the run with all that belongs to it; the files that it wrote stay.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_delete_run (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_tuning:
 * @self: a store
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
 * @self: a store
 * @key: as for lig_store_get_tuning()
 * @microseconds: what was measured
 * @noise: by how many microseconds that may be wrong
 * @choice: (nullable): what was chosen; it replaces an earlier one
 *
 * Keeps what was measured. A time without a choice stays as it was first kept, so that all who
 * decide by it decide alike.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_put_tuning (LigStore *self,
                                       const char *key,
                                       double microseconds,
                                       double noise,
                                       const char *choice,
                                       GError **error);

/**
 * lig_store_get_device:
 * @self: a store
 * @name: of the device
 *
 * Returns: (transfer full) (nullable): what was measured of it, as JSON; %NULL with no error set
 *   if nothing is known
 */
LIG_API char *lig_store_get_device (LigStore *self, const char *name, GError **error);

/**
 * lig_store_put_device:
 * @self: a store
 * @name: of the device
 * @json: its facts
 *
 * Keeps what was measured of a device.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_put_device (LigStore *self,
                                       const char *name,
                                       const char *json,
                                       GError **error);

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
 * Returns: (transfer full): keys of documents with edits whose process on this machine is gone,
 *   the one edited last first; %NULL with an error set
 */
LIG_API GStrv lig_store_list_lost (LigStore *self, GError **error);

/**
 * lig_store_get_edits:
 * @self: a store
 * @document: a key of lig_store_new_document()
 *
 * Returns: (transfer full): a document's edits, for undo and recovery, oldest first
 */
LIG_API GStrv lig_store_get_edits (LigStore *self, const char *document, GError **error);

/**
 * lig_store_append_edit:
 * @self: a store
 * @document: a key of lig_store_new_document()
 * @json: the edit
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
 * @document: a key of lig_store_new_document()
 *
 * Deletes a document's journal.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_clear_edits (LigStore *self, const char *document, GError **error);

G_END_DECLS
