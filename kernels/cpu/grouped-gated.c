/* SPDX-License-Identifier: MIT */
/* A matmul of groups of rows with a gated unit after it, and the input gradient of such a matmul
 * with the gradient of a gated unit before it: the kernels of both, one after the other, so that
 * the bits are theirs. Rows in no group are 0, and nothing of them is read. */
#include "kernels/cpu/rows.h"
#include "kernels/functions.h"
#include <ligature/params-grouped.h>

#define MISFIT \
  "grouped matmul and gated unit: no such unit, operands of another type, or an odd number of " \
  "columns; pass what the signature names"

/* The kernels of the gated units, by their numbers: plain and scaled. */
static const struct {
  const char *name;
  LigKernelFunc forward, backward;
} units[] =
  {
#define UNIT(name, backward_name, ...) {#name, LIG_CPU (name), LIG_CPU (backward_name)},
    LIG_EACH_GATED (UNIT) LIG_EACH_GATED_WITH_PARAMS (UNIT)
#undef UNIT
},
  scaled[] = {
#define UNIT(name, backward_name, unit, ...) {#unit, LIG_CPU (name), LIG_CPU (backward_name)},
    LIG_EACH_SCALED (UNIT)
#undef UNIT
};

/* Returns the kernel of a unit; null if there is none. */
static LigKernelFunc
kernel_of (int unit, bool has_factors, bool backward)
{
  if (unit < 0 || unit >= LIG_N_GATED)
    return NULL;
  if (!has_factors)
    return backward ? units[unit].backward : units[unit].forward;
  for (size_t i = 0; i < sizeof scaled / sizeof *scaled; i++)
    if (strcmp (scaled[i].name, units[unit].name) == 0)
      return backward ? scaled[i].backward : scaled[i].forward;
  return NULL;
}

/* Runs a kernel on other operands, with other params. */
static LigStatus
run (LigLaunch *launch, LigKernelFunc kernel, const LigOperand *operands, const void *params)
{
  LigLaunch part = *launch;
  part.operands = operands;
  part.params = params;
  LigStatus status = kernel (&part);
  launch->where = part.where;
  return status;
}

/* Clears the rows of an operand that are in no group. */
static void
clear_others (const LigOperand *offsets, const LigOperand *operand, int64_t rows)
{
  const int32_t *borders = offsets->data;
  if (!operand->data)
    return;
  int64_t columns = operand->size / rows, first = lig_min (borders[0] > 0 ? borders[0] : 0, rows);
  int64_t end = first;
  for (int64_t i = 1; i < offsets->size; i++)
    end = borders[i] > end ? borders[i] : end;
  end = lig_min (end, rows);
  size_t bytes = (size_t) columns * lig_dtype_size (operand->dtype);
  memset (operand->data, 0, (size_t) first * bytes);
  memset (lig_at (operand, end * columns), 0, (size_t) (rows - end) * bytes);
}

/* Computes sum_i = x_i weight[g]^T + bias[g] scales[i], and y_i = factors[i] unit (sum_i). */
LigStatus
LIG_CPU (grouped_linear_gated) (LigLaunch *launch)
{
  const LigGroupedGatedParams *p = launch->params;
  const LigOperand *o = launch->operands, *factors = &o[5], *y = &o[7];
  LigKernelFunc unit = kernel_of (p ? p->unit : -1, factors->data, false);
  LigOperand sum = o[6];
  if (!sum.data)
    sum = (LigOperand){launch->scratch, 2 * y->size, 2 * y->columns, y->dtype};
  if (!unit || !lig_has_type (factors, LIG_FP32) || !sum.data || sum.columns % 2 != 0)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, MISFIT);
  const LigOperand matmul[] = {o[0], o[1], o[2], o[3], o[4], sum};
  LigStatus status = run (launch, LIG_CPU (grouped_linear), matmul, &p->grouped);
  if (status != LIG_OK || !y->data)
    return status;
  const LigOperand plain[] = {sum, *y}, times[] = {sum, *factors, *y};
  status = run (launch, unit, factors->data ? times : plain, &p->gated);
  clear_others (&o[2], y, lig_rows (&o[0]));
  return status;
}

/* Computes dx, the unit's input gradient, given that of its output, dy_i weight[g]; and dfactors.
 */
LigStatus
LIG_CPU (grouped_gated_backward_input) (LigLaunch *launch)
{
  const LigGroupedGatedParams *p = launch->params;
  const LigOperand *o = launch->operands, *x = &o[3], *factors = &o[4], *dx = &o[5];
  LigKernelFunc unit = kernel_of (p ? p->unit : -1, factors->data, true);
  const LigOperand between = {launch->scratch, x->size / 2, x->columns / 2, o[0].dtype};
  if (!unit || !lig_has_type (factors, LIG_FP32) || !between.data || x->columns % 2 != 0 ||
      (o[6].data && !factors->data))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, MISFIT);
  const LigOperand matmul[] = {o[0], o[1], o[2], between};
  LigStatus status = run (launch, LIG_CPU (grouped_backward_input), matmul, &p->grouped);
  if (status != LIG_OK)
    return status;
  const LigOperand plain[] = {between, *x, *dx}, times[] = {between, *x, *factors, *dx, o[6]};
  status = run (launch, unit, factors->data ? times : plain, &p->gated);
  clear_others (&o[2], dx, lig_rows (x));
  clear_others (&o[2], &o[6], lig_rows (x));
  return status;
}
