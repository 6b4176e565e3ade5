/* SPDX-License-Identifier: MIT */
/* y = the rows of all ranks. The ranks go on with different parts of a matmul, and dx is this
 * rank's rows of the sum of their gradients; or all go on with the same y and have the same
 * gradient, and dx is this rank's part of it. Ranks of a data group have losses of their own, whose
 * mean is that of the training, so that dx is always a part of the sum. */
#include "engine/ops/define.h"
#include <ligature/params-collective.h>

typedef struct {
  LigCollectiveParams kernel;
  int32_t group, gradient;
} AllGatherParams;

enum { SUM, PART };

static const LigParam params[] = {
  LIG_RANK_GROUP (AllGatherParams, group),
  LIG_CHOICE (AllGatherParams,
              gradient,
              "gradient",
              N_ ("Gradient"),
              N_ ("A part of the sum over ranks that go on in different ways, or of the gradient "
                  "that all have in common"),
              "sum|part",
              SUM),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  const AllGatherParams *values = self->params;
  int ranks = self->n_ranks[LIG_GROUP_DATA];
  if (values->group == LIG_GROUP_DATA && values->gradient == PART && ranks > 1) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("gradient=part with group=data leaves out the gradients of the losses of other "
                    "ranks (data=%d); give gradient=sum"),
                 ranks);
    return FALSE;
  }
  return lig_infer_gathered (self, values->group, error) &&
         lig_infer_collective (self, values->group, LIG_SHARDING_ROWS,
                               values->gradient == SUM ? LIG_SHARDING_SHARED : LIG_SHARDING_NONE,
                               error);
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_collective (lowering, "all_gather");
}

static void
lower_backward (LigLowering *lowering)
{
  const AllGatherParams *values = lig_lower_params (lowering, 0);
  lig_lower_collective_backward (lowering,
                                 values->gradient == SUM ? "reduce_scatter" : "shard_rows");
}

LIG_DEFINE_OP (all_gather) = {
  LIG_OP_INFO_SIZES,
  .name = "all-gather",
  .title = N_ ("All-gather"),
  .category = N_ ("Ranks"),
  .summary = N_ ("Collects the rows of the ranks of a group"),
  .formula = "y = the rows x of all ranks",
  .example = "all-gather @ 4x8",
  .flags = LIG_OP_COLLECTIVE | LIG_OP_GATHERS_ROWS,
  .shardings = LIG_COMPUTES_ANY,
  .params = params,
  .params_size = sizeof (AllGatherParams),
  .kernel_params_size = sizeof (LigCollectiveParams),
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
};
