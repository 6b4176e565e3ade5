/* SPDX-License-Identifier: MIT */
/* Matmuls of groups of rows, each with its own weight: y_i = x_i weight[g]^T + bias[g] for the rows
 * i of group g, and their gradients. The groups are multiplied one after another, each in
 * parallel. */
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/rows.h"
#include "kernels/quantize.h"
#include <ligature/params-matmul.h>

/* The rows of all operands that have one per row of x. */
typedef struct {
  const int32_t *offsets;
  int64_t groups, rows;
} Groups;

static Groups
groups_of (const LigOperand *offsets, const LigOperand *x)
{
  return (Groups){offsets->data, offsets->size - 1, lig_rows (x)};
}

/* Finds the rows of the group that follows one that ends at `end`. */
static void
next_rows (const Groups *groups, int64_t group, int64_t *first, int64_t *end)
{
  int64_t next = groups->offsets[group + 1], start = groups->offsets[group];
  *first = lig_min (start > *end ? start : *end, groups->rows);
  *end = lig_min (next > *first ? next : *first, groups->rows);
}

/* Returns some rows of an operand, or an absent one. */
static LigOperand
part_of (const LigOperand *operand, int64_t first, int64_t rows)
{
  LigOperand part = *operand;
  if (!operand->data)
    return part;
  part.data = lig_at (operand, first * operand->columns);
  part.size = rows * operand->columns;
  return part;
}

/* Clears some rows of `columns` elements. */
static void
clear (const LigOperand *operand, int64_t columns, int64_t first, int64_t end)
{
  if (operand->data && first < end)
    memset (lig_at (operand, first * columns), 0,
            (size_t) ((end - first) * columns) * lig_dtype_size (operand->dtype));
}

/* The epilogue of the rows of a group: a bias, which is multiplied by a number per row; or the old
 * values, to which a gradient is added. */
typedef struct {
  const LigOperand *y;
  LigOperand bias;
  const float *scales;
  bool adds;
} Epilogue;

static void
finish (const LigTile *tile, const void *data, float *sums)
{
  const Epilogue *epilogue = data;
  float buffer[LIG_PIECE], old[LIG_PIECE];
  const float *bias = NULL;
  int64_t count = tile->columns;
  (void) sums;
  if (epilogue->bias.data)
    bias = lig_load (&epilogue->bias, tile->column, count, buffer);
  for (int64_t i = 0; i < tile->rows; i++) {
    float *values = tile->values + i * tile->stride;
    float scale = epilogue->scales ? epilogue->scales[tile->row + i] : 1;
    int64_t at = (tile->row + i) * epilogue->y->columns + tile->column;
    const float *added = epilogue->adds ? lig_load (epilogue->y, at, count, old) : NULL;
    for (int64_t j = 0; bias && j < count; j++)
      values[j] += scale * bias[j];
    for (int64_t j = 0; added && j < count; j++)
      values[j] += added[j];
    if (epilogue->y->dtype != LIG_FP32)
      lig_commit (epilogue->y, at, count, values);
  }
}

/* Multiplies the operands of one group. */
static LigStatus
multiply (LigLaunch *launch, LigCpuMatmul matmul, Epilogue *epilogue, bool accumulate)
{
  const LigOperand *y = epilogue->y;
  matmul.data = epilogue;
  matmul.finish = finish;
  if (y->dtype == LIG_FP32) {
    matmul.target = y->data;
    matmul.accumulate = accumulate;
    if (!epilogue->bias.data)
      matmul.finish = NULL;
  } else {
    epilogue->adds = accumulate;
  }
  LigLaunch group = *launch;
  LigStatus status = LIG_CPU (matmul) (&group, &matmul);
  launch->where = group.where;
  return status;
}

/* Computes y from the rows of each group and its weight, which is transposed in the forward pass,
 * and clears the other rows. */
static LigStatus
over_rows (LigLaunch *launch,
           const LigOperand *bias,
           const LigOperand *scales,
           const LigOperand *y,
           bool transposed)
{
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  const Groups groups = groups_of (&launch->operands[2], x);
  int64_t of_group = lig_rows (weight) / (groups.groups > 0 ? groups.groups : 1), first, end = 0;
  for (int64_t g = 0; g < groups.groups; g++) {
    int64_t before = end;
    next_rows (&groups, g, &first, &end);
    clear (y, y->columns, before, first);
    if (first == end)
      continue;
    LigOperand rows = part_of (x, first, end - first), to = part_of (y, first, end - first);
    LigOperand matrix = part_of (weight, g * of_group, of_group);
    Epilogue epilogue = {.y = &to};
    if (lig_is_present (bias))
      epilogue.bias = part_of (bias, g, 1);
    if (lig_is_present (scales))
      epilogue.scales = (const float *) scales->data + first;
    LigCpuMatmul matmul = {.a = &rows, .b = &matrix, .b_transposed = transposed, .factor = 1};
    matmul.m = end - first;
    matmul.n = y->columns;
    matmul.k = x->columns;
    LigStatus status = multiply (launch, matmul, &epilogue, false);
    if (status != LIG_OK)
      return status;
  }
  clear (y, y->columns, end, groups.rows);
  return LIG_OK;
}

static bool
can_run (const LigLaunch *launch, int offsets, int count)
{
  for (int i = 0; i < count; i++)
    if (i != offsets && launch->operands[i].data &&
        !lig_dtype_is_floating (launch->operands[i].dtype))
      return false;
  const LigOperand *borders = &launch->operands[offsets];
  return borders->dtype == LIG_INT32 && borders->size > 1;
}

#define REJECTED "grouped matmul: not a floating type, or no offsets; convert them"

/* Computes y_i = x_i weight[g]^T + bias[g] scales[i]. */
LigStatus
LIG_CPU (grouped_linear) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (!can_run (launch, 2, 6))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  return over_rows (launch, &o[3], &o[4], &o[5], true);
}

/* Computes dx_i = dy_i weight[g]. */
LigStatus
LIG_CPU (grouped_backward_input) (LigLaunch *launch)
{
  if (!can_run (launch, 2, 4))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  return over_rows (launch, NULL, NULL, &launch->operands[3], false);
}

/* The quantized operands of a grouped matmul, and those of the group that is multiplied. */
typedef struct {
  const LigFp8Params *params;
  const LigOperand *a_scale, *b_scale;
  int64_t of_group; /* scales of a matrix */
  LigOperand rows, matrix, left, right;
} Quantized;

static Quantized
quantized_of (const LigLaunch *launch, int64_t groups, int64_t rows, int64_t columns, int64_t depth)
{
  const LigOperand *o = launch->operands;
  const LigGroupedFp8Params *params = launch->params;
  Quantized q = {.params = &params->fp8, .a_scale = &o[2], .b_scale = &o[3]};
  q.of_group = lig_scales_count ((LigScales) q.params->right, columns, depth);
  bool known = q.params->left <= LIG_SCALES_BLOCK && q.params->right != LIG_SCALES_BLOCK &&
               q.params->right <= LIG_SCALES_TILE;
  if (!known || q.b_scale->size != groups * q.of_group ||
      q.a_scale->size != lig_scales_count ((LigScales) q.params->left, rows, depth))
    q.params = NULL;
  return q;
}

/* Returns the matmul of the rows of a group from `first` on and its matrix. */
static LigCpuMatmul
quantized_matmul (Quantized *q, int64_t group, int64_t first)
{
  LigCpuMatmul matmul = {.a = &q->rows, .b = &q->matrix, .b_transposed = true};
  matmul.factor = q->params->factor;
  matmul.a_kind = (LigScales) q->params->left;
  matmul.b_kind = (LigScales) q->params->right;
  q->left = *q->a_scale;
  q->right = *q->b_scale;
  q->right.data = lig_at (q->b_scale, group * q->of_group);
  if (q->params->left == LIG_SCALES_TENSOR)
    matmul.factor *= *(const float *) q->left.data;
  else
    q->left.data = lig_at (q->a_scale, first);
  if (q->params->right == LIG_SCALES_TENSOR)
    matmul.factor *= *(const float *) q->right.data;
  matmul.a_scales = q->params->left == LIG_SCALES_TENSOR ? NULL : &q->left;
  matmul.b_scales = q->params->right == LIG_SCALES_TENSOR ? NULL : &q->right;
  return matmul;
}

/* Computes y_i = factor a_i b[g]^T + bias[g] scales[i] for quantized operands. */
LigStatus
LIG_CPU (grouped_fp8) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *a = &o[0], *b = &o[1], *y = &o[7];
  const Groups groups = groups_of (&o[4], a);
  int64_t first, end = 0;
  Quantized q = quantized_of (launch, groups.groups, groups.rows, y->columns, a->columns);
  if (o[4].dtype != LIG_INT32 || groups.groups < 1 || !q.params ||
      b->size != groups.groups * y->columns * a->columns)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  for (int64_t g = 0; g < groups.groups; g++) {
    int64_t before = end;
    next_rows (&groups, g, &first, &end);
    clear (y, y->columns, before, first);
    if (first == end)
      continue;
    LigOperand to = part_of (y, first, end - first);
    q.rows = part_of (a, first, end - first);
    q.matrix = part_of (b, g * y->columns, y->columns);
    Epilogue epilogue = {.y = &to};
    if (o[5].data)
      epilogue.bias = part_of (&o[5], g, 1);
    if (o[6].data)
      epilogue.scales = (const float *) o[6].data + first;
    LigCpuMatmul matmul = quantized_matmul (&q, g, first);
    matmul.m = end - first;
    matmul.n = y->columns;
    matmul.k = a->columns;
    LigStatus status = multiply (launch, matmul, &epilogue, false);
    if (status != LIG_OK)
      return status;
  }
  clear (y, y->columns, end, groups.rows);
  return LIG_OK;
}

/* Computes dbias[g], the sum of scales[i] dy_i over the rows of each group. */
static void
sum_bias (const LigLaunch *launch, const Groups *groups)
{
  const LigOperand *o = launch->operands, *dy = &o[0], *dbias = &o[6];
  const float *scales = o[4].data;
  int64_t end = 0, first;
  for (int64_t g = 0; g < groups->groups; g++) {
    next_rows (groups, g, &first, &end);
    if (first == end && launch->accumulate)
      continue;
#pragma omp parallel for schedule(static) if ((end - first) * dy->columns > LIG_PARALLEL_FROM)
    for (int64_t column = 0; column < dy->columns; column += LIG_PIECE) {
      double sums[LIG_PIECE] = {0};
      float buffer[LIG_PIECE], out[LIG_PIECE];
      int64_t count = lig_piece (dy->columns, column), at = g * dy->columns + column;
      for (int64_t row = first; row < end; row++) {
        const float *from = lig_load (dy, row * dy->columns + column, count, buffer);
        float scale = scales ? scales[row] : 1;
        for (int64_t i = 0; i < count; i++)
          sums[i] += (double) scale * (double) from[i];
      }
      const float *old = launch->accumulate ? lig_load (dbias, at, count, buffer) : NULL;
      float *to = lig_stage (dbias, at, out);
      for (int64_t i = 0; i < count; i++)
        to[i] = (float) (sums[i] + (old ? (double) old[i] : 0));
      lig_commit (dbias, at, count, to);
    }
  }
}

/* Computes dscales[i], the product of dy_i and the bias of its group. */
static void
sum_scales (const LigLaunch *launch, const Groups *groups)
{
  const LigOperand *o = launch->operands, *dy = &o[0], *bias = &o[3], *dscales = &o[7];
  float *to = dscales->data;
  int64_t end = 0, first;
  for (int64_t g = 0; g < groups->groups; g++) {
    int64_t before = end;
    next_rows (groups, g, &first, &end);
    clear (dscales, 1, before, first);
#pragma omp parallel for schedule(static) if ((end - first) * dy->columns > LIG_PARALLEL_FROM)
    for (int64_t row = first; row < end; row++) {
      double sum = 0;
      for (int64_t column = 0; column < dy->columns; column += LIG_PIECE) {
        float a[LIG_PIECE], b[LIG_PIECE];
        int64_t count = lig_piece (dy->columns, column);
        const float *from = lig_load (dy, row * dy->columns + column, count, a);
        const float *by = lig_load (bias, g * dy->columns + column, count, b);
        for (int64_t i = 0; i < count; i++)
          sum += (double) from[i] * (double) by[i];
      }
      to[row] = (float) sum;
    }
  }
  clear (dscales, 1, end, groups->rows);
}

/* Computes dweight[g] = the product of dy and x over the rows of each group. */
static LigStatus
weights (LigLaunch *launch, const Groups *groups)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dweight = &launch->operands[5];
  int64_t of_group = lig_rows (dweight) / groups->groups, first, end = 0;
  for (int64_t g = 0; g < groups->groups; g++) {
    next_rows (groups, g, &first, &end);
    LigOperand to = part_of (dweight, g * of_group, of_group);
    if (first == end) {
      if (!launch->accumulate)
        clear (&to, to.columns, 0, of_group);
      continue;
    }
    LigOperand left = part_of (dy, first, end - first), right = part_of (x, first, end - first);
    Epilogue epilogue = {.y = &to};
    LigCpuMatmul matmul = {.a = &left, .b = &right, .a_transposed = true, .factor = 1};
    matmul.m = dy->columns;
    matmul.n = x->columns;
    matmul.k = end - first;
    LigStatus status = multiply (launch, matmul, &epilogue, launch->accumulate);
    if (status != LIG_OK)
      return status;
  }
  return LIG_OK;
}

/* Computes the gradients of the weights and the biases, and of the numbers by which the biases were
 * multiplied. */
LigStatus
LIG_CPU (grouped_backward_weight) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (!can_run (launch, 2, 8) || (o[7].data && !o[3].data))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  const Groups groups = groups_of (&o[2], &o[0]);
  if (o[6].data)
    sum_bias (launch, &groups);
  if (o[7].data)
    sum_scales (launch, &groups);
  return o[5].data ? weights (launch, &groups) : LIG_OK;
}
