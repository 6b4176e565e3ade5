/* SPDX-License-Identifier: MIT */
/* Running a bound plan. On devices with graphs a range of steps is launched step by step the first
 * time, when its kernels choose their algorithms, captured the second time, and replayed as one
 * graph from then on; opaque ops stand between such ranges. */
#include "engine/private/plan.h"

#include "engine/private/tuning.h"

#include <string.h>

/* A range without opaque steps, in one of two modes. */
typedef struct {
  int first, end;
  gboolean accumulate;
  void *graph; /* null: launched once so far */
} Capture;

void
lig_plan_forget_captures (LigPlan *self)
{
  for (guint i = 0; self->captures && i < self->captures->len; i++) {
    Capture *capture = &g_array_index (self->captures, Capture, i);
    if (capture->graph)
      self->run->calls->graph_free (self->run->device, capture->graph);
  }
  g_clear_pointer (&self->captures, g_array_unref);
}

void
lig_plan_set_rate (LigPlan *self, double learning_rate, double clip_norm)
{
  self->now.learning_rate = (float) learning_rate;
  self->now.clip_norm = (float) clip_norm;
}

/* Whether a kernel reads the tick in this pass: the update does, and of the built-in ones that run
 * in the other passes only dropout. */
static gboolean
reads_tick (const LigDraftStep *step)
{
  if (!step->kernel || step->pass == LIG_PASS_UPDATE)
    return TRUE;
  return lig_kernel_find (step->kernel->name) != step->kernel ||
         g_str_equal (step->kernel->name, "dropout");
}

/* Brings the tick in device memory up to date, if the steps look at it. */
static gboolean
tell_tick (LigPlan *self, int first, int end, GError **error)
{
  gboolean matters = FALSE;
  if (memcmp (&self->told, &self->now, sizeof self->now) == 0)
    return TRUE;
  for (int i = first; i < end && !matters; i++)
    matters = reads_tick (lig_step (self->draft, i));
  if (!matters)
    return TRUE;
  self->told = self->now;
  LigStatus status = self->run->calls->put (self->run->device, self->tick, &self->told,
                                            sizeof self->told, self->run->stream);
  return lig_device_check (self->draft->device, status, "starting a step", error);
}

static gboolean
call_opaque (LigPlan *self, int index, GError **error)
{
  const LigDraftStep *step = lig_step (self->draft, index);
  const LigStep *bound = &self->run->steps[index];
  g_autoptr (GError) local = NULL;
  if (step->opaque &&
      step->opaque (bound->launch.operands, bound->launch.stream, step->opaque_data, &local))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, "%s at %s: %s",
               lig_part (self->draft, step->part)->title, lig_part (self->draft, step->part)->path,
               local ? local->message : "its callback failed");
  return FALSE;
}

static gboolean
refuse_step (LigPlan *self, int at, LigStatus status, GError **error)
{
  const LigDraftStep *step = lig_step (self->draft, at);
  const char *where = self->run->steps[at].launch.where;
  const char *path = step->part >= 0 ? lig_part (self->draft, step->part)->path : "the update";
  if (!where && status != LIG_OK && self->run->device)
    where = self->run->calls->message (self->run->device);
  g_set_error (error, LIG_ERROR, status == LIG_OUT_OF_MEMORY ? LIG_ERROR_MEMORY : LIG_ERROR_DEVICE,
               "step %d, %s at %s: %s", at, step->kernel ? step->kernel->name : "opaque", path,
               where ? where : "the device has no such kernel");
  return FALSE;
}

/* Steps without an opaque one among them, one launch each. */
static gboolean
launch_steps (LigPlan *self, int first, int end, LigStepsMode mode, GError **error)
{
  LigStatus status = LIG_OK;
  int at = lig_steps_run (self->run, first, end, mode, &status);
  return at == end && status == LIG_OK ? TRUE
                                       : refuse_step (self, MIN (at, end - 1), status, error);
}

/* Launches with which kernels choose among algorithms, and remember what they chose. */
static gboolean
rehearse_steps (LigPlan *self, int first, int end, gboolean accumulate, GError **error)
{
  LigChoices choices;
  LigDevice *device = self->draft->device;
  lig_tuning_tell ("products of the step");
  lig_tuning_to_choices (self->draft->options.tuning, &choices);
  lig_device_keep_choices (device, &choices);
  gboolean fine = launch_steps (self, first, end, (LigStepsMode){accumulate, true}, error);
  lig_device_keep_choices (device, NULL);
  return fine;
}

static gboolean
capture_steps (LigPlan *self, Capture *capture, GError **error)
{
  LigSteps *run = self->run;
  LigDevice *device = self->draft->device;
  LigStepsMode mode = {capture->accumulate, false};
  if (!lig_device_check (device, run->calls->capture (run->device, run->stream), "capturing",
                         error))
    return FALSE;
  gboolean fine = launch_steps (self, capture->first, capture->end, mode, error);
  LigStatus status = run->calls->capture_end (run->device, run->stream, &capture->graph);
  return fine && lig_device_check (device, status, "capturing", error);
}

static Capture *
find_capture (LigPlan *self, int first, int end, gboolean accumulate)
{
  for (guint i = 0; self->captures && i < self->captures->len; i++) {
    Capture *capture = &g_array_index (self->captures, Capture, i);
    if (capture->first == first && capture->end == end && capture->accumulate == accumulate)
      return capture;
  }
  return NULL;
}

static gboolean
run_segment (LigPlan *self, int first, int end, gboolean accumulate, GError **error)
{
  LigSteps *run = self->run;
  if (!run->calls->capture || run->wait)
    return launch_steps (self, first, end, (LigStepsMode){accumulate, run->calls->capture != NULL},
                         error);
  Capture *capture = find_capture (self, first, end, accumulate);
  if (!capture) {
    Capture fresh = {first, end, accumulate, NULL};
    if (!self->captures)
      self->captures = g_array_new (FALSE, FALSE, sizeof (Capture));
    if (!rehearse_steps (self, first, end, accumulate, error))
      return FALSE;
    g_array_append_val (self->captures, fresh);
    return TRUE;
  }
  if (!capture->graph && !capture_steps (self, capture, error))
    return FALSE;
  return lig_device_check (self->draft->device,
                           run->calls->replay (run->device, capture->graph, run->stream), "running",
                           error);
}

static gboolean
run_range (LigPlan *self, int first, int end, gboolean accumulate, GError **error)
{
  while (first < end) {
    int at = first;
    while (at < end && lig_step (self->draft, at)->kernel && self->run->steps[at].function)
      at++;
    if (at > first && !run_segment (self, first, at, accumulate, error))
      return FALSE;
    if (at < end && lig_step (self->draft, at)->kernel)
      return refuse_step (self, at, LIG_OK, error);
    if (at < end && !call_opaque (self, at, error))
      return FALSE;
    first = at + 1;
  }
  return TRUE;
}

/* What is added up in 16 bits is soon larger than what comes in, and stays as it is. */
static gboolean
begin_gradients (LigPlan *self, unsigned flags, GError **error)
{
  const LigDraft *draft = self->draft;
  if (!draft->options.training || draft->elements == 0)
    return TRUE;
  if (!(flags & LIG_RUN_ACCUMULATE) || draft->gradient_dtype == LIG_FP32)
    return lig_state_begin_gradients (self->state, draft->scales, error);
  g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
               "gradients: they are kept in %s, which loses what is added to them, expected fp32; "
               "plan with the option accumulate",
               lig_dtype_name (draft->gradient_dtype));
  return FALSE;
}

gboolean
lig_plan_run (LigPlan *self, unsigned flags, GError **error)
{
  const LigDraft *draft = self->draft;
  const int bounds[] = {0, draft->first_backward, draft->first_update, (int) draft->steps->len};
  guint64 micro = lig_state_get_micro_step (self->state), step = lig_state_get_step (self->state);
  g_return_val_if_fail (self->run, FALSE);
  if (flags & LIG_RUN_BACKWARD && !begin_gradients (self, flags, error))
    return FALSE;
  self->run->calls->enter (self->run->device);
  self->now.micro_step = flags & LIG_RUN_FORWARD ? micro : self->now.micro_step;
  self->now.step = flags & LIG_RUN_UPDATE ? step + 1 : self->now.step;
  /* Passes that follow each other are one range, and one graph. */
  for (int pass = 0; pass < 3; pass++) {
    int first = pass;
    if (!(flags & 1u << pass))
      continue;
    while (pass < 2 && flags & 2u << pass)
      pass++;
    if (!tell_tick (self, bounds[first], bounds[pass + 1], error) ||
        !run_range (self, bounds[first], bounds[pass + 1], (flags & LIG_RUN_ACCUMULATE) != 0,
                    error))
      return FALSE;
  }
  micro += flags & LIG_RUN_FORWARD && draft->options.training;
  step += (flags & LIG_RUN_UPDATE) != 0;
  lig_state_set_steps (self->state, micro, step);
  return TRUE;
}

/* Work of no consequence that keeps the device busy until the host is ahead of it: else short
 * kernels would be measured with the time that launching them takes. */
static LigStatus
hold_back (LigPlan *self, int n_steps)
{
  const LigSteps *run = self->run;
  LigStatus status = LIG_OK;
  for (int i = 0; i < 2 * n_steps + 20 && status == LIG_OK && run->stream; i++)
    status =
      run->calls->fill (run->device, self->workspaces[0], i, LIG_WORKSPACE_SIZE, run->stream);
  return status;
}

/* Records an event before each step and behind the last. */
static gboolean
time_each (LigPlan *self, void **events, double *seconds, GError **error)
{
  const LigSteps *run = self->run;
  int count = (int) self->draft->steps->len;
  LigStatus status = hold_back (self, count);
  for (int i = 0; i <= count && status == LIG_OK; i++) {
    status = run->calls->record (run->device, events[i], run->stream);
    if (status != LIG_OK || i == count)
      break;
    if (lig_step (self->draft, i)->kernel ? !launch_steps (self, i, i + 1, (LigStepsMode){0}, error)
                                          : !call_opaque (self, i, error))
      return FALSE;
  }
  if (status == LIG_OK)
    status = run->calls->settle (run->device, events[count]);
  for (int i = 0; i < count && status == LIG_OK; i++)
    status = run->calls->elapsed (run->device, events[i], events[i + 1], &seconds[i]);
  return lig_device_check (self->draft->device, status, "timing steps", error);
}

gboolean
lig_plan_time_steps (LigPlan *self, double *seconds, GError **error)
{
  const LigSteps *run = self->run;
  guint count = self->draft->steps->len + 1;
  g_autofree void **events = g_new0 (void *, count);
  LigStatus status = LIG_OK;
  run->calls->enter (run->device);
  for (guint i = 0; i < count && status == LIG_OK; i++)
    status = run->calls->event_new (run->device, &events[i]);
  gboolean fine = lig_device_check (self->draft->device, status, "making events", error) &&
                  time_each (self, events, seconds, error);
  for (guint i = 0; i < count; i++)
    if (events[i])
      run->calls->event_free (run->device, events[i]);
  return fine;
}
