/* SPDX-License-Identifier: MIT */
/* Sums the gradients of a parameter that several ops share. The steps that write it run one after
 * another, so that the order of summation is fixed. */
#include "engine/compile/gradients.h"

#include "engine/choose/predict.h"
#include "engine/compile/compilation.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"

/* --- Shared parameters ----------------------------------------------------------------------- */

/* Appends the sum of two values to the steps of a group. */
static LigGraphStep *
append_sum (LigGraph *graph, GArray *steps, const LigGraphStep *of, int a, int b, int to)
{
  const int values[] = {a, b, to};
  lig_step_append (graph, steps, LIG_PASS_BACKWARD, of->plan.part, "add", values, NULL, 0);
  LigGraphStep *step = &g_array_index (steps, LigGraphStep, steps->len - 1);
  step->plan.group = of->plan.group;
  return step;
}

/* Makes a sum without operands only zero its output. */
static void
only_zero (LigGraphStep *sum)
{
  sum->code.empty = TRUE;
  sum->code.zeroed = 1u << 2;
  sum->code.added = 0;
  sum->plan.read = sum->plan.flops = 0;
}

/* Adds the figures of a step to its group. */
static void
count_step (LigGraph *graph, LigGraphStep *step)
{
  LigPlanGroup *group = lig_group (graph, LIG_PASS_BACKWARD, step->plan.group);
  group->predicted += lig_predict_steps (graph, step, 1);
  group->bytes += step->plan.read + step->plan.written;
  group->flops += step->plan.flops;
}

/* Redirects output `i` of a step, a gradient that an earlier step wrote, to a separate value, which
 * is then added. The value is zeroed before, because the step accumulates into its outputs in later
 * micro-batches of an update. Appends the three steps. */
static void
add_apart (LigGraph *graph, GArray *steps, LigGraphStep step, guint later)
{
  int own[LIG_MAX_OPERANDS], total[LIG_MAX_OPERANDS], n = 0;
  for (int i = step.plan.n_inputs; i < step.plan.n_operands; i++) {
    if (!(later >> i & 1))
      continue;
    const LigPlanValue *gradient = lig_value (graph, step.values[i]);
    LigShape shape = gradient->shape;
    LigDtype dtype = gradient->dtype;
    g_autofree char *name = g_strdup (gradient->name);
    total[n] = step.values[i];
    own[n] = lig_graph_add_value (graph, LIG_VALUE_GRADIENT, &shape, dtype, step.plan.part, "%s>%d",
                                  name, step.plan.part);
    step.values[i] = own[n++];
  }
  for (int i = 0; i < n; i++) {
    LigGraphStep *zero = append_sum (graph, steps, &step, -1, -1, own[i]);
    only_zero (zero);
    count_step (graph, zero);
  }
  g_array_append_val (steps, step);
  for (int i = 0; i < n; i++)
    count_step (graph, append_sum (graph, steps, &step, total[i], own[i], total[i]));
}

void
lig_share_gradients (LigGraph *graph)
{
  g_autofree gboolean *written = g_new0 (gboolean, graph->layout->parameters->len + 1);
  g_autoptr (GArray) steps = g_array_new (FALSE, TRUE, sizeof (LigGraphStep));
  for (int i = graph->phases.backward; i < (int) graph->steps->len; i++) {
    LigGraphStep step = *lig_step (graph, i);
    guint first = 0, later = 0;
    for (int j = step.plan.n_inputs; j < step.plan.n_operands; j++) {
      int parameter = lig_value_parameter (graph, step.values[j]);
      if (parameter < 0)
        continue;
      *(written[parameter] ? &later : &first) |= 1u << j;
      written[parameter] = TRUE;
    }
    step.code.adds = later != 0 && first == 0;
    if (later != 0 && first != 0)
      add_apart (graph, steps, step, later);
    else
      g_array_append_val (steps, step);
  }
  g_array_set_size (graph->steps, (guint) graph->phases.backward);
  g_array_append_vals (graph->steps, steps->data, steps->len);
}

/* --- Delayed collectives --------------------------------------------------------------------- */

/* Delays gradient collectives to the steps that they slow least. If they occupy SMs they gain
 * little concurrently with most kernels, but cost little concurrently with attention: they wait for
 * it if the pass has enough of it. */

/* A step of the backward pass that a collective may overlap. */
typedef struct {
  double seconds; /* the time that no collective overlaps yet */
  double speed;   /* the fraction of its speed that remains concurrently with a collective */
} Room;

/* Returns the time of a collective that the step hides, of the `rest` that remains, and adds the
 * step's slowdown to `cost`. */
static double
share (const Room *room, double rest, double *cost)
{
  double taken = MIN (room->seconds / room->speed, rest);
  *cost += (1 - room->speed) * taken;
  return taken;
}

/* Returns the cost of a collective that begins before the step `at`; it delays the update if it
 * outlasts the pass. */
static double
find_cost (const Room *rooms, int count, int at, double seconds)
{
  double rest = seconds, cost = 0;
  for (int i = at; i < count && rest > 0; i++)
    rest -= share (&rooms[i], rest, &cost);
  return cost + rest;
}

/* Reserves the time of a collective in the steps that it overlaps. */
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

/* Returns whether the pass has a gradient collective, and a step that is slower concurrently with
 * it. */
static gboolean
may_gain (const LigGraph *graph)
{
  gboolean reduces = FALSE, slower = FALSE;
  for (int i = graph->phases.backward; i < (int) graph->steps->len; i++) {
    reduces |= lig_step (graph, i)->plan.reduces;
    slower |= lig_speed_beside (graph, lig_step (graph, i)) < 1;
  }
  return reduces && slower;
}

/* Returns the steps of the backward pass with the time in which each can hide collectives. */
static Room *
list_rooms (const LigGraph *graph, int count)
{
  Room *rooms = g_new0 (Room, count + 1);
  for (int i = 0; i < count; i++) {
    const LigGraphStep *step = lig_step (graph, graph->phases.backward + i);
    gboolean computes = step->plan.lane == LIG_LANE_MAIN && !lig_is_collective (step);
    rooms[i].seconds = computes ? step->plan.predicted : 0;
    rooms[i].speed = lig_speed_beside (graph, step);
  }
  return rooms;
}

/* Returns the place from `first` on where a collective costs least; a later place must save at
 * least 5 %. */
static int
find_place (const Room *rooms, int count, int first, double seconds)
{
  int best = first;
  double min = find_cost (rooms, count, first, seconds);
  for (int at = first + 1; at < count; at++) {
    double cost = find_cost (rooms, count, at, seconds);
    if (cost < 0.95 * min) {
      min = cost;
      best = at;
    }
  }
  return best;
}

/* A step and its place in the order; a collective runs before the other step at its place. */
typedef struct {
  int place;
  LigGraphStep step;
} Placed;

static int
by_place (gconstpointer a, gconstpointer b)
{
  const Placed *x = a, *y = b;
  return x->place != y->place ? (x->place < y->place ? -1 : 1)
                              : y->step.plan.reduces - x->step.plan.reduces;
}

void
lig_delay_reductions (LigGraph *graph)
{
  int count = (int) graph->steps->len - graph->phases.backward, last = 0;
  if (!may_gain (graph))
    return;
  g_autofree Room *rooms = list_rooms (graph, count);
  g_autoptr (GArray) placed = g_array_new (FALSE, TRUE, sizeof (Placed));
  for (int i = 0; i < count; i++) {
    Placed one = {i, *lig_step (graph, graph->phases.backward + i)};
    if (one.step.plan.reduces) {
      one.place = last = find_place (rooms, count, MAX (i, last), one.step.plan.predicted);
      take (rooms, count, last, one.step.plan.predicted);
    }
    g_array_append_val (placed, one);
  }
  g_array_sort (placed, by_place); /* a stable sort */
  for (guint i = 0; i < placed->len; i++)
    *lig_step (graph, graph->phases.backward + (int) i) = g_array_index (placed, Placed, i).step;
}
