/* SPDX-License-Identifier: MIT */
/* Adapts costs that were measured at other rates than those of their description, for example after
 * an edit by hand: scales them, or drops them if they contradict the rates. */
#include "engine/device/costs.h"
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* Measured matmuls contradict the rate of a description if they take less than this share of the
 * time at that rate. Measurements of a card vary by some percent. */
#define MIN_SHARE 0.9

/* Scales the part of a time that exceeds the launch time by `factor`, and the rest like launch
 * times. */
static double
scale_time (double seconds, double from, double to, double factor)
{
  double launch = MIN (seconds, from);
  return launch * (to / from) + (seconds - launch) * factor;
}

/* Keeps the ratio of each matmul's time to the ideal time. */
static void
scale_matmuls (double *seconds, const LigCostRates *from, double then, double launch, double rate)
{
  for (int i = 0; i < LIG_COST_AREAS * LIG_COST_DEPTHS; i++)
    seconds[i] *= (launch + lig_cost_matmul_flops (i) / rate) /
                  (from->launch + lig_cost_matmul_flops (i) / then);
}

void
lig_costs_scale (LigDeviceFacts *facts, const LigCostRates *from)
{
  LigDeviceCosts *costs = &facts->costs;
  double bf16 = facts->matmul[LIG_BF16], fp32 = facts->matmul[LIG_FP32];
  double launch = facts->launch > 0 ? facts->launch : from->launch;
  double copy = facts->copy > 0 ? from->copy / facts->copy : 1;
  if (bf16 > 0)
    scale_matmuls (costs->matmuls, from, from->bf16, launch, bf16);
  if (fp32 > 0)
    scale_matmuls (costs->wide_matmuls, from, from->fp32, launch, fp32);
  /* Times on top of a matmul contain no launch. */
  for (int i = 0; i < LIG_N_COSTS * LIG_COST_SIZES; i++)
    costs->kernels[i] = i < LIG_COST_MATMUL_BIAS * LIG_COST_SIZES
                          ? scale_time (costs->kernels[i], from->launch, launch, copy)
                          : costs->kernels[i] * copy;
  for (int i = 0; i < LIG_MIXED_COSTS * LIG_COST_SIZES; i++)
    costs->mixed[i] *= copy;
  for (int i = 0; i < LIG_N_ATTENTION_COSTS * LIG_ATTENTION_SIZES && bf16 > 0; i++)
    costs->attention[i] = scale_time (costs->attention[i], from->launch, launch, from->bf16 / bf16);
}

static void
append_change (GString *text, const char *name, const char *unit, double from, double to)
{
  if (from == to)
    return;
  g_autofree char *then = lig_units_count (from), *now = lig_units_count (to);
  g_string_append_printf (text, _ ("%s%s %s%s instead of %s%s"), text->len > 0 ? ", " : "", name,
                          then, unit, now, unit);
}

char *
lig_costs_compare (const LigDeviceFacts *facts, const LigCostRates *from)
{
  g_autoptr (GString) text = g_string_new (NULL);
  append_change (text, "copy", "B/s", from->copy, facts->copy);
  append_change (text, "fp32", "FLOP/s", from->fp32, facts->matmul[LIG_FP32]);
  append_change (text, "bf16", "FLOP/s", from->bf16, facts->matmul[LIG_BF16]);
  if (from->launch != facts->launch) {
    g_autofree char *then = lig_units_time (from->launch);
    g_autofree char *now = lig_units_time (facts->launch);
    g_string_append_printf (text, _ ("%s%s %s%s instead of %s%s"), text->len > 0 ? ", " : "",
                            "launch", then, "", now, "");
  }
  if (text->len == 0)
    return NULL;
  return g_strdup_printf (_ ("%s: the costs are scaled to its rates; they were measured with %s"),
                          facts->name, text->str);
}

/* Returns the sentence about a matmul that took less time than its rate allows, or null. */
static char *
find_contradiction (const LigDeviceFacts *facts, LigDtype dtype, const double *seconds)
{
  for (int i = 0; i < LIG_COST_AREAS * LIG_COST_DEPTHS; i++) {
    double min = lig_cost_matmul_flops (i) / facts->matmul[dtype];
    if (!(facts->matmul[dtype] > 0) || seconds[i] >= MIN_SHARE * min)
      continue;
    g_autofree char *took = lig_units_time (seconds[i]), *needed = lig_units_time (min);
    return g_strdup_printf (_ ("%s: the costs are not used, because a matmul of %s took %s, but "
                               "takes at least %s at its rate; measure the costs again"),
                            facts->name, lig_dtype_name (dtype), took, needed);
  }
  return NULL;
}

char *
lig_costs_check (const LigDeviceFacts *facts)
{
  char *text = find_contradiction (facts, LIG_BF16, facts->costs.matmuls);
  return text ? text : find_contradiction (facts, LIG_FP32, facts->costs.wide_matmuls);
}
