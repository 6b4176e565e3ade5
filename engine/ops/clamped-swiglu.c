/* SPDX-License-Identifier: MIT */
/* y = a' sigmoid(alpha a') b', a' = min(a, limit), b' = clamp(b, limit) + offset, as in GPT-OSS.
 */
#include "engine/ops/define.h"
#include <ligature/params-gated.h>

static const LigParam params[] = {
  LIG_FLOAT (LigClampedParams,
             limit,
             "limit",
             N_ ("Limit"),
             N_ ("Upper bound of the gate, and two-sided bound of the linear half"),
             1e-6,
             1e6,
             7),
  LIG_FLOAT (LigClampedParams,
             alpha,
             "alpha",
             N_ ("Alpha"),
             N_ ("Slope inside the sigmoid"),
             -1e3,
             1e3,
             1.702),
  LIG_FLOAT (LigClampedParams,
             offset,
             "glu-linear-offset",
             N_ ("Offset"),
             N_ ("Added to the linear half after its clamp"),
             -1e6,
             1e6,
             1),
  {.name = NULL},
};

LIG_DEFINE_OP (clamped_swiglu) = {
  LIG_OP_INFO_SIZES,
  .name = "clamped-swiglu",
  .title = N_ ("Clamped SwiGLU"),
  .category = N_ ("Gated units"),
  .summary = N_ ("SwiGLU with both halves clamped, as in GPT-OSS"),
  .formula = "y = a' sigmoid (alpha a') b', a' = min (a, limit), b' = clamp (b, limit) + offset",
  .example = "clamped-swiglu (limit=0.75) @ 3x8",
  .flags = LIG_OP_GATED,
  .params = params,
  .params_size = sizeof (LigClampedParams),
  .kernel_params_size = sizeof (LigClampedParams),
  .saves = "x",
  .infer = lig_infer_gated,
  .forward = "clamped_swiglu",
  .backward = "clamped_swiglu_backward",
  .function = 1 + LIG_FUNCTION_clamped_swiglu,
};
