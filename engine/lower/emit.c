/* SPDX-License-Identifier: MIT */
/* Emits the step of a kernel. */
#include "engine/graph/op.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"
#include "engine/lower/ports.h"
#include <ligature/kernels.h>

#include <string.h>

/* Returns whether a kernel must compute the value. A value without readers may be omitted if the
 * kernel supports that. */
static gboolean
wanted_output (const LigGraph *graph, int value)
{
  const LigPlanValue *of = lig_value (graph, value);
  if (of->role != LIG_VALUE_COMPUTED || of->saved || of->kept_to_end || of->op < 0)
    return TRUE;
  const LigPart *part = lig_part (graph, of->op);
  for (int i = 0; i < part->n_kept; i++)
    if (part->kept[i] == value)
      return FALSE;
  return TRUE;
}

/* Returns whether anything outside the group reads the value or an alias of it. */
static gboolean
read_outside (const LigLowering *self, int value)
{
  const LigPlanGroup *group = self->group;
  for (int i = group->first; i < group->first + group->count; i++) {
    const LigPart *part = lig_part (self->graph, i);
    const LigPlanValue *y = lig_value (self->graph, part->y);
    gboolean last =
      i == group->first + group->count - 1 && !lig_part_hides (part, LIG_PASS_FORWARD);
    if (lig_graph_root (self->graph, part->y) == value && (y->saved || y->kept_to_end || last))
      return TRUE;
    for (int j = 0; j < part->n_outputs; j++)
      if (lig_graph_root (self->graph, part->extra_outputs[j]) == value &&
          lig_leaves_group (group, part, j))
        return TRUE;
  }
  return FALSE;
}

/* Returns whether the value is between the ops of a fused group and has no reader outside it, so
 * that it need not be written. */
static gboolean
inner_and_unread (const LigLowering *self, int value)
{
  const LigPlanGroup *group = self->group;
  const LigPlanValue *of = lig_value (self->graph, value);
  return group->fusion && !self->backward && of->role == LIG_VALUE_COMPUTED &&
         of->op >= group->first && of->op < group->first + group->count &&
         value == lig_part (self->graph, of->op)->y &&
         !read_outside (self, lig_graph_root (self->graph, value));
}

/* Copies the params into the step: the given ones, else the op's own. */
static gboolean
take_params (LigLowering *self, LigGraphStep *step, const void *params, gsize size)
{
  const LigPart *first = lig_part (self->graph, self->group->first);
  if (!params && !self->group->fusion && first->plan.info->kernel_params_size > 0) {
    params = first->params;
    size = first->plan.info->kernel_params_size;
  }
  if (params && size > sizeof step->code.params) {
    lig_lower_fault (
      self, "kernel %s is given %" G_GSIZE_FORMAT " bytes of parameters, at most %d are allowed",
      step->plan.kernel->name, size, (int) sizeof step->code.params);
    return FALSE;
  }
  if (params)
    memcpy (step->code.params, params, step->code.params_size = size);
  return TRUE;
}

void
lig_lower_emit (LigLowering *self,
                const LigKernel *kernel,
                const LigBindings *bindings,
                const void *params,
                gsize params_size)
{
  LigBinding port;
  gboolean any = FALSE;
  LigGraphStep step = {
    .plan.kernel = kernel,
    .ports = lig_ports_parse (kernel->signature),
    .plan.pass = self->update     ? LIG_PASS_UPDATE
                 : self->backward ? LIG_PASS_BACKWARD
                                  : LIG_PASS_FORWARD,
    .plan.group = -1,
    /* Steps of the update belong to no op. */
    .plan.part = self->update ? -1 : self->group->first,
    .plan.awaits = -1,
  };
  step.plan.n_operands = step.ports->count;
  step.plan.n_inputs = step.ports->n_inputs;
  for (int i = 0; i < step.plan.n_operands; i++) {
    lig_bindings_find (bindings, step.ports->ports[i].name, &port);
    int value = lig_lower_bound (self, &port);
    gboolean output = i >= step.plan.n_inputs;
    if (output && value >= 0 && !self->keeps &&
        (!wanted_output (self->graph, value) || inner_and_unread (self, value)))
      value = -1;
    step.values[i] = value;
    if (!self->probe)
      step.bound[i] = g_string_chunk_insert_const (self->graph->strings, port.text);
    any |= output && value >= 0;
  }
  if (!take_params (self, &step, params, params_size) || !any)
    return;
  lig_step_finish (self->graph, &step);
  g_array_append_val (self->steps, step);
}
