/* SPDX-License-Identifier: MIT */
/* Differences of two plans as people read them. */
#include <ligature/comparison.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* The least part of a figure that its three digits show. */
#define LEAST 0.0005

static int
get_sign (double before, double after)
{
  double difference = after - before;
  if (isnan (difference) || fabs (difference) <= LEAST * MAX (fabs (before), fabs (after)))
    return 0;
  return difference > 0 ? 1 : -1;
}

static char *
describe (double before, double after, char *(*format) (double) )
{
  int sign = get_sign (before, after);
  if (sign == 0)
    return g_strdup (_ ("no difference"));
  g_autofree char *amount = format (fabs (after - before));
  return g_strconcat (sign > 0 ? "+" : "−", amount, NULL);
}

int
lig_plan_change_get_sign (const LigPlanChange *self)
{
  g_return_val_if_fail (self, 0);
  return get_sign (self->before.seconds, self->after.seconds);
}

char *
lig_plan_change_side_text (const LigPlanChange *self, gboolean after)
{
  g_return_val_if_fail (self, NULL);
  const LigPlanSide *side = after ? &self->after : &self->before;
  if (isnan (side->seconds))
    return NULL;
  g_autofree char *time = side->n_steps > 0 ? lig_units_time (side->seconds) : g_strdup ("0");
  return self->measured || side->n_steps == 0 ? g_steal_pointer (&time)
                                              : g_strconcat ("≈ ", time, NULL);
}

char *
lig_plan_change_time_text (const LigPlanChange *self)
{
  g_return_val_if_fail (self, NULL);
  double before = self->before.seconds, after = self->after.seconds;
  return isnan (before) || isnan (after) ? NULL : describe (before, after, lig_units_time);
}

char *
lig_plan_change_bytes_text (const LigPlanChange *self)
{
  g_return_val_if_fail (self, NULL);
  return describe (self->before.bytes, self->after.bytes, lig_units_bytes);
}

static guint
count_different (LigPlanComparison *self)
{
  guint count, different = 0;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (self, &count);
  for (guint i = 0; i < count; i++)
    different += !changes[i].same;
  return different;
}

char *
lig_plan_comparison_describe (LigPlanComparison *self)
{
  g_return_val_if_fail (self, NULL);
  LigPlanChange total;
  guint different = count_different (self);
  lig_plan_comparison_get_total (self, LIG_PASS_JOINT, &total);
  g_autofree char *whole = lig_plan_change_side_text (&total, TRUE);
  g_autofree char *time = lig_plan_change_time_text (&total);
  g_autofree char *bytes = lig_plan_change_bytes_text (&total);
  if (whole && time)
    return g_strdup_printf (_ ("step %s (%s)"), whole, time);
  if (whole)
    return g_strdup_printf (_ ("step %s"), whole);
  if (get_sign (total.before.bytes, total.after.bytes) != 0)
    return g_strdup_printf (_ ("bytes moved: %s"), bytes);
  if (different == 0)
    return g_strdup (_ ("no difference"));
  return g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u group differs", "%u groups differ", different), different);
}
