/* SPDX-License-Identifier: MIT */
/* The options of plans, the names of policies and the default one of a device. */
#include "engine/compile/draft.h"
#include "engine/sequence/table.h"

#include <string.h>

static const char *const names[] = {"none", "all", "measured"};

const char *
lig_policy_name (LigPolicy policy)
{
  return policy < G_N_ELEMENTS (names) ? names[policy] : "default";
}

gboolean
lig_policy_from_name (const char *name, LigPolicy *policy)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (name, names[i])) {
      *policy = (LigPolicy) i;
      return TRUE;
    }
  return FALSE;
}

LigPolicy
lig_policy_for (LigPolicy policy, LigDevice *device)
{
  if (policy != LIG_POLICY_DEFAULT)
    return policy;
  return lig_device_has (device, LIG_DEVICE_MEASURES) || lig_device_get_facts (device)->costs.known
           ? LIG_POLICY_MEASURED
           : LIG_POLICY_ALL;
}

gboolean
lig_plan_options_read (const LigPlanOptions *options, LigPlanOptions *whole, GError **error)
{
  *whole = (LigPlanOptions) LIG_PLAN_OPTIONS_INIT;
  if (!options)
    return TRUE;
  if (!lig_table_check_size ("LigPlanOptions", "it by LIG_PLAN_OPTIONS_INIT", options->size,
                             G_STRUCT_OFFSET (LigPlanOptions, training) + sizeof (gboolean),
                             LIG_ERROR_VALUE, error))
    return FALSE;
  memcpy (whole, options, MIN (options->size, sizeof *whole));
  whole->size = sizeof *whole;
  return TRUE;
}

LigPlanOptions *
lig_plan_options_new (void)
{
  const LigPlanOptions initial = LIG_PLAN_OPTIONS_INIT;
  return g_memdup2 (&initial, sizeof initial);
}

void
lig_plan_options_free (LigPlanOptions *self)
{
  g_free (self);
}

/* Copies options; the program may have been compiled with fewer fields, or more. */
static LigPlanOptions *
copy_options (const LigPlanOptions *self)
{
  LigPlanOptions *copy = g_malloc0 (MAX (self->size, sizeof *copy));
  memcpy (copy, self, self->size);
  return copy;
}

G_DEFINE_BOXED_TYPE (LigPlanOptions, lig_plan_options, copy_options, lig_plan_options_free)
