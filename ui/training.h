/* SPDX-License-Identifier: MIT */
/* A training that the window started: the run, its curves so far, what became of it. It belongs to
 * the session, not to a document: it goes on while another sequence is edited. */
#pragma once

#include "engine/run.h"
#include "ui/curve.h"
#include "ui/session.h"

G_BEGIN_DECLS

#define LIG_TYPE_TRAINING (lig_training_get_type ())
G_DECLARE_FINAL_TYPE (LigTraining, lig_training, LIG, TRAINING, GObject)

/**
 * lig_training_start:
 * @sequence: copied
 *
 * Opens the device and the data and compiles on a thread, then trains. The training is added to the
 * session at once. Signals: `progressed`, at most once a frame while something changed, from the
 * main loop; `ended` once.
 */
LigTraining *lig_training_start (LigSession *session,
                                 LigSequence *sequence,
                                 const char *device,
                                 const LigRunSettings *settings);

/* Goes on from a run's checkpoint. */
LigTraining *lig_training_resume (LigSession *session, const char *checkpoint);

/* Status READY means that it is still being prepared. */
void lig_training_get_progress (LigTraining *self, LigRunProgress *progress);
const char *lig_training_get_title (LigTraining *self);
const char *lig_training_get_device (LigTraining *self);

/* (nullable): the engine's sentence, once it has failed. */
const char *lig_training_get_error (LigTraining *self);

/* (nullable): until it is prepared. */
const char *lig_training_get_uuid (LigTraining *self);

/* (transfer none) (nullable): `loss`, `eval-loss`, `learning-rate`, `gradient-norm`,
 * `samples-per-second`. */
LigCurve *lig_training_get_curve (LigTraining *self, const char *metric);

gboolean lig_training_is_active (LigTraining *self);
void lig_training_pause (LigTraining *self);
void lig_training_unpause (LigTraining *self);
void lig_training_cancel (LigTraining *self);

/* Saves a checkpoint and ends as `interrupted`: it can be resumed. */
void lig_training_interrupt (LigTraining *self);

G_END_DECLS
