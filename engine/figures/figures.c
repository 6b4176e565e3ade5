/* SPDX-License-Identifier: MIT */
/* Figures of groups, passes and steps, compared with the same ops unfused. */
#include "engine/plan/plan-private.h"
#include <ligature/figures.h>
#include <ligature/kernels.h>

#include <math.h>
#include <string.h>

/* Indexes of pairs: only times of the same kind are compared. */
enum { PREDICTED, MEASURED };

LigPlan *
lig_plan_with_times (LigPlan *self, const double *steps)
{
  g_return_val_if_fail (self && steps, NULL);
  LigPlan *timed = g_memdup2 (self, sizeof *self);
  timed->count = 1;
  timed->of = lig_plan_ref (self);
  for (int pass = 0; pass < 2; pass++) {
    timed->groups[pass] = g_array_copy (self->groups[pass]);
    for (guint i = 0; i < timed->groups[pass]->len; i++) {
      LigPlanGroup *group = &g_array_index (timed->groups[pass], LigPlanGroup, i);
      group->measured = 0;
      for (int k = 0; k < group->n_steps; k++)
        group->measured += steps[group->steps[k]];
    }
  }
  return timed;
}

/* --- Sums ---------------------------------------------------------------------------------- */

static LigBound
find_bound (const double *floors)
{
  static const LigBound bounds[] = {LIG_BOUND_MEMORY, LIG_BOUND_COMPUTE, LIG_BOUND_LAUNCH};
  guint longest = 0;
  for (guint i = 1; i < G_N_ELEMENTS (bounds); i++)
    if (floors[i] > floors[longest])
      longest = i;
  return floors[longest] > 0 ? bounds[longest] : LIG_BOUND_UNKNOWN;
}

/* Computes the figures that are derived from the sums. */
static void
derive (LigFigures *self)
{
  gboolean both = !isnan (self->own_pair[MEASURED]) && !isnan (self->alone_pair[MEASURED]);
  int kind = both ? MEASURED : PREDICTED;
  gboolean timed = self->measured && self->seconds > 0;
  self->saved_measured = both && self->kernels > 0;
  self->fused_seconds = self->own_pair[kind];
  self->alone_seconds = self->alone_pair[kind];
  self->saved_seconds = self->alone_seconds - self->fused_seconds;
  self->saved_bytes = self->alone_bytes - self->bytes;
  self->bound = isnan (self->predicted) ? LIG_BOUND_UNKNOWN : find_bound (self->floors);
  self->rate = timed ? self->flops / self->seconds : NAN;
  self->copy_share = timed && self->copy > 0 ? self->bytes / self->seconds / self->copy : NAN;
  self->matmul_share = timed && self->peak > 0 ? self->matmuls / self->seconds / self->peak : NAN;
  self->roofline = timed && !isnan (self->predicted)
                     ? (self->floors[0] + self->floors[1] + self->floors[2]) / self->seconds
                     : NAN;
}

void
lig_figures_init (LigFigures *self)
{
  *self = (LigFigures){.measured = TRUE};
  derive (self);
}

void
lig_figures_add (LigFigures *self, const LigFigures *part)
{
  self->kernels += part->kernels;
  self->groups += part->groups;
  self->fused += part->fused;
  self->measured &= part->measured;
  self->seconds += part->seconds;
  self->predicted += part->predicted;
  self->bytes += part->bytes;
  self->flops += part->flops;
  self->alone_bytes += part->alone_bytes;
  self->matmuls += part->matmuls;
  self->copy = MAX (self->copy, part->copy);
  self->peak = MAX (self->peak, part->peak);
  for (guint i = 0; i < G_N_ELEMENTS (self->floors); i++)
    self->floors[i] += part->floors[i];
  for (guint i = 0; i < G_N_ELEMENTS (self->own_pair); i++) {
    self->own_pair[i] += part->own_pair[i];
    self->alone_pair[i] += part->alone_pair[i];
  }
  derive (self);
}

/* --- Groups -------------------------------------------------------------------------------- */

/* Sets the lower bounds in seconds for moving the bytes and, for a matmul, for its operations; both
 * are 0 if the device's peak rates are unknown. */
static void
find_floors (const LigDeviceFacts *facts,
             gboolean matmul,
             double bytes,
             double flops,
             LigDtype dtype,
             double floors[2])
{
  double rate = facts->matmul[dtype];
  gboolean known = facts->copy > 0 && (!matmul || rate > 0);
  floors[0] = known ? bytes / facts->copy : 0;
  floors[1] = known && matmul ? flops / rate : 0;
}

/* Adds the work and the predicted and measured time of steps to figures that have no saving yet. */
static void
add_steps (LigFigures *self, const LigTimedPlan *timed, const int *steps, int count)
{
  const LigPlan *plan = timed->plan;
  const LigDeviceFacts *facts = lig_device_get_facts (plan->request->device);
  self->copy = facts->copy;
  self->peak = facts->matmul[plan->request->compute];
  for (int i = 0; i < count; i++) {
    const LigPlanStep *step = lig_plan_step (plan, steps[i]);
    double floors[2], bytes = step->read + step->written;
    gboolean matmul = step->kernel && step->kernel->work < 0;
    find_floors (facts, matmul, bytes, step->flops, plan->request->compute, floors);
    self->floors[floors[1] > floors[0] ? 1 : 0] += MAX (floors[0], floors[1]);
    self->floors[2] += facts->launch;
    self->bytes += bytes;
    self->flops += step->flops;
    self->matmuls += matmul ? step->flops : 0;
    self->predicted += lig_plan_step_get_predicted (step);
    self->own_pair[MEASURED] += timed->steps ? timed->steps[steps[i]] : NAN;
    self->kernels++;
  }
  self->own_pair[PREDICTED] = self->predicted;
}

/* Returns the measured seconds of a group by itself, outside of a step. */
static double
get_price (const LigPlanGroup *group)
{
  return group->n_steps == 0 ? 0 : group->measured > 0 ? group->measured : NAN;
}

/* The figures of one group's ops, unfused. */
typedef struct {
  double bytes, predicted, steps, price;
} Alone;

static guint
find_group (const GArray *groups, int first)
{
  guint low = 0, high = groups->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (g_array_index (groups, LigPlanGroup, middle).first < first)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static Alone
sum_alone (const LigTimedPlan *unfused, const LigPlanGroup *group)
{
  Alone alone = {0};
  const GArray *groups = unfused->plan->groups[group->pass];
  for (guint i = find_group (groups, group->first); i < groups->len; i++) {
    const LigPlanGroup *one = &g_array_index (groups, LigPlanGroup, i);
    if (one->first >= group->first + group->count)
      break;
    alone.bytes += one->bytes;
    alone.price += get_price (one);
    for (int k = 0; k < one->n_steps; k++) {
      alone.predicted += lig_plan_step_get_predicted (lig_plan_step (unfused->plan, one->steps[k]));
      alone.steps += unfused->steps ? unfused->steps[one->steps[k]] : NAN;
    }
  }
  return alone;
}

static gboolean
is_baseline (const LigTimedPlan *unfused, const LigPlan *plan)
{
  return unfused && unfused->plan && unfused->plan->ops->len == plan->ops->len;
}

/* Chooses the measured times to compare: those of profiled steps, otherwise those of the groups by
 * themselves. An unfused op saves nothing, measured or not. */
static void
compare (LigFigures *self, const LigPlanGroup *group, const Alone *alone)
{
  double price = get_price (group);
  self->alone_bytes = alone->bytes;
  self->alone_pair[PREDICTED] = alone->predicted;
  if (!isnan (self->own_pair[MEASURED]) && !isnan (alone->steps)) {
    self->alone_pair[MEASURED] = alone->steps;
  } else if (!isnan (price) && !isnan (alone->price)) {
    self->own_pair[MEASURED] = price;
    self->alone_pair[MEASURED] = alone->price;
  } else {
    if (isnan (self->own_pair[MEASURED]))
      self->own_pair[MEASURED] = price;
    self->alone_pair[MEASURED] = group->fusion ? NAN : self->own_pair[MEASURED];
  }
}

void
lig_figures_of_group (const LigTimedPlan *timed,
                      const LigTimedPlan *unfused,
                      const LigPlanGroup *group,
                      LigFigures *self)
{
  lig_figures_init (self);
  add_steps (self, timed, group->steps, group->n_steps);
  self->groups = group->n_steps > 0;
  self->fused = group->n_steps > 0 && group->fusion;
  double seen = isnan (self->own_pair[MEASURED]) ? get_price (group) : self->own_pair[MEASURED];
  self->measured = !isnan (seen);
  self->seconds = self->measured ? seen : self->predicted;
  if (is_baseline (unfused, timed->plan)) {
    Alone alone = sum_alone (unfused, group);
    compare (self, group, &alone);
  } else {
    self->alone_bytes = NAN;
    self->alone_pair[PREDICTED] = self->alone_pair[MEASURED] = NAN;
  }
  derive (self);
}

/* --- Passes -------------------------------------------------------------------------------- */

/* Adds a step outside of any group. It is the same without fusions, and is omitted from measured
 * sums if it was not timed. */
static void
add_rest (LigFigures *sum, const LigTimedPlan *timed, int step, gboolean only)
{
  LigFigures rest;
  lig_figures_init (&rest);
  add_steps (&rest, timed, &step, 1);
  gboolean known = !isnan (rest.own_pair[MEASURED]);
  rest.measured = known || (!only && sum->measured && sum->groups > 0);
  rest.seconds = known ? rest.own_pair[MEASURED] : rest.measured ? 0 : rest.predicted;
  if (!known && !only)
    rest.own_pair[MEASURED] = 0;
  rest.alone_bytes = rest.bytes;
  for (guint i = 0; i < G_N_ELEMENTS (rest.own_pair); i++)
    rest.alone_pair[i] = rest.own_pair[i];
  /* The floor must cover the same steps as the time. */
  if (!known && rest.measured) {
    rest.predicted = 0;
    memset (rest.floors, 0, sizeof rest.floors);
  }
  lig_figures_add (sum, &rest);
}

/* Uses the time of a pass that was measured as a whole. It is compared only with another such
 * time. */
static void
take_whole (LigFigures *sum, const LigTimedPlan *timed, const LigTimedPlan *unfused, LigPass pass)
{
  if (!timed->steps || !timed->passes || !(timed->passes[pass] > 0) || sum->kernels == 0)
    return;
  sum->measured = TRUE;
  sum->seconds = timed->passes[pass];
  if (is_baseline (unfused, timed->plan) && unfused->steps && unfused->passes &&
      unfused->passes[pass] > 0) {
    sum->own_pair[MEASURED] = timed->passes[pass];
    sum->alone_pair[MEASURED] = unfused->passes[pass];
  }
  derive (sum);
}

void
lig_figures_of_pass (const LigTimedPlan *timed,
                     const LigTimedPlan *unfused,
                     LigPass pass,
                     LigFigures *self)
{
  const GArray *groups = pass < LIG_PASS_UPDATE ? timed->plan->groups[pass] : NULL;
  const GArray *steps = timed->plan->steps;
  lig_figures_init (self);
  for (guint i = 0; groups && i < groups->len; i++) {
    LigFigures part;
    lig_figures_of_group (timed, unfused, &g_array_index (groups, LigPlanGroup, i), &part);
    lig_figures_add (self, &part);
  }
  for (guint i = 0; i < steps->len; i++) {
    const LigPlanStep *step = &g_array_index (steps, LigPlanStep, i);
    if (step->pass == pass && step->group < 0)
      add_rest (self, timed, (int) i, groups == NULL);
  }
  take_whole (self, timed, unfused, pass);
}

static gboolean
has_step (const LigTimedPlan *timed)
{
  return timed->spreads && timed->spreads[LIG_STEP_SPREAD].count > 0;
}

void
lig_figures_of_step (const LigTimedPlan *timed, const LigTimedPlan *unfused, LigFigures *self)
{
  lig_figures_init (self);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_UPDATE; pass++) {
    LigFigures part;
    lig_figures_of_pass (timed, unfused, pass, &part);
    lig_figures_add (self, &part);
  }
  /* The passes of a step run without gaps between them. */
  if (timed->steps && has_step (timed) && self->kernels > 0) {
    self->measured = TRUE;
    self->seconds = timed->spreads[LIG_STEP_SPREAD].median;
    derive (self);
  }
}
