/* SPDX-License-Identifier: MIT */
/* Chooses the measured times of a document's plan among its profiles. */
#include "ui/document/times.h"

#include "ui/document/private.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
  LigPlan *plan;
  double *steps;
  double passes[3];
  gboolean whole; /* whether the passes were measured too */
} Profile;

/* A plan with the times found for it. */
typedef struct {
  LigPlan *plan;
  double *steps;
  const double *passes; /* of the profile */
} Found;

struct _LigTimes {
  GPtrArray *profiles; /* of Profile */
  gint64 profiled;     /* when */
  gint64 priced;       /* when policy `measured` measured the current plan; 0: unknown */
  Found plan, unfused;
};

static void
free_profile (gpointer data)
{
  Profile *profile = data;
  lig_plan_unref (profile->plan);
  g_free (profile->steps);
  g_free (profile);
}

static void
clear_found (Found *found)
{
  g_clear_pointer (&found->plan, lig_plan_unref);
  g_clear_pointer (&found->steps, g_free);
  found->passes = NULL;
}

static LigTimes *
get_times (LigDocument *self)
{
  if (!self->times) {
    self->times = g_new0 (LigTimes, 1);
    self->times->profiles = g_ptr_array_new_with_free_func (free_profile);
  }
  return self->times;
}

void
lig_document_clear_times (LigDocument *self)
{
  if (!self->times)
    return;
  clear_found (&self->times->plan);
  clear_found (&self->times->unfused);
  g_ptr_array_unref (self->times->profiles);
  g_clear_pointer (&self->times, g_free);
}

/* --- Choosing ------------------------------------------------------------------------------ */

static gboolean
is_same_step (const LigPlanStep *a, const LigPlanStep *b)
{
  return a->kernel == b->kernel && a->read == b->read && a->written == b->written &&
         a->flops == b->flops;
}

/* A profile's plan also updates parameters, so its steps are numbered differently: the times of a
 * pass are copied step by step, and only if both plans launch the same kernels in it. */
static gboolean
take_pass (LigPlan *plan, const Profile *profile, LigPass pass, double *steps)
{
  guint count, n_others, other = 0;
  const LigPlanStep *own = lig_plan_get_steps (plan, &count);
  const LigPlanStep *others = lig_plan_get_steps (profile->plan, &n_others);
  for (guint i = 0; i < count; i++) {
    if (own[i].pass != pass)
      continue;
    while (other < n_others && others[other].pass != pass)
      other++;
    if (other == n_others || !is_same_step (&own[i], &others[other]))
      return FALSE;
    steps[i] = profile->steps[other++];
  }
  while (other < n_others && others[other].pass != pass)
    other++;
  return other == n_others;
}

static gboolean
is_alike (LigPlan *a, LigPlan *b)
{
  LigDevice *one = lig_plan_get_device (a), *two = lig_plan_get_device (b);
  return lig_plan_get_compute (a) == lig_plan_get_compute (b) &&
         lig_plan_get_parameters (a) == lig_plan_get_parameters (b) &&
         g_str_equal (lig_device_get_name (one), lig_device_get_name (two));
}

static double *
find_steps (const LigTimes *self, LigPlan *plan, const double **passes)
{
  guint count;
  lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < self->profiles->len; i++) {
    const Profile *profile = self->profiles->pdata[i];
    g_autofree double *steps = g_new0 (double, count + 1);
    gboolean same = is_alike (plan, profile->plan);
    for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD && same; pass++)
      same = take_pass (plan, profile, pass, steps);
    if (!same)
      continue;
    *passes = profile->whole ? profile->passes : NULL;
    return g_steal_pointer (&steps);
  }
  return NULL;
}

static void
find (const LigTimes *self, Found *found, LigPlan *plan)
{
  LigPlan *kept = plan ? lig_plan_ref (plan) : NULL;
  clear_found (found);
  found->plan = kept;
  found->steps = plan ? find_steps (self, plan, &found->passes) : NULL;
}

void
lig_document_take_plan_times (LigDocument *self, LigPlan *plan, LigPlan *unfused, gboolean measured)
{
  LigTimes *times = get_times (self);
  find (times, &times->plan, plan);
  find (times, &times->unfused, unfused);
  times->priced = measured ? g_get_real_time () : 0;
}

/* --- Profiles ------------------------------------------------------------------------------ */

static gboolean
has_profiles (const LigTimes *self, const LigTimedPlan *profiles, guint count)
{
  gboolean same = count == self->profiles->len;
  for (guint i = 0; i < count && same; i++) {
    guint n_steps;
    const Profile *profile = self->profiles->pdata[i];
    lig_plan_get_steps (profiles[i].plan, &n_steps);
    same = profile->plan == profiles[i].plan &&
           memcmp (profile->steps, profiles[i].steps, sizeof (double) * n_steps) == 0;
  }
  return same;
}

void
lig_document_set_profiles (LigDocument *self, const LigTimedPlan *profiles, guint count)
{
  LigTimes *times = get_times (self);
  if (has_profiles (times, profiles, count))
    return;
  times->plan.passes = times->unfused.passes = NULL;
  g_ptr_array_set_size (times->profiles, 0);
  for (guint i = 0; i < count; i++) {
    guint n_steps;
    Profile *profile = g_new0 (Profile, 1);
    lig_plan_get_steps (profiles[i].plan, &n_steps);
    profile->plan = lig_plan_ref (profiles[i].plan);
    profile->steps = g_memdup2 (profiles[i].steps, sizeof (double) * n_steps);
    profile->whole = profiles[i].passes != NULL;
    if (profile->whole)
      memcpy (profile->passes, profiles[i].passes, sizeof profile->passes);
    g_ptr_array_add (times->profiles, profile);
  }
  times->profiled = g_get_real_time ();
  find (times, &times->plan, self->plan);
  find (times, &times->unfused, times->unfused.plan);
  lig_document_emit (self, LIG_DOCUMENT_TIMED);
}

/* --- Reading ------------------------------------------------------------------------------- */

void
lig_document_get_timed (LigDocument *self, LigTimedPlan *timed, LigTimedPlan *unfused)
{
  const LigTimes *times = get_times (self);
  const Found *plan = &times->plan, *unfused_plan = &times->unfused;
  /* A plan that was measured without step times has none. */
  gboolean present = plan->plan == self->plan;
  *timed = (LigTimedPlan){.plan = self->plan};
  *unfused = (LigTimedPlan){0};
  if (!present)
    return;
  *timed = (LigTimedPlan){plan->plan, plan->steps, plan->passes};
  *unfused = (LigTimedPlan){unfused_plan->plan, unfused_plan->steps, unfused_plan->passes};
}

gint64
lig_document_get_measured_at (LigDocument *self)
{
  const LigTimes *times = get_times (self);
  return times->plan.steps ? times->profiled : times->priced;
}

/* --- Origin -------------------------------------------------------------------------------- */

static char *
describe_age (gint64 seconds)
{
  if (seconds < 1)
    return g_strdup (_ ("now"));
  if (seconds < 60)
    return g_strdup_printf (_ ("%d s ago"), (int) seconds);
  if (seconds < 60 * 60)
    return g_strdup_printf (_ ("%d min ago"), (int) (seconds / 60));
  if (seconds < 48 * 60 * 60)
    return g_strdup_printf (_ ("%d h ago"), (int) (seconds / (60 * 60)));
  gulong days = (gulong) (seconds / (24 * 60 * 60));
  return g_strdup_printf (ngettext ("%lu day ago", "%lu days ago", days), days);
}

/* Returns the words for the device after `measured on`. Users know their own GPU by its model.
 */
static char *
name_here (LigDevice *device)
{
  const LigDeviceFacts *facts = lig_device_get_facts (device);
  if (lig_device_has (device, LIG_DEVICE_DESCRIBED))
    return g_strdup_printf (_ ("another %s"), facts->name);
  if (facts->capability == 0)
    return g_strdup (_ ("this CPU"));
  const char *model = g_str_has_prefix (facts->name, "NVIDIA ") ? facts->name + 7 : facts->name;
  return g_strdup_printf (_ ("this %s"), model);
}

/* Counts the groups with kernels, and how many of them have measured times. */
static void
count_measured (LigDocument *self, guint *groups, guint *measured)
{
  LigTimedPlan timed, unfused;
  lig_document_get_timed (self, &timed, &unfused);
  *groups = *measured = 0;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    guint count;
    const LigPlanGroup *all = lig_plan_get_groups (timed.plan, pass, &count);
    for (guint i = 0; i < count; i++)
      if (all[i].n_steps > 0) {
        ++*groups;
        *measured += timed.steps || all[i].measured > 0;
      }
  }
}

char *
lig_document_describe_times (LigDocument *self, gint64 now)
{
  guint groups, measured;
  if (!self->plan)
    return g_strdup ("");
  LigDevice *device = lig_plan_get_device (self->plan);
  const LigDeviceFacts *facts = lig_device_get_facts (device);
  const char *name = *facts->name ? facts->name : lig_device_get_name (device);
  count_measured (self, &groups, &measured);
  if (groups == 0)
    return g_strdup ("");
  if (measured == 0 && facts->copy <= 0)
    return g_strdup (_ ("times unknown: profile, or measure the device"));
  if (measured == 0)
    return g_strdup_printf (_ ("predicted for %s"), name);
  g_autofree char *here = name_here (device);
  gint64 when = lig_document_get_measured_at (self);
  if (measured < groups)
    return g_strdup_printf (_ ("partly measured on %s"), here);
  if (now == 0)
    return g_strdup_printf (_ ("measured on %s"), here);
  if (when == 0)
    return g_strdup_printf (_ ("measured on %s before"), here);
  g_autofree char *age = describe_age ((now - when) / G_USEC_PER_SEC);
  return g_strdup_printf (_ ("measured on %s, %s"), here, age);
}
