/* SPDX-License-Identifier: MIT */
/* Predicts the times of steps. A kernel takes the time to copy its bytes, plus the measured cost of
 * its kind at that size; a matmul takes the measured time of one of its output area and depth, plus
 * the measured cost of its epilogue. */
#include "engine/choose/predict.h"

#include "engine/base/layout.h"
#include "engine/device/costs.h"
#include "engine/device/fabric.h"
#include "engine/graph/awaits.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"
#include "kernels/attention-rejection.h"
#include <ligature/kernels.h>
#include <ligature/params-collective.h>

#include <string.h>

static gboolean
is_matmul (const LigGraphStep *step)
{
  return step->plan.kernel && step->plan.kernel->work < 0;
}

/* Returns the flops per second of a step: of matmuls in the type of their quantized operands,
 * unless the device emulates it, else in the compute type. 4-bit operands have the type of
 * bytes. */
static double
find_rate (const LigGraph *graph, const LigGraphStep *step)
{
  const LigDeviceFacts *facts = lig_device_get_facts (graph->request->device);
  LigDtype first =
    is_matmul (step) && step->values[0] >= 0 ? lig_value (graph, step->values[0])->dtype : LIG_FP32;
  double rate = lig_dtype_has (first, LIG_DTYPE_QUANTIZED) ? facts->matmul[first]
                : first == LIG_UINT8                       ? facts->matmul_fp4
                                                           : 0;
  return rate > 0 ? rate : facts->matmul[graph->request->compute];
}

/* Returns the seconds of a collective on the device's fabric; 0 for another step, and if the fabric
 * is unknown. */
static double
predict_collective (const LigGraph *graph, const LigGraphStep *step)
{
  const LigCollectiveParams *params =
    (const LigCollectiveParams *) (gconstpointer) step->code.params;
  double bytes = 0;
  if (!lig_is_collective (step))
    return 0;
  for (int i = 0; i < step->plan.n_operands; i++) {
    LigOperand operand = lig_graph_operand (graph, step->values[i]);
    bytes = MAX (bytes, (double) operand.size * (double) lig_dtype_size (operand.dtype));
  }
  const LigLayout *layout = lig_device_get_layout (graph->request->device);
  int stride = layout ? lig_layout_stride (layout, (LigRankGroup) params->group) : 1;
  return lig_fabric_predict (&lig_device_get_facts (graph->request->device)->fabric,
                             (LigCollective) (step->plan.kernel->collective - 1), params->peers,
                             stride, bytes);
}

double
lig_predict_floor (const LigGraph *graph, const LigGraphStep *step)
{
  const LigDeviceFacts *facts = lig_device_get_facts (graph->request->device);
  gboolean matmul = is_matmul (step);
  double rate = find_rate (graph, step);
  if (facts->copy <= 0 || (matmul && rate <= 0))
    return 0;
  double collective = predict_collective (graph, step);
  if (collective > 0)
    return collective + facts->launch;
  double bytes = (step->plan.read + step->plan.written) / facts->copy;
  return MAX (bytes, matmul ? step->plan.flops / rate : 0) + facts->launch;
}

/* Returns whether the step computes all sums that its kernel may omit: its last output. */
static gboolean
computes_sums (const LigGraphStep *step)
{
  return step->values[step->plan.n_operands - 1] >= 0;
}

/* Returns whether the step adds an fp32 bias to a 16-bit matmul. */
static gboolean
has_mixed_bias (const LigGraph *graph, const LigGraphStep *step)
{
  char name[32] = "";
  for (int i = 0; i < step->plan.n_inputs; i++) {
    lig_signature_name (step->plan.kernel->signature, i, name);
    if (strcmp (name, "bias") == 0)
      return graph->request->compute != LIG_FP32 && step->values[i] >= 0 &&
             lig_graph_operand (graph, step->values[i]).dtype == LIG_FP32;
  }
  return FALSE;
}

/* Returns the seconds of a 16-bit attention step; 0 for another step, and on a device whose
 * attention costs are unknown. */
static double
predict_attention (const LigGraph *graph, const LigGraphStep *step)
{
  gboolean backward = (step->plan.kernel->traits & LIG_KERNEL_ATTENTION_BACKWARD) != 0;
  const LigAttentionParams *params = (const LigAttentionParams *) (gconstpointer) step->code.params;
  LigOperand x[4];
  if (!backward && !(step->plan.kernel->traits & LIG_KERNEL_ATTENTION))
    return 0;
  for (int i = 0; i < 4; i++) {
    int value = step->values[i + backward];
    x[i] = lig_graph_operand (graph, value);
    x[i].data = value >= 0 ? x : NULL; /* only the presence of an operand matters */
  }
  if (x[0].dtype == LIG_FP32 || params->length < 1)
    return 0;
  gboolean own = lig_attention_rejection (x, params, backward) != NULL;
  double heads = (double) x[0].size / (double) x[0].columns / params->length * params->heads;
  double queries = heads * params->length;
  LigAttentionWork work = {
    .flops = step->plan.flops,
    .features = params->features,
    .length = step->plan.flops / ((backward ? 5 : 2) * queries * params->features),
    .blocks = heads * ((params->length + LIG_ATTENTION_BLOCK - 1) / LIG_ATTENTION_BLOCK),
  };
  LigAttentionCost cost = backward ? LIG_ATTENTION_BACKWARD : LIG_ATTENTION_FORWARD;
  return lig_cost_of_attention (
    lig_device_get_facts (graph->request->device),
    own ? cost + LIG_ATTENTION_BUILT_IN_FORWARD - LIG_ATTENTION_FORWARD : cost, &work);
}

static double
predict_matmul (const LigGraph *graph, const LigGraphStep *step)
{
  const LigDeviceFacts *facts = lig_device_get_facts (graph->request->device);
  LigOperand result = {0}, left = lig_graph_operand (graph, step->values[0]);
  for (int i = step->plan.n_operands - 1; i >= step->plan.n_inputs; i--)
    if (step->values[i] >= 0 && lig_graph_operand (graph, step->values[i]).size >= result.size)
      result = lig_graph_operand (graph, step->values[i]);
  double area = (double) result.size, depth = area > 0 ? step->plan.flops / (2 * area) : 0;
  double seconds = predict_attention (graph, step);
  if (seconds > 0)
    return seconds;
  double rate = find_rate (graph, step);
  seconds = lig_cost_of_matmul (facts, graph->request->compute, area, depth);
  /* Costs of matmuls are known for fp32 and 16 bits: those of other types are scaled by the ratio
   * of their rates. */
  if (rate != facts->matmul[graph->request->compute])
    seconds = lig_cost_of_matmul (facts, LIG_BF16, area, depth) * facts->matmul[LIG_BF16] / rate;
  LigCost cost = lig_cost_of_kernel (step->plan.kernel, computes_sums (step));
  const LigOperand *decides = cost == LIG_COST_MATMUL_SUMS ? &left : &result;
  if (cost != LIG_N_COSTS && graph->request->compute == LIG_FP32)
    cost += LIG_COST_WIDE_BIAS - LIG_COST_MATMUL_BIAS;
  double bytes = (double) decides->size * (double) lig_dtype_size (decides->dtype);
  if (cost != LIG_N_COSTS)
    seconds += has_mixed_bias (graph, step) ? lig_cost_of_mixed (&facts->costs, cost, bytes)
                                            : lig_cost_of_bytes (&facts->costs, cost, bytes);
  return seconds;
}

/* The fractions of the rate of one large matmul that a GPU reaches with 64 groups of rows, measured
 * on an H200: the kernels for compute capability 9.0 in 16 bits 627 to 646 of 784 TFLOP/s, in fp8
 * 874 to 983 of about 1,450; those for all devices 213 to 223 of 784. */
#define GROUPED_SHARE 0.28
#define GROUPED_SHARE_16_BITS 0.81
#define GROUPED_SHARE_8_BITS 0.64

static double
share_of_rate (const LigGraph *graph, const LigGraphStep *step)
{
  int capability = lig_device_get_facts (graph->request->device)->capability;
  if (capability == 0 || !(step->plan.kernel->traits & LIG_KERNEL_GROUPED))
    return 1;
  gsize bytes = lig_dtype_size (lig_graph_operand (graph, step->values[0]).dtype);
  if (capability != 90 || bytes > 2)
    return GROUPED_SHARE;
  return bytes == 2 ? GROUPED_SHARE_16_BITS : GROUPED_SHARE_8_BITS;
}

/* Returns the seconds of a step that runs by itself. */
static double
predict_alone (const LigGraph *graph, const LigGraphStep *step)
{
  const LigDeviceFacts *facts = lig_device_get_facts (graph->request->device);
  double floor = lig_predict_floor (graph, step), bytes = step->plan.read + step->plan.written;
  if (floor <= 0 || !facts->costs.known || !step->plan.kernel || step->code.empty ||
      predict_collective (graph, step) > 0)
    return floor;
  if (is_matmul (step))
    return MAX (MAX (predict_matmul (graph, step) / share_of_rate (graph, step),
                     facts->launch + bytes / facts->copy),
                step->plan.flops / find_rate (graph, step));
  LigCost cost = lig_cost_of_kernel (step->plan.kernel, FALSE);
  double counted = bytes;
  if (cost == LIG_COST_GATHERED_SUMS) {
    LigOperand rows = lig_graph_operand (graph, step->values[0]);
    counted = (double) LIG_COST_GATHERED_ROW * (double) (rows.size / rows.columns);
  }
  return bytes / facts->copy + lig_cost_of_bytes (&facts->costs, cost, counted);
}

/* The fraction of its time beyond the floor that an overlapping step adds to the others. */
#define EXPOSED 0.5

/* Distributes the time that the side lane adds to the others over its steps. */
static double
overlap (const LigGraph *graph, LigGraphStep *steps, guint count, double total)
{
  double launch = lig_device_get_facts (graph->request->device)->launch, beside = 0, taken = 0;
  for (guint i = 0; i < count; i++)
    if (steps[i].plan.lane == LIG_LANE_SIDE) {
      beside += steps[i].plan.predicted;
      double floor = lig_predict_floor (graph, &steps[i]) - launch;
      taken += floor + EXPOSED * (steps[i].plan.predicted - floor);
    }
  double rest = total - beside, whole = MAX (rest + MIN (taken, beside), beside);
  for (guint i = 0; i < count && beside > 0; i++)
    if (steps[i].plan.lane == LIG_LANE_SIDE)
      steps[i].plan.predicted *= (whole - rest) / beside;
  return whole;
}

/* Returns the seconds of a list in which some collectives overlap the other steps. */
static double
predict_collectives (const LigGraph *graph, LigGraphStep *steps, guint count)
{
  g_autofree LigGraphStep *copy = g_memdup2 (steps, count * sizeof *steps);
  lig_find_awaits_in (graph, copy, count);
  return lig_predict_overlap (graph, copy, (int) count, -1);
}

double
lig_predict_collectives (const LigGraph *graph, LigGraphStep *steps, guint count, double seconds)
{
  double computes = 0, collectives = 0;
  gboolean known = TRUE, any = FALSE;
  for (guint i = 0; i < count && !any; i++)
    any = steps[i].plan.kernel && lig_kernel_is_collective (steps[i].plan.kernel);
  for (guint i = 0; i < count && any; i++) {
    gboolean collective = lig_is_collective (&steps[i]);
    steps[i].plan.predicted =
      collective ? predict_collective (graph, &steps[i]) : predict_alone (graph, &steps[i]);
    *(collective ? &collectives : &computes) += steps[i].plan.predicted;
    known &= collective || steps[i].plan.predicted > 0;
  }
  if (collectives <= 0)
    return seconds;
  if (!known)
    return seconds + collectives;
  for (guint i = 0; i < count; i++)
    if (!lig_is_collective (&steps[i]))
      steps[i].plan.predicted *= seconds / computes;
  return predict_collectives (graph, steps, count);
}

double
lig_predict_steps (const LigGraph *graph, LigGraphStep *steps, guint count)
{
  double total = 0;
  gboolean known = TRUE, collectives = FALSE;
  for (guint i = 0; i < count; i++) {
    steps[i].plan.predicted = predict_alone (graph, &steps[i]);
    total += steps[i].plan.predicted;
    known &= steps[i].plan.predicted > 0;
    collectives |= steps[i].plan.lane == LIG_LANE_COMMUNICATION;
  }
  if (collectives && count > 1)
    return known ? predict_collectives (graph, steps, count) : 0;
  if (lig_device_get_facts (graph->request->device)->costs.known)
    total = overlap (graph, steps, count, total);
  return known ? total : 0;
}

/* A weight gradient that is too small to use a whole GPU overlaps the steps after it, which do not
 * read it before the update. Longer matmuls gain nothing and would keep their operands alive. */
#define LONGEST_BESIDE 20e-6

static gboolean
may_run_beside (const LigGraph *graph, const LigGraphStep *step)
{
  if (lig_writes_shared (graph, step))
    return FALSE;
  double seconds = lig_predict_floor (graph, step);
  return lig_device_get_facts (graph->request->device)->capability > 0 && step->plan.kernel &&
         step->plan.kernel->work == LIG_MATMUL_OVER_ROWS &&
         step->plan.kernel->traits & LIG_KERNEL_BUILT_IN && seconds > 0 && seconds < LONGEST_BESIDE;
}

/* Returns whether a step reads a value that the other one writes. */
static gboolean
depends (const LigGraph *graph, const LigGraphStep *step, const LigGraphStep *on)
{
  for (int i = 0; i < step->plan.n_inputs; i++)
    for (int j = on->plan.n_inputs; j < on->plan.n_operands; j++)
      if (step->values[i] >= 0 && on->values[j] >= 0 &&
          lig_graph_root (graph, step->values[i]) == lig_graph_root (graph, on->values[j]))
        return TRUE;
  return FALSE;
}

void
lig_start_beside (LigGraph *graph, GArray *steps, guint first)
{
  LigGraphStep *all = (LigGraphStep *) (gpointer) steps->data;
  for (guint i = first; i < steps->len; i++) {
    if (!may_run_beside (graph, &all[i]))
      continue;
    all[i].plan.lane = LIG_LANE_SIDE;
    for (guint at = i;
         at > first && !all[at - 1].plan.lane && !depends (graph, &all[at], &all[at - 1]); at--) {
      LigGraphStep moved = all[at];
      all[at] = all[at - 1];
      all[at - 1] = moved;
    }
  }
}
