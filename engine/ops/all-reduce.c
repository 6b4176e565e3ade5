/* SPDX-License-Identifier: MIT */
/* y = the sum of x over the ranks, which then compute the same, so their gradients are equal: dx =
 * dy. Or y = x for ranks that then compute different things, and dx is the sum of dy over the
 * ranks.
 *
 * Ranks of a data-parallel or context-parallel group have separate losses, averaged over the group,
 * and each has the gradient of its own loss, so the gradient of x is the sum of all dy. Summing
 * only the gradient is rejected, because parameter gradients are averaged over these ranks
 * anyway. */
#include "engine/ops/define.h"
#include <ligature/params-collective.h>

typedef struct {
  LigCollectiveParams kernel;
  int32_t group, of;
} AllReduceParams;

enum { OUTPUT, GRADIENT };

static const LigParam params[] = {
  LIG_RANK_GROUP (AllReduceParams, group),
  LIG_CHOICE (AllReduceParams,
              of,
              "of",
              N_ ("Of"),
              N_ ("The value to sum: the output in the forward pass, or the gradient in the "
                  "backward pass"),
              "output|gradient",
              OUTPUT),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  const AllReduceParams *values = self->params;
  const char *group = lig_rank_group_name ((LigRankGroup) values->group);
  int ranks = self->n_ranks[values->group];
  if (values->group != LIG_GROUP_TENSOR && values->of == GRADIENT && ranks > 1) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("of=gradient with group=%s sums gradients that are averaged anyway "
                    "(%s=%d); omit the op, or give of=output"),
                 group, group, ranks);
    return FALSE;
  }
  return values->of == OUTPUT ? lig_infer_collective (self, values->group, LIG_SHARDING_PARTIAL,
                                                      LIG_SHARDING_NONE, error)
                              : lig_infer_collective (self, values->group, LIG_SHARDING_NONE,
                                                      LIG_SHARDING_SHARED, error);
}

static void
lower_forward (LigLowering *lowering)
{
  const AllReduceParams *values = lig_lower_params (lowering, 0);
  lig_lower_collective (lowering, values->of == OUTPUT ? "all_reduce" : NULL);
}

static void
lower_backward (LigLowering *lowering)
{
  const AllReduceParams *values = lig_lower_params (lowering, 0);
  gboolean sums = values->of == GRADIENT || values->group != LIG_GROUP_TENSOR;
  lig_lower_collective_backward (lowering, sums ? "all_reduce" : NULL);
}

LIG_DEFINE_OP (all_reduce) = {
  LIG_OP_INFO_SIZES,
  .name = "all-reduce",
  .title = N_ ("All-reduce"),
  .category = N_ ("Ranks"),
  .summary = N_ ("Sums the input, or its gradient, over the ranks of a group"),
  .formula = "y = sum of x over the ranks",
  .example = "all-reduce @ 4x8",
  .flags = LIG_OP_COLLECTIVE,
  .shardings = LIG_COMPUTES_ANY,
  .params = params,
  .params_size = sizeof (AllReduceParams),
  .kernel_params_size = sizeof (LigCollectiveParams),
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .onnx = lig_onnx_pass_x,
};
