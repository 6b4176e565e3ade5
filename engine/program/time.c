/* SPDX-License-Identifier: MIT */
/* Times the steps of a program one by one. */
#include "engine/program/private.h"

#include <glib/gi18n-lib.h>

/* Keeps the device busy until the host is ahead of it. Otherwise the times of short kernels would
 * include their launches. */
static LigStatus
hold_back (LigProgram *self, int n_steps)
{
  const LigSteps *run = self->run;
  LigStatus status = LIG_OK;
  for (int i = 0; i < 2 * n_steps + 20 && status == LIG_OK && run->lanes[LIG_LANE_MAIN].stream; i++)
    status = run->calls->fill (run->device, self->workspaces[0], i, LIG_WORKSPACE_SIZE,
                               run->lanes[LIG_LANE_MAIN].stream);
  return status;
}

/* Records an event before each step and after the last. */
static gboolean
time_each (LigProgram *self, void **events, double *seconds, GError **error)
{
  const LigSteps *run = self->run;
  int count = (int) self->plan->steps->len;
  LigStatus status = hold_back (self, count);
  for (int i = 0; i <= count && status == LIG_OK; i++) {
    status = run->calls->record (run->device, events[i], run->lanes[LIG_LANE_MAIN].stream);
    if (status != LIG_OK || i == count)
      break;
    if (!lig_program_run_step (self, i, error))
      return FALSE;
  }
  if (status == LIG_OK)
    status = run->calls->wait_event (run->device, events[count]);
  for (int i = 0; i < count && status == LIG_OK; i++)
    status = run->calls->elapsed (run->device, events[i], events[i + 1], &seconds[i]);
  return lig_device_check (self->device, status, _ ("timing steps"), error);
}

gboolean
lig_program_time_steps_freely (LigProgram *self, double *seconds, GError **error)
{
  const LigSteps *run = self->run;
  guint count = self->plan->steps->len + 1;
  g_autofree void **events = g_new0 (void *, count);
  LigStatus status = LIG_OK;
  if (!lig_program_check_inputs (self, error))
    return FALSE;
  self->done = 0;
  run->calls->enter (run->device);
  for (guint i = 0; i < count && status == LIG_OK; i++)
    status = run->calls->event_new (run->device, &events[i]);
  gboolean fine = lig_device_check (self->device, status, _ ("making events"), error) &&
                  time_each (self, events, seconds, error);
  /* The update is among the timed steps. */
  lig_state_touch (self->state);
  for (guint i = 0; i < count; i++)
    if (events[i])
      run->calls->event_free (run->device, events[i]);
  return fine;
}

typedef struct {
  void *arrays[LIG_MAX_STATE_ARRAYS]; /* device memory; null if the state has no such array */
  LigScaling scaling;
} Copy;

static void
clear_copy (LigProgram *self, Copy *copy)
{
  self->run->calls->wait (self->run->device, lig_device_stream (self->device));
  for (int i = 0; i < LIG_MAX_STATE_ARRAYS; i++)
    lig_device_release (self->device, copy->arrays[i]);
}

static gboolean
move (LigProgram *self, void *target, const void *source, gsize bytes, GError **error)
{
  const LigSteps *run = self->run;
  LigStatus status =
    run->calls->copy (run->device, target, source, bytes, run->lanes[LIG_LANE_MAIN].stream);
  return lig_device_check (self->device, status, _ ("copying the state"), error);
}

static gboolean
save (LigProgram *self, Copy *copy, GError **error)
{
  for (int i = 0; i < LIG_MAX_STATE_ARRAYS; i++) {
    gsize bytes = lig_state_array_bytes (self->state, (LigStateArray) i);
    if (bytes == 0)
      continue;
    copy->arrays[i] = lig_device_allocate (self->device, bytes, error);
    if (!copy->arrays[i]) {
      g_prefix_error (error, _ ("a copy of the state while steps are timed: "));
      return FALSE;
    }
    if (!move (self, copy->arrays[i], lig_state_address (self->state, (LigStateArray) i, 0, NULL),
               bytes, error))
      return FALSE;
  }
  return self->plan->ends.scaling < 0 ||
         lig_device_download (self->device, &copy->scaling, lig_state_scaling (self->state, NULL),
                              sizeof copy->scaling, error);
}

/* Restores the state, also if timing failed; the first error is reported. */
static gboolean
restore (LigProgram *self, const Copy *copy, GError **error)
{
  gboolean fine = TRUE;
  lig_state_touch (self->state);
  for (int i = 0; i < LIG_MAX_STATE_ARRAYS; i++)
    if (copy->arrays[i])
      fine =
        move (self, lig_state_address (self->state, (LigStateArray) i, 0, NULL), copy->arrays[i],
              lig_state_array_bytes (self->state, (LigStateArray) i), fine ? error : NULL) &&
        fine;
  if (self->plan->ends.scaling < 0)
    return fine;
  return lig_device_upload (self->device, lig_state_scaling (self->state, NULL), &copy->scaling,
                            sizeof copy->scaling, fine ? error : NULL) &&
         fine;
}

gboolean
lig_program_time_steps (LigProgram *self, double *seconds, GError **error)
{
  Copy copy = {0};
  gboolean fine = FALSE;
  if (!lig_program_check_inputs (self, error))
    return FALSE;
  if (save (self, &copy, error)) {
    fine = lig_program_time_steps_freely (self, seconds, error);
    fine = restore (self, &copy, fine ? error : NULL) && fine;
  }
  clear_copy (self, &copy);
  return fine;
}
