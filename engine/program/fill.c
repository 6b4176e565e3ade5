/* SPDX-License-Identifier: MIT */
/* Random data for the inputs of a program. */
#include "engine/program/fill.h"

#include "engine/plan/plan-private.h"
#include <ligature/kernels.h>

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
fill_numbers (LigPlan *plan, int value, LigTensor *tensor)
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
                                 index, tensor->data))
      return;
  }
}

static gboolean
fill (LigProgram *program, guint32 seed, GError **error)
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
    fill_numbers (plan, g_array_index (plan->ends.extra_inputs, int, i), extra);
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
  return fill (program, 1, error);
}

gboolean
lig_program_fill_by_seed (LigProgram *program, guint32 seed, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  LigPlan *plan = lig_program_get_plan (program);
  if (!fill (program, seed, error))
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
