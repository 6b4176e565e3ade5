/* SPDX-License-Identifier: MIT */
/* y = this rank's rows of x, which is the same on all ranks; dx = the rows dy of all ranks.
 *
 * Ranks of a data-parallel group have separate losses, averaged over the group, and each has the
 * gradient of its own loss: dx is dy in its rows, and 0 in those of the others. */
#include "engine/ops/define.h"
#include <ligature/params-collective.h>
#include <ligature/params-positions.h>

typedef struct {
  LigCollectiveParams kernel;
  int32_t group;
  LigSliceParams rows; /* index of this rank's first row in x */
} ShardRowsParams;

static const LigParam params[] = {
  LIG_RANK_GROUP (ShardRowsParams, group),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  ShardRowsParams *values = (ShardRowsParams *) self->params;
  if (!lig_infer_scattered (self, values->group, error) ||
      !lig_infer_collective (self, values->group, LIG_SHARDING_NONE, LIG_SHARDING_ROWS, error))
    return FALSE;
  gint64 count = lig_shape_size (&self->y) / MAX (lig_shape_columns (&self->y), 1);
  values->rows = (LigSliceParams){count * self->n_ranks[values->group],
                                  count * self->places[values->group], count, 0};
  return TRUE;
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_collective (lowering, "shard_rows");
}

static void
lower_backward (LigLowering *lowering)
{
  const ShardRowsParams *values = lig_lower_params (lowering, 0);
  if (values->kernel.peers > 1 && values->group != LIG_GROUP_TENSOR)
    lig_lower_kernel (lowering, "add_slice", "x=- slice=dy y=dx", &values->rows,
                      sizeof values->rows);
  else
    lig_lower_collective_backward (lowering, "all_gather");
}

LIG_DEFINE_OP (shard_rows) = {
  LIG_OP_INFO_SIZES,
  .name = "shard-rows",
  .title = N_ ("Shard rows"),
  .category = N_ ("Ranks"),
  .summary = N_ ("Keeps this rank's rows of a tensor that all ranks of a group have"),
  .formula = "y = this rank's rows of x",
  .example = "shard-rows @ 4x8",
  .flags = LIG_OP_COLLECTIVE | LIG_OP_SHARDS_ROWS,
  .shardings = LIG_COMPUTES_ANY,
  .params = params,
  .params_size = sizeof (ShardRowsParams),
  .kernel_params_size = sizeof (LigCollectiveParams),
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .onnx = lig_onnx_pass_x,
};
