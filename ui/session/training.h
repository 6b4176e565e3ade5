/* SPDX-License-Identifier: MIT */
/* A training run that the window started: the run, its curves so far, its result. It belongs to the
 * session, not to a document, and continues while another sequence is edited. */
#pragma once

#include "ui/session/child-run.h"
#include "ui/session/curve.h"
#include "ui/session/interrupted.h"
#include "ui/session/session.h"

G_BEGIN_DECLS

#define LIG_TYPE_TRAINING (lig_training_get_type ())
G_DECLARE_FINAL_TYPE (LigTraining, lig_training, LIG, TRAINING, GObject)

/**
 * lig_training_start:
 * @sequence: copied
 * @layout: the parallelism of the processes
 *
 * Starts a process that opens the device and the data, compiles and trains. The run is added to the
 * session at once. Signals: `progressed`, at most once a frame while something changed, from the
 * main loop; `ended` once.
 */
LigTraining *lig_training_start (LigSession *session,
                                 LigSequence *sequence,
                                 const char *device,
                                 LigLayout layout,
                                 const LigRunSettings *settings);

/* Continues from a run's checkpoint, on the device of that run, with a given parallelism. */
LigTraining *lig_training_resume (LigSession *session, const char *checkpoint, LigLayout layout);

/* Shows a run that an earlier window left: it has ended as interrupted, and its checkpoint can be
 * continued from. lig_training_get_metrics() names the curves that it needs. */
LigTraining *lig_training_recall (LigSession *session, const LigInterrupted *interrupted);
const char *const *lig_training_get_metrics (void);

/* Wraps a run that a sweep or a repetition has started; takes ownership. It emits the same
 * signals. */
LigTraining *lig_training_adopt (LigSession *session, LigChildRun *run, LigLayout layout);

/* Returns: (nullable): the newest run of the session that has not ended. */
LigTraining *lig_training_find_active (LigSession *session);

/* Returns the requested settings; for a resumed run, the defaults until it is prepared. */
const LigRunSettings *lig_training_get_settings (LigTraining *self);

/* Returns: (nullable): the same as a command, `lig train …`. */
const char *lig_training_get_command (LigTraining *self);
void lig_training_set_command (LigTraining *self, const char *command);

/* Fills in the progress. Status READY means that it is still being prepared. */
void lig_training_get_progress (LigTraining *self, LigRunProgress *progress);
const char *lig_training_get_title (LigTraining *self);
const char *lig_training_get_device (LigTraining *self);

/* Returns the parallelism of its processes. */
LigLayout lig_training_get_layout (LigTraining *self);

/* Returns: (nullable): the engine's error, once it has failed. */
const char *lig_training_get_error (LigTraining *self);

/* Returns the code of that error if it is an engine error, else 0. */
LigError lig_training_get_error_code (LigTraining *self);

/* Returns: (nullable): the reason why the last checkpoint could not be written; the run
 * continues. */
const char *lig_training_get_checkpoint_error (LigTraining *self);

/* Returns: (nullable): the measurement in progress on the device while it is being prepared. */
const char *lig_training_get_measuring (LigTraining *self);

/* Returns: (nullable): the dataset's description; null until it is prepared. */
const char *lig_training_get_data (LigTraining *self);

/* Returns: (nullable): the remarks of the run, like lig_run_get_remarks(); null until it is
 * prepared. */
const char *const *lig_training_get_remarks (LigTraining *self);

/* Returns: (nullable): null until it is prepared. */
const char *lig_training_get_uuid (LigTraining *self);

/* Returns: (nullable): the checkpoint to resume from after the end, if one was written. */
const char *lig_training_get_checkpoint (LigTraining *self);

/* Returns: (nullable): the same, even if its file has been deleted since. */
const char *lig_training_get_saved (LigTraining *self);

/* Returns: (transfer none) (nullable): the curve of a metric: `loss`, `eval-loss`, `eval-accuracy`,
 *   `learning-rate`, `gradient-norm`, `samples-per-second`. */
LigCurve *lig_training_get_curve (LigTraining *self, const char *metric);

gboolean lig_training_is_active (LigTraining *self);
void lig_training_pause (LigTraining *self);
void lig_training_unpause (LigTraining *self);
void lig_training_cancel (LigTraining *self);

/* Saves a checkpoint and continues. */
void lig_training_save (LigTraining *self);

/* Saves a checkpoint and ends as `interrupted`: it can be resumed. */
void lig_training_interrupt (LigTraining *self);

G_END_DECLS
