/* SPDX-License-Identifier: MIT */
/* Differences of two plans as people read them. */
#include "ui/widgets/change.h"

#include <ligature/units.h>

#include <glib/gi18n.h>
#include <math.h>

/* The least part of a figure that its three digits show. */
#define LEAST 0.0005

int
lig_change_sign (double before, double after)
{
  double difference = after - before;
  if (isnan (difference) || fabs (difference) <= LEAST * MAX (fabs (before), fabs (after)))
    return 0;
  return difference > 0 ? 1 : -1;
}

static char *
describe (double before, double after, char *(*format) (double) )
{
  if (isnan (before) || isnan (after))
    return g_strdup ("");
  int sign = lig_change_sign (before, after);
  if (sign == 0)
    return g_strdup (_ ("no difference"));
  g_autofree char *amount = format (fabs (after - before));
  return g_strconcat (sign > 0 ? "+" : "−", amount, NULL);
}

char *
lig_change_time (double before, double after)
{
  return describe (before, after, lig_units_time);
}

char *
lig_change_bytes (double before, double after)
{
  return describe (before, after, lig_units_bytes);
}

char *
lig_change_total (const LigPlanChange *total)
{
  if (isnan (total->after.seconds))
    return g_strdup ("");
  g_autofree char *time = lig_units_time (total->after.seconds);
  return total->measured ? g_steal_pointer (&time) : g_strconcat ("≈ ", time, NULL);
}

static guint
count_different (LigPlanComparison *comparison)
{
  guint count, different = 0;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (comparison, &count);
  for (guint i = 0; i < count; i++)
    different += !changes[i].same;
  return different;
}

char *
lig_change_describe_step (LigPlanComparison *comparison)
{
  LigPlanChange total;
  guint different = count_different (comparison);
  lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
  g_autofree char *whole = lig_change_total (&total);
  g_autofree char *bytes = lig_change_bytes (total.before.bytes, total.after.bytes);
  g_autofree char *time = lig_change_time (total.before.seconds, total.after.seconds);
  if (*whole && *time)
    return g_strdup_printf (_ ("step %s (%s)"), whole, time);
  if (*whole)
    return g_strdup_printf (_ ("step %s"), whole);
  if (lig_change_sign (total.before.bytes, total.after.bytes) != 0)
    return g_strdup_printf (_ ("bytes moved: %s"), bytes);
  if (different == 0)
    return g_strdup (_ ("no difference"));
  return g_strdup_printf (ngettext ("%u group differs", "%u groups differ", different), different);
}
