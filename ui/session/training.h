/* SPDX-License-Identifier: MIT */
/* A training that the window started: the run, its curves so far, its result. It belongs to the
 * session, not to a document, and continues while another sequence is edited. */
#pragma once

#include "ui/session/curve.h"
#include "ui/session/session.h"
#include <ligature/run.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRAINING (lig_training_get_type ())
G_DECLARE_FINAL_TYPE (LigTraining, lig_training, LIG, TRAINING, GObject)

/**
 * lig_training_start:
 * @sequence: copied
 * @layout: how several processes divide the work; one: this process trains
 *
 * Opens the device and the data and compiles on a thread, then trains. The training is added to the
 * session at once. Signals: `progressed`, at most once a frame while something changed, from the
 * main loop; `ended` once.
 */
LigTraining *lig_training_start (LigSession *session,
                                 LigSequence *sequence,
                                 const char *device,
                                 LigLayout layout,
                                 const LigRunSettings *settings);

/* Continues from a run's checkpoint, on the device that it was made on, with a layout of ranks. */
LigTraining *lig_training_resume (LigSession *session, const char *checkpoint, LigLayout layout);

/* Follows a LigRun or LigChildRun that was prepared elsewhere, of a sweep or a repetition, and
 * starts it; takes it. The signals come as for the others. */
LigTraining *lig_training_adopt (LigSession *session, gpointer run, LigLayout layout);

/* Returns: (nullable): the newest training of the session that has not ended. */
LigTraining *lig_training_find_active (LigSession *session);

/* Returns the requested settings; the defaults for a resumed one until it is prepared. */
const LigRunSettings *lig_training_get_settings (LigTraining *self);

/* Returns: (nullable): the same as a command, `lig train …`. */
const char *lig_training_get_command (LigTraining *self);
void lig_training_set_command (LigTraining *self, const char *command);

/* Fills in the progress. Status READY means that it is still being prepared. */
void lig_training_get_progress (LigTraining *self, LigRunProgress *progress);
const char *lig_training_get_title (LigTraining *self);
const char *lig_training_get_device (LigTraining *self);

/* Returns how several processes divide the work; one: this process trains. */
LigLayout lig_training_get_layout (LigTraining *self);

/* Returns: (nullable): the engine's error, once it has failed. */
const char *lig_training_get_error (LigTraining *self);

/* Returns the code of that error if it is one of the engine, else 0. */
LigError lig_training_get_error_code (LigTraining *self);

/* Returns: (nullable): why the last checkpoint could not be written; the training continues. */
const char *lig_training_get_checkpoint_error (LigTraining *self);

/* Returns: (nullable): the measurement in progress on the device while it is being prepared. */
const char *lig_training_get_measuring (LigTraining *self);

/* Returns: (nullable): the data set's description; null until it is prepared. */
const char *lig_training_get_data (LigTraining *self);

/* Returns: (nullable): lig_run_get_remarks(); null until it is prepared. */
const char *const *lig_training_get_remarks (LigTraining *self);

/* Returns: (nullable): null until it is prepared. */
const char *lig_training_get_uuid (LigTraining *self);

/* Returns: (nullable): the checkpoint to resume from after it has ended, if one was written. */
const char *lig_training_get_checkpoint (LigTraining *self);

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
