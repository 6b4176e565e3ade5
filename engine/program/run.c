/* SPDX-License-Identifier: MIT */
/* Runs programs. On devices with graphs a range of steps is launched step by step the first time,
 * when its kernels choose their algorithms, captured the second time, and then replayed as one
 * graph. Opaque ops separate the ranges. */
#include "engine/measure/choices.h"
#include "engine/measure/tuning-private.h"
#include "engine/program/private.h"
#include <ligature/kernels.h>

#include <glib/gi18n-lib.h>
#include <string.h>

static bool
ask_caller (void *data)
{
  LigProgram *self = data;
  return self->interrupt (self->interrupt_data) != FALSE;
}

void
lig_program_set_interrupt (LigProgram *self, LigProgramInterrupt interrupt, gpointer data)
{
  self->interrupt = interrupt;
  self->interrupt_data = data;
  self->run->interrupt = interrupt ? ask_caller : NULL;
  self->run->interrupt_data = self;
  self->run->interruptible = self->plan->phases.update;
  self->run->keeps_collectives = lig_device_get_ranks (self->device) != NULL;
}

void
lig_program_observe (LigProgram *self, LigProgramObserver observer, gpointer data)
{
  self->observer = observer;
  self->observer_data = data;
}

void
lig_program_set_rate (LigProgram *self, double learning_rate, double clip_norm)
{
  self->now.learning_rate = (float) learning_rate;
  self->now.clip_norm = (float) clip_norm;
  self->has_rate = TRUE;
}

/* Returns the kernel of a step, null for an opaque op. */
static const LigKernel *
kernel_at (LigProgram *self, int step)
{
  return lig_plan_step (self->plan, step)->kernel;
}

/* Updates the tick in device memory if the steps read it. */
static gboolean
update_tick (LigProgram *self, int first, int end, GError **error)
{
  gboolean matters = FALSE;
  if (memcmp (&self->sent, &self->now, sizeof self->now) == 0)
    return TRUE;
  for (int i = first; i < end && !matters; i++)
    matters = !kernel_at (self, i) || !lig_kernel_ignores_tick (kernel_at (self, i));
  if (!matters)
    return TRUE;
  self->sent = self->now;
  LigStatus status = self->run->calls->put (self->run->device, self->tick, &self->sent,
                                            sizeof self->sent, lig_device_stream (self->device));
  return lig_device_check (self->device, status, _ ("starting a step"), error);
}

static gboolean
call_opaque (LigProgram *self, int index, GError **error)
{
  const LigPlanStep *step = lig_plan_step (self->plan, index);
  const LigStepCode *code = lig_plan_code (self->plan, index);
  const LigStep *bound = &self->run->steps[index];
  const LigPlanOp *op = lig_plan_op (self->plan, step->part);
  g_autoptr (GError) local = NULL;
  LigOpaqueCall call = {.operands = bound->launch.operands,
                        .n_operands = step->n_operands,
                        .backward = step->pass == LIG_PASS_BACKWARD,
                        .stream = bound->launch.stream,
                        .op = op->info->name,
                        .path = op->prefix,
                        .params = op->params,
                        .data = code->opaque_data};
  if (code->opaque && code->opaque (&call, &local))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, _ ("%s at %s: %s"), op->title, op->path,
               local ? local->message : _ ("its callback failed"));
  return lig_error_set_path (error, op->path);
}

static gboolean
reject_step (LigProgram *self, int at, LigStatus status, GError **error)
{
  const LigPlanStep *step = lig_plan_step (self->plan, at);
  const char *where = self->run->steps[at].launch.where;
  const char *path = step->part >= 0 ? lig_plan_op (self->plan, step->part)->path : NULL;
  /* The message begins with a source location, which does not help with insufficient memory. */
  if (where && status == LIG_OUT_OF_MEMORY && strstr (where, ": "))
    where = strstr (where, ": ") + 2;
  if (!where && status != LIG_OK && self->run->device)
    where = self->run->calls->message (self->run->device);
  g_set_error (error, LIG_ERROR, status == LIG_OUT_OF_MEMORY ? LIG_ERROR_MEMORY : LIG_ERROR_DEVICE,
               _ ("step %d, %s at %s: %s"), at, step->kernel ? step->kernel->name : _ ("opaque"),
               path ? path : _ ("the update"), where ? where : _ ("the device has no such kernel"));
  return lig_error_set_path (error, path);
}

static gboolean
end_before (int step, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_CANCELLED, _ ("ended before step %d"), step);
  return FALSE;
}

/* Launches a range without opaque steps, one launch each. */
static gboolean
launch_steps (LigProgram *self, int first, int end, LigStepsMode mode, GError **error)
{
  LigStatus status = LIG_OK;
  int at = lig_steps_run (self->run, first, end, mode, &status);
  if (self->run->interrupted && status == LIG_OK) {
    self->interrupted = TRUE;
    return self->run->keeps_collectives || end_before (at, error);
  }
  return at == end && status == LIG_OK ? TRUE
                                       : reject_step (self, MIN (at, end - 1), status, error);
}

/* Launches steps while kernels choose among algorithms, and stores the choices. */
static gboolean
warm_up_steps (LigProgram *self, int first, int end, LigStepsMode mode, GError **error)
{
  LigDevice *device = self->device;
  lig_tuning_report ("matmuls of the step");
  lig_choices_begin (device, self->plan->request->options.tuning);
  mode.autotune = true;
  gboolean fine = launch_steps (self, first, end, mode, error);
  lig_choices_end (device);
  return fine;
}

/* A capture in which a launch fails ends early and must not be replayed as the whole range. */
static gboolean
capture_steps (LigProgram *self, LigCapture *capture, GError **error)
{
  LigSteps *run = self->run;
  LigDevice *device = self->device;
  LigStepsMode mode = {.accumulate = capture->accumulate, .partial = capture->partial};
  if (!lig_device_check (device,
                         run->calls->capture (run->device, run->lanes[LIG_LANE_MAIN].stream),
                         _ ("capturing"), error))
    return FALSE;
  gboolean fine = launch_steps (self, capture->first, capture->end, mode, error);
  LigStatus status =
    run->calls->capture_end (run->device, run->lanes[LIG_LANE_MAIN].stream, &capture->graph);
  fine = fine && lig_device_check (device, status, _ ("capturing"), error);
  if (!fine && capture->graph)
    run->calls->graph_free (run->device, g_steal_pointer (&capture->graph));
  return fine;
}

static LigCapture *
find_capture (LigProgram *self, int first, int end, LigStepsMode mode)
{
  for (guint i = 0; self->captures && i < self->captures->len; i++) {
    LigCapture *capture = &g_array_index (self->captures, LigCapture, i);
    if (capture->first == first && capture->end == end && capture->accumulate == mode.accumulate &&
        capture->partial == mode.partial)
      return capture;
  }
  return NULL;
}

static gboolean
run_segment (LigProgram *self, int first, int end, LigStepsMode mode, GError **error)
{
  LigSteps *run = self->run;
  mode.autotune = run->calls->capture != NULL;
  if (!run->calls->capture || run->wait || self->observer)
    return launch_steps (self, first, end, mode, error);
  LigCapture *capture = find_capture (self, first, end, mode);
  if (!capture) {
    LigCapture fresh = {first, end, mode.accumulate, mode.partial, NULL};
    if (!self->captures)
      self->captures = g_array_new (FALSE, FALSE, sizeof (LigCapture));
    if (!warm_up_steps (self, first, end, mode, error))
      return FALSE;
    g_array_append_val (self->captures, fresh);
    return TRUE;
  }
  if (!capture->graph && !capture_steps (self, capture, error))
    return FALSE;
  return lig_device_check (
    self->device,
    run->calls->replay (run->device, capture->graph, run->lanes[LIG_LANE_MAIN].stream),
    _ ("running"), error);
}

/* Waits for all lanes, and shows the observer the output of the step. */
static gboolean
show_step (LigProgram *self, int step, GError **error)
{
  const LigSteps *run = self->run;
  LigStatus status = LIG_OK;
  for (int lane = 0; lane < LIG_N_LANES && status == LIG_OK; lane++)
    status = run->calls->wait (run->device, run->lanes[lane].stream);
  return lig_device_check (self->device, status, _ ("running"), error) &&
         self->observer (self, step, self->observer_data, error);
}

static gboolean
run_range (LigProgram *self, int first, int end, LigStepsMode mode, GError **error)
{
  while (first < end) {
    int at = first, limit = self->observer ? first + 1 : end;
    while (at < limit && lig_plan_step (self->plan, at)->kernel && self->run->steps[at].function)
      at++;
    if (at > first && !run_segment (self, first, at, mode, error))
      return FALSE;
    gboolean stopped = at < limit;
    if (stopped && lig_plan_step (self->plan, at)->kernel)
      return reject_step (self, at, LIG_OK, error);
    if (stopped && !self->interrupted && !call_opaque (self, at, error))
      return FALSE;
    if (self->observer && !self->interrupted && !show_step (self, first, error))
      return FALSE;
    first = stopped ? at + 1 : at;
  }
  return TRUE;
}

/* Gradients cannot be accumulated in 16 bits: the sum soon becomes so large that it no longer
 * changes. */
static gboolean
begin_gradients (LigProgram *self, unsigned flags, GError **error)
{
  const LigPlan *plan = self->plan;
  if (!plan->request->options.training || plan->layout->elements == 0)
    return TRUE;
  if (!(flags & LIG_RUN_ACCUMULATE) || plan->request->gradient_dtype == LIG_FP32)
    return lig_state_begin_gradients (self->state, plan->ends.scales, error);
  g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
               _ ("gradients: stored in %s, which is too coarse to accumulate, expected fp32; set "
                  "the plan option accumulate"),
               lig_dtype_name (plan->request->gradient_dtype));
  return FALSE;
}

gboolean
lig_program_run_step (LigProgram *self, int index, GError **error)
{
  return lig_plan_step (self->plan, index)->kernel
           ? launch_steps (self, index, index + 1, (LigStepsMode){0}, error)
           : call_opaque (self, index, error);
}

static gboolean
reject_order (const char *problem, GError **error)
{
  g_set_error_literal (error, LIG_ERROR, LIG_ERROR_ORDER, problem);
  return FALSE;
}

/* Checks that the plan has the passes and that the steps before them have run. */
static gboolean
check_flags (LigProgram *self, unsigned flags, GError **error)
{
  const unsigned passes = LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE;
  unsigned done = flags & LIG_RUN_FORWARD ? LIG_RUN_FORWARD : self->done;
  const unsigned unknown = flags & ~(passes | LIG_RUN_ACCUMULATE | LIG_RUN_PARTIAL);
  if (unknown) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_ORDER,
                 "unknown flags 0x%x; use forward, backward, update, accumulate and partial",
                 unknown);
    return FALSE;
  }
  if (!(flags & passes))
    return reject_order ("no pass requested; request forward, backward or update", error);
  if (flags & LIG_RUN_BACKWARD && !lig_plan_has_pass (self->plan, LIG_PASS_BACKWARD))
    return reject_order ("the plan has no backward pass; compile it for training", error);
  if (flags & LIG_RUN_UPDATE && !lig_plan_has_pass (self->plan, LIG_PASS_UPDATE))
    return reject_order ("the plan has no update; compile it with an optimizer", error);
  if (flags & LIG_RUN_ACCUMULATE && !(flags & LIG_RUN_BACKWARD))
    return reject_order ("only a backward pass accumulates gradients; request one", error);
  if (flags & LIG_RUN_PARTIAL && (!(flags & LIG_RUN_BACKWARD) || flags & LIG_RUN_UPDATE))
    return reject_order ("only a backward pass without an update is partial; request one", error);
  if (flags & LIG_RUN_BACKWARD && !(done & LIG_RUN_FORWARD))
    return reject_order ("no forward pass has run yet; run forward before backward", error);
  if (flags & LIG_RUN_BACKWARD && done & LIG_RUN_BACKWARD)
    return reject_order ("the kept values are used up by an earlier backward; run forward again",
                         error);
  if (flags & LIG_RUN_UPDATE && !self->has_rate)
    return reject_order ("learning rate missing; set it with lig_program_set_rate()", error);
  return !(flags & LIG_RUN_FORWARD) || lig_program_check_inputs (self, error);
}

/* Resets gradients that an earlier backward pass has read. */
static gboolean
renew_gradients (LigProgram *self, GError **error)
{
  for (guint i = 0; i < self->output_gradients->len; i++) {
    LigOutputGradient *gradient = &g_array_index (self->output_gradients, LigOutputGradient, i);
    if (gradient->stale && !lig_program_preset_gradient (self, gradient->value, error))
      return FALSE;
    gradient->stale = FALSE;
  }
  return TRUE;
}

static void
use_gradients (LigProgram *self)
{
  for (guint i = 0; i < self->output_gradients->len; i++) {
    LigOutputGradient *gradient = &g_array_index (self->output_gradients, LigOutputGradient, i);
    gradient->stale = gradient->fresh && !self->keeps_gradients;
    gradient->fresh = FALSE;
  }
}

/* Successive passes are one range, and one graph. The steps that depend only on parameters precede
 * the forward pass if the parameters have changed since they ran. */
static gboolean
run_passes (LigProgram *self, unsigned flags, GError **error)
{
  const LigPlan *plan = self->plan;
  gboolean fresh = self->converted == lig_state_get_version (self->state);
  const LigStepsMode mode = {.accumulate = (flags & LIG_RUN_ACCUMULATE) != 0,
                             .partial = (flags & LIG_RUN_PARTIAL) != 0};
  const int bounds[] = {fresh ? plan->phases.forward : 0, plan->phases.backward,
                        plan->phases.update, (int) plan->steps->len};
  for (int pass = 0; pass < 3; pass++) {
    int first = pass;
    if (!(flags & 1u << pass))
      continue;
    while (pass < 2 && flags & 2u << pass)
      pass++;
    if (!update_tick (self, bounds[first], bounds[pass + 1], error) ||
        !run_range (self, bounds[first], bounds[pass + 1], mode, error))
      return FALSE;
  }
  return !self->interrupted || end_before (plan->phases.update, error);
}

gboolean
lig_program_run (LigProgram *self, unsigned flags, GError **error)
{
  guint64 micro = lig_state_get_micro_step (self->state), step = lig_state_get_step (self->state);
  unsigned done = flags & LIG_RUN_FORWARD ? 0 : self->done;
  if (!check_flags (self, flags, error))
    return FALSE;
  self->run->calls->enter (self->run->device);
  if (flags & LIG_RUN_BACKWARD &&
      (!begin_gradients (self, flags, error) || !renew_gradients (self, error)))
    return FALSE;
  self->now.micro_step = flags & LIG_RUN_FORWARD ? micro : self->now.micro_step;
  self->now.step = flags & LIG_RUN_UPDATE ? step + 1 : self->now.step;
  self->done = 0;
  self->interrupted = FALSE;
  guint64 version = lig_state_get_version (self->state);
  if (!run_passes (self, flags, error)) {
    self->converted = 0;
    return FALSE;
  }
  if (flags & LIG_RUN_FORWARD)
    self->converted = version;
  if (flags & LIG_RUN_UPDATE)
    lig_state_touch (self->state);
  self->done = done | flags;
  if (flags & LIG_RUN_BACKWARD)
    use_gradients (self);
  micro += flags & LIG_RUN_FORWARD && lig_plan_has_pass (self->plan, LIG_PASS_BACKWARD);
  step += (flags & LIG_RUN_UPDATE) != 0;
  lig_state_set_steps (self->state, micro, step);
  return TRUE;
}
