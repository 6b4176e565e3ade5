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

/* Returns whether a lane has steps that the main lane has not joined yet. */
static bool
runs (unsigned running, int lane)
{
  return running >> lane & 1;
}

/* Makes a lane wait for everything launched so far in the main lane. The communication lane also
 * waits for the side lane, whose steps write some of the gradients that are communicated. */
static LigStatus
begin_in (LigSteps *self, LigLane lane, unsigned running)
{
  LigStepsLane *to = &self->lanes[lane], *side = &self->lanes[LIG_LANE_SIDE];
  LigStatus status =
    self->calls->record (self->device, self->begun, self->lanes[LIG_LANE_MAIN].stream);
  if (status == LIG_OK)
    status = self->calls->await (self->device, to->stream, self->begun);
  if (lane == LIG_LANE_SIDE || !runs (running, LIG_LANE_SIDE) || status != LIG_OK)
    return status;
  status = self->calls->record (self->device, side->ended, side->stream);
  return status == LIG_OK ? self->calls->await (self->device, to->stream, side->ended) : status;
}

static LigTimer *
find_timer (const LigSteps *self, int collective)
{
  return self->waits ? &self->waits[collective] : self->waiting;
}

static LigStatus
start_waiting (LigSteps *self, int collective)
{
  return self->calls->start (self->device, find_timer (self, collective),
                             self->lanes[LIG_LANE_MAIN].stream);
}

static LigStatus
stop_waiting (LigSteps *self, int collective)
{
  return self->calls->stop (self->device, find_timer (self, collective),
                            self->lanes[LIG_LANE_MAIN].stream);
}

/* Makes the main lane wait for an event of another lane. If `waiting` is set, waits for the
 * communication lane are timed and count for `collective`. */
static LigStatus
await_event (LigSteps *self, int lane, int collective, void *event)
{
  bool timed = self->waiting && lane == LIG_LANE_COMMUNICATION;
  LigStatus status = timed ? start_waiting (self, collective) : LIG_OK;
  if (status == LIG_OK)
    status = self->calls->await (self->device, self->lanes[LIG_LANE_MAIN].stream, event);
  return timed && status == LIG_OK ? stop_waiting (self, collective) : status;
}

/* Makes the main lane wait for all that was launched in another lane. A wait for several
 * collectives counts for the one that was launched last. */
static LigStatus
join_lane (LigSteps *self, int lane)
{
  LigStepsLane *from = &self->lanes[lane];
  LigStatus status = self->calls->record (self->device, from->ended, from->stream);
  return status == LIG_OK ? await_event (self, lane, self->awaited, from->ended) : status;
}

/* Makes the main lane wait for those of `lanes` that are running, and marks them as joined. */
static LigStatus
join (LigSteps *self, unsigned lanes, unsigned *running)
{
  LigStatus status = LIG_OK;
  for (int lane = LIG_LANE_SIDE; lane < LIG_N_LANES; lane++) {
    if (!runs (lanes & *running, lane))
      continue;
    LigStatus ended = join_lane (self, lane);
    status = status == LIG_OK ? ended : status;
    *running &= ~(1u << lane);
  }
  return status;
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

/* Launches a collective in the main lane. All of its time counts as waiting, because the next steps
 * of the lane begin after it. */
static LigStatus
launch_collective (LigSteps *self, LigStep *step)
{
  int collective = (int) (step - self->steps);
  LigStatus status = start_waiting (self, collective);
  if (status == LIG_OK)
    status = step->function (&step->launch);
  return status == LIG_OK ? stop_waiting (self, collective) : status;
}

/* If a kernel function of the backend computes before it returns, a step of another lane is
 * enqueued for the thread of that lane. */
static LigStatus
launch (LigSteps *self, LigStep *step)
{
  if (step->empty)
    return fill_empty (self, step);
  if (step->lane == LIG_LANE_COMMUNICATION)
    self->awaited = (int) (step - self->steps);
  if (step->lane != LIG_LANE_MAIN && self->calls->enqueue)
    return self->calls->enqueue (self->device, step->launch.stream, step->function, &step->launch);
  if (step->launch.peers && self->waiting && step->lane == LIG_LANE_MAIN)
    return launch_collective (self, step);
  return step->function (&step->launch);
}

/* Makes the main lane wait for the steps of other lanes that `step` needs. Steps before `first`,
 * the start of the range, have ended already. */
static LigStatus
wait_before (LigSteps *self, const LigStep *step, const LigStep *first, unsigned *running)
{
  const LigStep *on = step->awaits;
  LigStatus status = step->joins & *running ? join (self, step->joins, running) : LIG_OK;
  return status == LIG_OK && on && on >= first && runs (*running, on->lane)
           ? await_event (self, on->lane, (int) (on - self->steps), on->ended)
           : status;
}

static LigStatus
run_step (LigSteps *self, LigStep *step, const LigStep *first, LigStepsMode mode, unsigned *running)
{
  if (step->reduces && mode.partial)
    return LIG_OK;
  /* Gradients of earlier micro-batches and of earlier steps of this pass are accumulated. */
  step->launch.accumulate = (mode.accumulate && step->added != 0) || step->adds;
  step->launch.autotune = mode.autotune;
  LigStatus status = wait_before (self, step, first, running);
  if (step->lane != LIG_LANE_MAIN) {
    if (status == LIG_OK)
      status = begin_in (self, step->lane, *running);
    *running |= 1u << step->lane;
  }
  if (status == LIG_OK)
    status = launch (self, step);
  if (status == LIG_OK && step->ended)
    status = self->calls->record (self->device, step->ended, step->launch.stream);
  if (status == LIG_OK && self->wait)
    status = self->calls->wait (self->device, step->launch.stream);
  return status;
}

/* Returns the first step of another lane that failed, recognized by the reason in its launch; `at`
 * if there is none. */
static int
find_failed (const LigSteps *self, int first, int at)
{
  for (int i = first; i < at; i++)
    if (self->steps[i].lane != LIG_LANE_MAIN && self->steps[i].launch.where)
      return i;
  return at;
}

/* Returns whether the caller interrupts the range before step `at`. */
static bool
is_interrupted (LigSteps *self, int at)
{
  return self->interrupt && at < self->interruptible && self->interrupt (self->interrupt_data);
}

int
lig_steps_run (LigSteps *self, int first, int end, LigStepsMode mode, LigStatus *status)
{
  unsigned running = 0;
  int at = first;
  *status = LIG_OK;
  self->interrupted = false;
  for (; at < end && self->steps[at].function; at++) {
    LigStep *step = &self->steps[at];
    self->interrupted = self->interrupted || is_interrupted (self, at);
    if (self->interrupted && (!self->keeps_collectives || at >= self->interruptible))
      break;
    /* Omitted steps also wait for other lanes: a later collective may use the same memory. */
    *status = self->interrupted && !step->launch.peers
                ? wait_before (self, step, &self->steps[first], &running)
                : run_step (self, step, &self->steps[first], mode, &running);
    if (__builtin_expect (*status != LIG_OK, 0))
      break;
  }
  LigStatus joined = running ? join (self, running, &running) : LIG_OK;
  if (*status == LIG_OK && joined != LIG_OK)
    *status = joined;
  return *status == LIG_OK ? at : find_failed (self, first, at);
}
