/* SPDX-License-Identifier: MIT */
/* Predicts the times of steps. A kernel takes as long as copying its bytes, and what its kind cost
 * at the size when the device was measured; a product as long as one of its area and depth did, and
 * what its additions cost then. */
#include "engine/compile/predict.h"

#include "engine/device/costs.h"
#include "kernels/attention-refusal.h"
#include <ligature/kernels.h>
#include <ligature/params-collective.h>

#include <string.h>

void
lig_predict_floors (const LigDeviceFacts *facts,
                    gboolean product,
                    double bytes,
                    double flops,
                    LigDtype dtype,
                    double floors[2])
{
  double rate = facts->product[dtype];
  gboolean known = facts->copy > 0 && (!product || rate > 0);
  floors[0] = known ? bytes / facts->copy : 0;
  floors[1] = known && product ? flops / rate : 0;
}

static gboolean
is_product (const LigDraftStep *step)
{
  return step->kernel && step->kernel->work < 0;
}

/* Returns the operations that a step does in a second: those of products in the type of their
 * quantized operands, unless the device emulates it, else in the compute type. Operands of 4 bits
 * are bytes. */
static double
find_rate (const LigDraft *draft, const LigDraftStep *step)
{
  const LigDeviceFacts *facts = lig_device_get_facts (draft->device);
  LigDtype first = is_product (step) && step->values[0] >= 0
                     ? lig_value (draft, step->values[0])->dtype
                     : LIG_FP32;
  double rate = lig_dtype_has (first, LIG_DTYPE_QUANTIZED) ? facts->product[first]
                : first == LIG_UINT8                       ? facts->product_fp4
                                                           : 0;
  return rate > 0 ? rate : facts->product[draft->compute];
}

gboolean
lig_is_collective (const LigDraftStep *step)
{
  return step->kernel && lig_collective_from_kernel (step->kernel->name) < LIG_N_COLLECTIVES;
}

/* Returns the seconds of a collective on the device's fabric; 0 for another step, and where the
 * fabric is unknown. */
static double
predict_collective (const LigDraft *draft, const LigDraftStep *step)
{
  const LigCollectiveParams *params = (const LigCollectiveParams *) (gconstpointer) step->params;
  double bytes = 0;
  if (!lig_is_collective (step))
    return 0;
  for (int i = 0; i < step->n_operands; i++) {
    LigOperand operand = lig_draft_operand (draft, step->values[i]);
    bytes = MAX (bytes, (double) operand.size * (double) lig_dtype_size (operand.dtype));
  }
  const LigLayout *layout = lig_device_get_layout (draft->device);
  int stride = layout ? lig_layout_stride (layout, (LigRankGroup) params->group) : 1;
  return lig_fabric_predict (&lig_device_get_facts (draft->device)->fabric,
                             lig_collective_from_kernel (step->kernel->name), params->peers, stride,
                             bytes);
}

double
lig_predict_floor (const LigDraft *draft, const LigDraftStep *step)
{
  const LigDeviceFacts *facts = lig_device_get_facts (draft->device);
  gboolean product = is_product (step);
  double rate = find_rate (draft, step);
  if (facts->copy <= 0 || (product && rate <= 0))
    return 0;
  double exchange = predict_collective (draft, step);
  if (exchange > 0)
    return exchange + facts->launch;
  double bytes = (step->read + step->written) / facts->copy;
  return MAX (bytes, product ? step->flops / rate : 0) + facts->launch;
}

/* Returns whether the step computes all sums that its kernel may leave out: its last output. */
static gboolean
computes_sums (const LigDraftStep *step)
{
  return step->values[step->n_operands - 1] >= 0;
}

/* Returns whether the step adds a bias of fp32 to a product of 16 bits. */
static gboolean
has_mixed_bias (const LigDraft *draft, const LigDraftStep *step)
{
  char name[32] = "";
  for (int i = 0; i < step->n_inputs; i++) {
    lig_signature_name (step->kernel->signature, i, name);
    if (strcmp (name, "bias") == 0)
      return draft->compute != LIG_FP32 && step->values[i] >= 0 &&
             lig_draft_operand (draft, step->values[i]).dtype == LIG_FP32;
  }
  return FALSE;
}

/* Returns the seconds of a step of attention of 16 bits; 0 for another step, and on a device whose
 * costs of attention are unknown. */
static double
predict_attention (const LigDraft *draft, const LigDraftStep *step)
{
  gboolean backward = strcmp (step->kernel->name, "attention_backward") == 0;
  const LigAttentionParams *params = (const LigAttentionParams *) (gconstpointer) step->params;
  LigOperand x[4];
  if (!backward && strcmp (step->kernel->name, "attention") != 0)
    return 0;
  for (int i = 0; i < 4; i++) {
    int value = step->values[i + backward];
    x[i] = lig_draft_operand (draft, value);
    x[i].data = value >= 0 ? x : NULL; /* the presence of an operand is all that counts */
  }
  if (x[0].dtype == LIG_FP32 || params->length < 1)
    return 0;
  gboolean own = lig_attention_refusal (x, params, backward) != NULL;
  double heads = (double) x[0].size / (double) x[0].columns / params->length * params->heads;
  double queries = heads * params->length;
  LigAttentionWork work = {
    .flops = step->flops,
    .features = params->features,
    .length = step->flops / ((backward ? 5 : 2) * queries * params->features),
    .blocks = heads * ((params->length + LIG_ATTENTION_BLOCK - 1) / LIG_ATTENTION_BLOCK),
  };
  LigAttentionCost cost = backward ? LIG_ATTENTION_BACKWARD : LIG_ATTENTION_FORWARD;
  return lig_cost_of_attention (
    lig_device_get_facts (draft->device),
    own ? cost + LIG_ATTENTION_OWN_FORWARD - LIG_ATTENTION_FORWARD : cost, &work);
}

static double
predict_product (const LigDraft *draft, const LigDraftStep *step)
{
  const LigDeviceFacts *facts = lig_device_get_facts (draft->device);
  LigOperand result = {0}, left = lig_draft_operand (draft, step->values[0]);
  for (int i = step->n_operands - 1; i >= step->n_inputs; i--)
    if (step->values[i] >= 0 && lig_draft_operand (draft, step->values[i]).size >= result.size)
      result = lig_draft_operand (draft, step->values[i]);
  double area = (double) result.size, depth = area > 0 ? step->flops / (2 * area) : 0;
  double seconds = predict_attention (draft, step);
  if (seconds > 0)
    return seconds;
  double rate = find_rate (draft, step);
  seconds = lig_cost_of_product (facts, draft->compute, area, depth);
  /* Costs of products are known for fp32 and 16 bits: others are faster as their rates are. */
  if (rate != facts->product[draft->compute])
    seconds = lig_cost_of_product (facts, LIG_BF16, area, depth) * facts->product[LIG_BF16] / rate;
  LigCost cost = lig_cost_of_kernel (step->kernel, computes_sums (step));
  const LigOperand *decides = cost == LIG_COST_PRODUCT_SUMS ? &left : &result;
  if (cost != LIG_N_COSTS && draft->compute == LIG_FP32)
    cost += LIG_COST_WIDE_BIAS - LIG_COST_PRODUCT_BIAS;
  double bytes = (double) decides->size * (double) lig_dtype_size (decides->dtype);
  if (cost != LIG_N_COSTS)
    seconds += has_mixed_bias (draft, step) ? lig_cost_of_mixed (&facts->costs, cost, bytes)
                                            : lig_cost_of_bytes (&facts->costs, cost, bytes);
  return seconds;
}

/* Returns the seconds of a step by itself. */
static double
predict_alone (const LigDraft *draft, const LigDraftStep *step)
{
  const LigDeviceFacts *facts = lig_device_get_facts (draft->device);
  double floor = lig_predict_floor (draft, step), bytes = step->read + step->written;
  if (floor <= 0 || !facts->costs.known || !step->kernel || step->empty ||
      predict_collective (draft, step) > 0)
    return floor;
  if (is_product (step))
    return MAX (MAX (predict_product (draft, step), facts->launch + bytes / facts->copy),
                step->flops / find_rate (draft, step));
  LigCost cost = lig_cost_of_kernel (step->kernel, FALSE);
  double counted = bytes;
  if (cost == LIG_COST_GATHERED_SUMS) {
    LigOperand rows = lig_draft_operand (draft, step->values[0]);
    counted = (double) LIG_COST_GATHERED_ROW * (double) (rows.size / rows.columns);
  }
  return bytes / facts->copy + lig_cost_of_bytes (&facts->costs, cost, counted);
}

/* The share of the time beyond the floor that a step which overlaps others adds to theirs. */
#define EXPOSED 0.5

/* Lets the steps of the side lane share the time that they add to the others. */
static double
overlap (const LigDraft *draft, LigDraftStep *steps, guint count, double total)
{
  double launch = lig_device_get_facts (draft->device)->launch, beside = 0, taken = 0;
  for (guint i = 0; i < count; i++)
    if (steps[i].lane == LIG_LANE_SIDE) {
      beside += steps[i].predicted;
      double floor = lig_predict_floor (draft, &steps[i]) - launch;
      taken += floor + EXPOSED * (steps[i].predicted - floor);
    }
  double rest = total - beside, whole = MAX (rest + MIN (taken, beside), beside);
  for (guint i = 0; i < count && beside > 0; i++)
    if (steps[i].lane == LIG_LANE_SIDE)
      steps[i].predicted *= (whole - rest) / beside;
  return whole;
}

/* Returns the seconds of a list some of whose steps exchange beside the others. */
static double
predict_exchanges (const LigDraft *draft, LigDraftStep *steps, guint count)
{
  g_autofree LigDraftStep *copy = g_memdup2 (steps, count * sizeof *steps);
  lig_find_awaits_in (draft, copy, count);
  return lig_predict_overlap (draft, copy, (int) count, -1);
}

double
lig_predict_exchanges (const LigDraft *draft, LigDraftStep *steps, guint count, double seconds)
{
  double computes = 0, exchanges = 0;
  gboolean known = TRUE, any = FALSE;
  for (guint i = 0; i < count && !any; i++)
    any = steps[i].kernel && lig_kernel_exchanges (steps[i].kernel);
  for (guint i = 0; i < count && any; i++) {
    gboolean exchange = lig_is_collective (&steps[i]);
    steps[i].predicted =
      exchange ? predict_collective (draft, &steps[i]) : predict_alone (draft, &steps[i]);
    *(exchange ? &exchanges : &computes) += steps[i].predicted;
    known &= exchange || steps[i].predicted > 0;
  }
  if (exchanges <= 0)
    return seconds;
  if (!known)
    return seconds + exchanges;
  for (guint i = 0; i < count; i++)
    if (!lig_is_collective (&steps[i]))
      steps[i].predicted *= seconds / computes;
  return predict_exchanges (draft, steps, count);
}

double
lig_predict_steps (const LigDraft *draft, LigDraftStep *steps, guint count)
{
  double total = 0;
  gboolean known = TRUE, exchanges = FALSE;
  for (guint i = 0; i < count; i++) {
    steps[i].predicted = predict_alone (draft, &steps[i]);
    total += steps[i].predicted;
    known &= steps[i].predicted > 0;
    exchanges |= steps[i].lane == LIG_LANE_COMMUNICATION;
  }
  if (exchanges && count > 1)
    return known ? predict_exchanges (draft, steps, count) : 0;
  if (lig_device_get_facts (draft->device)->costs.known)
    total = overlap (draft, steps, count, total);
  return known ? total : 0;
}
