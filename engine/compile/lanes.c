/* SPDX-License-Identifier: MIT */
/* Predicts how the communication lane overlaps the others. A step of it begins when the steps
 * before it and the lane's last step have ended; the main lane waits for it before the update, or
 * before the first step that needs it. */
#include "engine/compile/predict.h"

#include <math.h>

/* Unknown times are 0, so that a step which adds next to nothing adds this. */
#define LEAST_SECONDS 1e-12

/* The speed beside an exchange of a kernel whose blocks all run at once: the blocks that find no
 * place begin when others have ended. Measured on two H100s with products of a Llama's layers,
 * beside which 28 to 32 % of the exchanges' time was hidden. */
#define SPEED_OF_ONE_WAVE 0.3

typedef struct {
  LigDraft *draft;
  int first;     /* the first step since the lanes last met */
  double now;    /* the end of the main lane's last step */
  double busy;   /* that of the communication lane's */
  double *added; /* what each step of the communication lane adds to the main one */
} Lanes;

double
lig_speed_beside (const LigDraft *draft, const LigDraftStep *step)
{
  const LigDeviceFacts *facts = lig_device_get_facts (draft->device);
  double all = facts->multiprocessors, taken = facts->fabric.multiprocessors;
  if (all <= 0 || taken <= 0 || facts->fabric.devices < 1)
    return 1;
  gboolean waves = step->kernel && g_str_has_prefix (step->kernel->name, "attention");
  double share = MAX (1 - taken / all, 1 / all);
  return waves ? share : MIN (share, SPEED_OF_ONE_WAVE);
}

double
lig_slowed_by (const LigDraft *draft, const LigDraftStep *step, double overlap)
{
  double speed = lig_speed_beside (draft, step);
  return (1 - speed) * MIN (MAX (overlap, 0), step->predicted / speed);
}

/* Divides what the main lane lost from `from` to `to`, a share of this time, among the collectives
 * before step `end` that ran then; it waited for them or was slower. */
static void
add (const Lanes *self, int end, double from, double to, double share, gboolean waits)
{
  for (int i = self->first; i < end; i++) {
    LigDraftStep *step = lig_step (self->draft, i);
    if (step->lane != LIG_LANE_COMMUNICATION)
      continue;
    double overlap = MAX (MIN (step->starts + step->lasts, to) - MAX (step->starts, from), 0);
    self->added[i] += share * overlap;
    step->waited += waits ? overlap : 0;
  }
}

/* Lets the main lane wait for the collectives before step `end`. */
static void
meet (Lanes *self, int end)
{
  add (self, end, self->now, INFINITY, 1, TRUE);
  for (int i = self->first; i < end; i++)
    if (lig_step (self->draft, i)->lane == LIG_LANE_COMMUNICATION)
      lig_step (self->draft, i)->predicted = MAX (self->added[i], LEAST_SECONDS);
  self->now = MAX (self->now, self->busy);
  self->first = end;
}

/* Lets the main lane wait for the collective that the step `index` needs. */
static void
await (Lanes *self, int index)
{
  int awaits = lig_step (self->draft, index)->awaits;
  if (awaits < self->first)
    return;
  const LigDraftStep *on = lig_step (self->draft, awaits);
  double end = on->starts + on->lasts;
  add (self, index, self->now, end, 1, TRUE);
  self->now = MAX (self->now, end);
}

static void
run_step (Lanes *self, int index)
{
  LigDraftStep *step = lig_step (self->draft, index);
  gboolean beside = step->lane == LIG_LANE_COMMUNICATION;
  await (self, index);
  step->lasts = step->predicted;
  step->starts = beside ? MAX (self->now, self->busy) : self->now;
  step->waited = 0;
  if (beside) {
    self->busy = step->starts + step->lasts;
    return;
  }
  double lost = lig_slowed_by (self->draft, step, self->busy - self->now);
  double end = self->now + step->predicted + lost, overlap = MIN (end, self->busy) - self->now;
  if (overlap > 0)
    add (self, index, self->now, self->now + overlap, lost / overlap, FALSE);
  step->lasts = end - self->now;
  self->now = end;
  if (lig_is_collective (step))
    step->waited = step->lasts;
}

void
lig_predict_lanes (LigDraft *draft)
{
  int count = (int) draft->steps->len;
  g_autofree double *added = g_new0 (double, draft->steps->len + 1);
  Lanes self = {.draft = draft, .added = added};
  for (int i = 0; i < count; i++) {
    if (i == draft->first_update)
      meet (&self, i);
    run_step (&self, i);
  }
  meet (&self, count);
}
