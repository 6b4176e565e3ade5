/* SPDX-License-Identifier: MIT */
/* Sequences that are sharded over a context-parallel group: of 2 n equal blocks rank r of n has
 * blocks r and 2 n - 1 - r, so that with a causal mask all ranks have the same work. Most ops
 * compute each token independently; the others declare the parts to which they expand. */
#include "engine/parallel/positions.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>

gboolean
lig_positions_shard (LigRequest *request, GError **error)
{
  int ranks = lig_device_get_n_ranks (request->device, LIG_GROUP_CONTEXT);
  LigShape *input = &request->input;
  if (ranks == 1)
    return TRUE;
  if (input->n_axes != (request->input_dtype == LIG_INT32 ? 2 : 3)) {
    g_autofree char *shape = lig_shape_to_string (input);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the input is %s %s, which has no sequence axis for context=%d to shard; "
                    "train on sequences of tokens, or shard the batch: data=%d"),
                 shape, lig_dtype_name (request->input_dtype), ranks, ranks);
    return lig_error_set_setting (error, "input");
  }
  if (input->axes[1] % (2 * ranks) != 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the length of a sequence is %" PRId64
                    ", expected a multiple of %d: two blocks on each rank of context=%d"),
                 input->axes[1], 2 * ranks, ranks);
    return lig_error_set_setting (error, "input");
  }
  input->axes[1] /= ranks;
  return TRUE;
}

/* Returns whether the user wrote a collective that gives rows of other ranks of the group, which
 * are other tokens, to the ops after it, which do not know their positions. An all-reduce is
 * accepted, because it keeps the number of rows. */
static gboolean
mixes_positions (const LigPart *part)
{
  g_autofree char *group = NULL;
  if (!(part->plan.info->flags & LIG_OP_MOVES_ROWS) || part->plan.op != part->plan.written)
    return FALSE;
  g_object_get (part->plan.op, "group", &group, NULL);
  return g_str_equal (group, lig_rank_group_name (LIG_GROUP_CONTEXT));
}

gboolean
lig_positions_check (const LigPart *part, const LigInfer *infer, GError **error)
{
  unsigned flags = part->plan.info->flags, kinds = part->plan.info->shardings;
  gboolean fits =
    part->plan.implicit ||
    flags & (LIG_OP_TRANSPARENT | LIG_OP_ACTIVATION | LIG_OP_GATED | LIG_OP_LOADS_BRANCH) ||
    kinds & (LIG_COMPUTES_POSITIONS | LIG_COMPUTES_ROWS | LIG_COMPUTES_ANY);
  int ranks = infer->n_ranks[LIG_GROUP_CONTEXT];
  if (ranks == 1 || (fits && !mixes_positions (part)))
    return TRUE;
  if (fits)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("group=context exchanges rows of other tokens (context=%d), whose "
                    "positions later ops do not know; give group=data or group=tensor"),
                 ranks);
  else
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("it may compute across tokens, which are sharded with context=%d; remove the op, or "
         "shard the batch: data=%d"),
      ranks, ranks);
  return FALSE;
}

gboolean
lig_positions_parts (const LigGraph *graph, LigOp *op)
{
  return lig_device_get_n_ranks (graph->request->device, LIG_GROUP_CONTEXT) > 1 &&
         lig_op_get_info (op)->expand_positions;
}
