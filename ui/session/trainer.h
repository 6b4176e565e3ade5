/* SPDX-License-Identifier: MIT */
/* A common interface to an in-process run and to several ranks in separate processes. */
#pragma once

#include "ui/session/child-run.h"
#include "ui/session/session.h"

G_BEGIN_DECLS

/* One of the two, or neither before it is prepared. */
typedef struct {
  LigRun *run;
  LigChildRun *child;
} LigTrainer;

typedef enum {
  LIG_TRAINER_PAUSE,
  LIG_TRAINER_CONTINUE,
  LIG_TRAINER_SAVE,
  LIG_TRAINER_INTERRUPT,
  LIG_TRAINER_CANCEL,
  LIG_TRAINER_COMMANDS, /* their number */
} LigTrainerCommand;

/* Takes a LigRun or a LigChildRun. */
void lig_trainer_set (LigTrainer *self, gpointer object);
void lig_trainer_clear (LigTrainer *self);
gboolean lig_trainer_is_ready (const LigTrainer *self);

/* Returns the object that emits `ended`. */
gpointer lig_trainer_get_object (const LigTrainer *self);

/* Starts the run; separate processes are already training. */
void lig_trainer_start (const LigTrainer *self);
void lig_trainer_command (const LigTrainer *self, LigTrainerCommand command);

/* Like those of a LigRun. */
guint lig_trainer_take_metrics (const LigTrainer *self, LigRunMetric *to, guint max);
void lig_trainer_get_progress (const LigTrainer *self, LigRunProgress *progress);
char *lig_trainer_dup_problem (const LigTrainer *self);
gboolean lig_trainer_wait (const LigTrainer *self, GError **error);
const char *lig_trainer_get_uuid (const LigTrainer *self);
const char *lig_trainer_get_checkpoint (const LigTrainer *self);
const char *lig_trainer_describe_data (const LigTrainer *self);

/* Returns: (nullable): those of a LigRun; null before it is prepared, and for separate
 * processes. */
const char *const *lig_trainer_get_remarks (const LigTrainer *self);
const LigRunSettings *lig_trainer_get_settings (const LigTrainer *self);

/* Returns the number of samples per step. */
double lig_trainer_get_samples (const LigTrainer *self);

/* Returns: (transfer full): the title of the device, with the number of devices if ranks train;
 * without a session (nullable), which knows the GPUs of ranks, its name. */
char *lig_trainer_title_device (const LigTrainer *self, LigSession *session);

/* Returns: (transfer full): the name of the run: its sequence's, else its ops. */
char *lig_trainer_dup_name (const LigTrainer *self);

G_END_DECLS
