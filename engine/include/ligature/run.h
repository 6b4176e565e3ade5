/* SPDX-License-Identifier: MIT */
/* Runs: a run trains a sequence on a dataset. It has its own worker thread; callers may poll its
 * progress at any rate, for example every frame or ten times a second. */
#pragma once

#include <ligature/dataset.h>

G_BEGIN_DECLS

typedef struct _LigDevice LigDevice;
typedef struct _LigOptimizer LigOptimizer;
typedef struct _LigPlan LigPlan;
typedef struct _LigSequence LigSequence;
typedef struct _LigVerification LigVerification;
typedef struct _LigVerificationOptions LigVerificationOptions;
typedef struct _LigStore LigStore;

/* --- Settings ------------------------------------------------------------------------------ */

/* The maximum number of distinct parameters of all optimizers. */
#define LIG_RUN_OPTIMIZER_PARAMS 32

/**
 * LigRunSettings:
 *
 * The settings of a run. Their names are those of the options of `lig train` and of the keys of a
 * file's `train` object; lig_run_setting_nth() lists them with ranges and help. The struct owns its
 * strings; %NULL stands for the default.
 */
typedef struct {
  char *data, *optimizer, *schedule, *dtype, *policy, *checkpoint, *name, *freeze, *recompute,
    *sample_prompts, *vocabulary;
  gint64 steps, schedule_steps, batch, warmup, calibrate, accumulate, eval_every, eval_batches,
    checkpoint_every, histograms, load_every, sample_every, sample_tokens, sample_top_k,
    sample_seed;
  gint64 seed;
  double lr, min_lr, clip, loss_scale, sample_temperature;
  gint64 tf32, nondeterministic, shard_optimizer, bucket_size;
  double optimizer_params[LIG_RUN_OPTIMIZER_PARAMS]; /* as named in the optimizers' tables */
} LigRunSettings;

typedef enum { LIG_SETTING_TEXT, LIG_SETTING_COUNT, LIG_SETTING_NUMBER } LigSettingKind;

typedef struct {
  const char *name;
  LigSettingKind kind;
  gsize offset;
  double minimum, maximum, initial;
  const char *argument; /* the value in help texts; words separated by | are the only values */
  const char *help;
  const char *label; /* (nullable): the displayed name, translatable; null: derived from the name */
  const char *of;    /* (nullable): the optimizers that use it, `sgd, adamw`; null: it is not an
                        optimizer's parameter */
  const char *usual; /* (nullable): the word for an unset text's default */
  const char *group; /* the heading in help texts, such as Optimizer */
  const char *unset; /* (nullable): the effect if a text is unset or a number is 0 */
} LigSetting;

/**
 * lig_run_setting_nth:
 * @n: an index from 0
 *
 * Returns one setting: first those of every run, then the parameters of all optimizers from their
 * tables.
 *
 * Returns: (nullable) (transfer none): a setting, %NULL after the last
 */
LIG_API const LigSetting *lig_run_setting_nth (guint n);

/**
 * lig_setting_default:
 * @self: a setting
 *
 * Returns: (nullable) (transfer full): the default as help texts name it, such as `1000` or `the
 *   input's first axis`; %NULL if the setting has none
 */
LIG_API char *lig_setting_default (const LigSetting *self) G_GNUC_WARN_UNUSED_RESULT;

#define LIG_TYPE_RUN_SETTINGS (lig_run_settings_get_type ())
LIG_API GType lig_run_settings_get_type (void);

/**
 * lig_run_settings_new:
 *
 * Returns: (transfer full): settings with their defaults
 */
LIG_API LigRunSettings *lig_run_settings_new (void) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_run_settings_free:
 * @self: (nullable) (transfer full): settings from lig_run_settings_new()
 *
 * Releases settings with their strings.
 */
LIG_API void lig_run_settings_free (LigRunSettings *self);

/**
 * lig_run_settings_init:
 * @self: (out caller-allocates): the settings to fill in
 *
 * Fills in the defaults without releasing previous contents.
 */
LIG_API void lig_run_settings_init (LigRunSettings *self);

/**
 * lig_run_settings_clear:
 * @self: settings
 *
 * Releases the strings of settings, not the struct.
 */
LIG_API void lig_run_settings_clear (LigRunSettings *self);

/**
 * lig_run_settings_copy:
 * @from: settings
 * @to: (out caller-allocates): the copy; previous contents are not released
 *
 * Copies settings with their strings.
 */
LIG_API void lig_run_settings_copy (const LigRunSettings *from, LigRunSettings *to);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigRunSettings, lig_run_settings_clear)

/**
 * lig_run_settings_set:
 * @self: settings
 * @name: the name of the setting, `batch`
 * @text: the value as text
 *
 * Parses the value of one setting, checks its range and sets it.
 *
 * Returns: %FALSE with %LIG_ERROR_OP (no such setting) or %LIG_ERROR_VALUE set
 */
LIG_API gboolean lig_run_settings_set (LigRunSettings *self,
                                       const char *name,
                                       const char *text,
                                       GError **error);

/**
 * lig_run_settings_check:
 * @self: settings
 *
 * Checks that each setting is in its range, as lig_run_settings_set() does, and that settings are
 * consistent: no warm-up longer than the schedule, a calibration that ends before the run, no
 * `min-lr` above `lr`. lig_run_new() and similar functions do this themselves.
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE set
 */
LIG_API gboolean lig_run_settings_check (const LigRunSettings *self, GError **error);

/**
 * lig_run_settings_get_optimizer:
 * @self: settings
 * @optimizer: (out caller-allocates): the optimizer that the settings name, with its parameters
 *   and the loss scale
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE set if the optimizer is unknown or a parameter is out of
 *   range
 */
LIG_API gboolean lig_run_settings_get_optimizer (const LigRunSettings *self,
                                                 LigOptimizer *optimizer,
                                                 GError **error);

/**
 * lig_run_settings_get:
 * @self: settings
 * @name: the name of the setting
 *
 * Returns: (transfer full) (nullable): the value in the form that lig_run_settings_set() accepts,
 *   %NULL if it is unset
 */
LIG_API char *lig_run_settings_get (const LigRunSettings *self, const char *name);

/**
 * lig_run_settings_read:
 * @self: settings
 * @json: (nullable): the text of the object
 * @warnings: (inout) (optional) (transfer full): warnings about unknown keys
 *
 * Reads the `train` object of a file. Unknown keys are kept with a warning, but one that is similar
 * to a known key is rejected as a misspelling.
 *
 * Returns: %FALSE with %LIG_ERROR_FORMAT, %LIG_ERROR_OP (a misspelt key) or %LIG_ERROR_VALUE set
 */
LIG_API gboolean lig_run_settings_read (LigRunSettings *self,
                                        const char *json,
                                        GStrv *warnings,
                                        GError **error);

/**
 * lig_run_settings_read_record:
 * @self: settings with their defaults
 * @json: (nullable): the settings of a run, as its checkpoint or the store has them
 *
 * Reads the settings of an earlier run. A setting that older versions did not record gets the
 * behaviour of that version: validation rows are at the end of a file. Unknown keys are ignored.
 *
 * Returns: %FALSE with %LIG_ERROR_FORMAT or %LIG_ERROR_VALUE set
 */
LIG_API gboolean lig_run_settings_read_record (LigRunSettings *self,
                                               const char *json,
                                               GError **error);

/**
 * lig_run_settings_confine:
 * @self: settings
 * @folder: the folder of the file from which the settings were read
 *
 * Restricts the checkpoint path of a file from an untrusted source: the path is relative to @folder
 * and, with links followed, must be below @folder or below Ligature's data folder.
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE set if the path is outside both folders
 */
LIG_API gboolean lig_run_settings_confine (LigRunSettings *self,
                                           const char *folder,
                                           GError **error);

/**
 * lig_run_settings_to_json:
 * @self: settings
 *
 * Returns: (transfer full): a JSON object with every setting that has a value
 */
LIG_API char *lig_run_settings_to_json (const LigRunSettings *self);

/* --- Runs ---------------------------------------------------------------------------------- */

#define LIG_TYPE_RUN (lig_run_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigRun, lig_run, LIG, RUN, GObject)

/**
 * LigRun::step:
 * @self: a run
 * @step: an optimizer step, from 1
 * @loss: the loss of that step
 *
 * Emitted once for each step, in order, in the main context of the thread that called
 * lig_run_start(), provided that a handler was connected before that call. Training does not wait
 * for handlers: if they fall behind by %LIG_RUN_METRICS values, the oldest steps are omitted. The
 * signal consumes the metrics of lig_run_take_metrics(): use one or the other.
 */

/**
 * LigRun::progress:
 * @self: a run
 * @progress: the result of lig_run_get_progress(), valid until the handler returns
 *
 * Emitted about sixty times a second while the run is active, and once after its end, in the main
 * context of the thread that called lig_run_start(), provided that a handler of this signal or of
 * #LigRun::step was connected before that call.
 */

/**
 * LigRun::ended:
 * @self: a run
 * @status: %LIG_RUN_DONE, %LIG_RUN_FAILED, %LIG_RUN_CANCELLED or %LIG_RUN_INTERRUPTED
 * @message: (nullable): the error of a failed run, as reported by lig_run_wait()
 *
 * Emitted once, in the main context of the thread that called lig_run_start(), after all other
 * signals.
 */

typedef enum {
  LIG_RUN_READY,
  LIG_RUN_RUNNING,
  LIG_RUN_PAUSED,
  LIG_RUN_DONE,
  LIG_RUN_FAILED,
  LIG_RUN_CANCELLED,
  LIG_RUN_INTERRUPTED,
} LigRunStatus;

#define LIG_TYPE_RUN_STATUS (lig_run_status_get_type ())
LIG_API GType lig_run_status_get_type (void);

/**
 * lig_run_status_name:
 * @status: a status
 *
 * Returns: (transfer none): `ready`, `running`, `paused`, `done`, `failed`, `cancelled` or
 *   `interrupted`
 */
LIG_API const char *lig_run_status_name (LigRunStatus status);

/**
 * LigRunProgress:
 * @status: the status of the run
 * @step: the total number of completed optimizer steps
 * @steps: the total number of optimizer steps of the run
 * @first_step: the number of steps completed before this process started or resumed the run
 * @seconds: the seconds since this process started or resumed the run
 * @left: the estimated remaining seconds
 * @loss: the loss of the last step
 * @first_loss: the loss of the first step
 * @eval_loss: the validation loss at the last evaluation
 * @eval_accuracy: the validation accuracy at the last evaluation, from 0 to 1; NaN if the loss has
 *   no classes
 * @learning_rate: the learning rate of the last step
 * @gradient_norm: the norm of the gradients of the last step, before clipping
 * @loss_scale: the loss scale of the next step; NaN if the run has none
 * @skipped: the total number of updates skipped because the gradients were not finite
 * @step_seconds: the median duration of a step in seconds
 * @samples_per_second: the mean throughput in this process
 * @exposed: the median seconds of the same steps for which the other work of every rank waits for
 *   collectives; NaN for one rank
 * @imbalance: the median seconds for which ranks wait for the slowest one
 * @slowest: the rank that the others wait for
 * @searching: whether kernels are autotuning, as they do at their first launch, before step 1;
 *   rates exclude this time
 * @tokens: whether the rows of the input are tokens, see #LigUse
 * @rows_per_second: the tokens, or other rows, per second
 * @mfu: the model FLOP/s utilization, see #LigUse
 *
 * The progress of a run. Values that are not known yet are NaN.
 */
typedef struct {
  LigRunStatus status;
  gint64 step, steps, first_step;
  double seconds, left;
  double loss, first_loss, eval_loss, eval_accuracy;
  double learning_rate, gradient_norm, loss_scale;
  gint64 skipped;
  double step_seconds, samples_per_second;
  double exposed, imbalance;
  int slowest;
  gboolean searching;
  gboolean tokens;
  double rows_per_second, mfu;
} LigRunProgress;

/**
 * lig_run_describe_rate:
 * @progress: the progress of a run
 *
 * Returns: (transfer full) (nullable): `2.34 M tokens/s, 48 % MFU`, or `640 samples/s` if the input
 *   has no tokens and the peak rates of the device are unknown, translated; %NULL before the first
 *   step
 */
LIG_API char *lig_run_describe_rate (const LigRunProgress *progress);

/**
 * lig_run_explain_waits:
 * @progress: the progress of a run
 *
 * Returns: (transfer full) (nullable): a translated description of the time that ranks wait for
 *   collectives and for the slowest rank; %NULL with one rank
 */
LIG_API char *lig_run_explain_waits (const LigRunProgress *progress);

#define LIG_TYPE_RUN_PROGRESS (lig_run_progress_get_type ())
LIG_API GType lig_run_progress_get_type (void);

/**
 * lig_run_suggest_data:
 * @sequence: a sequence
 *
 * Returns: (transfer none): an example of data for the input: `text:FOLDER` for token ids,
 *   otherwise `csv:FILE`
 */
LIG_API const char *lig_run_suggest_data (LigSequence *sequence);

/**
 * lig_run_new:
 * @sequence: a sequence that ends in a loss; the run makes its own copy
 * @device: an available device
 * @settings: the settings, copied
 * @init: (nullable): a file or folder with initial parameters, as for lig_state_load_weights()
 * @store: (nullable): the store that records the run
 *
 * Opens the data, checks that the sequence ends in a loss and fits the data, creates the state and
 * compiles the plans. Nothing is written if this fails.
 *
 * Returns: (transfer full): a run that is ready, or %NULL with an error
 */
LIG_API LigRun *lig_run_new (LigSequence *sequence,
                             LigDevice *device,
                             const LigRunSettings *settings,
                             const char *init,
                             LigStore *store,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_run_get_weights_note:
 * @self: a run
 *
 * Returns: (transfer none) (nullable): a note on the initial parameters: that of
 *   lig_state_load_weights(), or that of lig_run_resume() about arrays that the checkpoint lacks
 *   and that were initialized
 */
LIG_API const char *lig_run_get_weights_note (LigRun *self);

/**
 * lig_run_get_sample:
 * @self: a run
 * @step: (out): the step after which it was generated; 0 before the first one
 *
 * May be called from any thread.
 *
 * Returns: (transfer full) (nullable): the last text that the run generated for its first sample
 *   prompt, with the prompt
 */
LIG_API char *lig_run_get_sample (LigRun *self, gint64 *step);

/**
 * lig_run_get_remarks:
 * @self: a run that is ready
 *
 * Returns remarks for the user who starts the run: choices that it made itself, such as the batch
 * size if none was given or the schedule of a resumed run; settings that the checkpoint lacks; and
 * likely mistakes in the data, such as classes without training samples.
 *
 * Returns: (transfer none) (array zero-terminated=1): the remarks, which may be empty
 */
LIG_API const char *const *lig_run_get_remarks (LigRun *self);

/**
 * lig_run_resume:
 * @checkpoint: a file that a run wrote
 * @device: the device on which the checkpoint was written, or an equal one
 * @overrides: (nullable) (array zero-terminated=1): `name=value`; `steps` may increase,
 *   `shard-optimizer` and `bucket-size` may differ; different data, batch, rate or schedule begin a
 *   new run; any other difference from the checkpoint is an error
 * @store: (nullable): the store that records the run
 *
 * Continues a run bitwise identically, with the same groups, threads, instructions and data; fails
 * if that is not possible. With a store, the run that wrote the checkpoint continues. If that run
 * has already advanced further or is not in the store, or if its learning rates would have differed
 * with these settings, a new run begins with the old one as its parent (lig_run_get_parent()), and
 * the old run and its file remain unchanged; lig_run_get_remarks() has the differences. A run that
 * lacks only its last evaluation is evaluated.
 *
 * Returns: (transfer full): a run that is ready, or %NULL with an error
 */
LIG_API LigRun *lig_run_resume (const char *checkpoint,
                                LigDevice *device,
                                const char *const *overrides,
                                LigStore *store,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_run_checkpoint_device:
 * @checkpoint: (type filename): a file that a run wrote
 *
 * Returns: (transfer full): the name of the device on which it was written, or %NULL with an error
 *   set
 */
LIG_API char *lig_run_checkpoint_device (const char *checkpoint, GError **error);

/**
 * lig_run_start:
 * @self: a run
 *
 * Starts training on a worker thread. Signals are emitted in the thread-default main context of the
 * caller: connect handlers before this call, and iterate that context.
 */
LIG_API void lig_run_start (LigRun *self);

/**
 * lig_run_wait:
 * @self: a run
 *
 * Waits until the run has ended. Signals are not emitted during the call, but the next time the
 * main context is iterated.
 *
 * Returns: %FALSE with the error of a failed run
 */
LIG_API gboolean lig_run_wait (LigRun *self, GError **error);

/**
 * lig_run_failed_together:
 * @self: a run that has failed
 *
 * Returns: whether all ranks detected the error, such as a loss that is not finite, so that they
 *   may train something else together; %TRUE without ranks. If %FALSE, the others are waiting for
 *   this rank, which has to end with lig_ranks_fail()
 */
LIG_API gboolean lig_run_failed_together (LigRun *self);

/**
 * lig_run_pause:
 * @self: a run
 *
 * Pauses the run between two steps, after it has saved a checkpoint; while it evaluates, before the
 * next kernel, and it then saves when it continues. May be called from any thread.
 */
LIG_API void lig_run_pause (LigRun *self);

/**
 * lig_run_unpause:
 * @self: a run
 *
 * Continues after lig_run_pause(). May be called from any thread.
 */
LIG_API void lig_run_unpause (LigRun *self);

/**
 * lig_run_cancel:
 * @self: a run
 *
 * Ends the run with a checkpoint, as %LIG_RUN_CANCELLED: on an asynchronous device after the
 * current step, otherwise before the next kernel, which discards the current step on all ranks.
 * Rank 0 decides for all ranks. May be called from any thread.
 */
LIG_API void lig_run_cancel (LigRun *self);

/**
 * lig_run_interrupt:
 * @self: a run
 *
 * Ends the run like lig_run_cancel(), but as %LIG_RUN_INTERRUPTED, to be resumed later. May be
 * called from any thread.
 */
LIG_API void lig_run_interrupt (LigRun *self);

/**
 * lig_run_get_progress:
 * @self: a run
 * @progress: (out caller-allocates): the progress
 *
 * Reads the progress of the run. May be called from any thread.
 */
LIG_API void lig_run_get_progress (LigRun *self, LigRunProgress *progress);

/**
 * lig_run_get_evaluation:
 * @self: a run
 * @batch: (out): the number of finished validation batches
 * @batches: (out): the number of validation batches of this evaluation
 *
 * Reads the progress of the current evaluation. May be called from any thread.
 *
 * Returns: whether the run is evaluating now; otherwise both numbers are 0
 */
LIG_API gboolean lig_run_get_evaluation (LigRun *self, gint64 *batch, gint64 *batches);

/**
 * lig_run_dup_problem:
 * @self: a run
 *
 * Returns the error if the last intermediate checkpoint or the store could not be written. The run
 * continues and retries at the next checkpoint. The final checkpoint must succeed, and a run whose
 * values are missing from the store at its end fails.
 *
 * Returns: (transfer full) (nullable): an error message
 */
LIG_API char *lig_run_dup_problem (LigRun *self);

/**
 * lig_run_save:
 * @self: a run
 *
 * Saves a checkpoint after the current step, or at once if the run is paused; the run then
 * continues or stays paused. May be called from any thread.
 */
LIG_API void lig_run_save (LigRun *self);

/* The capacity of the queue of lig_run_take_metrics(); new metrics replace the oldest. */
#define LIG_RUN_METRICS 65536

/* One value, which is also written to the store. @name is a static string. */
typedef struct {
  gint64 step;
  const char *name;
  double value;
} LigRunMetric;

/**
 * lig_run_take_metrics: (skip)
 * @self: a run
 * @to: (array length=max): the array to fill with the oldest metrics that have not been taken
 * @max: the length of @to
 *
 * Takes metrics from the run's queue. Any one thread may call this. The call never blocks: it takes
 * nothing while the worker thread is adding a metric. All metrics are available once the run has
 * ended.
 *
 * Returns: the number of metrics taken
 */
LIG_API guint lig_run_take_metrics (LigRun *self, LigRunMetric *to, guint max);

/**
 * lig_run_check_data:
 * @sequence: a sequence; it is not changed
 * @data: data that was opened for the sequence's input; its target is set by this call
 * @name: a short name of the data for the message
 *
 * Checks, as lig_run_new() does, whether data fits a sequence. Samples of another size fit if the
 * sequence can be compiled for them; a sequence without a loss accepts all targets. A sequence that
 * cannot be compiled at all is not reported as an error of the data.
 *
 * Returns: %FALSE with an error set whose message is a translated sentence: `xor.csv gives 2
 *   numbers; the model wants 16 whole tokens`
 */
LIG_API gboolean lig_run_check_data (LigSequence *sequence,
                                     LigDataset *data,
                                     const char *name,
                                     GError **error);

/**
 * lig_run_get_uuid:
 * @self: a run
 *
 * Returns: (transfer none) (nullable): the run's uuid in the store, %NULL without a store
 */
LIG_API const char *lig_run_get_uuid (LigRun *self);

/**
 * lig_run_get_parent:
 * @self: a run
 *
 * Returns: (transfer none) (nullable): the uuid of the run whose checkpoint this new run continues
 */
LIG_API const char *lig_run_get_parent (LigRun *self);

/**
 * lig_run_get_sequence:
 * @self: a run
 *
 * Returns: (transfer none): the run's own copy of the sequence
 */
LIG_API LigSequence *lig_run_get_sequence (LigRun *self);

/**
 * lig_run_get_plan:
 * @self: a run that is ready
 *
 * Returns: (transfer none): the plan of its steps
 */
LIG_API LigPlan *lig_run_get_plan (LigRun *self);

/**
 * lig_run_verify: (skip)
 * @self: a run that has not started
 * @options: (nullable): the options; `feed` is not read, `batches` are of the run's data
 *
 * Verifies the plan of its steps, see lig_plan_verify(), on random batches and on the next batches
 * of its data. The run does not change.
 *
 * Returns: (transfer full): the findings, or %NULL with an error set
 */
LIG_API LigVerification *lig_run_verify (LigRun *self,
                                         const LigVerificationOptions *options,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_run_get_device:
 * @self: a run
 *
 * Returns: (transfer none): the device of the run
 */
LIG_API LigDevice *lig_run_get_device (LigRun *self);

/**
 * lig_run_get_settings:
 * @self: a run
 *
 * Returns: (transfer none): the run's own copy of its settings
 */
LIG_API const LigRunSettings *lig_run_get_settings (LigRun *self);

/**
 * lig_run_get_checkpoint:
 * @self: a run
 *
 * Returns: (transfer none): the file to which checkpoints are written
 */
LIG_API const char *lig_run_get_checkpoint (LigRun *self);

/**
 * lig_run_describe_data:
 * @self: a run
 *
 * Returns: (transfer none): a description of the dataset, see lig_dataset_describe()
 */
LIG_API const char *lig_run_describe_data (LigRun *self);

G_END_DECLS
