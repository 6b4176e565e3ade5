/* SPDX-License-Identifier: MIT */
/* Random data for the inputs of a program. */
#include "engine/program/fill.h"

#include "engine/plan/plan-private.h"
#include "engine/program/private.h"
#include "kernels/numbers.h"
#include <ligature/kernels.h>
#include <ligature/loads.h>

#include <string.h>

/* Returns the exclusive upper bound of the integers that the plan accepts as its extra input `n`,
 * or as its main input if it is -1. Document ids may be any integers; two are used. */
static gint32
bound_of (LigPlan *plan, int n)
{
  gint32 min, max;
  lig_plan_get_range (plan, n, &min, &max);
  return max == G_MAXINT32 ? 2 : MAX (max, 0) + 1;
}

/* Returns random elements, which repeat after the first million. */
static LigTensor *
random_tensor (const LigShape *shape, LigDtype dtype, gint32 bound, guint32 seed, GError **error)
{
  LigTensor *tensor = lig_tensor_new (dtype, shape, error);
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  if (!tensor)
    return NULL;
  gint64 count = MIN (tensor->size, 1 << 20);
  gsize size = lig_dtype_size (dtype), filled = (gsize) count * size;
  for (gint64 i = 0; i < count; i++)
    if (dtype == LIG_INT32)
      ((gint32 *) tensor->data)[i] = g_rand_int_range (random, 0, bound);
    else
      lig_tensor_set (tensor, i, (float) g_rand_double_range (random, -1, 1));
  for (gsize bytes = lig_tensor_bytes (tensor); filled < bytes; filled *= 2)
    memcpy ((char *) tensor->data + filled, tensor->data, MIN (filled, bytes - filled));
  return tensor;
}

/* Replaces integers that the caller provides by those with which the first step that reads them is
 * timed, such as where groups of rows begin. */
static void
fill_numbers (LigPlan *plan, int value, double exponent, LigTensor *tensor)
{
  const int root = lig_plan_root (plan, value);
  const LigPlanValue *of = lig_plan_value (plan, root);
  for (int i = 0; i < of->n_readers && tensor->dtype == LIG_INT32; i++) {
    LigOperand operands[LIG_MAX_OPERANDS];
    const LigPlanStep *step = lig_plan_step (plan, of->readers[i]);
    const LigStepCode *code = lig_plan_code (plan, of->readers[i]);
    int index = -1;
    for (int j = 0; j < step->n_operands; j++) {
      int from = step->operands[j].value;
      operands[j] = lig_value_operand (from < 0 ? NULL : lig_plan_value (plan, from));
      index = from >= 0 && lig_plan_root (plan, from) == root ? j : index;
    }
    if (step->kernel && index >= 0 &&
        lig_kernel_fill_numbers (step->kernel, operands, code->params_size ? code->params : NULL,
                                 index, exponent, tensor->data))
      return;
  }
}

static gboolean
fill (LigProgram *program, guint32 seed, double exponent, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  LigPlan *plan = lig_program_get_plan (program);
  lig_plan_get_input (plan, &shape, &dtype);
  g_autoptr (LigTensor) input = random_tensor (&shape, dtype, bound_of (plan, -1), seed, error);
  if (!input || !lig_program_set_input (program, input, error))
    return FALSE;
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++) {
    lig_plan_get_extra_input (plan, i, &shape, &dtype);
    g_autoptr (LigTensor) extra =
      random_tensor (&shape, dtype, bound_of (plan, (int) i), seed, error);
    if (!extra)
      return FALSE;
    fill_numbers (plan, g_array_index (plan->ends.extra_inputs, int, i), exponent, extra);
    if (!lig_program_set_extra_input (program, i, extra, error))
      return FALSE;
  }
  lig_plan_get_output (plan, &shape, &dtype);
  if (shape.n_axes == 0)
    return TRUE;
  g_autoptr (LigTensor) gradient = random_tensor (&shape, dtype, 2, seed, error);
  /* A plan without a backward pass accepts no gradient. */
  return gradient && (lig_program_set_gradient (program, gradient, NULL) || TRUE);
}

gboolean
lig_program_fill (LigProgram *program, GError **error)
{
  return fill (program, 1, 0, error);
}

/* --- Loads of experts ---------------------------------------------------------------------- */

/* Replaces the experts that a router selects; `series` is null for a Zipf distribution. */
static gboolean
replace_experts (LigProgram *program,
                 const LigPlanOp *router,
                 int value,
                 const LigLoadSeries *series,
                 double exponent,
                 GError **error)
{
  LigPlan *plan = lig_program_get_plan (program);
  const LigPlanPort *load = lig_plan_op_get_watched (router, "load");
  gint64 experts = lig_shape_size (&lig_plan_value (plan, load->value)->shape);
  const LigShape *shape = &lig_plan_value (plan, value)->shape;
  gint64 size = lig_shape_size (shape), top_k = MAX (lig_shape_columns (shape), 1);
  g_autofree double *shares = g_new (double, MAX (experts, 1));
  g_autofree gint32 *chosen = g_new0 (gint32, MAX (size, 1));
  if (series)
    lig_load_series_sum (series, series->steps->len - 1, 1, shares, NULL);
  else
    lig_zipf_shares (exponent, experts, shares);
  lig_spread_experts (series || exponent != 0 ? shares : NULL, experts, size / top_k, top_k,
                      chosen);
  return lig_program_replace (program, value, chosen, (gsize) size * sizeof *chosen, error);
}

/* Replaces the integers that a router computes, and those that it recomputes. */
static gboolean
replace_of (LigProgram *program,
            const LigPlanOp *router,
            const LigLoadSeries *series,
            double exponent,
            GError **error)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (lig_program_get_plan (program), &count);
  for (guint i = 0; i < count; i++)
    if (values[i].op == router->index && values[i].role == LIG_VALUE_COMPUTED &&
        values[i].dtype == LIG_INT32 &&
        !replace_experts (program, router, (int) i, series, exponent, error))
      return FALSE;
  return TRUE;
}

gboolean
lig_program_fill_loaded (LigProgram *program, const LigFillLoad *load, GError **error)
{
  guint count, n = 0;
  if (!fill (program, 1, load->exponent, error))
    return FALSE;
  const LigPlanOp *ops = lig_plan_get_ops (lig_program_get_plan (program), &count);
  for (guint i = 0; i < count; i++) {
    if (!lig_plan_op_get_watched (&ops[i], "load"))
      continue;
    const LigLoadSeries *series = load->loads ? load->loads->pdata[n++] : NULL;
    if (!replace_of (program, &ops[i], series, load->exponent, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_program_fill_by_seed (LigProgram *program, guint32 seed, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  LigPlan *plan = lig_program_get_plan (program);
  if (!fill (program, seed, 0, error))
    return FALSE;
  for (guint i = 0; i < lig_plan_get_n_extra_outputs (plan); i++) {
    lig_plan_get_extra_output (plan, i, &shape, &dtype);
    g_autoptr (LigTensor) gradient = random_tensor (&shape, dtype, 2, seed + 1, error);
    if (!gradient)
      return FALSE;
    /* An output without a derivative accepts none. */
    lig_program_set_extra_gradient (program, i, gradient, NULL);
  }
  return TRUE;
}
