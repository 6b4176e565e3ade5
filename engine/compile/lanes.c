/* SPDX-License-Identifier: MIT */
/* Predicts how the communication lane overlaps the others. A step of it begins when the steps
 * before it and the lane's last step have ended; the main lane waits for it before the update, or
 * before the first step that needs it. */
#include "engine/compile/predict.h"

#include <math.h>

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

/* Adds the time from `from` to `to`, for which the main lane waits, to those of the steps from
 * `first` to `end` - 1 that run then. */
static void
add_wait (LigDraft *draft, int first, int end, double from, double to)
{
  for (int i = first; i < end; i++) {
    LigDraftStep *step = lig_step (draft, i);
    if (step->lane == LIG_LANE_COMMUNICATION)
      step->waited += MAX (MIN (step->starts + step->lasts, to) - MAX (step->starts, from), 0);
  }
}

/* Divides the time of the collectives from `first` to `end` - 1 into the part beside other steps,
 * which only slows these, and the part for which the main lane waits. */
static void
expose (LigDraft *draft, int first, int end, double speed)
{
  for (int i = first; i < end; i++) {
    LigDraftStep *step = lig_step (draft, i);
    if (step->lane == LIG_LANE_COMMUNICATION)
      step->predicted =
        MAX ((1 - speed) * (step->lasts - step->waited) + step->waited, LEAST_SECONDS);
  }
}

/* Returns when the step can begin that would begin `now` but for the one that it waits for. */
static double
await (LigDraft *draft, const LigDraftStep *step, int first, int index, double now)
{
  if (step->awaits < first)
    return now;
  const LigDraftStep *on = lig_step (draft, step->awaits);
  double end = on->starts + on->lasts;
  add_wait (draft, first, index, now, end);
  return MAX (now, end);
}

void
lig_predict_lanes (LigDraft *draft)
{
  double speed = find_speed (lig_device_get_facts (draft->device)), now = 0, busy = 0;
  int first = 0, count = (int) draft->steps->len;
  for (int i = 0; i <= count; i++) {
    if (i == draft->first_update || i == count) {
      add_wait (draft, first, i, now, INFINITY);
      expose (draft, first, i, speed);
      now = MAX (now, busy);
      first = i;
    }
    if (i == count)
      break;
    LigDraftStep *step = lig_step (draft, i);
    gboolean beside = step->lane == LIG_LANE_COMMUNICATION;
    now = await (draft, step, first, i, now);
    step->lasts = step->predicted;
    step->starts = beside ? MAX (now, busy) : now;
    step->waited = 0;
    if (beside) {
      busy = step->starts + step->lasts;
      continue;
    }
    now = finish (now, step->predicted, busy, speed);
    step->lasts = now - step->starts;
    if (lig_is_collective (step))
      step->waited = step->lasts;
  }
}
