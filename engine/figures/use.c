/* SPDX-License-Identifier: MIT */
/* Tokens per second and the model FLOP/s utilization of Chowdhery et al., PaLM (2022), appendix
 * B, with the operations of the plan instead of an estimate from the number of parameters. */
#include <ligature/device.h>
#include <ligature/figures.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* The last axis of floating-point rows is that of features. */
static double
count_rows (LigPlan *plan, gboolean *tokens)
{
  LigShape shape;
  LigDtype dtype;
  double rows = 1;
  lig_plan_get_input (plan, &shape, &dtype);
  gboolean integers = !lig_dtype_is_floating (dtype);
  *tokens = integers ? shape.n_axes > 1 : shape.n_axes > 2;
  for (int i = 0; i < shape.n_axes - (integers ? 0 : 1) || i == 0; i++)
    rows *= (double) shape.axes[i];
  /* A rank has its share of the batch and, with context parallelism, of the positions. */
  LigDevice *device = lig_plan_get_device (plan);
  rows *= lig_device_get_n_ranks (device, LIG_GROUP_DATA);
  return *tokens ? rows * lig_device_get_n_ranks (device, LIG_GROUP_CONTEXT) : rows;
}

static double
count_flops (LigPlan *plan)
{
  guint count;
  double flops = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    if (steps[i].pass != LIG_PASS_UPDATE && !steps[i].again)
      flops += steps[i].flops;
  return flops;
}

void
lig_figures_use_in (LigPlan *plan, double seconds, LigUse *use)
{
  g_return_if_fail (plan && use);
  const LigDeviceFacts *facts = lig_device_get_facts (lig_plan_get_device (plan));
  double peak = facts->matmul[lig_plan_get_compute (plan)];
  gboolean known = seconds > 0;
  *use = (LigUse){.measured = TRUE};
  use->rows = count_rows (plan, &use->tokens);
  use->per_second = known ? use->rows / seconds : NAN;
  use->mfu = known && peak > 0 ? count_flops (plan) / seconds / peak : NAN;
}

void
lig_figures_of_use (LigPlan *plan, const LigFigures *step, LigUse *use)
{
  g_return_if_fail (plan && step && use);
  lig_figures_use_in (plan, step->seconds, use);
  use->measured = step->measured;
}

char *
lig_figures_use_text (const LigUse *use)
{
  g_return_val_if_fail (use, NULL);
  g_autofree char *count = lig_units_count (use->per_second);
  if (isnan (use->per_second))
    return NULL;
  g_autofree char *rate =
    g_strdup_printf (use->tokens ? _ ("%s tokens/s") : _ ("%s rows/s"), count);
  if (!(use->mfu >= 0.005))
    return g_steal_pointer (&rate);
  return g_strdup_printf (_ ("%s, %.0f %% MFU"), rate, 100 * use->mfu);
}
