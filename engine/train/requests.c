/* SPDX-License-Identifier: MIT */
/* Requests between the steps of a run: pause, save, end. Rank 0 decides for all ranks. */
#include "engine/store/writing.h"
#include "engine/train/checkpoint.h"
#include "engine/train/control.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"
#include "engine/train/step.h"
#include <ligature/store.h>

/* The default time between checkpoints. */
#define CHECKPOINT_SECONDS 60

/* Returns whether it is time for a default checkpoint. */
static gboolean
is_due (LigRun *self)
{
  return self->settings.checkpoint_every == 0 && lig_now () - self->saved_at > CHECKPOINT_SECONDS;
}

/* Returns whether a request requires the pending steps to finish first. */
static gboolean
is_interrupted (LigRun *self)
{
  g_mutex_lock (&self->lock);
  self->save_requested |= is_due (self);
  gboolean interrupted = self->paused || self->save_requested || self->request != LIG_REQUEST_NONE;
  g_mutex_unlock (&self->lock);
  return interrupted;
}

/* Waits while paused, unless a checkpoint is requested; returns the request. */
static LigRunRequest
wait_for_request (LigRun *self)
{
  g_mutex_lock (&self->lock);
  while (self->paused && !self->save_requested && self->request == LIG_REQUEST_NONE) {
    self->progress.status = LIG_RUN_PAUSED;
    g_cond_wait (&self->changed, &self->lock);
  }
  gboolean save = self->save_requested;
  self->save_requested = FALSE;
  if (!self->paused || self->request != LIG_REQUEST_NONE)
    self->progress.status = LIG_RUN_RUNNING;
  LigRunRequest request = self->request;
  g_mutex_unlock (&self->lock);
  return request == LIG_REQUEST_NONE && save ? LIG_REQUEST_SAVE : request;
}

/* A checkpoint that cannot be written does not end the run: the next one may succeed. */
gboolean
lig_run_save_between (LigRun *self, GError **error)
{
  g_autoptr (GError) failure = NULL;
  gboolean saved = lig_run_save_checkpoint (self, &failure);
  self->saved_at = lig_now ();
  if (!saved && !g_error_matches (failure, LIG_ERROR, LIG_ERROR_FILE)) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return FALSE;
  }
  if (saved)
    return TRUE;
  g_mutex_lock (&self->lock);
  g_free (self->problem);
  self->problem = g_strdup (failure->message);
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* A store to which this process can never write again would block every other process until this
 * one ends: the run saves a checkpoint and ends. It does so by a request, because other ranks wait
 * for one and may have parts of the checkpoint. */
static gboolean
check_store (LigRun *self, GError **error)
{
  LigRunRequest request = LIG_REQUEST_SAVE;
  if (!self->store || !lig_store_is_lost (self->store))
    return TRUE;
  if (lig_run_finish_pending (self, error) && lig_run_share_request (self, &request, error) &&
      lig_run_save_checkpoint (self, error))
    lig_store_flush (self->store, error);
  return FALSE;
}

/* The other ranks wait for rank 0's decision. */
gboolean
lig_run_handle_requests (LigRun *self, LigRunRequest *request, GError **error)
{
  gboolean decides = lig_run_writes (self);
  if (!check_store (self, error))
    return FALSE;
  do {
    if (decides && is_interrupted (self) && !lig_run_finish_pending (self, error))
      return FALSE;
    *request = decides ? wait_for_request (self) : LIG_REQUEST_NONE;
    if (!lig_run_share_request (self, request, error))
      return FALSE;
    if (*request == LIG_REQUEST_SAVE &&
        (!lig_run_finish_pending (self, error) || !lig_run_save_between (self, error)))
      return FALSE;
  } while (*request == LIG_REQUEST_SAVE);
  return TRUE;
}
