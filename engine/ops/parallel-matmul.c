/* SPDX-License-Identifier: MIT */
/* The collectives around tensor-parallel matmuls. */
#include "engine/ops/define.h"

#include <inttypes.h>

const char *
lig_parallel_name (LigParallel parallel)
{
  static const char *const names[] = {"none", "column", "row"};
  return names[parallel];
}

static void
add (LigParts *parts, const char *op, const char *param, const char *value)
{
  LigOp *part = lig_op_new (op, NULL);
  if (param)
    g_object_set (part, param, value, NULL);
  lig_parts_add (parts, NULL, part);
}

void
lig_parts_add_before (LigParts *parts, LigParallel parallel, gboolean by_rows)
{
  if (parallel != LIG_PARALLEL_COLUMN || lig_parts_get_n_ranks (parts, LIG_GROUP_TENSOR) == 1)
    return;
  if (by_rows)
    add (parts, "all-gather", NULL, NULL);
  else
    add (parts, "all-reduce", "of", "gradient");
}

void
lig_parts_add_after (LigParts *parts, LigParallel parallel, gboolean by_rows)
{
  if (parallel == LIG_PARALLEL_ROW && lig_parts_get_n_ranks (parts, LIG_GROUP_TENSOR) > 1)
    add (parts, by_rows ? "reduce-scatter" : "all-reduce", NULL, NULL);
}

gboolean
lig_check_sharding (const LigInfer *infer, const char *name, gint64 length, GError **error)
{
  int ranks = infer->n_ranks[LIG_GROUP_TENSOR];
  if (length % ranks == 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               _ ("%s is %" PRId64 ", expected a multiple of the tensor-parallel size, %d"), name,
               length, ranks);
  return FALSE;
}
