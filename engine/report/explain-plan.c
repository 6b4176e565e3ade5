/* SPDX-License-Identifier: MIT */
/* Explains recomputation, communication and uploads of a plan in sentences. */
#include "engine/report/pair.h"
#include "engine/report/paper.h"
#include <ligature/plan-memory.h>
#include <ligature/plan.h>
#include <ligature/report.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>

char *
lig_plan_explain_recompute (LigPlan *self)
{
  guint count, again = 0;
  double seconds = 0;
  gint64 spared = lig_plan_get_spared_bytes (self);
  const LigPlanStep *steps = lig_plan_get_steps (self, &count);
  if (spared <= 0)
    return NULL;
  for (guint i = 0; i < count; i++) {
    again += steps[i].again;
    seconds += steps[i].again ? steps[i].predicted : 0;
  }
  g_autofree char *bytes = lig_units_bytes ((double) spared);
  g_autofree char *time = lig_units_time (seconds);
  return seconds > 0 ? g_strdup_printf (
                         _ ("values recomputed in backward: %u, predicted %s; saves %s of memory"),
                         again, time, bytes)
                     : g_strdup_printf (_ ("values recomputed in backward: %u; saves %s of memory"),
                                        again, bytes);
}

/* Returns `; it updates 1/8 of the parameters`, unless each rank updates all, and the matmul that
 * is not sharded. */
static char *
describe_share (LigPlan *plan, const char *whole)
{
  int shares = lig_plan_get_shares (plan);
  g_autofree char *share =
    shares > 1 ? g_strdup_printf (_ ("; its share of the update is 1/%d"), shares) : g_strdup ("");
  return g_strconcat (share, whole ? "; " : "", whole, NULL);
}

char *
lig_plan_explain_ranks (LigPlan *self)
{
  LigCommunication collective;
  LigFigures step;
  const LigTimedPlan timed = {.plan = self};
  lig_figures_of_communication (self, &collective);
  if (collective.ranks < 2)
    return NULL;
  lig_figures_of_step (&timed, NULL, &step);
  g_autofree char *bytes = lig_units_bytes (collective.bytes);
  g_autofree char *memory = lig_units_bytes (lig_plan_get_needed_memory (self));
  g_autofree char *share = describe_share (self, collective.whole);
  if (!(step.predicted > 0 && collective.seconds > 0))
    return g_strdup_printf (_ ("rank 0 of %d: communicates %s in a step, %s of memory%s"),
                            collective.ranks, bytes, memory, share);
  g_autofree char *time = lig_units_time (step.predicted);
  g_autofree char *seconds = lig_units_time (collective.seconds);
  g_autofree char *exposed = lig_units_time (collective.exposed);
  return g_strdup_printf (lig_plan_has_pass (self, LIG_PASS_UPDATE)
                            ? _ ("rank 0 of %d: predicted step %s; communicates %s in %s, "
                                 "%s of it exposed; %s of memory%s")
                            : _ ("rank 0 of %d: predicted step without update %s; communicates %s "
                                 "in %s, %s of it exposed; %s of memory%s"),
                          collective.ranks, time, bytes, seconds, exposed, memory, share);
}

char *
lig_plan_explain_upload (LigPlan *self)
{
  LigUpload upload;
  lig_figures_of_upload (self, &upload);
  if (!(upload.exposed > 0))
    return NULL;
  g_autofree char *bytes = lig_units_bytes (upload.bytes);
  g_autofree char *time = lig_units_time (upload.seconds);
  g_autofree char *exposed = lig_units_time (upload.exposed);
  return g_strdup_printf (_ ("predicted: copying a batch of %s to the device takes %s, which is %s "
                             "longer than a step, so that steps wait for data"),
                          bytes, time, exposed);
}
