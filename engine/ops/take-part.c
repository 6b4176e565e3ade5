/* SPDX-License-Identifier: MIT */
/* y = this rank's rows of x, which all ranks have; dx = the rows dy of all ranks. */
#include "engine/ops/define.h"

typedef struct {
  LigCollectiveParams kernel;
  int32_t group;
} TakePartParams;

static const LigParam params[] = {
  LIG_RANK_GROUP (TakePartParams, group),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  const TakePartParams *values = self->params;
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

LIG_DEFINE_OP (take_part) = {
  LIG_OP_INFO_SIZES,
  .name = "take-part",
  .title = N_ ("Take part"),
  .category = N_ ("Ranks"),
  .summary = N_ ("Takes a part of the rows on each rank of a group"),
  .formula = "y = a part of the rows of x",
  .example = "take-part @ 4x8",
  .shardings = LIG_COMPUTES_ANY,
  .params = params,
  .params_size = sizeof (TakePartParams),
  .kernel_params_size = sizeof (LigCollectiveParams),
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
};
