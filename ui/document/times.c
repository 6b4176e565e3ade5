/* SPDX-License-Identifier: MIT */
/* Chooses the measured times of a document's plan among its profiles, and those in the store. */
#include "ui/document/times.h"

#include "ui/document/private.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
  LigPlan *plan;
  double *steps;
  double passes[3];
  gboolean whole;    /* whether the passes were measured too */
  gint64 measured;   /* when */
  gboolean recorded; /* whether it is of the store */
} Profile;

/* A plan with the times found for it. */
typedef struct {
  LigPlan *plan;
  double *steps;
  const Profile *profile; /* (nullable) */
} Found;

struct _LigTimes {
  GPtrArray *profiles; /* of Profile */
  GPtrArray *recorded; /* the same, of the store, for the current plans */
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
  found->profile = NULL;
}

static LigTimes *
get_times (LigDocument *self)
{
  if (!self->times) {
    self->times = g_new0 (LigTimes, 1);
    self->times->profiles = g_ptr_array_new_with_free_func (free_profile);
    self->times->recorded = g_ptr_array_new_with_free_func (free_profile);
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
  g_ptr_array_unref (self->times->recorded);
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

/* Returns the first of the profiles with the plan's kernels, and sets the times of its steps. */
static const Profile *
find_among (GPtrArray *profiles, LigPlan *plan, double **steps)
{
  guint count;
  lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < profiles->len; i++) {
    const Profile *profile = profiles->pdata[i];
    g_autofree double *times = g_new0 (double, count + 1);
    gboolean same = is_alike (plan, profile->plan);
    for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD && same; pass++)
      same = take_pass (plan, profile, pass, times);
    if (!same)
      continue;
    *steps = g_steal_pointer (&times);
    return profile;
  }
  return NULL;
}

static void
find (const LigTimes *self, Found *found, LigPlan *plan)
{
  LigPlan *kept = plan ? lig_plan_ref (plan) : NULL;
  clear_found (found);
  found->plan = kept;
  if (plan)
    found->profile = find_among (self->profiles, plan, &found->steps);
  if (plan && !found->profile)
    found->profile = find_among (self->recorded, plan, &found->steps);
}

static LigTimedPlan
get_timed (const Found *found)
{
  const Profile *profile = found->profile;
  return (LigTimedPlan){.plan = found->plan,
                        .steps = found->steps,
                        .passes = profile && profile->whole ? profile->passes : NULL};
}

static Profile *
new_profile (const LigTimedPlan *timed, gint64 measured)
{
  guint n_steps;
  Profile *profile = g_new0 (Profile, 1);
  lig_plan_get_steps (timed->plan, &n_steps);
  profile->plan = lig_plan_ref (timed->plan);
  profile->steps = g_memdup2 (timed->steps, sizeof (double) * n_steps);
  profile->whole = timed->passes != NULL;
  profile->measured = measured;
  if (profile->whole)
    memcpy (profile->passes, timed->passes, sizeof profile->passes);
  return profile;
}

/* Keeps the times of a profile in the store. @recorded: (nullable) */
static void
keep_recorded (LigTimes *self, const LigRecordedTimes *recorded)
{
  LigTimedPlan timed;
  if (!recorded)
    return;
  lig_recorded_times_get (recorded, &timed);
  Profile *profile = new_profile (&timed, recorded->started);
  profile->recorded = TRUE;
  g_ptr_array_add (self->recorded, profile);
}

void
lig_document_take_plan_times (LigDocument *self, const LigPlannerAnswer *answer, gboolean measured)
{
  LigTimes *times = get_times (self);
  times->plan.profile = times->unfused.profile = NULL;
  g_ptr_array_set_size (times->recorded, 0);
  keep_recorded (times, answer->recorded);
  keep_recorded (times, answer->recorded_unfused);
  find (times, &times->plan, self->plan);
  find (times, &times->unfused, answer->unfused);
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
  gint64 now = g_get_real_time ();
  times->plan.profile = times->unfused.profile = NULL;
  g_ptr_array_set_size (times->profiles, 0);
  for (guint i = 0; i < count; i++)
    g_ptr_array_add (times->profiles, new_profile (&profiles[i], now));
  find (times, &times->plan, self->plan);
  find (times, &times->unfused, times->unfused.plan);
  lig_document_emit (self, LIG_DOCUMENT_TIMED);
}

/* --- Reading ------------------------------------------------------------------------------- */

gboolean
lig_document_has_update (LigPlan *plan)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  return count > 0 && steps[count - 1].pass == LIG_PASS_UPDATE;
}

const char *
lig_document_name_step (LigPlan *plan)
{
  return lig_document_has_update (plan) ? _ ("Step with update") : _ ("Step without update");
}

void
lig_document_get_timed (LigDocument *self, LigTimedPlan *timed, LigTimedPlan *unfused)
{
  const LigTimes *times = get_times (self);
  /* A plan that was measured without step times has none. */
  gboolean present = times->plan.plan == self->plan;
  *timed = (LigTimedPlan){.plan = self->plan};
  *unfused = (LigTimedPlan){0};
  if (!present)
    return;
  *timed = get_timed (&times->plan);
  *unfused = get_timed (&times->unfused);
}

LigPlanComparison *
lig_document_compare_timed (LigDocument *self, LigPlan *before)
{
  LigTimedPlan timed, unfused;
  Found found = {0};
  find (get_times (self), &found, before);
  const LigTimedPlan other = get_timed (&found);
  lig_document_get_timed (self, &timed, &unfused);
  LigPlanComparison *comparison = lig_plan_compare_timed (&other, &timed);
  clear_found (&found);
  return comparison;
}

gint64
lig_document_get_measured_at (LigDocument *self)
{
  const LigTimes *times = get_times (self);
  return times->plan.profile ? times->plan.profile->measured : times->priced;
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

char *
lig_document_format_day (gint64 when)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autoptr (GDateTime) then = g_date_time_new_from_unix_local (when / G_USEC_PER_SEC);
  if (!then)
    return NULL;
  gboolean same = g_date_time_get_year (then) == g_date_time_get_year (now);
  /* Translators: formats of g_date_time_format() for a date with and without the year. */
  return g_date_time_format (then, same ? _ ("%-d %b") : _ ("%-d %b %Y"));
}

char *
lig_document_describe_recorded (LigDocument *self)
{
  const Profile *profile = get_times (self)->plan.profile;
  g_autoptr (GDateTime) then =
    profile && profile->recorded
      ? g_date_time_new_from_unix_local (profile->measured / G_USEC_PER_SEC)
      : NULL;
  g_autofree char *when = then ? g_date_time_format (then, "%x %H:%M") : NULL;
  return when ? g_strdup_printf (_ ("the times are of the profile of %s in the history"), when)
              : NULL;
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
  const Profile *profile = get_times (self)->plan.profile;
  g_autofree char *date =
    profile && profile->recorded ? lig_document_format_day (profile->measured) : NULL;
  if (measured < groups)
    return g_strdup_printf (_ ("partly measured on %s"), here);
  /* Translators: a device, a date. */
  if (date)
    return g_strdup_printf (_ ("measured on %s on %s"), here, date);
  if (now == 0)
    return g_strdup_printf (_ ("measured on %s"), here);
  if (when == 0)
    return g_strdup_printf (_ ("measured on %s before"), here);
  g_autofree char *age = describe_age ((now - when) / G_USEC_PER_SEC);
  return g_strdup_printf (_ ("measured on %s, %s"), here, age);
}
