/* SPDX-License-Identifier: MIT */
/* The internals of a run, shared by the files of this folder. */
#pragma once

#include "engine/measure/stopwatch.h"
#include "engine/program/results.h"
#include "engine/train/control.h"
#include <ligature/dataset.h>
#include <ligature/plan-options.h>
#include <ligature/run.h>
#include <ligature/tensor-file.h>
#include <ligature/tuning.h>

/* The number of last step times that are kept for the median. */
#define LIG_KEPT_STEP_TIMES 4096

/* A pending micro-batch: its step, whether it is the step's last, and its start time. */
typedef struct {
  gint64 step;
  gboolean last;
  double share; /* in its step */
  double begun;
} LigRunPending;

/* The rows of a rank that did not fit into exchanges. */
typedef struct {
  double rows;  /* of all ops */
  double worst; /* for one rank, the most of an op that ends the run then; 0: none */
  guint op;     /* this op */
  int to;       /* the rank among those that share the experts */
} LigRunOverflow;

typedef struct _LigRunSamples LigRunSamples;

struct _LigRun {
  GObject parent_instance;
  LigSequence *sequence; /* a copy, with the input that the data determines */
  LigDevice *device;
  LigRunSettings settings;
  LigStore *store;
  char *uuid, *checkpoint;
  char *choices, *calibration_choices; /* the groups of the programs; null before they are made */
  char *weights_note;   /* (nullable): how the file of the initial parameters was read */
  GPtrArray *remarks;   /* the choices that the run has made by itself, for the user */
  char *init, *weights; /* the file of initial parameters, and its hash */
  char *repeats;        /* the run that this one repeats */
  char *parent;         /* the run that wrote the checkpoint from which this one resumes */
  char *status_before;  /* the status of a resumed run, until it starts */
  gboolean branches;    /* it resumes the checkpoint as a new run, with different settings */
  gboolean replans;     /* some of which change the plan */
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
  LigPlan *plan;            /* for training with the recipe, also during calibration */
  LigTensor *input, *targets;
  LigRunSamples *samples; /* (nullable): the texts that it generates */
  gboolean classes;       /* the loss is a cross-entropy */
  int threads;            /* for OpenMP; 0: its default */
  gint64 first_step;      /* number of steps done before this process resumed the run */
  gint64 saved_step;      /* of the last checkpoint, -1 before */
  double saved_at;        /* the time of the last checkpoint, or of the start */

  /* Numbers of micro-batches launched, and of results taken: used by the training thread. */
  guint64 sent, taken;
  LigRunPending pending[LIG_PROGRAM_RESULT_SLOTS];
  double *shares; /* weight of each micro-batch in its step; null if a step has one */
  double partial_loss, last_ended;

  /* The total wait of this rank before the step; the wait of each rank in the step, and its average
   * over the last steps: used by the training thread. */
  double waiting_before, *waited, *waited_lately;

  /* Rows that did not fit into the exchange between expert ranks: used by the training thread. */
  gsize overflow_count;    /* of numbers of the training program; 0: no op exchanges rows */
  LigRunOverflow overflow; /* of this rank in the current step */

  guint work;        /* the number of the run among the work items of its ranks */
  gboolean together; /* all ranks have found the reason that ended the run */

  GThread *thread;
  GMainContext *context; /* in which signals are emitted */
  GSource *ticker, *end; /* of that context: the former while the run has handlers */
  double began;          /* monotonic, seconds */
  GMutex lock;           /* guards the fields up to save_requested */
  GCond changed;
  gboolean paused;
  LigRunRequest request;
  LigRunProgress progress;
  gint64 eval_batch, eval_batches; /* of the current evaluation, 0 without one */
  GError *error;
  char *problem; /* the error of the last checkpoint */
  char *sample;  /* (nullable): the last text of the first prompt, and its step */
  gint64 sample_step;
  GArray *step_seconds;                        /* of float, the last step times, for the median */
  GArray *exposed_seconds, *imbalance_seconds; /* the waits of ranks in the same steps */
  double tuning_seconds; /* in which kernels chose algorithms; excluded from rates */
  gboolean save_requested;
  gboolean stepping; /* whether the thread is in a step, which a requested checkpoint may abandon */
  double idle;       /* seconds of the current step while paused or searching */
  int searching;     /* atomic: kernels are choosing algorithms */
  int asked;         /* atomic: paused or request may have been set since the steps last checked */

  /* A ring buffer of metrics for the caller, with its own lock, and the total numbers written and
   * read. */
  GMutex metrics_lock;
  LigRunMetric *metrics;
  guint64 metrics_in, metrics_out;
};

/* Keeps the time of a step among those of the last LIG_KEPT_STEP_TIMES. The caller holds the
 * lock. */
void lig_run_keep_time (GArray *times, gint64 step, double seconds);

/* Notes a value for the caller and, if it is finite, in the store, if any. */
void lig_run_metric (LigRun *self, gint64 step, const char *name, double value);

/* Adds a sentence to lig_run_get_remarks(). */
void lig_run_remark (LigRun *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
