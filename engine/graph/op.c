/* SPDX-License-Identifier: MIT */
/* Properties of an op of a graph. */
#include "engine/graph/op.h"

#include <glib/gi18n-lib.h>

gboolean
lig_part_is_matmul (const LigPart *part)
{
  return part->plan.info->flags & (LIG_OP_MATMUL | LIG_OP_GROUPED);
}

gboolean
lig_part_is_quantized (const LigPart *part)
{
  return part->recipe && lig_part_is_matmul (part) && !part->plan.unquantized && !part->calibrating;
}

gboolean
lig_part_rejects_recipe (const LigPart *part)
{
  return part->recipe && part->plan.info->flags & LIG_OP_GROUPED &&
         (part->recipe->info->has_history || part->recipe->info->described);
}

gboolean
lig_part_is_transparent (const LigPart *part, LigPass pass)
{
  if (part->plan.info->flags & LIG_OP_TRANSPARENT)
    return TRUE;
  if (!part->plan.implicit)
    return FALSE;
  gboolean forward = part->quantizes[LIG_PASS_FORWARD] >= 0;
  gboolean backward = part->quantizes[LIG_PASS_BACKWARD] >= 0;
  return pass == LIG_PASS_FORWARD    ? !forward
         : pass == LIG_PASS_BACKWARD ? !backward
                                     : !forward && !backward;
}

int
lig_part_gradient (const LigGraph *graph, int index)
{
  const LigPart *next = index + 1 < (int) graph->parts->len ? lig_part (graph, index + 1) : NULL;
  if (next && lig_part_hides (next, LIG_PASS_BACKWARD))
    return lig_value (graph, next->y)->gradient;
  return lig_value (graph, lig_part (graph, index)->y)->gradient;
}

gboolean
lig_part_trains (const LigGraph *graph, const LigPart *part, int slot)
{
  int value = part->parameters[slot];
  return !part->frozen && value >= 0 &&
         lig_parameter (graph, (guint) lig_value (graph, value)->parameter)->trained;
}

gboolean
lig_branch_is_used (const LigPart *part)
{
  for (int i = 0; i < part->n_outputs; i++)
    if (part->consumed[i] || part->to_caller[i])
      return TRUE;
  return FALSE;
}

/* Returns whether the plan counts the rows whose largest logit is the target. */
gboolean
lig_counts_accuracy (const LigGraph *graph)
{
  const LigPart *last = lig_part (graph, graph->parts->len - 1);
  return graph->request->options.accuracy && last->plan.info->flags & LIG_OP_CLASSES;
}

gboolean
lig_accuracy_reads (const LigGraph *graph, int value)
{
  return lig_counts_accuracy (graph) && lig_part (graph, graph->parts->len - 1)->x == value;
}

gboolean
lig_leaves_group (const LigPlanGroup *group, const LigPart *part, int slot)
{
  return part->to_caller[slot] ||
         (part->consumed[slot] && part->last_reader[slot] >= group->first + group->count);
}

const char *
lig_plan_op_get_part (const LigPlanOp *op)
{
  gsize length = strlen (op->path);
  return strncmp (op->prefix, op->path, length) == 0 && op->prefix[length] == '.'
           ? op->prefix + length + 1
           : NULL;
}

static LigPositions
find_positions (const LigPlanOp *op,
                const void *params,
                const LigShape *x,
                const LigShape *y,
                const char **reason)
{
  enum { POINTWISE = LIG_OP_TRANSPARENT | LIG_OP_ACTIVATION | LIG_OP_GATED | LIG_OP_LOADS_BRANCH };
  enum { BY_ROWS = LIG_COMPUTES_POSITIONS | LIG_COMPUTES_ROWS | LIG_COMPUTES_ANY };
  if (op->info->positions)
    return op->info->positions (params, x, y, reason);
  if (op->implicit || op->info->flags & POINTWISE || op->info->shardings & BY_ROWS)
    return LIG_POSITIONS_EACH;
  *reason = N_ ("it may mix positions");
  return LIG_POSITIONS_ALL;
}

LigPositions
lig_part_positions (const LigPart *part, const LigShape *x, const LigShape *y, const char **reason)
{
  return find_positions (&part->plan, part->params, x, y, reason);
}

LigPositions
lig_plan_op_positions (const LigPlanOp *op, const char **reason)
{
  return find_positions (op, op->params, &op->x, &op->y, reason);
}
