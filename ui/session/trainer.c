/* SPDX-License-Identifier: MIT */
#include "ui/session/trainer.h"
#include <ligature/device.h>
#include <ligature/sequence.h>

void
lig_trainer_set (LigTrainer *self, gpointer object)
{
  lig_trainer_clear (self);
  if (LIG_IS_CHILD_RUN (object))
    self->child = object;
  else
    self->run = object;
}

void
lig_trainer_clear (LigTrainer *self)
{
  g_clear_object (&self->run);
  g_clear_object (&self->child);
}

gboolean
lig_trainer_is_ready (const LigTrainer *self)
{
  return self->run || self->child;
}

gpointer
lig_trainer_get_object (const LigTrainer *self)
{
  return self->child ? (gpointer) self->child : self->run;
}

void
lig_trainer_start (const LigTrainer *self)
{
  if (!self->run)
    return;
  lig_run_set_background (self->run, TRUE);
  lig_run_start (self->run);
}

void
lig_trainer_command (const LigTrainer *self, LigTrainerCommand command)
{
  static const struct {
    void (*obey) (LigRun *run);
    const char *word;
  } commands[] = {
    [LIG_TRAINER_PAUSE] = {lig_run_pause, "pause"},
    [LIG_TRAINER_CONTINUE] = {lig_run_unpause, "continue"},
    [LIG_TRAINER_SAVE] = {lig_run_save, "save"},
    [LIG_TRAINER_INTERRUPT] = {lig_run_interrupt, "stop"},
    [LIG_TRAINER_CANCEL] = {lig_run_cancel, "cancel"},
  };
  if (self->child)
    lig_child_run_command (self->child, commands[command].word);
  else if (self->run)
    commands[command].obey (self->run);
}

guint
lig_trainer_take_metrics (const LigTrainer *self, LigRunMetric *to, guint max)
{
  return self->child ? lig_child_run_take_metrics (self->child, to, max)
                     : lig_run_take_metrics (self->run, to, max);
}

void
lig_trainer_get_progress (const LigTrainer *self, LigRunProgress *progress)
{
  if (self->child)
    lig_child_run_get_progress (self->child, progress);
  else
    lig_run_get_progress (self->run, progress);
}

char *
lig_trainer_dup_problem (const LigTrainer *self)
{
  return self->child ? lig_child_run_dup_problem (self->child) : lig_run_dup_problem (self->run);
}

gboolean
lig_trainer_wait (const LigTrainer *self, GError **error)
{
  return self->child ? lig_child_run_check (self->child, error) : lig_run_wait (self->run, error);
}

const char *
lig_trainer_get_uuid (const LigTrainer *self)
{
  return self->child ? lig_child_run_get_uuid (self->child)
         : self->run ? lig_run_get_uuid (self->run)
                     : NULL;
}

const char *
lig_trainer_get_checkpoint (const LigTrainer *self)
{
  return self->child ? lig_child_run_get_checkpoint (self->child)
         : self->run ? lig_run_get_checkpoint (self->run)
                     : NULL;
}

const char *
lig_trainer_describe_data (const LigTrainer *self)
{
  return self->child ? lig_child_run_describe_data (self->child)
         : self->run ? lig_run_describe_data (self->run)
                     : NULL;
}

const char *const *
lig_trainer_get_remarks (const LigTrainer *self)
{
  return self->run && !self->child ? lig_run_get_remarks (self->run) : NULL;
}

const LigRunSettings *
lig_trainer_get_settings (const LigTrainer *self)
{
  return self->child ? lig_child_run_get_settings (self->child) : lig_run_get_settings (self->run);
}

double
lig_trainer_get_samples (const LigTrainer *self)
{
  LigShape shape;
  LigDtype dtype;
  if (self->child)
    return lig_child_run_get_samples (self->child);
  lig_sequence_get_input (lig_run_get_sequence (self->run), &shape, &dtype);
  return (double) shape.axes[0] * (double) lig_run_get_settings (self->run)->accumulate;
}

char *
lig_trainer_title_device (const LigTrainer *self, LigSession *session)
{
  if (self->child) {
    const char *name = lig_child_run_get_device (self->child);
    int ranks = lig_child_run_get_ranks (self->child);
    return session ? lig_session_title_ranks (session, name, ranks) : g_strdup (name);
  }
  LigDevice *device = lig_run_get_device (self->run);
  return lig_session_name_device (lig_device_get_name (device),
                                  lig_device_get_facts (device)->name);
}

char *
lig_trainer_dup_name (const LigTrainer *self)
{
  if (self->child)
    return g_strdup (lig_child_run_get_name (self->child));
  LigSequence *sequence = lig_run_get_sequence (self->run);
  char *name = g_strdup (lig_sequence_get_name (sequence));
  return name ? name : lig_sequence_to_expression (sequence);
}
