/* SPDX-License-Identifier: MIT */
/* A training run on several ranks: a `lig train --ranks` that this program starts and controls. Its
 * functions are those of a LigRun. If this program ends for any reason, the run saves a checkpoint
 * and ends. */
#pragma once

#include <ligature/layout.h>
#include <ligature/run.h>

G_BEGIN_DECLS

#define LIG_TYPE_CHILD_RUN (lig_child_run_get_type ())
G_DECLARE_FINAL_TYPE (LigChildRun, lig_child_run, LIG, CHILD_RUN, GObject)

/* A request for a training run: a sequence with its settings, or a checkpoint to resume from. */
typedef struct {
  LigSequence *sequence;
  const LigRunSettings *settings;
  const char *checkpoint; /* (nullable): instead of the two */
  const char *device;     /* unused for a checkpoint, which has its own */
  const char *store;      /* (nullable): the path */
  const char *init;       /* (nullable): a file with initial parameters */
  LigLayout layout;       /* of its processes */
} LigChildOrder;

/**
 * lig_child_run_new:
 *
 * Starts the processes and waits until they are ready; they then train. Signal: `ended`, once, from
 * the main loop.
 *
 * Returns: (transfer full) (nullable): null with an error set if they cannot start
 */
LigChildRun *lig_child_run_new (const LigChildOrder *order, GError **error);

/* Returns: (transfer full): the words of the command; @file has the sequence. */
GStrv lig_child_run_make_words (const char *program, const LigChildOrder *order, const char *file);

/* Returns: (transfer full) (nullable): the program `lig`: from the environment variable LIG, else
 * next to this program, else in the PATH. */
char *lig_child_run_find_program (void);

/* Returns: (transfer full): the reason why processes ended: the last line of their standard error,
 * without the program's name. It modifies the text. */
char *lig_child_run_find_reason (char *said);

/* Like those of a LigRun. They may be called while the run is in progress. */
guint lig_child_run_take_metrics (LigChildRun *self, LigRunMetric *to, guint max);
void lig_child_run_get_progress (LigChildRun *self, LigRunProgress *progress);
char *lig_child_run_dup_problem (LigChildRun *self);
gboolean lig_child_run_check (LigChildRun *self, GError **error);
const char *lig_child_run_get_uuid (LigChildRun *self);
const char *lig_child_run_get_checkpoint (LigChildRun *self);
const char *lig_child_run_describe_data (LigChildRun *self);

/* Returns: (transfer none): the settings and the device, possibly from a checkpoint; the name of
 * the run; the number of samples per step; the number of ranks. */
const LigRunSettings *lig_child_run_get_settings (LigChildRun *self);
const char *lig_child_run_get_device (LigChildRun *self);
const char *lig_child_run_get_name (LigChildRun *self);
double lig_child_run_get_samples (LigChildRun *self);
int lig_child_run_get_ranks (LigChildRun *self);

/* Commands: `pause`, `continue`, `save`, `stop` as interrupted, `cancel`. */
void lig_child_run_command (LigChildRun *self, const char *command);

G_END_DECLS
