/* SPDX-License-Identifier: MIT */
/* Shared by the tests of registration: the complete table of an op, to be damaged. */
#pragma once

#include "engine/patterns/register.h"
#include "engine/sequence/table.h"
#include "tests/plan/case.h"
#include <ligature/lowering.h>
#include <ligature/plan-options.h>
#include <ligature/register.h>

/* --- A complete table ----------------------------------------------------------------------- */

typedef struct {
  float factor;
  gint64 count;
  LigShape shape;
} Params;

static const LigParam params[] = {
  LIG_FLOAT (Params, factor, "factor", "Factor", "Multiplies", 0, 8, 1),
  LIG_INT (Params, count, "count", "Count", "Counts", 1, 9, 1, 0),
  {.name = NULL},
};

static LigStatus
run_twice (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const float *from = o[0].data;
  float *to = o[1].data;
  for (int64_t i = 0; i < o[0].size; i++)
    to[i] = 2 * from[i];
  return LIG_OK;
}

static LigKernel kernel = {.size = sizeof (LigKernel),
                           .name = "register-twice",
                           .signature = "x -> y=x",
                           .work = 1,
                           .types = LIG_TYPES (LIG_FP32),
                           .functions = {run_twice}};
static const LigKernel *used = &kernel;

static void
lower (LigLowering *lowering)
{
  lig_lower_custom (lowering, used, NULL, NULL, 0);
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_custom (lowering, used, "x=dy y=dx", NULL, 0);
}

static inline LigOpInfo
whole (const char *name)
{
  g_autofree char *example = g_strdup_printf ("%s @ 4x8", name);
  return (LigOpInfo){LIG_OP_INFO_SIZES,
                     .name = g_intern_string (name),
                     .title = "Twice",
                     .category = "Other",
                     .summary = "Twice its input",
                     .example = g_intern_string (example),
                     .params = params,
                     .params_size = sizeof (Params),
                     .lower_forward = lower,
                     .lower_backward = lower_backward};
}

static inline void
check_rejection (const LigOpInfo *info, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (lig_register_op (info, &error));
  g_assert_nonnull (error);
  g_assert_true (error->domain == LIG_ERROR);
  g_assert_cmpstr (error->message, ==, message);
}

static inline void
check_accepted (const LigOpInfo *info)
{
  g_autoptr (GError) error = NULL;
  lig_register_op (info, &error);
  g_assert_no_error (error);
}

/* Checks that the op computes twice its input. */
static inline void
check_twice (const char *name)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = TRUE;
  g_autoptr (LigSequence) custom = new_sequence (name, "4x8");
  g_autoptr (LigSequence) plain = new_sequence ("constant-scale(2)", "4x8");
  g_autoptr (Results) got = compute (custom, &options);
  g_autoptr (Results) want = compute (plain, &options);
  compare_results (got, want, 0, name);
}
