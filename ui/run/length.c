/* SPDX-License-Identifier: MIT */
/* A run takes as many steps of the shown plan as it is set to; evaluation and checkpoints are not
 * counted. */
#include "ui/run/length.h"

#include "ui/document/times.h"
#include "ui/run/settings.h"
#include "ui/widgets/figures.h"

#include <glib/gi18n.h>
#include <math.h>

/* Returns the seconds of a step with the plan that is shown, for the run's batch size. */
static double
get_step_seconds (LigDocument *doc, const LigRunSettings *settings)
{
  LigTimedPlan timed, unfused;
  LigFigures step;
  lig_document_get_timed (doc, &timed, &unfused);
  if (!timed.plan)
    return NAN;
  lig_figures_of_step (&timed, &unfused, &step);
  double passes = (double) MAX (settings->accumulate, 1), rows = 1;
  LigShape shape;
  LigDtype dtype;
  lig_sequence_get_input (lig_document_get_sequence (doc), &shape, &dtype);
  if (settings->batch > 0 && shape.n_axes > 0 && shape.axes[0] > 0)
    rows = (double) settings->batch / (double) shape.axes[0];
  return step.seconds * passes * rows;
}

char *
lig_train_describe_length (LigDocument *doc, double *seconds)
{
  g_auto (LigRunSettings) settings;
  double step = lig_train_read (doc, &settings, NULL) ? get_step_seconds (doc, &settings) : NAN;
  *seconds = step * (double) settings.steps;
  if (!isfinite (step) || step <= 0 || settings.steps < 1)
    return NULL;
  g_autofree char *whole = lig_train_format_seconds (*seconds);
  g_autofree char *count = lig_figure_count (settings.steps);
  g_autofree char *each = lig_train_format_seconds (step);
  g_autofree char *origin = lig_document_describe_times (doc, 0);
  return g_strdup_printf (ngettext ("About %s: %s step of %s, %s",
                                    "About %s: %s steps of %s each, %s", (gulong) settings.steps),
                          whole, count, each, origin);
}
