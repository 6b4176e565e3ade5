/* SPDX-License-Identifier: MIT */
/* A wrong factor in an output of a fusion with a collective is found on the rank that reads it.
 * verification.py starts this program as ranks, which shard one model by columns and rows. */
#include "engine/ranks/messages.h"
#include "tests/plan/spoil.h"

#include <ligature/compile.h>
#include <ligature/ranks.h>

#include <stdio.h>

/* Matmuls with gathered and scattered rows, and matmuls with summed partial results. */
static const char *const models[] = {
  "shard-rows ! linear(48, parallel=column, sequence-parallel=true) ! gelu ! "
  "linear(32, parallel=row, sequence-parallel=true) ! all-gather(gradient=part)",
  "linear(48, parallel=column) ! gelu ! linear(32, parallel=row)",
};

static LigDevice *
join (LigRanks *ranks)
{
  g_autoptr (GError) error = NULL;
  const LigLayout layout = {.sizes = {[LIG_GROUP_DATA] = 1,
                                      [LIG_GROUP_CONTEXT] = 1,
                                      [LIG_GROUP_TENSOR] = lig_ranks_get_count (ranks)}};
  LigDevice *device = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  lig_ranks_shard (ranks, &layout, &error);
  g_assert_no_error (error);
  lig_device_join (device, ranks, &error);
  g_assert_no_error (error);
  return device;
}

/* Corrupts each output of the steps of a group on all ranks; at least one rank must find it there.
 * Returns the number of outputs. */
static int
spoil_exchange (LigPlan *plan, LigRanks *ranks, int pass, int number)
{
  const LigPlanGroup *group = lig_plan_group (plan, pass, (guint) number);
  int spoiled = 0;
  for (int k = 0; k < group->n_steps; k++) {
    int i = group->steps[k];
    const LigPlanStep *step = lig_plan_step (plan, i);
    for (int j = step->n_inputs; j < step->n_operands; j++) {
      int written = step->operands[j].value;
      const LigPlanValue *value = written >= 0 ? lig_plan_value (plan, written) : NULL;
      if (!value || lig_plan_code (plan, i)->empty)
        continue;
      g_autoptr (LigVerification) found = verify_spoiled (plan, i, j);
      double here = found->outside && g_strcmp0 (found->outside->fusion, group->fusion->name) == 0;
      g_assert_true (lig_ranks_sum (ranks, &here, 1, NULL));
      if (lig_ranks_get_rank (ranks) == 0)
        printf ("# %s, step %d, %s of %s: found by %g ranks\n", group->fusion->name, i, value->name,
                step->kernel->name, here);
      g_assert_cmpfloat (here, >, 0);
      spoiled++;
    }
  }
  return spoiled;
}

/* Verifies an unchanged model, then corrupts its fusions with collectives. Prints their names. */
static void
check_model (const char *model, LigDevice *device, LigRanks *ranks)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.input_gradient = TRUE;
  g_autoptr (LigSequence) sequence = new_sequence (model, "48x32");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  g_autoptr (LigVerification) right = verify_with (plan, 2);
  g_assert_null (right->outside);
  for (int pass = LIG_PASS_FORWARD; pass <= (int) LIG_PASS_BACKWARD; pass++)
    for (guint i = 0; i < plan->groups[pass]->len; i++) {
      const LigFusion *fusion = lig_plan_group (plan, pass, i)->fusion;
      if (!fusion || !(strstr (fusion->name, "all-") || strstr (fusion->name, "reduce-scatter")))
        continue;
      g_assert_cmpint (spoil_exchange (plan, ranks, pass, (int) i), >, 0);
      if (lig_ranks_get_rank (ranks) == 0)
        printf ("%s\n", fusion->name);
    }
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  LigRanks *ranks = lig_ranks_join (&error);
  g_assert_no_error (error);
  g_autoptr (LigDevice) device = join (ranks);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    check_model (models[i], device, ranks);
  lig_ranks_leave ();
  return 0;
}
