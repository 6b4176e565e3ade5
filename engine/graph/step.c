/* SPDX-License-Identifier: MIT */
/* Single steps: creating one from a kernel and values, and its properties, whether it is in a
 * graph, in a probe or in a list that is timed. */
#include "engine/graph/step.h"

#include "engine/device/device-private.h"
#include "engine/graph/value.h"
#include <ligature/kernels.h>

#include <string.h>

/* Marks a step over no rows as empty: it computes nothing, and its sums over rows become zero. */
static void
find_empty (LigGraph *graph, LigGraphStep *step, const LigOperand *operands)
{
  for (int i = 0; i < step->plan.n_operands; i++) {
    if (step->values[i] < 0)
      continue;
    if (operands[i].size == 0)
      step->code.empty = TRUE;
    else if (i >= step->plan.n_inputs)
      step->code.zeroed |= 1u << i;
    if (lig_value (graph, step->values[i])->role == LIG_VALUE_PARAMETER_GRADIENT)
      step->code.added |= 1u << i;
  }
}

/* Returns the bytes of scratch memory that the step's kernel needs on the graph's device. */
static gint64
count_scratch (LigGraph *graph, const LigGraphStep *step, const LigOperand *operands)
{
  const LigLaunch launch = {.operands = operands,
                            .params = step->code.params_size > 0 ? step->code.params : NULL,
                            .tf32 = graph->request->options.tf32,
                            .nondeterministic = graph->request->options.nondeterministic};
  gint64 bytes = lig_device_count_scratch (graph->request->device, step->plan.kernel, &launch);
  return step->code.empty ? 0 : MAX (bytes, 0);
}

void
lig_step_finish (LigGraph *graph, LigGraphStep *step)
{
  LigOperand operands[LIG_MAX_OPERANDS];
  for (int i = 0; i < step->plan.n_operands; i++)
    operands[i] = lig_graph_operand (graph, step->values[i]);
  if (!step->plan.kernel)
    return;
  find_empty (graph, step, operands);
  lig_kernel_bytes (step->plan.kernel, operands, &step->plan.read, &step->plan.written);
  step->plan.flops = lig_kernel_flops (step->plan.kernel, operands,
                                       step->code.params_size > 0 ? step->code.params : NULL);
  if (step->code.empty)
    step->plan.read = step->plan.flops = 0;
  step->scratch_bytes = count_scratch (graph, step, operands);
}

void
lig_step_append (LigGraph *graph,
                 GArray *steps,
                 LigPass pass,
                 int part,
                 const char *name,
                 const int *values,
                 const void *params,
                 gsize params_size)
{
  const LigKernel *kernel = lig_kernel_find (name);
  const LigPorts *ports = lig_ports_parse (kernel->signature);
  LigGraphStep step = {
    .plan.kernel = kernel,
    .ports = ports,
    .plan.pass = pass,
    .plan.group = -1,
    .plan.part = part,
    .plan.awaits = -1,
    .plan.n_operands = ports->count,
    .plan.n_inputs = ports->n_inputs,
  };
  memcpy (step.values, values, (gsize) step.plan.n_operands * sizeof *values);
  if (params)
    memcpy (step.code.params, params, step.code.params_size = params_size);
  lig_step_finish (graph, &step);
  g_array_append_val (steps, step);
}

void
lig_step_add_scratch (LigGraph *graph, LigGraphStep *step)
{
  LigShape shape;
  step->code.scratch = 0;
  if (step->scratch_bytes == 0)
    return;
  lig_shape_init (&shape, 1, (MIN (step->scratch_bytes, G_MAXINT64 / 4) + 3) / 4);
  const char *kernel = step->plan.kernel->name;
  step->code.scratch =
    step->plan.part < 0
      ? lig_graph_add_value (graph, LIG_VALUE_COMPUTED, &shape, LIG_FP32, -1, "%s.scratch", kernel)
      : lig_graph_add_value (graph, LIG_VALUE_COMPUTED, &shape, LIG_FP32, step->plan.part,
                             "#%d.%s.scratch", step->plan.part, kernel);
}

LigDtype
lig_served_dtype (const LigGraph *graph, const LigGraphStep *step)
{
  for (int i = 0; i < step->plan.n_operands; i++)
    if (step->values[i] >= 0 && lig_dtype_is_floating (lig_value (graph, step->values[i])->dtype))
      return lig_value (graph, step->values[i])->dtype;
  return graph->request->compute;
}

int
lig_step_row_part (const LigGraph *graph, const LigGraphStep *step)
{
  int part = lig_device_get_rank (graph->request->device, LIG_GROUP_DATA);
  int tensor = lig_device_get_n_ranks (graph->request->device, LIG_GROUP_TENSOR);
  if (step->plan.part < 0 || tensor == 1)
    return part;
  int x = lig_part (graph, step->plan.part)->x;
  return lig_value (graph, x)->sharding.kind == LIG_SHARDING_ROWS
           ? part * tensor + lig_device_get_rank (graph->request->device, LIG_GROUP_TENSOR)
           : part;
}

/* Returns the number of the parameter whose gradient a value is, or -1. */
int
lig_value_parameter (const LigGraph *graph, int value)
{
  if (value < 0 || lig_value (graph, value)->role != LIG_VALUE_PARAMETER_GRADIENT)
    return -1;
  return lig_value (graph, value)->parameter;
}

gboolean
lig_writes_shared (const LigGraph *graph, const LigGraphStep *step)
{
  for (int i = step->plan.n_inputs; i < step->plan.n_operands; i++) {
    int parameter = lig_value_parameter (graph, step->values[i]);
    if (parameter >= 0 && lig_parameter (graph, parameter)->shared)
      return TRUE;
  }
  return FALSE;
}

LigLane
lig_timed_lane (const LigGraphStep *step)
{
  return step->plan.lane == LIG_LANE_COMMUNICATION ? LIG_LANE_MAIN : step->plan.lane;
}
