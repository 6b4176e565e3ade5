/* SPDX-License-Identifier: MIT */
/* Injected faults in a plan, which a verification must find: the test replaces the kernel of a step
 * before the plan is verified. */
#pragma once

#include "engine/plan/plan-private.h"
#include "tests/plan/case.h"

#include <ligature/verification.h>

#define SPOILED 0x1p-7

static LigKernelFunc original;
static int spoiled_output; /* number of the operand */

/* Multiplies one of the outputs after the kernel has run. */
static inline LigStatus
run_spoiled (LigLaunch *launch)
{
  LigStatus status = original (launch);
  const LigOperand *output = &launch->operands[spoiled_output];
  gsize size = lig_dtype_size (output->dtype);
  for (int64_t i = 0; i < output->size && status == LIG_OK; i++) {
    float number;
    lig_widen (output->dtype, (char *) output->data + (gsize) i * size, &number, 1);
    number *= (float) SPOILED;
    lig_narrow (output->dtype, &number, (char *) output->data + (gsize) i * size, 1);
  }
  return status;
}

static inline LigVerification *
verify_with (LigPlan *plan, guint seeds)
{
  g_autoptr (GError) error = NULL;
  LigVerificationOptions options = LIG_VERIFICATION_OPTIONS_INIT;
  options.seeds = seeds;
  LigVerification *found = lig_plan_verify (plan, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (found->batches, ==, seeds);
  return found;
}

/* Verifies the plan while the output of the step is spoiled. */
static inline LigVerification *
verify_spoiled (LigPlan *plan, int step, int output)
{
  LigPlanStep *at = lig_plan_step (plan, step);
  const LigKernel *kernel = at->kernel;
  LigKernel spoiled = *kernel;
  original = kernel->functions[LIG_BACKEND_CPU];
  spoiled.functions[LIG_BACKEND_CPU] = run_spoiled;
  spoiled_output = output;
  at->kernel = &spoiled;
  LigVerification *found = verify_with (plan, 1);
  at->kernel = kernel;
  return found;
}

/* Returns the group that the fusion has in a plan. */
static inline const LigPlanGroup *
find_group (LigPlan *plan, LigPass pass, const char *fusion, int *number)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < count; i++)
    if (groups[i].fusion && g_str_equal (groups[i].fusion->name, fusion)) {
      *number = (int) i;
      return &groups[i];
    }
  return NULL;
}

/* Returns whether a reference exists for the value: it is an output of an op, or a gradient. */
static inline gboolean
is_compared (const LigPlanValue *value, LigPass pass)
{
  if (strchr (value->name, ':'))
    return FALSE;
  return pass == LIG_PASS_BACKWARD
           ? value->role == LIG_VALUE_GRADIENT || value->role == LIG_VALUE_PARAMETER_GRADIENT
           : g_str_has_suffix (value->name, ".y");
}

/* Spoils an output of a step of the fusion's group, which must be found: at this output if it has a
 * reference; a quantized copy is found in the matmul's result. */
static inline void
spoil_output (LigPlan *plan, int step, int output, const char *fusion)
{
  const LigPlanStep *at = lig_plan_step (plan, step);
  const LigPlanValue *value = lig_plan_value (plan, at->operands[output].value);
  gboolean compared = is_compared (value, at->pass);
  g_autoptr (LigVerification) found = verify_spoiled (plan, step, output);
  g_autofree char *text = lig_verification_explain (found);
  g_test_message ("%s, %s: %s", fusion, value->name, text);
  g_assert_nonnull (found->outside);
  g_assert_true (!compared || g_strcmp0 (found->outside->fusion, fusion) == 0);
  g_assert_true (!compared || found->outside->group == at->group);
  g_assert_true (!compared || found->outside->pass == at->pass);
  g_assert_true (!compared || strstr (text, "2^-7"));
  if (compared)
    g_assert_cmpfloat_with_epsilon (found->outside->error, 1 - SPOILED,
                                    2 * found->outside->rounding);
}

/* Spoils the outputs of the steps of the group, and returns their number. */
static inline int
spoil_group (LigPlan *plan, LigPass pass, int group, const char *fusion)
{
  int spoiled = 0;
  for (int i = 0; i < plan->phases.update; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    for (int j = step->n_inputs; j < step->n_operands; j++) {
      int number = step->operands[j].value;
      const LigPlanValue *value = number >= 0 ? lig_plan_value (plan, number) : NULL;
      if (step->pass != pass || step->group != group || !value || lig_plan_code (plan, i)->empty ||
          (!is_compared (value, pass) && !g_str_has_suffix (value->name, ":row") &&
           !g_str_has_suffix (value->name, ":transposed")))
        continue;
      spoil_output (plan, i, j, fusion);
      spoiled++;
    }
  }
  return spoiled;
}
