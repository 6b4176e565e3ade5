/* SPDX-License-Identifier: MIT */
/* A common interface to an in-process run and to several ranks in separate processes. */
#pragma once

#include "ui/session/child-run.h"
#include "ui/session/session.h"

G_BEGIN_DECLS

/* At most one is set; neither before the run is prepared. */
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
  LIG_TRAINER_COMMANDS, /* the number of commands */
} LigTrainerCommand;

/* Takes ownership of a LigRun or a LigChildRun, and releases the one before. */
void lig_trainer_set (LigTrainer *self, gpointer object);
void lig_trainer_clear (LigTrainer *self);
gboolean lig_trainer_is_ready (const LigTrainer *self);

/* Returns: (transfer none) (nullable): the LigRun or LigChildRun, which emits `ended`. */
gpointer lig_trainer_get_object (const LigTrainer *self);

/* Starts an in-process run; ranks in separate processes have started already. */
void lig_trainer_start (const LigTrainer *self);
void lig_trainer_command (const LigTrainer *self, LigTrainerCommand command);

/* Like the functions of LigRun with the same names. */
guint lig_trainer_take_metrics (const LigTrainer *self, LigRunMetric *to, guint max);
void lig_trainer_get_progress (const LigTrainer *self, LigRunProgress *progress);
char *lig_trainer_dup_problem (const LigTrainer *self);
gboolean lig_trainer_wait (const LigTrainer *self, GError **error);
const char *lig_trainer_get_uuid (const LigTrainer *self);
const char *lig_trainer_get_checkpoint (const LigTrainer *self);
const char *lig_trainer_describe_data (const LigTrainer *self);

/* Return: (transfer none) (nullable): the remarks and the settings of an in-process run; null
 * before it is prepared, and for ranks in separate processes. */
const char *const *lig_trainer_get_remarks (const LigTrainer *self);
const LigRunSettings *lig_trainer_get_settings (const LigTrainer *self);

/* Returns the number of samples per step. */
double lig_trainer_get_samples (const LigTrainer *self);

/* Returns: (transfer full): the title of the device, with the number of devices if several ranks
 * train. @session: (nullable): knows the GPUs of ranks; without it the name of the device is
 * returned. */
char *lig_trainer_title_device (const LigTrainer *self, LigSession *session);

/* Returns: (transfer full): the name of the sequence; if it has none, its ops. */
char *lig_trainer_dup_name (const LigTrainer *self);

G_END_DECLS
