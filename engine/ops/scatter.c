/* SPDX-License-Identifier: MIT */
/* y = this rank's rows of x, which all ranks have; dx = the rows dy of all ranks. */
#include "engine/ops/collective.h"

typedef struct {
  LigCollectiveParams kernel;
  int32_t group;
} ScatterParams;

static const LigParam params[] = {
  LIG_RANK_GROUP (ScatterParams, group),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  const ScatterParams *values = self->params;
  return lig_infer_scattered (self, values->group, error) &&
         lig_infer_collective (self, values->group, LIG_SHARDING_NONE, LIG_SHARDING_ROWS, error);
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_collective (lowering, "take_part");
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_collective_backward (lowering, "all_gather");
}

LIG_DEFINE_OP (scatter) = {
  LIG_OP_INFO_SIZES,
  .name = "scatter",
  .title = N_ ("Scatter"),
  .category = N_ ("Ranks"),
  .summary = N_ ("Lets each rank of a group go on with a part of the rows"),
  .formula = "y = a part of the rows of x",
  .example = "scatter @ 4x8",
  .shardings = LIG_COMPUTES_ANY,
  .params = params,
  .params_size = sizeof (ScatterParams),
  .kernel_params_size = sizeof (LigCollectiveParams),
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
};
