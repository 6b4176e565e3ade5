/* SPDX-License-Identifier: MIT */
/* Runs the steps of a plan. */
#include "engine/steps/steps.h"

#include <stdlib.h>

LigSteps *
lig_steps_new (int n_steps, int n_operands)
{
  LigSteps *self = calloc (1, sizeof *self);
  if (!self)
    return NULL;
  self->n_steps = n_steps;
  self->steps = calloc ((size_t) n_steps + 1, sizeof *self->steps);
  self->operands = calloc ((size_t) n_operands + 1, sizeof *self->operands);
  if (self->steps && self->operands)
    return self;
  lig_steps_free (self);
  return NULL;
}

void
lig_steps_free (LigSteps *self)
{
  if (!self)
    return;
  free (self->steps);
  free (self->operands);
  free (self);
}

/* Makes the branch wait for everything launched in the stream so far. */
static LigStatus
begin_branch (LigSteps *self)
{
  LigStatus status = self->calls->record (self->device, self->forked, self->stream);
  return status == LIG_OK ? self->calls->await (self->device, self->branch, self->forked) : status;
}

static LigStatus
end_branch (LigSteps *self)
{
  LigStatus status = self->calls->record (self->device, self->joined, self->branch);
  return status == LIG_OK ? self->calls->await (self->device, self->stream, self->joined) : status;
}

static LigStatus
fill_empty (LigSteps *self, const LigStep *step)
{
  LigStatus status = LIG_OK;
  unsigned outputs = step->zeroed & ~(step->launch.accumulate ? step->added : 0);
  for (int i = 0; i < LIG_MAX_OPERANDS && status == LIG_OK; i++) {
    if (!(outputs >> i & 1))
      continue;
    const LigOperand *output = &step->launch.operands[i];
    size_t bytes = (size_t) output->size * lig_dtype_size (output->dtype);
    status = self->calls->fill (self->device, output->data, 0, bytes, step->launch.stream);
  }
  return status;
}

static LigStatus
run_step (LigSteps *self, LigStep *step, LigStepsMode mode, bool *forked)
{
  LigStatus status = LIG_OK;
  step->launch.accumulate = mode.accumulate || step->adds;
  step->launch.rehearse = mode.rehearse;
  if (step->joins && *forked) {
    status = end_branch (self);
    *forked = false;
  }
  if (step->beside) {
    status = begin_branch (self);
    *forked = true;
  }
  if (status == LIG_OK)
    status = step->empty ? fill_empty (self, step) : step->function (&step->launch);
  if (status == LIG_OK && self->wait)
    status = self->calls->wait (self->device, step->launch.stream);
  return status;
}

int
lig_steps_run (LigSteps *self, int first, int end, LigStepsMode mode, LigStatus *status)
{
  bool forked = false;
  int at = first;
  *status = LIG_OK;
  self->interrupted = false;
  for (; at < end && self->steps[at].function; at++) {
    if (self->interrupt && at < self->interruptible && self->interrupt (self->interrupt_data)) {
      self->interrupted = true;
      break;
    }
    *status = run_step (self, &self->steps[at], mode, &forked);
    if (__builtin_expect (*status != LIG_OK, 0))
      break;
  }
  LigStatus joined = forked ? end_branch (self) : LIG_OK;
  if (*status == LIG_OK && joined != LIG_OK)
    *status = joined;
  return at;
}
