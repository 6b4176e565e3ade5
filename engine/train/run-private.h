/* SPDX-License-Identifier: MIT */
/* The inside of a run, and what all parts of a training note in it. */
#pragma once

#include "engine/measure/stopwatch.h"
#include "engine/program/results.h"
#include "engine/train/control.h"
#include <ligature/dataset.h>
#include <ligature/plan-options.h>
#include <ligature/run.h>
#include <ligature/tensor-file.h>
#include <ligature/tuning.h>

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
  LigRunRequest request;
  LigRunProgress progress;
  gint64 eval_batch, eval_batches; /* of the present evaluation, 0 without one */
  GError *error;
  char *problem;        /* the reason why the last checkpoint is missing */
  GArray *step_seconds; /* of float, the last ones, for the median */
  double searched;      /* seconds of steps in which kernels chose algorithms, part of no rate */
  gboolean save_requested;
  gboolean stepping; /* the thread is in a step, which a requested checkpoint may abandon */
  double idle;       /* seconds of the present step that passed while paused or in a search */
  int searching;     /* atomic: kernels choose among algorithms */
  int asked;         /* atomic: paused or request may have been set since the steps last looked */

  /* A ring of metrics for the caller, with its own lock; the total numbers written and read. */
  GMutex metrics_lock;
  LigRunMetric *metrics;
  guint64 metrics_in, metrics_out;
};

/* Notes a value for the caller and, if it is finite, in the store, if any. */
void lig_run_metric (LigRun *self, gint64 step, const char *name, double value);

/* Adds a sentence to those of lig_run_get_remarks(). */
void lig_run_remark (LigRun *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
