/* SPDX-License-Identifier: MIT */
/* Runs: one training of a sequence on a data set. A run works on a thread of its own; whoever
 * watches it asks for its progress when it suits, every frame or ten times a second. */
#pragma once

#include <ligature/device.h>
#include <ligature/optimizer.h>
#include <ligature/sequence.h>
#include <ligature/store.h>

G_BEGIN_DECLS

/* --- Settings ------------------------------------------------------------------------------ */

/* Different parameters of all optimizers together, at most. */
#define LIG_RUN_OPTIMIZER_PARAMS 32

/**
 * LigRunSettings:
 *
 * The names of the settings are those of the options of `lig train` and of the keys of a file's
 * `train` object; lig_run_setting_nth() lists them with ranges and help. Strings are owned; %NULL
 * stands for the default.
 */
typedef struct {
  char *data, *optimizer, *schedule, *dtype, *policy, *checkpoint, *name;
  gint64 steps, batch, warmup, accumulate, eval_every, eval_batches, checkpoint_every, seed;
  double lr, min_lr, clip, loss_scale;
  gint64 tf32;
  double optimizer_params[LIG_RUN_OPTIMIZER_PARAMS]; /* those that the tables of optimizers name */
} LigRunSettings;

typedef enum { LIG_SETTING_TEXT, LIG_SETTING_COUNT, LIG_SETTING_NUMBER } LigSettingKind;

typedef struct {
  const char *name;
  LigSettingKind kind;
  gsize offset;
  double minimum, maximum, initial;
  const char *argument; /* the value in help texts; words with | between them are the only values */
  const char *help;
  const char *label; /* (nullable): the name for people, translatable; null: made from the name */
  const char *of;    /* (nullable): the optimizers that read it, `sgd, adamw`; null: not theirs */
  const char *usual; /* (nullable): the word that an unset text stands for */
} LigSetting;

/**
 * lig_run_setting_nth:
 * @n: from 0
 *
 * The settings one by one: those of every training, and the parameters of all optimizers, made from
 * their tables.
 *
 * Returns: (nullable) (transfer none): a setting, %NULL after the last
 */
LIG_API const LigSetting *lig_run_setting_nth (guint n);

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
 * @self: (nullable) (transfer full): what lig_run_settings_new() returned
 */
LIG_API void lig_run_settings_free (LigRunSettings *self);

/**
 * lig_run_settings_init:
 * @self: (out caller-allocates): filled in
 *
 * Fills in the defaults; what was there is not released.
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
 * @to: (out caller-allocates): overwritten without being cleared
 *
 * Copies settings with their strings.
 */
LIG_API void lig_run_settings_copy (const LigRunSettings *from, LigRunSettings *to);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigRunSettings, lig_run_settings_clear)

/**
 * lig_run_settings_set:
 * @self: settings
 * @name: of the setting, `batch`
 * @text: its value
 *
 * Sets one setting from its text, checked against its range.
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
 * Checks that settings go together: no warm-up beyond the steps, no `min-lr` above `lr`.
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
 * Returns: %FALSE with %LIG_ERROR_VALUE set where there is no such optimizer or a parameter is
 *   beyond its range
 */
LIG_API gboolean lig_run_settings_get_optimizer (const LigRunSettings *self,
                                                 LigOptimizer *optimizer,
                                                 GError **error);

/**
 * lig_run_settings_get:
 * @self: settings
 * @name: of the setting
 *
 * Returns: (transfer full) (nullable): its value as lig_run_settings_set() takes it, %NULL where
 *   it is unset
 */
LIG_API char *lig_run_settings_get (const LigRunSettings *self, const char *name);

/**
 * lig_run_settings_read:
 * @self: settings
 * @json: (nullable): the object's text
 * @warnings: (inout) (optional) (transfer full): sentences on unknown keys
 *
 * Reads a file's `train` object.
 *
 * Returns: %FALSE with %LIG_ERROR_FORMAT or %LIG_ERROR_VALUE set
 */
LIG_API gboolean lig_run_settings_read (LigRunSettings *self,
                                        const char *json,
                                        GStrv *warnings,
                                        GError **error);

/**
 * lig_run_settings_confine:
 * @self: settings
 * @folder: where the file lies that the settings were read from
 *
 * Limits a file that somebody sent: the place that it names for checkpoints is looked for from
 * @folder on, and must lie below it or below Ligature's own data folder, links followed.
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE set where it lies elsewhere
 */
LIG_API gboolean lig_run_settings_confine (LigRunSettings *self,
                                           const char *folder,
                                           GError **error);

/**
 * lig_run_settings_to_json:
 * @self: settings
 *
 * Returns: (transfer full): the JSON object with every setting that is not unset
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
 * @loss: of that step
 *
 * Emitted once for each step, in order, in the main context of the thread that called
 * lig_run_start(), provided that a handler was connected before that call. The training does not
 * wait for handlers: where they fall behind by %LIG_RUN_METRICS values, the oldest steps are left
 * out. A handler takes the place of lig_run_take_metrics(): use one or the other.
 */

/**
 * LigRun::progress:
 * @self: a run
 * @progress: as lig_run_get_progress() gives it, valid until the handler returns
 *
 * Emitted about sixty times a second while the run works, and once after its end, in the main
 * context of the thread that called lig_run_start(), provided that a handler of this signal or of
 * #LigRun::step was connected before that call.
 */

/**
 * LigRun::ended:
 * @self: a run
 * @status: %LIG_RUN_DONE, %LIG_RUN_FAILED, %LIG_RUN_CANCELLED or %LIG_RUN_INTERRUPTED
 * @message: (nullable): why it failed, as lig_run_wait() reports it
 *
 * Emitted once, in the main context of the thread that called lig_run_start(), after all other
 * signals, when nothing more will happen.
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
 * @status: how it is with the run
 * @step: optimizer steps done, in all
 * @steps: optimizer steps wanted, in all
 * @first_step: steps that were done before this process took the run on
 * @seconds: since it started here
 * @left: seconds that it still needs at its present rate
 * @loss: of the last step
 * @first_loss: of the first step
 * @eval_loss: on the held-out samples, at the last evaluation
 * @eval_accuracy: likewise, from 0 to 1; NaN where the loss has no classes
 * @learning_rate: of the last step
 * @gradient_norm: of the last step, before clipping
 * @loss_scale: of the next step, NaN in a training that has none
 * @skipped: updates that wrote nothing as the gradients were not finite, in all
 * @step_seconds: median of a step
 * @samples_per_second: over all that is done here
 *
 * The progress of a run; NaN for what is not known yet.
 */
typedef struct {
  LigRunStatus status;
  gint64 step, steps, first_step;
  double seconds, left;
  double loss, first_loss, eval_loss, eval_accuracy;
  double learning_rate, gradient_norm, loss_scale;
  gint64 skipped;
  double step_seconds, samples_per_second;
} LigRunProgress;

#define LIG_TYPE_RUN_PROGRESS (lig_run_progress_get_type ())
LIG_API GType lig_run_progress_get_type (void);

/**
 * lig_run_new:
 * @sequence: a sequence that ends in a loss; the run has a copy of its own
 * @device: a device that runs
 * @settings: copied
 * @init: (nullable): a safetensors file with initial parameters
 * @store: (nullable): where the run is recorded
 *
 * Opens the data, checks that the sequence ends in a loss and fits it, makes the state and compiles
 * the plans. Nothing is written when this fails.
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
 * lig_run_resume:
 * @checkpoint: a file that a run wrote
 * @device: the device that the checkpoint was made on, or one like it
 * @overrides: (nullable) (array zero-terminated=1): `name=value`; the number of steps may grow, any
 *   other value that differs from the checkpoint's is refused
 * @store: (nullable): where the run is recorded
 *
 * Goes on bit-identically: with the same groups, threads, instructions and data, or not at all.
 * With a store the run that wrote the checkpoint goes on; where that one went further already, or
 * the store does not hold it, a new run begins that names it (lig_run_get_parent()), and the old
 * one stays as it is. A run that lacks only its last evaluation gets it.
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
 * Returns: (transfer full): the name of the device that it was made on, or %NULL with an error
 *   set
 */
LIG_API char *lig_run_checkpoint_device (const char *checkpoint, GError **error);

/**
 * lig_run_start:
 * @self: a run
 *
 * Begins training on a thread of its own. Signals are emitted in the main context that is the
 * calling thread's default: connect them before, and iterate that context.
 */
LIG_API void lig_run_start (LigRun *self);

/**
 * lig_run_set_background:
 * @self: a run
 * @background: whether its threads run at a lower priority
 *
 * Lowers the priority of the run's threads (a nice value of 5), so that a window on the same
 * processors stays smooth; on an idle machine this costs nothing. Call it before the run starts.
 */
LIG_API void lig_run_set_background (LigRun *self, gboolean background);

/**
 * lig_run_wait:
 * @self: a run
 *
 * Waits for the end. Signals are not emitted meanwhile, but when the context is next iterated.
 *
 * Returns: %FALSE with the error of a run that failed
 */
LIG_API gboolean lig_run_wait (LigRun *self, GError **error);

/**
 * lig_run_pause:
 * @self: a run
 *
 * Pauses after the step under way. May be called from any thread.
 */
LIG_API void lig_run_pause (LigRun *self);

/**
 * lig_run_unpause:
 * @self: a run
 *
 * Goes on after lig_run_pause(). May be called from any thread.
 */
LIG_API void lig_run_unpause (LigRun *self);

/**
 * lig_run_cancel:
 * @self: a run
 *
 * Ends the run after the step under way, with a checkpoint, as %LIG_RUN_CANCELLED. May be called
 * from any thread.
 */
LIG_API void lig_run_cancel (LigRun *self);

/**
 * lig_run_interrupt:
 * @self: a run
 *
 * Ends the run like lig_run_cancel(), but as %LIG_RUN_INTERRUPTED: it is meant to be resumed.
 * May be called from any thread.
 */
LIG_API void lig_run_interrupt (LigRun *self);

/**
 * lig_run_get_progress:
 * @self: a run
 * @progress: (out caller-allocates): filled in
 *
 * Reads the state of the run. May be called from any thread.
 */
LIG_API void lig_run_get_progress (LigRun *self, LigRunProgress *progress);

/**
 * lig_run_dup_problem:
 * @self: a run
 *
 * Returns: (transfer full) (nullable): why the last checkpoint between two steps, or the store,
 *   could not be written. The training goes on and tries again when the next is due; the
 *   checkpoint at its end must succeed, and a run whose values are missing from the store in the
 *   end has failed.
 */
LIG_API char *lig_run_dup_problem (LigRun *self);

/**
 * lig_run_save:
 * @self: a run
 *
 * Saves a checkpoint after the step under way, of a paused run at once, and goes on. May be
 * called from any thread.
 */
LIG_API void lig_run_save (LigRun *self);

/* How many metrics wait for whoever watches a run; older ones make room for new ones. */
#define LIG_RUN_METRICS 65536

/* One value as it also goes into the store. @name: of static storage. */
typedef struct {
  gint64 step;
  const char *name;
  double value;
} LigRunMetric;

/**
 * lig_run_take_metrics: (skip)
 * @self: a run
 * @to: (array length=most): filled with the oldest that nobody has taken yet
 * @most: how many fit
 *
 * For one watcher, of any thread. Never waits for the training: where that is just writing one,
 * nothing is taken. All are there once the run has finished.
 *
 * Returns: how many were taken
 */
LIG_API guint lig_run_take_metrics (LigRun *self, LigRunMetric *to, guint most);

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
 * Returns: (transfer none) (nullable): the uuid of the run from whose checkpoint this one goes
 *   on as a new run
 */
LIG_API const char *lig_run_get_parent (LigRun *self);

/**
 * lig_run_get_sequence:
 * @self: a run
 *
 * Returns: (transfer none): the run's own copy of what it trains
 */
LIG_API LigSequence *lig_run_get_sequence (LigRun *self);

/**
 * lig_run_get_device:
 * @self: a run
 *
 * Returns: (transfer none): the device that it works on
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
 * Returns: (transfer none): the file that checkpoints go to
 */
LIG_API const char *lig_run_get_checkpoint (LigRun *self);

/**
 * lig_run_describe_data:
 * @self: a run
 *
 * Returns: (transfer none): the data set in words, see lig_dataset_describe()
 */
LIG_API const char *lig_run_describe_data (LigRun *self);

G_END_DECLS
