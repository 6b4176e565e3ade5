/* SPDX-License-Identifier: MIT */
/* y = the rows of all ranks. If the ranks then compute different parts of a matmul, dx is this
 * rank's rows of the sum of their gradients; if all of them compute the same, their gradients are
 * equal, and dx is this rank's rows of that. Ranks of a data-parallel group have separate losses,
 * averaged over the group, so dx is always taken from the sum. */
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
              N_ ("This rank's rows of the sum of the ranks' gradients (sum), or of the "
                  "gradient that is equal on all ranks (part)"),
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
                 _ ("gradient=part with group=data omits the gradients of other ranks' losses "
                    "(data=%d); give gradient=sum"),
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
  .summary = N_ ("Gathers the rows of all ranks of a group"),
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
  .onnx = lig_onnx_pass_x,
};
