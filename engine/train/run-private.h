/* SPDX-License-Identifier: MIT */
/* The inside of a run, shared by the files of engine/train. */
#pragma once

#include "engine/measure/stopwatch.h"
#include "engine/plan/results.h"
#include <ligature/dataset.h>
#include <ligature/optimizer.h>
#include <ligature/run.h>
#include <ligature/tensor-file.h>
#include <ligature/tuning.h>

typedef enum { LIG_REQUEST_NONE, LIG_REQUEST_CANCEL, LIG_REQUEST_INTERRUPT } LigRequest;

/* Steps whose times are kept for the median. */
#define LIG_KEPT_STEP_TIMES 4096

/* A micro-batch under way: of which step, whether its last, when that began. */
typedef struct {
  gint64 step;
  gboolean last;
  double begun;
} LigRunPending;

struct _LigRun {
  GObject parent_instance;
  LigSequence *sequence; /* a copy, with the input that the data decides */
  LigDevice *device;
  LigRunSettings settings;
  LigStore *store;
  char *uuid, *checkpoint, *choices;
  char *parent;        /* the run from whose checkpoint this one goes on */
  char *status_before; /* of a run taken up again, until it starts */
  int claim;           /* the locked file, -1 without one */
  char *claim_path;

  LigDataset *data;
  LigState *state;
  LigOptimizer optimizer;
  LigTuning tuning;
  LigPlanOptions train_options, eval_options;
  LigProgramCache *programs;
  LigProgram *train, *eval;
  LigTensor *input, *targets;
  gboolean classes;  /* the loss is a cross-entropy */
  int threads;       /* of OpenMP; 0: as many as there are */
  gboolean polite;   /* its threads give way to others */
  gint64 first_step; /* done before this process took it on */
  gint64 saved_step; /* of the last checkpoint, -1 before */

  /* Micro-batches launched, and those whose results were taken: of the training's thread. */
  guint64 sent, taken;
  LigRunPending pending[LIG_PROGRAM_LATE];
  double partial_loss, last_ended;

  GThread *thread;
  GMainContext *context; /* where signals are emitted */
  GSource *ticker, *end; /* of that context: the former while the run is watched */
  double began;          /* monotonic, seconds */
  GMutex lock;           /* guards all below */
  GCond changed;
  gboolean paused;
  LigRequest request;
  LigRunProgress progress;
  GError *error;
  char *trouble;        /* why the last checkpoint is missing */
  GArray *step_seconds; /* of float, the last ones, for the median */
  gboolean wants_save;  /* a checkpoint, in between */

  /* A ring of metrics for a watcher, with a lock of its own: how many came and were taken in all.
   */
  GMutex metrics_lock;
  LigRunMetric *metrics;
  guint64 metrics_in, metrics_out;
};

/* A step of the training; what it did is noted now or, on devices that work by themselves, a few
 * steps later. Settling notes all that is under way. */
gboolean lig_run_step (LigRun *self, gint64 step, GError **error);
gboolean lig_run_settle (LigRun *self, GError **error);

/* For a watcher and into the store, if there is one, where the value is finite. */
void lig_run_metric (LigRun *self, gint64 step, const char *name, double value);

/* The class's signals; begins to emit them; has the last ones emitted, from any thread; ends. */
void lig_run_add_signals (void);
void lig_run_watch (LigRun *self);
void lig_run_announce_end (LigRun *self);
void lig_run_unwatch (LigRun *self);

/* Opens the data set, checks that sequence and data fit, makes the state. `seed`, `batch` and the
 * like come from the settings. */
gboolean lig_run_prepare (LigRun *self, GError **error);

/* Compiles the plans: with self->choices if set. */
gboolean lig_run_compile (LigRun *self, GError **error);

/* Held-out loss, and accuracy for classes (else NaN), over at most `most` batches (0: all), spread
 * evenly; `cut` and NaN where somebody ended the training meanwhile. FALSE with the error set. */
gboolean lig_run_evaluate (
  LigRun *self, gint64 most, double *loss, double *accuracy, gboolean *cut, GError **error);

/* Refuses a checkpoint after which nothing is left to do. */
gboolean lig_run_check_left (LigRun *self, LigTensorFile *file, GError **error);

/* Makes this process the one that runs the checkpoint's run, or registers a new run that names it,
 * where that one went further already. */
gboolean lig_run_take_up (LigRun *self, LigTensorFile *file, GError **error);

/* Learning rate of optimizer step `step`, from 1. */
double lig_run_rate (const LigRunSettings *settings, gint64 step);

/* Writes parameters, moments, counters, settings and choices to self->checkpoint. */
gboolean lig_run_save_checkpoint (LigRun *self, GError **error);

/* Records the run, its fusions and verdicts in the store. */
gboolean lig_run_register (LigRun *self, GError **error);

/* Whether checkpoints can be written where they will go, before hours of training are lost there.
 */
gboolean lig_run_check_checkpoint (LigRun *self, GError **error);

/* Whether a file of this name can be made, or replaces a checkpoint and nothing else. */
gboolean lig_run_check_place (const char *path, GError **error);

/* Returns the place without links, also of a file that does not exist yet; (transfer full). */
char *lig_run_resolve_place (const char *path);

/* Locks the checkpoint file that is named against other trainings until lig_run_release(); a file
 * that is called after the run needs no lock. Where no lock can be made it does without. */
gboolean lig_run_claim (LigRun *self, GError **error);
void lig_run_release (LigRun *self);

/* A folder for this person alone. */
gboolean lig_run_make_folder (const char *folder, GError **error);

/* Where checkpoints go, decided once: the setting, else a file named after the run. */
void lig_run_choose_checkpoint (LigRun *self);

/* Makes the paths in the data setting absolute: a training may be resumed from another folder. */
void lig_run_locate_data (LigRunSettings *settings);
