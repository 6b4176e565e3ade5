/* SPDX-License-Identifier: MIT */
/* y = this rank's rows of the sum of x over the ranks; dx = the rows dy of all ranks. */
#include "engine/ops/define.h"
#include <ligature/params-collective.h>

typedef struct {
  LigCollectiveParams kernel;
  int32_t group;
} ReduceScatterParams;

static const LigParam params[] = {
  LIG_RANK_GROUP (ReduceScatterParams, group),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  const ReduceScatterParams *values = self->params;
  return lig_infer_scattered (self, values->group, error) &&
         lig_infer_collective (self, values->group, LIG_SHARDING_PARTIAL, LIG_SHARDING_ROWS, error);
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_collective (lowering, "reduce_scatter");
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_collective_backward (lowering, "all_gather");
}

LIG_DEFINE_OP (reduce_scatter) = {
  LIG_OP_INFO_SIZES,
  .name = "reduce-scatter",
  .title = N_ ("Reduce-scatter"),
  .category = N_ ("Ranks"),
  .summary = N_ ("Sums the input over the ranks of a group; each rank keeps a part of the rows"),
  .formula = "y = this rank's rows of the sum of x over the ranks",
  .example = "reduce-scatter @ 4x8",
  .flags = LIG_OP_COLLECTIVE | LIG_OP_SHARDS_ROWS,
  .shardings = LIG_COMPUTES_ANY,
  .params = params,
  .params_size = sizeof (ReduceScatterParams),
  .kernel_params_size = sizeof (LigCollectiveParams),
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .onnx = lig_onnx_pass_x,
};
