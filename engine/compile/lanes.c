/* SPDX-License-Identifier: MIT */
/* Predicts how the communication lane overlaps the others. A step of it begins when the steps
 * before it and the lane's last step have ended; the main lane waits for it at a step that uses its
 * memory, or before the update. */
#include "engine/compile/predict.h"

/* Unknown times are 0, so that a step which adds next to nothing adds this. */
#define LEAST_SECONDS 1e-12

/* Returns the share of the other lanes' speed that is left while a collective runs: the kernels of
 * NCCL occupy multiprocessors. */
static double
find_speed (const LigDeviceFacts *facts)
{
  double all = facts->multiprocessors;
  return all > 0 && facts->fabric.devices > 0
           ? MAX (1 - facts->fabric.multiprocessors / all, 1 / all)
           : 1;
}

/* Returns the end of work that begins `now`, beside collectives that end at `busy`. */
static double
finish (double now, double work, double busy, double speed)
{
  double beside = MAX (busy - now, 0) * speed;
  return work <= beside ? now + work / speed : MAX (now, busy) + work - beside;
}

/* Divides the time of the collectives from `first` to `end` - 1 into the part beside other steps,
 * which only slows these, and the part for which the main lane waits from `main_end` on. */
static void
expose (LigDraft *draft, int first, int end, double main_end, double speed)
{
  for (int i = first; i < end; i++) {
    LigDraftStep *step = lig_step (draft, i);
    if (step->lane != LIG_LANE_COMMUNICATION)
      continue;
    double stop = step->starts + step->lasts;
    step->waited = MAX (stop - MAX (step->starts, main_end), 0);
    step->predicted =
      MAX ((1 - speed) * (step->lasts - step->waited) + step->waited, LEAST_SECONDS);
  }
}

/* The predicted times of lanes. */
typedef struct {
  LigDraft *draft;
  double speed; /* of the other lanes beside an exchange */
  double now;   /* the end of the last step but for those of the communication lane */
  double busy;  /* the end of the last step of that */
  int exposed;  /* the exchanges before this step were waited for */
} Lanes;

/* Lets the other lanes wait for the exchanges before a step. */
static void
wait_for (Lanes *self, int end)
{
  expose (self->draft, self->exposed, end, self->now, self->speed);
  for (int i = self->exposed; i < end; i++) {
    const LigDraftStep *step = lig_step (self->draft, i);
    if (step->lane == LIG_LANE_COMMUNICATION)
      self->now = MAX (self->now, step->starts + step->lasts);
  }
  self->exposed = MAX (self->exposed, end);
}

static void
place (Lanes *self, LigDraftStep *step)
{
  gboolean beside = step->lane == LIG_LANE_COMMUNICATION;
  if (step->awaits >= 0)
    wait_for (self, step->awaits + 1);
  step->lasts = step->predicted;
  step->starts = beside ? MAX (self->now, self->busy) : self->now;
  if (beside) {
    self->busy = step->starts + step->lasts;
    return;
  }
  self->now = finish (self->now, step->predicted, self->busy, self->speed);
  step->lasts = self->now - step->starts;
  if (lig_is_collective (step))
    step->waited = step->lasts;
}

void
lig_predict_lanes (LigDraft *draft)
{
  Lanes lanes = {.draft = draft, .speed = find_speed (lig_device_get_facts (draft->device))};
  int count = (int) draft->steps->len;
  lig_find_waits (draft, (LigDraftStep *) (gpointer) draft->steps->data, draft->steps->len);
  for (int i = 0; i <= count; i++) {
    if (i == draft->first_update || i == count)
      wait_for (&lanes, i);
    if (i < count)
      place (&lanes, lig_step (draft, i));
  }
}
