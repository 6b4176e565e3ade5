/* SPDX-License-Identifier: MIT */
/* The inside of a run, shared by the files of engine/train. */
#pragma once

#include "engine/measure/stopwatch.h"
#include "engine/plan/results.h"
#include <ligature/dataset.h>
#include <ligature/plan-options.h>
#include <ligature/run.h>
#include <ligature/tensor-file.h>
#include <ligature/tuning.h>

typedef enum {
  LIG_REQUEST_NONE,
  LIG_REQUEST_CANCEL,
  LIG_REQUEST_INTERRUPT,
  LIG_REQUEST_SAVE, /* of all ranks; the training goes on */
} LigRequest;

/* Steps whose times are kept for the median. */
#define LIG_KEPT_STEP_TIMES 4096

/* A pending micro-batch: its step, whether it is the step's last, and when it began. */
typedef struct {
  gint64 step;
  gboolean last;
  double share; /* in its step */
  double begun;
} LigRunPending;

struct _LigRun {
  GObject parent_instance;
  LigSequence *sequence; /* a copy, with the input that the data decides */
  LigDevice *device;
  LigRunSettings settings;
  LigStore *store;
  char *uuid, *checkpoint;
  char *choices, *calibration_choices; /* the groups of the programs; null before they are made */
  char *weights_note;   /* (nullable): how the file of the initial parameters was read */
  GPtrArray *remarks;   /* what the run has chosen by itself, for whoever starts it */
  char *init, *weights; /* the file of the initial parameters, and its hash */
  char *repeats;        /* the run that this one repeats */
  char *parent;         /* the run from whose checkpoint this one continues */
  char *status_before;  /* the status of a resumed run, until it starts */
  gboolean branches;    /* it continues the checkpoint as another run, with other settings */
  gboolean replans;     /* of which some give another plan */
  gboolean changes_data;
  int claim; /* descriptor of the lock file, -1 without one */
  char *claim_path;

  LigDataset *data;
  LigState *state;
  LigOptimizer *optimizer; /* of the settings; null before they are read */
  LigTuning tuning;
  LigPlanOptions train_options, eval_options;
  LigProgramCache *programs;
  LigProgram *train, *eval; /* of this step */
  LigPlan *plan;            /* of the training with its recipe, also while it calibrates */
  LigTensor *input, *targets;
  gboolean classes;    /* the loss is a cross-entropy */
  int threads;         /* of OpenMP; 0: as many as it has */
  gboolean background; /* its threads run at lower priority */
  gint64 first_step;   /* number of steps done before this process continued the run */
  gint64 saved_step;   /* of the last checkpoint, -1 before */
  double saved_at;     /* the time of the last checkpoint, or of the start */

  /* Numbers of micro-batches launched, and of results taken: of the training's thread. */
  guint64 sent, taken;
  LigRunPending pending[LIG_PROGRAM_LATE];
  double *shares; /* of each micro-batch in its step; null if a step has one */
  double partial_loss, last_ended;

  /* How long this rank had waited before the step; how long each waited in the step, and in the
   * last ones on average: of the training's thread. */
  double waiting_before, *waited, *waited_lately;

  guint work;        /* the number of the training among those of its ranks */
  gboolean together; /* all ranks have found what ended the training */

  GThread *thread;
  GMainContext *context; /* where signals are emitted */
  GSource *ticker, *end; /* of that context: the former while the run has handlers */
  double began;          /* monotonic, seconds */
  GMutex lock;           /* guards the fields up to save_requested */
  GCond changed;
  gboolean paused;
  LigRequest request;
  LigRunProgress progress;
  gint64 eval_batch, eval_batches; /* of the present evaluation, 0 without one */
  GError *error;
  char *problem;        /* the reason why the last checkpoint is missing */
  GArray *step_seconds; /* of float, the last ones, for the median */
  gboolean save_requested;
  gboolean stepping; /* the thread is in a step, which a requested checkpoint may abandon */
  double idle;       /* seconds of the present step that passed while paused */
  int asked;         /* atomic: paused or request may have been set since the steps last looked */

  /* A ring of metrics for the caller, with its own lock; the total numbers written and read. */
  GMutex metrics_lock;
  LigRunMetric *metrics;
  guint64 metrics_in, metrics_out;
};

/* Runs a step of the training. Its results are noted now or, on asynchronous devices, a few steps
 * later; lig_run_finish_pending() waits for all pending results and notes them. */
gboolean lig_run_step (LigRun *self, gint64 step, GError **error);
gboolean lig_run_finish_pending (LigRun *self, GError **error);

/* Finds the shares of the next step's micro-batches; returns one; gives it to the program that
 * trains, as the gradient of the loss. All ranks come to the first together. */
gboolean lig_run_share_parts (LigRun *self, GError **error);
double lig_run_get_share (LigRun *self, gint64 part);
gboolean lig_run_scale_part (LigRun *self, gint64 part, GError **error);

/* Waits in a step while the run is paused, and returns whether the step has to be abandoned; a
 * LigProgramInterrupt. */
gboolean lig_run_interrupt_step (gpointer run);

/* Returns whether rank 0 has asked for the end of the training, which abandons the step on all
 * ranks; a LigProgramInterrupt. */
gboolean lig_run_interrupt_together (gpointer run);

/* Notes a value for the caller and, if it is finite, in the store, if any. */
void lig_run_metric (LigRun *self, gint64 step, const char *name, double value);

/* Add the class's signals; begin to emit them; emit the last ones, from any thread; end. */
void lig_run_add_signals (void);
void lig_run_watch (LigRun *self);
void lig_run_announce_end (LigRun *self);
void lig_run_unwatch (LigRun *self);

/* Opens the data set, checks that sequence and data fit, and makes the state. `seed`, `batch` and
 * so on come from the settings, which are `fresh` if whoever gave them can still change them. */
gboolean lig_run_prepare (LigRun *self, gboolean fresh, GError **error);

/* --- Ranks --- */

/* Returns the ranks that train together, null if this process trains alone. */
LigRanks *lig_run_ranks (LigRun *self);

/* Returns (transfer full) the layout of the ranks, null if the run is of none. */
char *lig_run_describe_layout (LigRun *self);

/* Returns whether this rank writes the checkpoints and the store, and obeys requests. */
gboolean lig_run_writes (LigRun *self);

/* Gives each rank its part of a batch, which its plans have instead of that of the sequence;
 * refuses a batch that the ranks do not divide. */
gboolean lig_run_share_batch (LigRun *self, GError **error);

/* Refuses ranks that have prepared different trainings. */
gboolean lig_run_compare_ranks (LigRun *self, GError **error);

/* Lets all ranks fail if one does, lig_ranks_share_failure(). */
gboolean lig_run_share_failure (LigRun *self, gboolean fine, GError **error);

/* Replace a text, a request by rank 0's. */
gboolean lig_run_share_choices (LigRun *self, char **choices, GError **error);
gboolean lig_run_share_request (LigRun *self, LigRequest *request, GError **error);

/* Replaces a step's loss by its mean over the ranks, and notes how long each of them waited for the
 * others; `waiting`: how long this one has waited since its program was made. `abandoned`: whether
 * this rank has abandoned the step; then whether any has. */
gboolean
lig_run_join_step (LigRun *self, double *loss, double waiting, gboolean *abandoned, GError **error);

/* Notes the last step's waits as metrics and in the progress. */
void lig_run_note_waits (LigRun *self, gint64 step);

/* Fills in the targets that the loss at the end of a plan requires. */
void lig_run_find_target (LigPlan *plan, LigTarget *target);

/* Returns the number of the caller's extra inputs that are documents; the targets follow them. */
guint lig_run_count_documents (LigPlan *plan);

/* Checks that the data has the extra inputs that the plan takes, and that none is left unread. */
gboolean lig_run_check_extras (LigRun *self, LigPlan *plan, GError **error);

/* Gives a batch to a program of this training. */
gboolean lig_run_set_batch (
  LigRun *self, LigProgram *program, LigTensor *input, LigTensor *targets, GError **error);

/* Binds the data again after the number of classes of the loss was set. */
gboolean lig_run_bind_classes (LigRun *self, GError **error);

/* Checks that the tokens of the data are row numbers of the first embedding; the ops before it do
 * not change them. */
gboolean lig_run_check_vocabulary (LigDataset *data, LigPlan *plan, GError **error);

/* Checks that the setting `calibrate` has amaxes to record. */
gboolean lig_run_check_calibration (LigRun *self, LigPlan *plan, GError **error);

/* Compiles the plans, with self->choices and self->calibration_choices if set. */
gboolean lig_run_compile (LigRun *self, GError **error);

/* Makes the programs those that run the step: the first ones calibrate. */
gboolean lig_run_choose_programs (LigRun *self, gint64 step, GError **error);

/* Returns the number of steps from one held-out evaluation to the next; 0: only one at the end.
 * Without a setting there are about 20. `batches` is set to the most batches of each but the last
 * (0: all); without a setting they are few compared with those of the training. Neither depends on
 * times, so that a repetition evaluates the same. */
gint64 lig_run_get_evaluation_interval (LigRun *self, gint64 *batches);

/* Returns the most batches of the last evaluation (0: all). Without a setting a small held-out part
 * is evaluated whole, and of a large one about as many batches as the training had. */
gint64 lig_run_get_last_evaluation (LigRun *self);

/* Computes the held-out loss, and accuracy for classes (else NaN), over at most `most` batches (0:
 * all), spread evenly; sets `cut` and NaN if the training was ended in the meantime. FALSE with the
 * error set. */
gboolean lig_run_evaluate (
  LigRun *self, gint64 most, double *loss, double *accuracy, gboolean *cut, GError **error);

/* Checks that the file of a checkpoint after `step` has all arrays of the optimizer. */
gboolean lig_run_check_arrays (LigRun *self, LigTensorFile *file, gint64 step, GError **error);

/* Refuses a checkpoint after which no step or evaluation is left. */
gboolean lig_run_check_left (LigRun *self, LigTensorFile *file, GError **error);

/* Applies the settings that are given when a checkpoint after `step` is continued; self->settings
 * has those of the checkpoint. Sets `branches` and `replans`, and remarks what changes. */
gboolean
lig_run_apply_overrides (LigRun *self, const char *const *overrides, gint64 step, GError **error);

/* Returns whether both have a schedule that falls, but over another number of steps. */
gboolean lig_run_bends_schedule (const LigRunSettings *before, const LigRunSettings *after);

/* Refuses data whose samples are not those of the input that a sequence has; axis 0 is the batch,
 * which a setting may replace. */
gboolean
lig_run_check_input (LigDataset *data, const LigShape *input, LigDtype dtype, GError **error);

/* Adds a sentence to those of lig_run_get_remarks(). */
void lig_run_remark (LigRun *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Makes this process continue the checkpoint's run or, if that run has advanced beyond the
 * checkpoint, registers a new run that names it as its parent. */
gboolean lig_run_take_up (LigRun *self, LigTensorFile *file, GError **error);

/* Returns the number of steps over which the learning rate changes, the warm-up included. */
gint64 lig_run_schedule_steps (const LigRunSettings *settings);

/* Returns the learning rate of optimizer step `step`, from 1. */
double lig_run_rate (const LigRunSettings *settings, gint64 step);

/* Writes parameters, moments, counters, settings and choices to self->checkpoint. */
gboolean lig_run_save_checkpoint (LigRun *self, GError **error);

/* Likewise; if the file cannot be written, the training goes on. */
gboolean lig_run_save_between (LigRun *self, GError **error);

/* Handles requests between steps: ends pending steps, waits while paused, saves if requested or
 * after a while. Sets the request that ends the training, or none. */
gboolean lig_run_handle_requests (LigRun *self, LigRequest *request, GError **error);

/* The facts that a repetition takes from the record of a run, besides sequence and settings. Fields
 * are NULL or 0 where the run chooses itself. */
typedef struct {
  const char *repeats;             /* the run that is repeated */
  const char *choices;             /* its groups, in the form of lig_plan_get_choices() */
  const char *calibration_choices; /* those while it calibrated */
  const char *algorithms;
  int threads;
} LigRunOrigin;

/* Makes a run like lig_run_new(), with the groups and threads of another one. */
LigRun *lig_run_new_from (LigSequence *sequence,
                          LigDevice *device,
                          const LigRunSettings *settings,
                          const char *init,
                          LigStore *store,
                          const LigRunOrigin *origin,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Returns as JSON everything else that decides the bits of the run: hashes of its data and initial
 * parameters, threads, instructions, groups, algorithms; (transfer full). */
char *lig_run_describe_inputs (LigRun *self);

/* Returns the inputs of a run that other ranks continue, as they are now, (transfer full); NULL if
 * they are the same ranks. */
char *lig_run_renew_inputs (LigRun *self, const char *inputs);

/* Returns the SHA-256 of the files of weights at a path, (transfer full); NULL with an error set.
 */
char *lig_run_hash_weights (const char *path, GError **error);

/* Records the run, its fusions and verdicts in the store. */
gboolean lig_run_register (LigRun *self, GError **error);

/* Returns whether checkpoints can be written to their place, so that hours of training are not lost
 * there. */
gboolean lig_run_check_checkpoint (LigRun *self, GError **error);

/* Returns whether a file of this name can be made, or replaces nothing but a checkpoint. */
gboolean lig_run_check_place (const char *path, GError **error);

/* Returns the path without links, also of a file that does not exist yet; (transfer full). */
char *lig_run_resolve_place (const char *path);

/* Locks the checkpoint file against other trainings until lig_run_release(); a file that is named
 * after the run needs no lock. If no lock file can be made, the run continues without a lock. */
gboolean lig_run_claim (LigRun *self, GError **error);
void lig_run_release (LigRun *self);

/* Makes a folder that only this user can read. */
gboolean lig_run_make_folder (const char *folder, GError **error);

/* Chooses the file of the checkpoints once: the setting, else a file named after the run. */
void lig_run_choose_checkpoint (LigRun *self);

/* Makes the paths in the data setting absolute: a training may be resumed from another folder. */
void lig_run_locate_data (LigRunSettings *settings);

/* Reads a `dtype` setting such as bf16:fp32; types that the text, NULL or empty, does not name are
 * left as they are. */
gboolean lig_run_read_types (const char *text, int *compute, int *parameters, GError **error);

/* Returns the types of a training of the sequence with the setting `dtype`, `bf16:fp8`. */
char *lig_run_describe_types (LigSequence *sequence, const char *dtype);
