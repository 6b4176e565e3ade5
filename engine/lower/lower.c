/* SPDX-License-Identifier: MIT */
/* Lowers groups: names of ports become values, kernels become steps. */
#include "engine/lower/lower.h"

#include "engine/device/device-private.h"
#include "engine/graph/op.h"
#include "engine/graph/value.h"
#include "engine/lower/ports.h"
#include "engine/lower/quantized.h"
#include "engine/patterns/register.h"
#include "engine/sequence/table.h"
#include <ligature/params-collective.h>

#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>

void
lig_lower_custom (LigLowering *self,
                  const LigKernel *kernel,
                  const char *bindings,
                  const void *params,
                  gsize params_size)
{
  g_autoptr (GError) local = NULL;
  const LigKernel *own = lig_kernel_adopt (kernel, &local);
  LigBindings parsed;
  parsed.count = 0;
  lig_bindings_add (&parsed, bindings);
  if (own)
    lig_lower_emit (self, own, &parsed, params, params_size);
  else
    lig_lower_fault (self, "%s", local->message);
}

void
lig_lower_kernel (
  LigLowering *self, const char *name, const char *bindings, const void *params, gsize params_size)
{
  const LigKernel *kernel = lig_kernel_named (name);
  LigBindings parsed;
  parsed.count = 0;
  lig_bindings_add (&parsed, bindings);
  const LigPart *matmul = kernel ? lig_find_quantized (self, kernel, &parsed) : NULL;
  if (matmul)
    lig_emit_quantized (self, matmul, kernel, &parsed, params);
  else if (kernel)
    lig_lower_emit (self, kernel, &parsed, params, params_size);
  else if (!self->missing)
    self->missing = g_intern_string (name);
}

void
lig_lower_beside (LigLowering *self,
                  const char *kernel,
                  const char *bindings,
                  const void *params,
                  gsize params_size)
{
  guint first = self->steps->len;
  lig_lower_kernel (self, kernel, bindings, params, params_size);
  for (guint i = first; i < self->steps->len; i++)
    g_array_index (self->steps, LigGraphStep, i).plan.lane = LIG_LANE_COMMUNICATION;
}

gboolean
lig_lower_is_training (LigLowering *self)
{
  return self->graph->request->options.training;
}

gboolean
lig_lower_is_measured (LigLowering *self)
{
  return self->graph->request->policy == LIG_POLICY_MEASURED &&
         lig_device_has (self->graph->request->device, LIG_DEVICE_MEASURES);
}

gboolean
lig_lower_is_forced (LigLowering *self)
{
  const LigPart *first = lig_part (self->graph, self->group->first);
  return self->group->fusion &&
         g_strv_contains (lig_op_get_forced (first->plan.written), self->group->fusion->name);
}

/* Returns the number of the parameter of a part's port, or of a copy of it; -1 for other ports. */
static int
find_parameter (const LigGraph *graph, const LigPart *part, const char *name)
{
  for (int i = 0; part && i < part->n_parameters; i++)
    if (g_str_equal (part->plan.info->parameters[i].name, name) && part->parameters[i] >= 0)
      return lig_value (graph, part->parameters[i])->parameter;
  return -1;
}

int
lig_lower_count_parts (LigLowering *self, const char *port)
{
  const LigGraph *graph = self->graph;
  LigBinding of;
  lig_binding_parse (&of, port);
  int value = lig_lower_bound (self, &of);
  const LigPart *part = value < 0 ? NULL : lig_lower_port_part (self, &of);
  int parameter = find_parameter (graph, part, lig_lower_port_name (self, &of));
  if (value < 0)
    return 1;
  LigShardingKind kind = lig_value (graph, value)->sharding.kind;
  gboolean sharded = parameter >= 0 ? lig_parameter (graph, parameter)->sharding.axis >= 0
                                    : kind == LIG_SHARDING_ROWS || kind == LIG_SHARDING_COLUMNS;
  return sharded ? lig_device_get_n_ranks (graph->request->device, LIG_GROUP_TENSOR) : 1;
}

static void
lower_opaque (LigLowering *self, const LigPart *part)
{
  gboolean backward = self->backward;
  LigGraphStep step = {
    .code.opaque = backward ? part->plan.info->opaque_backward : part->plan.info->opaque_forward,
    .code.opaque_data = part->plan.info->opaque_data,
    .plan.pass = backward ? LIG_PASS_BACKWARD : LIG_PASS_FORWARD,
    .plan.group = -1,
    .plan.part = self->group->first,
    .plan.n_inputs = backward ? 3 : 1,
    .plan.n_operands = backward ? 4 : 2,
  };
  static const char *const ports[2][4] = {{"x", "y"}, {"dy", "x", "y", "dx"}};
  for (int i = 0; i < step.plan.n_operands; i++)
    step.values[i] = lig_lower_part_port (self->graph, part, ports[backward][i]);
  if (step.code.opaque && step.values[step.plan.n_operands - 1] >= 0)
    g_array_append_val (self->steps, step);
}

static void
lower_op (LigLowering *self, const LigPart *part)
{
  const LigOpInfo *info = part->plan.info;
  void (*lower) (LigLowering *) = self->update     ? info->lower_update
                                  : self->backward ? info->lower_backward
                                                   : info->lower_forward;
  char *const *names = self->backward ? part->ports->backward : part->ports->forward;
  if (self->update)
    lower (self);
  else if (info->opaque_forward)
    lower_opaque (self, part);
  else if (lower)
    lower (self);
  for (char *const *name = names; *name && !lower; name++)
    if (**name)
      lig_lower_kernel (self, *name, NULL, NULL, 0);
}

static void
finish_probe (LigLowering *self, guint first_step, LigProbe *probe)
{
  probe->missing = self->missing;
  probe->unquantized = self->unquantized;
  probe->unwritten = -1;
  if (self->group->fusion && !self->missing && !self->unquantized)
    probe->unwritten = lig_find_unwritten (self, first_step);
  for (guint i = 0; i < self->aliases->len; i++)
    lig_value (self->graph, g_array_index (self->aliases, int, i))->alias = -1;
}

gboolean
lig_lower_group (LigGraph *graph,
                 const LigPlanGroup *group,
                 LigPass pass,
                 GArray *steps,
                 LigProbe *probe,
                 GError **error)
{
  g_autoptr (GArray) aliases = g_array_new (FALSE, FALSE, sizeof (int));
  guint first_step = steps->len;
  LigLowering lowering = {
    .graph = graph,
    .group = group,
    .backward = pass == LIG_PASS_BACKWARD,
    .update = pass == LIG_PASS_UPDATE,
    .steps = steps,
    .probe = probe != NULL,
    .aliases = aliases,
  };
  if (!group->fusion)
    lower_op (&lowering, lig_part (graph, group->first));
  else if (group->fusion->pass == LIG_PASS_JOINT && lowering.backward)
    group->fusion->lower_backward (&lowering);
  else
    group->fusion->lower (&lowering);
  g_clear_pointer (&lowering.own, g_hash_table_unref);
  if (probe)
    finish_probe (&lowering, first_step, probe);
  else if (lowering.missing && !lowering.error) {
    const LigPart *part = lig_part (graph, group->first);
    lowering.error = g_error_new (LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: no kernel is called '%s'"),
                                  part->plan.title, part->plan.path, lowering.missing);
    lig_error_set_path (&lowering.error, part->plan.path);
  }
  if (!lowering.error)
    return TRUE;
  g_propagate_error (error, lowering.error);
  return FALSE;
}

/* Unmarks the values of the group that only its own ops save. */
static void
forget_inner (LigGraph *graph, const LigPlanGroup *group)
{
  int end = group->first + group->count;
  for (int i = group->first; i < end; i++) {
    const LigPart *part = lig_part (graph, i);
    if (i + 1 < end)
      lig_value (graph, part->y)->saved = FALSE;
    for (int j = 0; j < part->n_kept; j++)
      lig_value (graph, part->kept[j])->saved = FALSE;
  }
}

gboolean
lig_lower_saves (LigGraph *graph, const LigPlanGroup *group, GError **error)
{
  const LigPorts *saves = lig_ports_parse (group->fusion ? group->fusion->saves : NULL);
  LigLowering lowering = {.graph = graph, .group = group};
  if (saves->count == 0 || group->fusion->pass != LIG_PASS_JOINT)
    return TRUE;
  forget_inner (graph, group);
  for (int i = 0; i < saves->count && !lowering.error; i++) {
    int value = lig_lower_port (&lowering, saves->ports[i].name);
    if (value >= 0 && lig_value (graph, value)->role == LIG_VALUE_COMPUTED)
      lig_value (graph, value)->saved = TRUE;
  }
  if (!lowering.error)
    return TRUE;
  g_propagate_error (error, lowering.error);
  return FALSE;
}

/* --- Pieces ---------------------------------------------------------------------------------- */

/* Matmuls and collectives in pieces, so that one piece is communicated while another one is
 * computed. A piece is a value that is a part of the rows of another one, in the same memory. */

int
lig_lower_get_place (LigLowering *self, int index)
{
  const LigCollectiveParams *params = lig_lower_params (self, index);
  return params ? lig_device_get_rank (self->graph->request->device, (LigRankGroup) params->group)
                : 0;
}

/* Returns the number of rows of which a piece must be a multiple: the dimensions of quantized
 * matmuls are multiples of their recipe's blocks. */
static gint64
find_multiple (const LigGraph *graph, const LigPlanGroup *group)
{
  gint64 multiple = 1;
  for (int i = 0; i < group->count; i++) {
    const LigPart *part = lig_part (graph, group->first + i);
    if (lig_part_is_quantized (part))
      multiple = MAX (multiple, part->recipe->info->multiple);
  }
  return multiple;
}

gboolean
lig_group_can_split (const LigGraph *graph, const LigPlanGroup *group, int pieces)
{
  const LigPart *first = lig_part (graph, group->first);
  const LigPart *last = lig_part (graph, group->first + group->count - 1);
  const LigShape *x = &lig_value (graph, first->x)->shape, *y = &lig_value (graph, last->y)->shape;
  gint64 before = lig_shape_size (x) / MAX (lig_shape_columns (x), 1);
  gint64 behind = lig_shape_size (y) / MAX (lig_shape_columns (y), 1);
  return pieces > 0 && MIN (before, behind) % (pieces * find_multiple (graph, group)) == 0;
}

int
lig_group_get_given_pieces (const LigGraph *graph, const LigPlanGroup *group)
{
  const char *given = getenv ("LIGATURE_PIECES");
  guint64 pieces;
  if (!given || !g_ascii_string_to_unsigned (given, 10, 1, G_MAXINT, &pieces, NULL))
    return 0;
  int max = MAX ((int) pieces, group->fusion->min_pieces);
  return lig_group_can_split (graph, group, max) ? max : 0;
}

int
lig_group_get_pieces (const LigGraph *graph, const LigPlanGroup *group)
{
  int given = lig_group_get_given_pieces (graph, group);
  int pieces = given > 0 ? given : MAX (group->pieces, group->fusion->min_pieces);
  return lig_group_can_split (graph, group, pieces) ? pieces : 1;
}

int
lig_lower_get_pieces (LigLowering *self)
{
  return lig_group_get_pieces (self->graph, self->group);
}

gboolean
lig_lower_can_divide (LigLowering *self, const char *port, int parts)
{
  int value = lig_lower_port (self, port);
  if (value < 0 || parts < 1)
    return FALSE;
  const LigShape *shape = &lig_value (self->graph, value)->shape;
  return lig_shape_size (shape) / MAX (lig_shape_columns (shape), 1) % parts == 0;
}

gboolean
lig_lower_has_choice (LigLowering *self, int element, const char *param, const char *value)
{
  g_autofree char *present = NULL;
  if (!lig_lower_op (self, element))
    return FALSE;
  LigOp *op = lig_part (self->graph, self->group->elements[element])->plan.op;
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (op), param);
  if (!spec || G_PARAM_SPEC_VALUE_TYPE (spec) != G_TYPE_STRING)
    return FALSE;
  g_object_get (op, param, &present, NULL);
  return g_strcmp0 (present, value) == 0;
}

/* --- Means over ranks ------------------------------------------------------------------------ */

/* Losses that are means over counted rows, whose number may differ between ranks with different
 * rows. */

gboolean
lig_lower_has_replicas (LigLowering *self)
{
  LigDevice *device = self->graph->request->device;
  return self->graph->request->options.training &&
         lig_device_get_n_ranks (device, lig_device_get_replicas (device)) > 1;
}

const char *
lig_lower_own_mean (LigLowering *self)
{
  const LigShape scalar = {0};
  if (!lig_lower_has_replicas (self))
    return NULL;
  lig_lower_value (self, "mean", &scalar, LIG_FP32);
  lig_lower_value (self, "own", &scalar, LIG_FP32);
  return "y=mean count=own";
}

void
lig_lower_average (LigLowering *self, const char *bindings)
{
  LigDevice *device = self->graph->request->device;
  LigRankGroup group = lig_device_get_replicas (device);
  const LigCollectiveParams params = {lig_device_get_n_ranks (device, group), LIG_REDUCE_MEAN,
                                      (gint32) group};
  lig_lower_kernel (self, "all_reduce", bindings, &params, sizeof params);
}

void
lig_lower_join_means (LigLowering *self, const char *y, const char *count)
{
  g_autofree char *collective = g_strdup_printf ("x=own y=%s", count);
  g_autofree char *weigh = g_strdup_printf ("mean=mean own=own count=%s y=%s", count, y);
  lig_lower_average (self, collective);
  lig_lower_kernel (self, "cross_entropy_weigh", weigh, NULL, 0);
}
