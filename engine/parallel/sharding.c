/* SPDX-License-Identifier: MIT */
/* The sharding of values and parameters over a tensor-parallel group: checks that each op can
 * compute with the sharding of its input, and finds the gradients that are summed over the
 * ranks. */
#include "engine/parallel/sharding.h"

#include "engine/parallel/vocabulary.h"
#include <ligature/params-collective.h>
#include <ligature/sharding.h>

#include <glib/gi18n-lib.h>
#include <string.h>

void
lig_sharding_prepare (const LigGraph *graph, const LigPart *part, LigInfer *infer)
{
  for (LigRankGroup group = 0; group < LIG_GROUP_ALL; group++)
    infer->n_ranks[group] = lig_device_get_n_ranks (graph->request->device, group);
  for (LigRankGroup group = 0; group < LIG_GROUP_ALL; group++)
    infer->places[group] = lig_device_get_rank (graph->request->device, group);
  infer->rank = infer->places[LIG_GROUP_TENSOR];
  infer->expert_ranks = lig_device_get_n_ranks (graph->request->device, LIG_GROUP_EXPERT);
  infer->shards_vocabulary = lig_vocabulary_is_sharded (graph, part->plan.op);
  infer->x_sharding = infer->y_sharding = lig_value (graph, part->x)->sharding;
  for (int i = 0; i < LIG_MAX_PARAMETERS; i++)
    infer->parameter_shardings[i].axis = -1;
  for (int i = 0; i < part->n_inputs; i++)
    if (part->input_parts[i] >= 0) {
      const LigPart *producer = lig_part (graph, part->input_parts[i]);
      infer->extra_shardings[i] =
        lig_value (graph, producer->extra_outputs[part->input_slots[i]])->sharding;
    }
  if (lig_part_loads_branch (part))
    infer->y_sharding = infer->extra_shardings[0];
}

/* Returns the shardings of inputs that the op supports, as bits of LigShardingKind. */
static unsigned
find_kinds (const LigPart *part)
{
  unsigned flags = part->plan.info->flags;
  if (part->plan.implicit || flags & LIG_OP_TRANSPARENT)
    return ~0u;
  if (flags & (LIG_OP_ACTIVATION | LIG_OP_GATED))
    return LIG_COMPUTES_ROWS | LIG_COMPUTES_COLUMNS;
  return part->plan.info->shardings;
}

static gboolean
reject (const LigInfer *infer, LigShardingKind kind, GError **error)
{
  static const char *const sentences[] = {
    [LIG_SHARDING_NONE] = N_ ("its input is not sharded (tensor=%d), but must be; put "
                              "shard-rows before it to shard the rows, or linear with "
                              "parallel=column to shard the columns"),
    [LIG_SHARDING_ROWS] = N_ ("its input is sharded by rows (tensor=%d); put all-gather "
                              "(gradient=part) before it"),
    [LIG_SHARDING_COLUMNS] = N_ ("its input is sharded by columns (tensor=%d); put linear with "
                                 "parallel=row before it"),
    [LIG_SHARDING_PARTIAL] = N_ ("its input is one term of a sum over the ranks (tensor=%d); "
                                 "put all-reduce before it"),
    [LIG_SHARDING_SHARED] =
      N_ ("its input is for column-parallel matmuls (tensor=%d); set parallel=column, or "
          "before it gradient=part in all-gather, or omit all-reduce (of=gradient)"),
    [LIG_SHARDING_EXPERTS] = N_ ("its input has the rows of all expert ranks (expert=%d), of which "
                                 "it may mix several; put combine before it"),
  };
  int ranks = kind == LIG_SHARDING_EXPERTS ? infer->expert_ranks : infer->n_ranks[LIG_GROUP_TENSOR];
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ (sentences[kind]), ranks);
  return FALSE;
}

gboolean
lig_infer_reject_sharding (const LigInfer *infer, GError **error)
{
  return reject (infer, infer->x_sharding.kind, error);
}

/* Other inputs have the sharding of the main one. Numbers by row, such as lengths, are unsharded on
 * ranks that have all rows. */
static gboolean
check_extras (const LigPart *part, const LigInfer *infer, GError **error)
{
  for (int i = 0; i < part->n_inputs; i++) {
    LigShardingKind kind = infer->extra_shardings[i].kind;
    gboolean whole = kind == LIG_SHARDING_NONE && infer->x_sharding.kind == LIG_SHARDING_COLUMNS &&
                     !lig_dtype_is_floating (infer->extra_input_dtypes[i]);
    if (!part->present[i] || whole || kind == infer->x_sharding.kind ||
        lig_part_loads_branch (part))
      continue;
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("its input and %s are sharded differently (tensor=%d); give both the same parallel"),
      part->ports->extra_inputs->ports[i].name, infer->n_ranks[LIG_GROUP_TENSOR]);
    return FALSE;
  }
  return TRUE;
}

/* Checks that an op after dispatch can compute with rows of all expert ranks, each of them
 * separately, and that all of its inputs have these rows. */
static gboolean
check_expert_rows (const LigPart *part, const LigInfer *infer, GError **error)
{
  unsigned kinds = find_kinds (part);
  gboolean apart = infer->x_sharding.kind == LIG_SHARDING_EXPERTS;
  for (int i = 0; i < part->n_inputs && !lig_part_loads_branch (part); i++)
    if (part->input_parts[i] >= 0 &&
        (infer->extra_shardings[i].kind == LIG_SHARDING_EXPERTS) != apart) {
      g_set_error (
        error, LIG_ERROR, LIG_ERROR_SHAPE,
        _ ("one of its input and %s has the rows of all expert ranks (expert=%d); connect both "
           "before dispatch, or both after it"),
        part->ports->extra_inputs->ports[i].name, infer->expert_ranks);
      return FALSE;
    }
  if (!apart)
    return TRUE;
  return (kinds >> LIG_SHARDING_ROWS & 1) || lig_part_loads_branch (part) ||
         reject (infer, LIG_SHARDING_EXPERTS, error);
}

gboolean
lig_sharding_check (const LigPart *part, const LigInfer *infer, GError **error)
{
  LigShardingKind kind = infer->x_sharding.kind;
  unsigned kinds = find_kinds (part);
  if (infer->expert_ranks > 1)
    return check_expert_rows (part, infer, error);
  if (infer->n_ranks[LIG_GROUP_TENSOR] == 1 ||
      (kinds & ~(unsigned) LIG_COMPUTES_POSITIONS) == LIG_COMPUTES_ANY)
    return TRUE;
  if (kind != LIG_SHARDING_NONE && !(kinds >> kind & 1) && !lig_part_loads_branch (part))
    return reject (infer, kind, error);
  return check_extras (part, infer, error);
}

void
lig_sharding_parameter (LigTie *parameter, const LigInfer *infer)
{
  LigShardingKind kind = infer->x_sharding.kind;
  parameter->sharding = infer->parameter_shardings[parameter->slot];
  if (parameter->sharding.group != LIG_GROUP_EXPERT)
    parameter->sharding.group = LIG_GROUP_TENSOR;
  parameter->summed =
    parameter->sharding.axis < 0 && (kind == LIG_SHARDING_ROWS || kind == LIG_SHARDING_COLUMNS);
}
