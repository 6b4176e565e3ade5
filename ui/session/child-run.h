/* SPDX-License-Identifier: MIT */
/* A training run of the window: a `lig train --control`, or `lig runs repeat --control`, that this
 * program starts and controls, so that no fault of a device, a plugin or the memory takes the
 * window down. If this program ends for any reason, the run saves a checkpoint and ends. */
#pragma once

#include <ligature/layout.h>
#include <ligature/run.h>

G_BEGIN_DECLS

#define LIG_TYPE_CHILD_RUN (lig_child_run_get_type ())
G_DECLARE_FINAL_TYPE (LigChildRun, lig_child_run, LIG, CHILD_RUN, GObject)

typedef enum {
  LIG_CHILD_PAUSE,
  LIG_CHILD_CONTINUE,
  LIG_CHILD_SAVE,
  LIG_CHILD_STOP,     /* saves a checkpoint and ends as interrupted */
  LIG_CHILD_CANCEL,   /* saves a checkpoint and ends as cancelled */
  LIG_CHILD_COMMANDS, /* the number of commands */
} LigChildCommand;

/* A request for a training run: a sequence with its settings, a checkpoint to resume from, or a run
 * of the store to repeat. */
typedef struct {
  LigSequence *sequence;
  const LigRunSettings *settings;
  const char *checkpoint; /* (nullable): instead of the two */
  const char *repeated;   /* (nullable): the same */
  const char *device;     /* unused for a checkpoint and for a run, which have their own */
  const char *store;      /* (nullable): the path; null: nothing is stored */
  const char *init;       /* (nullable): a file with initial parameters */
  LigLayout layout;       /* of its processes */

  /* (nullable): called with the measurement in progress until the run begins, on another thread. */
  void (*measuring) (gpointer data, const char *what);
  gpointer data;
} LigChildOrder;

/**
 * lig_child_run_new:
 *
 * Starts the processes and waits until they are ready; they then train. Signal: `ended`, once, from
 * the main loop, when the processes have ended: the store and the device are then free.
 *
 * Returns: (transfer full) (nullable): null with an error set if they cannot start
 */
LigChildRun *lig_child_run_new (const LigChildOrder *order, GError **error);

/* Returns the recorded parallelism of ranks; one rank if the record is damaged. @parallel:
 * (nullable): a text for lig_layout_parse() */
LigLayout lig_child_run_read_layout (const char *parallel, int ranks);

/* Returns: (transfer full): the words of the command; @file has the sequence. */
GStrv lig_child_run_make_words (const char *program, const LigChildOrder *order, const char *file);

/* Returns: (transfer full) (nullable): the program `lig`: from the environment variable LIG, else
 * next to this program, else in the PATH. */
char *lig_child_run_find_program (void);

/* Returns: (transfer full): the reason why processes ended: the last line of their standard error,
 * without the program's name. It modifies the text. */
char *lig_child_run_find_reason (char *said);

/* Like the functions of a LigRun with these names. They may be called while the run is in progress.
 */
guint lig_child_run_take_metrics (LigChildRun *self, LigRunMetric *to, guint max);
void lig_child_run_get_progress (LigChildRun *self, LigRunProgress *progress);
char *lig_child_run_dup_problem (LigChildRun *self);
gboolean lig_child_run_check (LigChildRun *self, GError **error);
const char *lig_child_run_get_uuid (LigChildRun *self);
const char *lig_child_run_get_checkpoint (LigChildRun *self);
const char *lig_child_run_describe_data (LigChildRun *self);

/* Returns: (transfer none) (array zero-terminated=1). */
const char *const *lig_child_run_get_remarks (LigChildRun *self);

/* Returns: (transfer none): the settings and the device, possibly from a checkpoint; the name of
 * the run; the number of samples per step; the number of ranks. */
const LigRunSettings *lig_child_run_get_settings (LigChildRun *self);
const char *lig_child_run_get_device (LigChildRun *self);
const char *lig_child_run_get_name (LigChildRun *self);
double lig_child_run_get_samples (LigChildRun *self);
int lig_child_run_get_ranks (LigChildRun *self);

void lig_child_run_command (LigChildRun *self, LigChildCommand command);

G_END_DECLS
