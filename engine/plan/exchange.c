/* SPDX-License-Identifier: MIT */
/* The exchanges of a plan with other ranks: their bytes and their predicted time. */
#include "engine/compile/predict.h"
#include "engine/compile/sharding.h"
#include "engine/plan/plan-private.h"
#include <ligature/figures.h>
#include <ligature/kernels.h>

void
lig_figures_of_exchange (LigPlan *plan, LigExchange *exchange)
{
  const LigDraft *draft = plan->draft;
  *exchange = (LigExchange){.ranks = lig_device_get_n_ranks (draft->device, LIG_GROUP_ALL),
                            .whole = draft->whole};
  for (int i = 0; i < (int) draft->steps->len; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    if (!lig_is_collective (step))
      continue;
    exchange->collectives++;
    exchange->bytes += MAX (step->read, step->written);
    exchange->seconds += step->lasts;
    exchange->exposed += step->waited;
  }
}

char *
lig_plan_list_exchanges (LigPlan *self, LigRankGroup group)
{
  const LigDraft *draft = self->draft;
  GString *list = g_string_new (NULL);
  for (int i = 0; i < (int) draft->steps->len; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    if (lig_is_collective (step) && lig_step_group (step) == group)
      g_string_append_printf (list, "%s %d\n", step->kernel->name, (int) step->lane);
  }
  return g_string_free (list, FALSE);
}

gboolean
lig_plan_exchanges_rows (LigPlan *self)
{
  const LigDraft *draft = self->draft;
  for (int i = 0; i < (int) draft->steps->len; i++) {
    LigRankGroup group = lig_step_group (lig_step (draft, i));
    if (lig_step (draft, i)->pass == LIG_PASS_FORWARD && group < LIG_N_GROUPS &&
        group != LIG_GROUP_TENSOR && group != LIG_GROUP_CONTEXT &&
        lig_device_get_n_ranks (draft->device, group) > 1)
      return TRUE;
  }
  return FALSE;
}
