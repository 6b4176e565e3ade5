/* SPDX-License-Identifier: MIT */
/* The parts of values and parameters that the ranks of a tensor group have: checks that each op can
 * compute with the part of its input, and finds the gradients that are sums over the ranks. */
#include "engine/compile/sharding.h"
#include "engine/compile/lower.h"
#include "engine/compile/vocabulary.h"

#include <ligature/kernels.h>
#include <ligature/lowering.h>
#include <ligature/params-collective.h>

#include <glib/gi18n-lib.h>
#include <string.h>

void
lig_sharding_prepare (const LigDraft *draft, const LigPart *part, LigInfer *infer)
{
  for (LigRankGroup group = 0; group < LIG_GROUP_ALL; group++)
    infer->n_ranks[group] = lig_device_get_n_ranks (draft->device, group);
  for (LigRankGroup group = 0; group < LIG_GROUP_ALL; group++)
    infer->places[group] = lig_device_get_rank (draft->device, group);
  infer->rank = infer->places[LIG_GROUP_TENSOR];
  infer->divides_vocabulary = lig_vocabulary_is_divided (draft, part->op);
  infer->x_sharding = infer->y_sharding = lig_value (draft, part->x)->sharding;
  for (int i = 0; i < LIG_MAX_PARAMETERS; i++)
    infer->parameter_shardings[i].axis = -1;
  for (int i = 0; i < part->n_inputs; i++)
    if (part->input_parts[i] >= 0) {
      const LigPart *producer = lig_part (draft, part->input_parts[i]);
      infer->extra_shardings[i] =
        lig_value (draft, producer->extra_outputs[part->input_slots[i]])->sharding;
    }
  if (lig_part_recalls (part))
    infer->y_sharding = infer->extra_shardings[0];
}

/* Returns the parts of inputs with which the op computes, as bits of LigShardingKind. */
static unsigned
find_kinds (const LigPart *part)
{
  unsigned flags = part->info->flags;
  if (part->implicit || flags & LIG_OP_TRANSPARENT)
    return ~0u;
  if (flags & (LIG_OP_ACTIVATION | LIG_OP_GATED))
    return LIG_COMPUTES_ROWS | LIG_COMPUTES_COLUMNS;
  return part->info->shardings;
}

static gboolean
refuse (const LigInfer *infer, LigShardingKind kind, GError **error)
{
  static const char *const sentences[] = {
    [LIG_SHARDING_NONE] = N_ ("its input is whole on each rank (tensor=%d), expected a part; put "
                              "take-part before it for some of the rows, or linear with "
                              "parallel=column for some of the columns"),
    [LIG_SHARDING_ROWS] = N_ ("its input is divided by rows among the ranks (tensor=%d); put "
                              "all-gather (gradient=part) before it"),
    [LIG_SHARDING_COLUMNS] = N_ ("its input is divided by columns among the ranks (tensor=%d); put "
                                 "linear with parallel=row before it"),
    [LIG_SHARDING_PARTIAL] = N_ ("its input is one term of a sum over the ranks (tensor=%d); put "
                                 "all-reduce before it"),
    [LIG_SHARDING_SHARED] =
      N_ ("its input is for products that divide their columns among the "
          "ranks (tensor=%d); set parallel=column, or before it gradient=part "
          "in all-gather, or omit all-reduce (of=gradient)"),
  };
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ (sentences[kind]),
               infer->n_ranks[LIG_GROUP_TENSOR]);
  return FALSE;
}

gboolean
lig_infer_refuse_sharding (const LigInfer *infer, GError **error)
{
  return refuse (infer, infer->x_sharding.kind, error);
}

/* Other inputs are divided as the main one. Numbers by row, such as lengths, are whole on ranks
 * that have all rows. */
static gboolean
check_extras (const LigPart *part, const LigInfer *infer, GError **error)
{
  for (int i = 0; i < part->n_inputs; i++) {
    LigShardingKind kind = infer->extra_shardings[i].kind;
    gboolean whole = kind == LIG_SHARDING_NONE && infer->x_sharding.kind == LIG_SHARDING_COLUMNS &&
                     !lig_dtype_is_floating (infer->extra_input_dtypes[i]);
    if (!part->present[i] || whole || kind == infer->x_sharding.kind || lig_part_recalls (part))
      continue;
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("its input and %s are divided in different ways among the ranks (tensor=%d); give "
         "both the same parallel"),
      part->ports->extra_inputs->ports[i].name, infer->n_ranks[LIG_GROUP_TENSOR]);
    return FALSE;
  }
  return TRUE;
}

gboolean
lig_sharding_check (const LigPart *part, const LigInfer *infer, GError **error)
{
  LigShardingKind kind = infer->x_sharding.kind;
  unsigned kinds = find_kinds (part);
  if (infer->n_ranks[LIG_GROUP_TENSOR] == 1 ||
      (kinds & ~(unsigned) LIG_COMPUTES_POSITIONS) == LIG_COMPUTES_ANY)
    return TRUE;
  if (kind != LIG_SHARDING_NONE && !(kinds >> kind & 1) && !lig_part_recalls (part))
    return refuse (infer, kind, error);
  return check_extras (part, infer, error);
}

void
lig_sharding_parameter (LigTie *parameter, const LigInfer *infer)
{
  LigShardingKind kind = infer->x_sharding.kind;
  parameter->sharding = infer->parameter_shardings[parameter->slot];
  parameter->summed =
    parameter->sharding.axis < 0 && (kind == LIG_SHARDING_ROWS || kind == LIG_SHARDING_COLUMNS);
}

LigShape
lig_sharding_whole (const LigTie *parameter)
{
  const LigSections *sections = &parameter->sharding.sections;
  LigShape whole = parameter->shape;
  if (parameter->sharding.axis < 0)
    return whole;
  gint64 *length = &whole.axes[parameter->sharding.axis];
  *length = 0;
  for (int i = 0; i < sections->count; i++)
    *length += sections->lengths[i];
  return whole;
}

gboolean
lig_sharding_same (const LigTie *tie, const LigDraftParameter *parameter)
{
  const LigParameterSharding *a = &tie->sharding, *b = &parameter->sharding;
  gboolean same = tie->summed == parameter->summed && a->axis == b->axis;
  if (!same || a->axis < 0)
    return same;
  same = a->sections.count == b->sections.count;
  for (int i = 0; i < a->sections.count && same; i++)
    same = a->sections.lengths[i] == b->sections.lengths[i];
  return same;
}

/* Returns the number of the parameter of a part's port, or of a copy of it; -1 for other ports. */
static int
find_parameter (const LigDraft *draft, const LigPart *part, const char *name)
{
  for (int i = 0; part && i < part->n_parameters; i++)
    if (g_str_equal (part->info->parameters[i].name, name) && part->parameters[i] >= 0)
      return lig_value (draft, part->parameters[i])->parameter;
  return -1;
}

int
lig_lower_count_parts (LigLowering *self, const char *port)
{
  const LigDraft *draft = self->draft;
  const char *name = port;
  int value = lig_lower_port (self, port);
  const LigPart *part = value < 0 ? NULL : lig_lower_port_part (self, &name);
  int parameter = find_parameter (draft, part, name);
  if (value < 0)
    return 1;
  LigShardingKind kind = lig_value (draft, value)->sharding.kind;
  gboolean divided =
    parameter >= 0
      ? g_array_index (draft->parameters, LigDraftParameter, parameter).sharding.axis >= 0
      : kind == LIG_SHARDING_ROWS || kind == LIG_SHARDING_COLUMNS;
  return divided ? lig_device_get_n_ranks (draft->device, LIG_GROUP_TENSOR) : 1;
}

int
lig_step_row_part (const LigDraft *draft, const LigDraftStep *step)
{
  int part = lig_device_get_rank (draft->device, LIG_GROUP_DATA);
  int tensor = lig_device_get_n_ranks (draft->device, LIG_GROUP_TENSOR);
  if (step->part < 0 || tensor == 1)
    return part;
  int x = lig_part (draft, step->part)->x;
  return lig_value (draft, x)->sharding.kind == LIG_SHARDING_ROWS
           ? part * tensor + lig_device_get_rank (draft->device, LIG_GROUP_TENSOR)
           : part;
}

LigRankGroup
lig_step_group (const LigDraftStep *step)
{
  const LigCollectiveParams *params = (const LigCollectiveParams *) (gconstpointer) step->params;
  return step->kernel && lig_kernel_exchanges (step->kernel) && step->params_size > 0
           ? (LigRankGroup) params->group
           : LIG_N_GROUPS;
}
