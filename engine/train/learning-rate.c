/* SPDX-License-Identifier: MIT */
/* The learning-rate schedule. */
#include "engine/train/learning-rate.h"

#include <math.h>

gint64
lig_run_schedule_steps (const LigRunSettings *settings)
{
  return settings->schedule_steps > 0 ? settings->schedule_steps : settings->steps;
}

double
lig_run_rate (const LigRunSettings *settings, gint64 step)
{
  double peak = settings->lr;
  if (step <= settings->warmup)
    return peak * (double) step / (double) settings->warmup;
  if (!settings->schedule || g_str_equal (settings->schedule, "constant"))
    return peak;
  double span = (double) MAX (lig_run_schedule_steps (settings) - settings->warmup, 1);
  double at = MIN ((double) (step - settings->warmup) / span, 1);
  return settings->min_lr + (peak - settings->min_lr) * 0.5 * (1 + cos (G_PI * at));
}

gboolean
lig_run_rate_falls (const LigRunSettings *settings)
{
  return g_strcmp0 (settings->schedule, "cosine") == 0;
}

gboolean
lig_run_bends_schedule (const LigRunSettings *before, const LigRunSettings *after)
{
  return lig_run_rate_falls (before) && lig_run_rate_falls (after) &&
         lig_run_schedule_steps (before) != lig_run_schedule_steps (after);
}
