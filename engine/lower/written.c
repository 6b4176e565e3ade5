/* SPDX-License-Identifier: MIT */
/* Checks that the kernels of a fused group write the values that other ops read. */
#include "engine/graph/gradients.h"
#include "engine/graph/op.h"
#include "engine/graph/value.h"
#include "engine/lower/lower.h"
#include "engine/quantize/calibrate.h"
#include "engine/quantize/quantizers.h"

/* Returns whether no step writes this value of the group, which is read outside it and is not an
 * alias of a value from outside. */
static gboolean
is_unwritten (const LigLowering *self, int value, guint first_step)
{
  const LigPlanGroup *group = self->group;
  int root = lig_graph_root (self->graph, value);
  if (root < 0)
    return FALSE;
  const LigPlanValue *of = lig_value (self->graph, root);
  gboolean computed = of->role == LIG_VALUE_COMPUTED || of->role == LIG_VALUE_GRADIENT ||
                      of->role == LIG_VALUE_PARAMETER_GRADIENT;
  /* A shared parameter's gradient is written by each group that contributes to it. */
  gboolean shared = of->role == LIG_VALUE_PARAMETER_GRADIENT;
  if (!computed || (!shared && (of->op < group->first || of->op >= group->first + group->count)))
    return FALSE;
  for (guint i = first_step; i < self->steps->len; i++) {
    const LigGraphStep *step = &g_array_index (self->steps, LigGraphStep, i);
    for (int j = step->plan.n_inputs; j < step->plan.n_operands; j++)
      if (step->values[j] >= 0 && lig_graph_root (self->graph, step->values[j]) == root)
        return FALSE;
  }
  return TRUE;
}

/* Finds an unwritten copy of a port of a part `quantize`. */
static int
find_unwritten_form (const LigLowering *self,
                     const LigPart *part,
                     const char *port,
                     guint first_step)
{
  const LigQuantizer *quantizer = lig_port_quantizer (self->graph, part, port);
  if (!quantizer || lig_part_is_matmul (part))
    return -1;
  const int values[] = {quantizer->row.data, quantizer->transposed.data};
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    if (is_unwritten (self, values[i], first_step))
      return values[i];
  return -1;
}

/* Finds an unwritten operand whose amax is recorded after the group. */
static int
find_unrecorded (const LigLowering *self, LigMatmulRole role, guint first_step)
{
  const LigPlanGroup *group = self->group;
  int values[LIG_MAX_CALIBRATED];
  for (guint i = 0; i < self->graph->calibrations->len; i++) {
    const LigCalibration *of = &g_array_index (self->graph->calibrations, LigCalibration, i);
    if (of->role != role || of->part < group->first || of->part >= group->first + group->count)
      continue;
    int count = lig_calibration_list (self->graph, of, values), written = 0;
    while (written < count && is_unwritten (self, values[written], first_step))
      written++;
    if (written == count)
      return of->of;
  }
  return -1;
}

static int
find_unwritten (const LigLowering *self, guint first_step)
{
  const LigPlanGroup *group = self->group;
  gboolean joint = group->fusion->pass == LIG_PASS_JOINT;
  int unrecorded = find_unrecorded (self, LIG_ROLE_INPUT, first_step);
  if (unrecorded >= 0)
    return unrecorded;
  for (int i = group->first; i < group->first + group->count; i++) {
    const LigPart *part = lig_part (self->graph, i);
    const LigPlanValue *y = lig_value (self->graph, part->y);
    gboolean last =
      i == group->first + group->count - 1 && !lig_part_hides (part, LIG_PASS_FORWARD);
    int form = find_unwritten_form (self, part, "y", first_step);
    if (form >= 0)
      return form;
    gboolean counted = lig_accuracy_reads (self->graph, part->y);
    if ((last || counted || y->kept_to_end || (y->saved && !joint)) &&
        is_unwritten (self, part->y, first_step))
      return part->y;
    for (int j = 0; j < part->n_outputs; j++)
      if ((lig_leaves_group (group, part, j) ||
           (lig_value (self->graph, part->extra_outputs[j])->saved && !joint)) &&
          is_unwritten (self, part->extra_outputs[j], first_step))
        return part->extra_outputs[j];
    for (int j = 0; j < part->n_kept && !joint; j++)
      if (lig_value (self->graph, part->kept[j])->saved &&
          is_unwritten (self, part->kept[j], first_step))
        return part->kept[j];
  }
  return -1;
}

/* Finds an unwritten gradient that other ops need: of the group's input, extra inputs or
 * parameters. */
static int
find_unwritten_gradient (const LigLowering *self, guint first_step)
{
  const LigPlanGroup *group = self->group;
  int dx = lig_part (self->graph, group->first)->dx;
  int form = find_unwritten_form (self, lig_part (self->graph, group->first), "dx", first_step);
  if (form < 0)
    form = find_unrecorded (self, LIG_ROLE_GRADIENT, first_step);
  if (form >= 0)
    return form;
  if (!lig_part_hides (lig_part (self->graph, group->first), LIG_PASS_BACKWARD) &&
      is_unwritten (self, dx, first_step))
    return dx;
  for (int i = group->first; i < group->first + group->count; i++) {
    const LigPart *part = lig_part (self->graph, i);
    /* A gradient that passes through a channel to an op of the group stays inside. */
    for (int j = 0; j < part->n_inputs; j++)
      if (part->input_parts[j] < group->first &&
          is_unwritten (self, part->extra_gradients[j], first_step))
        return part->extra_gradients[j];
    for (int j = 0; j < part->n_parameters; j++) {
      int gradient = part->frozen ? -1 : lig_value (self->graph, part->parameters[j])->gradient;
      if (is_unwritten (self, gradient, first_step))
        return gradient;
    }
  }
  return -1;
}

int
lig_find_unwritten (const LigLowering *self, guint first_step)
{
  return self->backward ? find_unwritten_gradient (self, first_step)
                        : find_unwritten (self, first_step);
}

static gboolean
is_inside (const LigGraph *graph, const LigPlanGroup *group, int value)
{
  int part = lig_value (graph, value)->op;
  return part >= group->first && part < group->first + group->count;
}

gboolean
lig_sum_is_inside (const LigGraph *graph, const LigPlanGroup *group, const LigSum *sum)
{
  for (guint i = 0; i < sum->contributions->len; i++)
    if (!is_inside (graph, group, g_array_index (sum->contributions, int, i)))
      return FALSE;
  return TRUE;
}

const LigPart *
lig_find_split_sum (const LigGraph *graph,
                    const LigPlanGroup *group,
                    int *slot,
                    gboolean *by_caller)
{
  for (int i = group->first; i < group->first + group->count; i++) {
    const LigPart *part = lig_part (graph, i);
    for (int j = 0; j < part->n_outputs; j++) {
      if (part->sums[j] < 0)
        continue;
      const LigSum *sum = &g_array_index (graph->gradients->sums, LigSum, part->sums[j]);
      guint inside = 0;
      for (guint n = 0; n < sum->contributions->len; n++)
        inside += is_inside (graph, group, g_array_index (sum->contributions, int, n));
      *slot = j;
      /* The caller's contribution is the last one. */
      *by_caller = part->to_caller[j] && inside + 1 == sum->contributions->len &&
                   !is_inside (graph, group, g_array_index (sum->contributions, int, (int) inside));
      if (inside > 0 && inside < sum->contributions->len)
        return part;
    }
  }
  return NULL;
}
