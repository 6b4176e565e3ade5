/* SPDX-License-Identifier: MIT */
/* The loop that runs a plan. */
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

int
lig_steps_run (LigSteps *self, int first, int end, bool accumulate, LigStatus *status)
{
  *status = LIG_OK;
  for (int i = first; i < end; i++) {
    LigStep *step = &self->steps[i];
    if (!step->function)
      return i;
    step->launch.accumulate = accumulate;
    *status = step->function (&step->launch);
    if (__builtin_expect (*status != LIG_OK, 0))
      return i;
  }
  return end;
}
