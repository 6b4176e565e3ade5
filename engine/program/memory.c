/* SPDX-License-Identifier: MIT */
/* Checks the memory that a plan needs against that of the device. */
#include <ligature/compile.h>
#include <ligature/plan-memory.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* The device memory that plans leave free: at most the first number of bytes, and at most 1 / the
 * second number of the total. A GPU's context, the code of kernels and libraries and the buffers of
 * collectives take hundreds of megabytes on a card of any size; a host has other programs. */
#define MAX_RESERVED ((double) (1 << 30))
#define RESERVED_PART 16

/* The number of values that the explanation names. */
#define LARGEST 3

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

void
lig_plan_get_memory (LigPlan *self, LigDevice *device, LigPlanMemory *memory)
{
  g_return_if_fail (self && memory);
  LigDevice *on = device ? device : lig_plan_get_device (self);
  double total = (double) lig_device_get_facts (on)->memory;
  *memory = (LigPlanMemory){
    .values = (double) lig_plan_get_arena_bytes (self, NULL),
    .state = (double) lig_plan_get_state_bytes (self),
    .workspace = get_workspace (self),
    .total = MAX (total, 0),
  };
  memory->needed = memory->values + memory->state + memory->workspace;
  memory->reserve = MIN (MAX_RESERVED, memory->total / RESERVED_PART);
  memory->available = memory->total - memory->reserve;
  memory->fits = memory->total <= 0 || memory->needed <= memory->available;
}

double
lig_plan_get_needed_memory (LigPlan *self)
{
  LigPlanMemory memory;
  lig_plan_get_memory (self, NULL, &memory);
  return memory.needed;
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
    if (value->place != LIG_PLACE_ARENA && value->place != LIG_PLACE_STATE)
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

/* Returns a sentence on the lowest recomputation level that makes the plan fit, or null if none
 * does. */
static char *
suggest_recompute (LigPlan *self, double available)
{
  if (!lig_plan_has_pass (self, LIG_PASS_BACKWARD))
    return NULL;
  for (int level = (int) lig_plan_get_recompute (self) + 1; level <= LIG_RECOMPUTE_ALL; level++) {
    g_autoptr (LigPlan) plan = lig_plan_with_recompute (self, (LigRecompute) level, NULL);
    double needed = plan ? lig_plan_get_needed_memory (plan) : 0;
    g_autofree char *bytes = lig_units_bytes (needed);
    if (plan && needed <= available)
      return g_strdup_printf (_ ("; with recompute=%s it needs %s"),
                              lig_recompute_name ((LigRecompute) level), bytes);
  }
  return NULL;
}

char *
lig_plan_explain_memory (LigPlan *self, LigDevice *device)
{
  LigPlanMemory memory;
  lig_plan_get_memory (self, device, &memory);
  if (memory.fits)
    return NULL;
  g_autofree char *needed = lig_units_bytes (memory.needed);
  g_autofree char *available = lig_units_bytes (memory.available);
  g_autofree char *total = lig_units_bytes (memory.total);
  g_autofree char *reserve = lig_units_bytes (memory.reserve);
  g_autofree char *values = lig_units_bytes (memory.values);
  g_autofree char *state = lig_units_bytes (memory.state);
  g_autofree char *workspace = lig_units_bytes (memory.workspace);
  g_autofree char *largest = list_largest (self);
  g_autofree char *remedy = suggest_recompute (self, memory.available);
  /* Translators: a device, then bytes in units, then names of values with their bytes. */
  g_autofree char *text = g_strdup_printf (
    _ ("the plan does not fit %s: it needs %s (values %s, parameters and "
       "their gradients %s, workspace %s), %s available (%s less a reserve of %s for the driver, "
       "libraries and other programs); the largest values are %s"),
    lig_device_get_name (device ? device : lig_plan_get_device (self)), needed, values, state,
    workspace, available, total, reserve, largest);
  return g_strconcat (text, remedy, NULL);
}

gboolean
lig_plan_check_memory (LigPlan *self, LigDevice *device, GError **error)
{
  g_autofree char *problem = lig_plan_explain_memory (self, device);
  if (problem)
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_MEMORY, problem);
  return problem == NULL;
}
