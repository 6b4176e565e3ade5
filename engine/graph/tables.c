/* SPDX-License-Identifier: MIT */
/* Functions shared by the tables of a graph and of a plan. */
#include "engine/graph/tables.h"

#include <ligature/kernels.h>
#include <ligature/params-collective.h>

#include <math.h>

const char *
lig_place_name (LigPlace place)
{
  static const char *const names[] = {"unused", "arena", "alias", "state", "host", "cache"};
  return (guint) place < G_N_ELEMENTS (names) ? names[place] : "";
}

const LigPlanPort *
lig_plan_op_get_port (const LigPlanOp *self, LigPortKind kind, int slot)
{
  g_return_val_if_fail (self, NULL);
  for (int i = 0; i < self->n_ports && slot >= 0; i++)
    if (self->ports[i].kind == kind && slot-- == 0)
      return &self->ports[i];
  return NULL;
}

const LigPlanPort *
lig_plan_op_get_watched (const LigPlanOp *self, const char *name)
{
  g_return_val_if_fail (self && name, NULL);
  const LigPlanPort *port;
  if (!self->info->watches)
    return NULL;
  g_auto (GStrv) words = g_strsplit (self->info->watches, " ", -1);
  if (!g_strv_contains ((const char *const *) words, name))
    return NULL;
  for (int i = 0; (port = lig_plan_op_get_port (self, LIG_PORT_KEPT, i)); i++)
    if (g_str_equal (port->name, name))
      return port;
  return NULL;
}

gboolean
lig_plan_step_is_collective (const LigPlanStep *step)
{
  return step->kernel && step->kernel->collective > 0;
}

LigRankGroup
lig_code_group (const LigKernel *kernel, const LigStepCode *code)
{
  const LigCollectiveParams *params = (const LigCollectiveParams *) (gconstpointer) code->params;
  return kernel && lig_kernel_is_collective (kernel) && code->params_size > 0
           ? (LigRankGroup) params->group
           : LIG_N_GROUPS;
}

double
lig_plan_group_get_predicted (const LigPlanGroup *self)
{
  g_return_val_if_fail (self, NAN);
  return self->predicted > 0 || self->n_steps == 0 ? self->predicted : NAN;
}

double
lig_plan_step_get_predicted (const LigPlanStep *self)
{
  g_return_val_if_fail (self, NAN);
  return self->predicted > 0 ? self->predicted : NAN;
}

int
lig_values_root (const GArray *values, int value)
{
  while (value >= 0 && g_array_index (values, LigPlanValue, value).alias >= 0)
    value = g_array_index (values, LigPlanValue, value).alias;
  return value;
}

LigOperand
lig_value_operand (const LigPlanValue *value)
{
  if (!value)
    return (LigOperand){NULL, 0, 1, LIG_FP32};
  /* Rows can be counted in any operand, even if its only axis is empty. */
  return (LigOperand){NULL, lig_shape_size (&value->shape),
                      MAX (lig_shape_columns (&value->shape), 1), value->dtype};
}
