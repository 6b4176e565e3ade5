/* SPDX-License-Identifier: MIT */
/* One training step. On the CPU the loss is checked before the update. On an asynchronous device
 * the whole step is launched at once and its loss is read a few steps later, so that the host does
 * not wait; a loss that is not finite ends the run then. */
#include "engine/train/step.h"
#include "engine/measure/choices.h"
#include "engine/ranks/messages.h"
#include "engine/train/control.h"
#include "engine/train/data.h"
#include "engine/train/learning-rate.h"
#include "engine/train/ranks.h"
#include "engine/train/record-overflow.h"
#include "engine/train/run-private.h"
#include <ligature/ranks.h>
#include <ligature/store-rows.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>

/* The number of consecutive updates that may be skipped before the run ends. While the loss scale
 * comes down from 2^24, more are allowed: after 32 it is 2^-8. */
enum { MAX_SKIPPED = 8, MAX_SKIPPED_SCALED = 32 };

/* The maximum number of micro-batches whose results are pending. Two slots are kept free for
 * safety: a slot is reused only after two later results were taken. */
enum { MAX_PENDING = LIG_PROGRAM_RESULT_SLOTS - 2 };

/* Returns whether the loss scale is dynamic. */
static gboolean
searches_scale (LigRun *self)
{
  return lig_plan_scales_loss (lig_program_get_plan (self->train)) &&
         self->settings.loss_scale == 0;
}

static void
note_step (LigRun *self, gint64 step, double loss, const LigScaling *scaling, double seconds)
{
  double rate = lig_run_rate (&self->settings, step), norm = (double) scaling->norm;
  double scale = !lig_plan_scales_loss (lig_program_get_plan (self->train)) ? NAN
                 : searches_scale (self) ? (double) scaling->scale
                                         : self->settings.loss_scale;
  lig_run_metric (self, step, LIG_METRIC_LOSS, loss);
  lig_run_metric (self, step, "learning-rate", rate);
  lig_run_metric (self, step, "gradient-norm", norm);
  lig_run_metric (self, step, "loss-scale", scale);
  lig_run_metric (self, step, "step-ms", seconds * 1e3);
  lig_run_note_waits (self, step);
  g_mutex_lock (&self->lock);
  lig_run_keep_time (self->step_seconds, step, seconds);
  self->progress.step = step;
  self->progress.loss = loss;
  if (isnan (self->progress.first_loss))
    self->progress.first_loss = loss;
  self->progress.learning_rate = rate;
  self->progress.gradient_norm = norm;
  self->progress.loss_scale = scale;
  self->progress.skipped = (gint64) scaling->skipped;
  g_mutex_unlock (&self->lock);
}

/* All ranks have the same loss, so they fail at the same step. */
static gboolean
check_finite (LigRun *self, double loss, gint64 step, GError **error)
{
  if (isfinite (loss))
    return TRUE;
  self->together = TRUE;
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_VALUE,
    _ ("the loss is %s at step %" PRId64 "; a smaller lr, or gradient clipping (clip=1), may help"),
    isnan (loss) ? _ ("not a number") : _ ("infinite"), step);
  return FALSE;
}

/* Ends the run if too many consecutive updates were skipped; a few batches may give gradients that
 * are not finite. All ranks see the same norms, so they count the same skipped updates and end at
 * the same step. */
static gboolean
check_skipped (LigRun *self, const LigScaling *scaling, gint64 step, GError **error)
{
  if (scaling->consecutive_skipped <
      (float) (searches_scale (self) ? MAX_SKIPPED_SCALED : MAX_SKIPPED))
    return TRUE;
  self->together = TRUE;
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_VALUE,
    _ ("the gradients were not finite in the last %.0f steps up to step %" PRId64
       ", so their updates were skipped; a smaller lr, another dtype or loss-scale may help"),
    (double) scaling->consecutive_skipped, step);
  return FALSE;
}

static gboolean
load_batch (LigRun *self, GError **error)
{
  return lig_dataset_next (self->data, self->input, self->targets, error) &&
         lig_run_set_batch (self, self->train, self->input, self->targets, error);
}

gboolean
lig_run_interrupt_step (gpointer run)
{
  LigRun *self = run;
  if (!g_atomic_int_get (&self->asked))
    return FALSE;
  double began = lig_now ();
  g_mutex_lock (&self->lock);
  while (self->paused && self->request == LIG_REQUEST_NONE &&
         !(self->stepping && self->save_requested)) {
    self->progress.status = LIG_RUN_PAUSED;
    g_cond_wait (&self->changed, &self->lock);
  }
  gboolean save = self->paused && self->stepping && self->save_requested;
  gboolean ends = self->request != LIG_REQUEST_NONE;
  if (!self->paused || ends)
    self->progress.status = LIG_RUN_RUNNING;
  g_atomic_int_set (&self->asked, self->paused || ends);
  self->idle += lig_now () - began;
  g_mutex_unlock (&self->lock);
  return ends || save;
}

gboolean
lig_run_interrupt_together (gpointer run)
{
  LigRun *self = run;
  return lig_ranks_has_abandoned (lig_run_ranks (self), self->work);
}

gboolean
lig_run_program (
  LigRun *self, LigProgram *program, unsigned flags, double *tuning_seconds, GError **error)
{
  double before = lig_choices_seconds ();
  gboolean fine = lig_program_run (program, flags, error);
  double seconds = lig_choices_seconds () - before;
  if (tuning_seconds)
    *tuning_seconds += seconds;
  g_mutex_lock (&self->lock);
  self->tuning_seconds += seconds;
  g_mutex_unlock (&self->lock);
  return fine;
}

/* Runs a micro-batch. An interrupted rank continues to the end of the step, because the other ranks
 * may not know of the interrupt yet and wait for its collectives. */
static gboolean
run_part (
  LigRun *self, gint64 part, unsigned flags, double *loss, gboolean *abandoned, GError **error)
{
  GError *local = NULL;
  float mean;
  if (load_batch (self, &local) && lig_run_scale_part (self, part, &local) &&
      lig_run_program (self, self->train, flags, &self->idle, &local) &&
      lig_program_read_loss (self->train, &mean, &local) && lig_run_read_overflow (self, &local)) {
    *loss += lig_run_get_share (self, part) * (double) mean;
    return TRUE;
  }
  if (g_error_matches (local, LIG_ERROR, LIG_ERROR_CANCELLED) && lig_run_ranks (self)) {
    *abandoned = TRUE;
    g_error_free (local);
    return TRUE;
  }
  g_propagate_error (error, local);
  return FALSE;
}

/* Runs the micro-batches of a step. */
static gboolean
run_parts (LigRun *self, double *loss, GError **error)
{
  gint64 parts = self->settings.accumulate;
  gboolean abandoned = FALSE;
  double waiting;
  *loss = 0;
  self->overflow = (LigRunOverflow){0};
  if (!lig_run_share_parts (self, error))
    return FALSE;
  for (gint64 i = 0; i < parts; i++) {
    unsigned flags = LIG_RUN_FORWARD | LIG_RUN_BACKWARD | (i > 0 ? LIG_RUN_ACCUMULATE : 0) |
                     (i + 1 < parts ? LIG_RUN_PARTIAL : 0);
    if (!run_part (self, i, flags, loss, &abandoned, error))
      return FALSE;
  }
  if (!lig_program_read_waiting (self->train, &waiting, error) ||
      !lig_run_join_step (self, loss, waiting, &abandoned, error))
    return FALSE;
  if (abandoned)
    g_set_error (error, LIG_ERROR, LIG_ERROR_CANCELLED, _ ("the ranks abandoned the step"));
  return !abandoned;
}

/* Like run_parts(), but undoes an interrupted step. */
static gboolean
run_or_abandon (LigRun *self, double *loss, GError **error)
{
  guint64 micro = lig_state_get_micro_step (self->state), done = lig_state_get_step (self->state);
  guint64 position = lig_dataset_get_position (self->data);
  GError *local = NULL;
  self->stepping = TRUE;
  self->idle = 0;
  gboolean fine = run_parts (self, loss, &local);
  self->stepping = FALSE;
  if (fine)
    return TRUE;
  if (g_error_matches (local, LIG_ERROR, LIG_ERROR_CANCELLED)) {
    lig_state_set_steps (self->state, micro, done);
    lig_dataset_seek (self->data, position);
  }
  g_propagate_error (error, local);
  return FALSE;
}

/* Runs one optimizer step over `accumulate` micro-batches, and waits for its loss before the
 * update. */
static gboolean
step_synchronously (LigRun *self, gint64 step, GError **error)
{
  double begin = lig_now (), loss;
  if (!run_or_abandon (self, &loss, error))
    return FALSE;
  if (!lig_run_join_overflow (self, step, error) || !check_finite (self, loss, step, error))
    return FALSE;
  lig_program_set_rate (self->train, lig_run_rate (&self->settings, step), self->settings.clip);
  if (!lig_run_program (self, self->train, LIG_RUN_UPDATE, &self->idle, error))
    return FALSE;
  LigScaling scaling;
  if (!lig_state_get_scaling (self->state, &scaling, error))
    return FALSE;
  note_step (self, step, loss, &scaling, lig_now () - begin - self->idle);
  return check_skipped (self, &scaling, step, error);
}

/* Waits for the result of the oldest pending micro-batch, and notes it. */
static gboolean
take_oldest (LigRun *self, GError **error)
{
  LigRunPending *oldest = &self->pending[self->taken % LIG_PROGRAM_RESULT_SLOTS];
  LigProgramResult result;
  if (!lig_program_take_results (self->train, (guint) (self->taken % LIG_PROGRAM_RESULT_SLOTS),
                                 &result, error))
    return FALSE;
  self->taken++;
  self->partial_loss += oldest->share * (double) result.loss;
  lig_run_add_overflow (self, result.watched);
  if (!oldest->last)
    return TRUE;
  gboolean abandoned = FALSE;
  if (!lig_run_join_step (self, &self->partial_loss, result.waited, &abandoned, error) ||
      !lig_run_join_overflow (self, oldest->step, error) ||
      !check_finite (self, self->partial_loss, oldest->step, error))
    return FALSE;
  /* Steps overlap, so the time of a step is counted from the end of the one before. */
  double ended = lig_now ();
  note_step (self, oldest->step, self->partial_loss, &result.scaling,
             ended - MAX (self->last_ended, oldest->begun));
  self->last_ended = ended;
  self->partial_loss = 0;
  return check_skipped (self, &result.scaling, oldest->step, error);
}

/* Launches one optimizer step without waiting for it. Takes the results of earlier micro-batches
 * when too many are pending. */
static gboolean
step_asynchronously (LigRun *self, gint64 step, GError **error)
{
  gint64 parts = self->settings.accumulate;
  double begun = lig_now ();
  if (!lig_run_share_parts (self, error))
    return FALSE;
  for (gint64 i = 0; i < parts; i++) {
    gboolean last = i + 1 == parts;
    unsigned flags = LIG_RUN_FORWARD | LIG_RUN_BACKWARD | (i > 0 ? LIG_RUN_ACCUMULATE : 0) |
                     (last ? 0 : LIG_RUN_PARTIAL);
    if (self->sent - self->taken >= MAX_PENDING && !take_oldest (self, error))
      return FALSE;
    if (last)
      lig_program_set_rate (self->train, lig_run_rate (&self->settings, step), self->settings.clip);
    guint slot = (guint) (self->sent % LIG_PROGRAM_RESULT_SLOTS);
    /* Tuning moves `begun` forward, so that the time of the step does not include it. */
    if (!load_batch (self, error) || !lig_run_scale_part (self, i, error) ||
        !lig_run_program (self, self->train, flags | (last ? LIG_RUN_UPDATE : 0), &begun, error) ||
        !lig_program_send_results (self->train, slot, error))
      return FALSE;
    self->pending[slot] = (LigRunPending){step, last, lig_run_get_share (self, i), begun};
    self->sent++;
  }
  return TRUE;
}

gboolean
lig_run_step (LigRun *self, gint64 step, GError **error)
{
  return lig_device_has (self->device, LIG_DEVICE_ASYNCHRONOUS)
           ? step_asynchronously (self, step, error)
           : step_synchronously (self, step, error);
}

gboolean
lig_run_finish_pending (LigRun *self, GError **error)
{
  while (self->taken < self->sent)
    if (!take_oldest (self, error))
      return FALSE;
  return TRUE;
}
