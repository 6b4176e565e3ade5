/* SPDX-License-Identifier: MIT */
#include "app/cli/ops-examples.h"

#include <ligature/compile.h>
#include <ligature/plan-options.h>

GStrv
lig_ops_split_example (const LigOpInfo *info)
{
  GStrv parts = g_strsplit (info->example ? info->example : "", " @ ", 2);
  if (g_strv_length (parts) == 2)
    return parts;
  g_strfreev (parts);
  return NULL;
}

LigPlan *
lig_ops_plan_example (const LigOpInfo *info)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  g_auto (GStrv) example = lig_ops_split_example (info);
  g_autoptr (LigSequence) sequence =
    example ? lig_sequence_from_expression (example[0], NULL) : NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null", NULL);
  if (!sequence || !lig_shape_parse (example[1], &shape, &dtype, NULL))
    return NULL;
  lig_sequence_set_input (sequence, &shape, dtype);
  options.policy = LIG_POLICY_NONE;
  options.input_gradient = TRUE;
  return lig_plan_compile (sequence, device, &options, NULL);
}
