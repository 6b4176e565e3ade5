/* SPDX-License-Identifier: MIT */
/* The collectives of a plan: their bytes and their predicted time. */
#include "engine/figures/communication.h"

#include "engine/plan/plan-private.h"
#include <ligature/figures.h>
#include <ligature/kernels.h>

void
lig_figures_of_communication (LigPlan *plan, LigCommunication *collective)
{
  *collective =
    (LigCommunication){.ranks = lig_device_get_n_ranks (plan->request->device, LIG_GROUP_ALL),
                       .whole = plan->unsharded};
  for (int i = 0; i < (int) plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    if (!lig_plan_step_is_collective (step))
      continue;
    collective->collectives++;
    collective->bytes += MAX (step->read, step->written);
    collective->seconds += step->lasts;
    collective->exposed += step->waited;
  }
}

char *
lig_plan_list_collectives (LigPlan *self, LigRankGroup group)
{
  GString *list = g_string_new (NULL);
  for (int i = 0; i < (int) self->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (self, i);
    if (lig_plan_step_is_collective (step) &&
        lig_code_group (step->kernel, lig_plan_code (self, i)) == group)
      g_string_append_printf (list, "%s %d\n", step->kernel->name, (int) step->lane);
  }
  return g_string_free (list, FALSE);
}

gboolean
lig_plan_gathers_rows (LigPlan *self)
{
  for (int i = 0; i < (int) self->steps->len; i++) {
    LigRankGroup group = lig_code_group (lig_plan_step (self, i)->kernel, lig_plan_code (self, i));
    if (lig_plan_step (self, i)->pass == LIG_PASS_FORWARD && group < LIG_N_GROUPS &&
        group != LIG_GROUP_TENSOR && group != LIG_GROUP_CONTEXT &&
        lig_device_get_n_ranks (self->request->device, group) > 1)
      return TRUE;
  }
  return FALSE;
}
