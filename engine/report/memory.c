/* SPDX-License-Identifier: MIT */
/* Explains why a plan does not fit into a device's memory. */
#include "engine/report/pair.h"
#include "engine/report/paper.h"
#include <ligature/report.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* The number of values that the explanation names. */
#define LARGEST 3

static gboolean
is_in (const LigPlanValue *value, const char *place)
{
  return strcmp (value->place, place) == 0;
}

/* Returns the size of the workspaces, one for each lane that has steps. */
static double
get_workspace (LigPlan *plan)
{
  guint count;
  unsigned lanes = 1u << LIG_LANE_MAIN;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    lanes |= 1u << steps[i].lane;
  return (double) LIG_WORKSPACE_SIZE * __builtin_popcount (lanes);
}

/* Returns the largest values, like `0.weight 4.00 TB, 1.y 2.00 TB, d0.weight 2.00 TB`. */
static char *
list_largest (LigPlan *plan)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  const LigPlanValue *largest[LARGEST] = {NULL};
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < count; i++) {
    const LigPlanValue *value = &values[i];
    if (!is_in (value, "arena") && !is_in (value, "state"))
      continue;
    for (int place = 0; place < LARGEST; place++)
      if (!largest[place] || value->bytes > largest[place]->bytes) {
        memmove (largest + place + 1, largest + place,
                 (size_t) (LARGEST - 1 - place) * sizeof *largest);
        largest[place] = value;
        break;
      }
  }
  for (int place = 0; place < LARGEST && largest[place]; place++) {
    g_autofree char *bytes = lig_units_bytes ((double) largest[place]->bytes);
    g_autofree char *name = lig_plan_name_values (plan, largest[place]->name);
    g_string_append_printf (text, "%s%s %s", place > 0 ? ", " : "", name, bytes);
  }
  return g_strdup (text->str);
}

double
lig_plan_get_needed_memory (LigPlan *plan)
{
  return (double) lig_plan_get_arena_bytes (plan, NULL) + (double) lig_plan_get_state_bytes (plan) +
         get_workspace (plan);
}

char *
lig_plan_explain_recompute (LigPlan *self)
{
  guint count, again = 0;
  double seconds = 0;
  gint64 spared = lig_plan_get_spared_bytes (self);
  const LigPlanStep *steps = lig_plan_get_steps (self, &count);
  if (spared <= 0)
    return NULL;
  for (guint i = 0; i < count; i++) {
    again += steps[i].again;
    seconds += steps[i].again ? steps[i].predicted : 0;
  }
  g_autofree char *bytes = lig_units_bytes ((double) spared);
  g_autofree char *time = lig_units_time (seconds);
  return seconds > 0
           ? g_strdup_printf (_ ("values computed again in backward: %u, predicted %s; the "
                                 "memory is %s less"),
                              again, time, bytes)
           : g_strdup_printf (_ ("values computed again in backward: %u; the memory is %s "
                                 "less"),
                              again, bytes);
}

/* Returns `; its share of the update is 1/8`, unless each rank updates all, and which product is
 * not divided. */
static char *
describe_share (LigPlan *plan, const char *whole)
{
  int shares = lig_plan_get_shares (plan);
  g_autofree char *share =
    shares > 1 ? g_strdup_printf (_ ("; its share of the update is 1/%d"), shares) : g_strdup ("");
  return g_strconcat (share, whole ? "; " : "", whole, NULL);
}

char *
lig_plan_explain_ranks (LigPlan *self)
{
  LigExchange exchange;
  LigFigures step;
  const LigTimedPlan timed = {.plan = self};
  lig_figures_of_exchange (self, &exchange);
  if (exchange.ranks < 2)
    return NULL;
  lig_figures_of_step (&timed, NULL, &step);
  g_autofree char *bytes = lig_units_bytes (exchange.bytes);
  g_autofree char *memory = lig_units_bytes (lig_plan_get_needed_memory (self));
  g_autofree char *share = describe_share (self, exchange.whole);
  if (!(step.predicted > 0 && exchange.seconds > 0))
    return g_strdup_printf (_ ("rank 0 of %d: exchanges %s in a step, %s of memory%s"),
                            exchange.ranks, bytes, memory, share);
  g_autofree char *time = lig_units_time (step.predicted);
  g_autofree char *seconds = lig_units_time (exchange.seconds);
  g_autofree char *exposed = lig_units_time (exchange.exposed);
  return g_strdup_printf (
    lig_plan_has_pass (self, LIG_PASS_UPDATE)
      ? _ ("rank 0 of %d: predicted step %s; exchanges %s in %s, of which the main lane waits %s; "
           "%s of memory%s")
      : _ ("rank 0 of %d: predicted step without update %s; exchanges %s in %s, of which the main "
           "lane waits %s; %s of memory%s"),
    exchange.ranks, time, bytes, seconds, exposed, memory, share);
}

char *
lig_plan_explain_upload (LigPlan *self)
{
  LigUpload upload;
  lig_figures_of_upload (self, &upload);
  if (!(upload.exposed > 0))
    return NULL;
  g_autofree char *bytes = lig_units_bytes (upload.bytes);
  g_autofree char *time = lig_units_time (upload.seconds);
  g_autofree char *exposed = lig_units_time (upload.exposed);
  return g_strdup_printf (_ ("a batch of %s is copied to the device in %s, predicted, which is %s "
                             "longer than a step: the steps wait for data"),
                          bytes, time, exposed);
}

/* Returns how to fit the plan by computing values again in the backward pass, with the least that
 * is computed again; or null if that does not suffice. */
static char *
suggest_recompute (LigPlan *self, double memory)
{
  if (!lig_plan_has_pass (self, LIG_PASS_BACKWARD))
    return NULL;
  for (int level = (int) lig_plan_get_recompute (self) + 1; level <= LIG_RECOMPUTE_ALL; level++) {
    g_autoptr (LigPlan) plan = lig_plan_with_recompute (self, (LigRecompute) level, NULL);
    double needed = plan ? lig_plan_get_needed_memory (plan) : 0;
    g_autofree char *bytes = lig_units_bytes (needed);
    if (plan && needed <= memory)
      return g_strdup_printf (_ ("; with recompute=%s it needs %s"),
                              lig_recompute_name ((LigRecompute) level), bytes);
  }
  return NULL;
}

char *
lig_plan_explain_memory (LigPlan *self, LigDevice *device)
{
  if (!device)
    device = lig_plan_get_device (self);
  double arena = (double) lig_plan_get_arena_bytes (self, NULL);
  double state = (double) lig_plan_get_state_bytes (self), workspace = get_workspace (self);
  double memory = (double) lig_device_get_facts (device)->memory;
  if (memory <= 0 || arena + state + workspace <= memory)
    return NULL;
  g_autofree char *needed = lig_units_bytes (arena + state + workspace);
  g_autofree char *available = lig_units_bytes (memory);
  g_autofree char *arena_text = lig_units_bytes (arena);
  g_autofree char *state_text = lig_units_bytes (state);
  g_autofree char *workspace_text = lig_units_bytes (workspace);
  g_autofree char *largest = list_largest (self);
  g_autofree char *remedy = suggest_recompute (self, memory);
  /* Translators: a device, then bytes in units, then names of values with their bytes. */
  g_autofree char *text = g_strdup_printf (
    _ ("the plan does not fit %s: it needs %s (values %s, parameters and "
       "their gradients %s, workspace %s), %s available; the largest values are %s"),
    lig_device_get_name (device), needed, arena_text, state_text, workspace_text, available,
    largest);
  return g_strconcat (text, remedy, NULL);
}
