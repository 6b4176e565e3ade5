/* SPDX-License-Identifier: MIT */
/* Shape rules and lowering shared by the collectives. */
#include "engine/ops/define.h"
#include <ligature/params-collective.h>

#include <inttypes.h>

gboolean
lig_infer_collective (
  LigInfer *infer, int group, LigShardingKind from, LigShardingKind to, GError **error)
{
  LigCollectiveParams *params = (LigCollectiveParams *) infer->params;
  *params = (LigCollectiveParams){infer->n_ranks[group], LIG_REDUCE_SUM, group};
  if (group != LIG_GROUP_TENSOR || params->peers == 1)
    return TRUE;
  if (infer->x_sharding.kind != from)
    return lig_infer_reject_sharding (infer, error);
  infer->y_sharding = (LigSharding){.kind = to};
  return TRUE;
}

gboolean
lig_infer_scattered (LigInfer *infer, int group, GError **error)
{
  int ranks = infer->n_ranks[group];
  if (!lig_check_has_axis (infer, error))
    return FALSE;
  if (infer->x.axes[0] % ranks != 0) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("the first axis is %" PRId64 ", expected a multiple of %d, the number of ranks"),
      infer->x.axes[0], ranks);
    return FALSE;
  }
  infer->y.axes[0] /= ranks;
  return TRUE;
}

gboolean
lig_infer_gathered (LigInfer *infer, int group, GError **error)
{
  if (!lig_check_has_axis (infer, error))
    return FALSE;
  if (!__builtin_mul_overflow (infer->x.axes[0], (gint64) infer->n_ranks[group], &infer->y.axes[0]))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               _ ("the first axis is %" PRId64 ", too long to gather from all ranks, %d"),
               infer->x.axes[0], infer->n_ranks[group]);
  return FALSE;
}

/* Returns the kernel, or null if the group has one rank. */
static const char *
between_ranks (LigLowering *lowering, const char *kernel)
{
  const LigCollectiveParams *params = lig_lower_params (lowering, 0);
  return params->peers > 1 ? kernel : NULL;
}

void
lig_lower_collective (LigLowering *lowering, const char *kernel)
{
  lig_lower_or_pass (lowering, between_ranks (lowering, kernel));
}

void
lig_lower_collective_backward (LigLowering *lowering, const char *kernel)
{
  lig_lower_backward_or_pass (lowering, between_ranks (lowering, kernel));
}
