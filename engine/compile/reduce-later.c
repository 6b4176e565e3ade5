/* SPDX-License-Identifier: MIT */
/* Lets exchanges of gradients begin at the steps that they slow least. If they occupy
 * multiprocessors they gain little beside most kernels, but cost little beside attention: they wait
 * for it, if the pass has enough of it. */
#include "engine/compile/reduce.h"

#include "engine/compile/predict.h"
#include "engine/compile/share.h"

/* A step of the backward pass that an exchange may overlap. */
typedef struct {
  double seconds; /* the time beside which no exchange has been planned yet */
  double speed;   /* the share of its speed that is left beside an exchange */
} Room;

/* Returns the time that a step takes from an exchange which still lasts `rest`, and adds to `cost`
 * by how much it becomes longer. */
static double
share (const Room *room, double rest, double *cost)
{
  double taken = MIN (room->seconds / room->speed, rest);
  *cost += (1 - room->speed) * taken;
  return taken;
}

/* Returns what an exchange costs that begins before the step `at`; it delays the update if it lasts
 * longer than the pass. */
static double
find_cost (const Room *rooms, int count, int at, double seconds)
{
  double rest = seconds, cost = 0;
  for (int i = at; i < count && rest > 0; i++)
    rest -= share (&rooms[i], rest, &cost);
  return cost + rest;
}

/* Takes the time of an exchange from the steps that it overlaps. */
static void
take (Room *rooms, int count, int at, double seconds)
{
  double cost = 0;
  for (int i = at; i < count && seconds > 0; i++) {
    double taken = share (&rooms[i], seconds, &cost);
    seconds -= taken;
    rooms[i].seconds -= taken * rooms[i].speed;
  }
}

/* Returns whether the pass has an exchange of gradients, and a step that is slower beside it. */
static gboolean
may_gain (const LigDraft *draft)
{
  gboolean reduces = FALSE, slower = FALSE;
  for (int i = draft->first_backward; i < (int) draft->steps->len; i++) {
    reduces |= lig_step (draft, i)->reduces;
    slower |= lig_speed_beside (draft, lig_step (draft, i)) < 1;
  }
  return reduces && slower;
}

/* Returns the steps of the backward pass as the room that they have. */
static Room *
list_rooms (const LigDraft *draft, int count)
{
  Room *rooms = g_new0 (Room, count + 1);
  for (int i = 0; i < count; i++) {
    const LigDraftStep *step = lig_step (draft, draft->first_backward + i);
    gboolean computes = step->lane == LIG_LANE_MAIN && !lig_is_collective (step);
    rooms[i].seconds = computes ? step->predicted : 0;
    rooms[i].speed = lig_speed_beside (draft, step);
  }
  return rooms;
}

/* Returns the place from `first` on where an exchange costs least; a later one has to save
 * something. */
static int
find_place (const Room *rooms, int count, int first, double seconds)
{
  int best = first;
  double least = find_cost (rooms, count, first, seconds);
  for (int at = first + 1; at < count; at++) {
    double cost = find_cost (rooms, count, at, seconds);
    if (cost < 0.95 * least) {
      least = cost;
      best = at;
    }
  }
  return best;
}

/* A step, and the place at which it runs; an exchange runs before the other step of its place. */
typedef struct {
  int place;
  LigDraftStep step;
} Placed;

static int
by_place (gconstpointer a, gconstpointer b)
{
  const Placed *x = a, *y = b;
  return x->place != y->place ? (x->place < y->place ? -1 : 1) : y->step.reduces - x->step.reduces;
}

void
lig_delay_reductions (LigDraft *draft)
{
  int count = (int) draft->steps->len - draft->first_backward, last = 0;
  if (!may_gain (draft))
    return;
  g_autofree Room *rooms = list_rooms (draft, count);
  g_autoptr (GArray) placed = g_array_new (FALSE, TRUE, sizeof (Placed));
  for (int i = 0; i < count; i++) {
    Placed one = {i, *lig_step (draft, draft->first_backward + i)};
    if (one.step.reduces) {
      one.place = last = find_place (rooms, count, MAX (i, last), one.step.predicted);
      take (rooms, count, last, one.step.predicted);
    }
    g_array_append_val (placed, one);
  }
  g_array_sort (placed, by_place); /* keeps the order of equal ones */
  for (guint i = 0; i < placed->len; i++)
    *lig_step (draft, draft->first_backward + (int) i) = g_array_index (placed, Placed, i).step;
  lig_find_step_groups (draft);
}
