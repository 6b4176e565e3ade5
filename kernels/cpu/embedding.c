/* SPDX-License-Identifier: MIT */
/* Embedding: y[i,:] = weight[x[i],:] for int32 x [M], weight [V, N] and y [M, N]; and its gradient,
 * dweight[v,:] = sum of dy[i,:] over the i with x[i] = v. The sum is in the order of i: threads
 * share the work by columns. With a table sharded over ranks, rows of other ranks are zero in y and
 * omitted from the gradient. Also position embedding: y[r,:] = x[r,:] + weight[r % T,:], its
 * gradient, and both at once. */
#include "kernels/cpu/cpu.h"
#include "kernels/positions.h"
#include <ligature/params-loss.h>
#include <ligature/params-positions.h>

/* The number of columns that one thread sums at a time. */
#define SLICE 64

/* Returns the shard of the vocabulary that the table has. */
static LigVocabularyPart
part_of (const LigLaunch *launch, const LigOperand *table)
{
  const LigVocabularyPart *part = launch->params;
  return part && part->count > 0 ? *part : (LigVocabularyPart){0, lig_rows (table)};
}

/* Rejects types other than int32, and tokens outside the vocabulary of all ranks. */
static LigStatus
check (LigLaunch *launch, const LigOperand *x, int64_t vocabulary)
{
  const int32_t *tokens = x->data;
  bool outside = false;
  for (int64_t i = 0; i < x->size; i++)
    outside |= tokens[i] < 0 || tokens[i] >= vocabulary;
  if (x->dtype != LIG_INT32 || outside)
    return LIG_FAIL (launch, LIG_FAILED,
                     "token outside the vocabulary; correct the data or enlarge the vocabulary");
  return LIG_OK;
}

/* Copies one row from operand to operand, of any types. */
static void
copy_row (const LigOperand *from, int64_t from_row, const LigOperand *to, int64_t to_row)
{
  float buffer[LIG_PIECE];
  int64_t columns = to->columns;
  if (from->dtype == to->dtype) {
    memcpy (lig_at (to, to_row * columns), lig_at (from, from_row * columns),
            (size_t) columns * lig_dtype_size (to->dtype));
    return;
  }
  for (int64_t at = 0; at < columns; at += LIG_PIECE) {
    int64_t count = lig_piece (columns, at);
    const float *row = lig_load (from, from_row * columns + at, count, buffer);
    lig_narrow (to->dtype, row, lig_at (to, to_row * columns + at), (size_t) count);
  }
}

/* Computes y, in which the rows of other ranks' tokens are zero. */
LigStatus
LIG_CPU (embedding) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  const LigOperand *y = &launch->operands[2];
  LigVocabularyPart part = part_of (launch, weight);
  LigStatus status = check (launch, x, part.count);
  if (status != LIG_OK)
    return status;
  const int32_t *tokens = x->data;
  const int64_t rows = lig_rows (weight);
  const size_t bytes = (size_t) y->columns * lig_dtype_size (y->dtype);
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t i = 0; i < x->size; i++) {
    int64_t row = tokens[i] - part.first;
    if (row >= 0 && row < rows)
      copy_row (weight, row, y, i);
    else
      memset (lig_at (y, i * y->columns), 0, bytes);
  }
  return LIG_OK;
}

/* Adds the gradients of the tokens [first, first + rows), in one slice of columns from `column` on,
 * to `total`, which has the row length of weight. */
static void
add_slice (const LigOperand *dy,
           const LigOperand *x,
           int64_t first,
           int64_t rows,
           int64_t column,
           float *total)
{
  float buffer[SLICE];
  const int32_t *tokens = x->data;
  int64_t columns = dy->columns, count = columns - column < SLICE ? columns - column : SLICE;
  for (int64_t i = 0; i < x->size; i++) {
    int64_t row = tokens[i] - first;
    if (row < 0 || row >= rows)
      continue;
    const float *part = lig_load (dy, i * columns + column, count, buffer);
    float *sum = total + row * columns + column;
#pragma omp simd
    for (int64_t j = 0; j < count; j++)
      sum[j] += part[j];
  }
}

/* Computes dweight. 16-bit types are summed in fp32 in the workspace, for as many rows of the
 * vocabulary as fit at a time, and rounded once. */
LigStatus
LIG_CPU (embedding_backward) (LigLaunch *launch)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dweight = &launch->operands[2];
  int64_t columns = dweight->columns, vocabulary = lig_rows (dweight);
  LigVocabularyPart part = part_of (launch, dweight);
  LigStatus status = check (launch, x, part.count);
  if (status != LIG_OK)
    return status;
  bool direct = dweight->dtype == LIG_FP32;
  int64_t max = direct ? vocabulary : (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float)) / columns;
  if (max == 0)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "embedding: rows are too long for the workspace; reduce the features");
  for (int64_t first = 0; first < vocabulary; first += max) {
    int64_t rows = vocabulary - first < max ? vocabulary - first : max;
    size_t count = (size_t) (rows * columns);
    float *total = direct ? dweight->data : launch->workspace;
    if (!launch->accumulate)
      memset (total, 0, count * sizeof *total);
    else if (!direct)
      lig_widen (dweight->dtype, lig_at (dweight, first * columns), total, count);
#pragma omp parallel for schedule(static) if (dy->size > LIG_PARALLEL_FROM)
    for (int64_t column = 0; column < columns; column += SLICE)
      add_slice (dy, x, part.first + first, rows, column, total);
    if (!direct)
      lig_narrow (dweight->dtype, total, lig_at (dweight, first * columns), count);
  }
  return LIG_OK;
}

/* Returns the launch's parameters, or the defaults. */
static LigPositionParams
positions_of (const LigLaunch *launch, const LigOperand *weight)
{
  const LigPositionParams *params = launch->params;
  return params ? *params : (LigPositionParams){.length = lig_rows (weight)};
}

/* Returns the row of the table for row `row` of the batch. */
static int64_t
position_of (const LigPositionParams *p, int64_t row)
{
  return lig_position (row % p->length, p->length, p->ranks, p->rank);
}

/* Checks the positions of `rows` rows, and the table of positions. */
static LigStatus
check_positions (LigLaunch *launch, const LigOperand *like, int64_t rows, const LigOperand *weight)
{
  LigPositionParams p = positions_of (launch, weight);
  if (!lig_dtype_is_floating (like->dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "position-embedding: not a floating type; convert to fp32, fp16 or bf16");
  if (p.length < 1 || rows % p.length != 0 ||
      p.length * (p.ranks > 1 ? p.ranks : 1) > lig_rows (weight) ||
      weight->columns != like->columns)
    return LIG_FAIL (launch, LIG_FAILED,
                     "position-embedding: the table does not fit the rows; correct its length");
  return LIG_OK;
}

/* Adds row `position` of weight to a row that `load` has in fp32, already rounded to the type of y,
 * and stores it as row `row` of y. */
static void
add_position (const LigOperand *from,
              int64_t from_row,
              const LigOperand *weight,
              int64_t position,
              const LigOperand *y,
              int64_t row)
{
  float staged[LIG_PIECE], buffer[LIG_PIECE];
  int64_t columns = y->columns;
  for (int64_t at = 0; at < columns; at += LIG_PIECE) {
    int64_t count = lig_piece (columns, at);
    lig_widen (from->dtype, lig_at (from, from_row * columns + at), staged, (size_t) count);
    if (from->dtype != y->dtype && y->dtype != LIG_FP32) {
      /* As an unfused embedding would have rounded. */
      uint16_t rounded[LIG_PIECE];
      lig_narrow (y->dtype, staged, rounded, (size_t) count);
      lig_widen (y->dtype, rounded, staged, (size_t) count);
    }
    const float *add = lig_load (weight, position * columns + at, count, buffer);
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
      staged[i] += add[i];
    lig_narrow (y->dtype, staged, lig_at (y, row * columns + at), (size_t) count);
  }
}

/* Returns the position of a row in the table. @starts: (nullable): the first position of each
 * sequence; those beyond the table get its last row */
static int64_t
place_of (const LigPositionParams *p, const int32_t *starts, int64_t row, const LigOperand *weight)
{
  if (!starts)
    return position_of (p, row);
  int64_t position = starts[row / p->length] + row % p->length;
  int64_t last = lig_rows (weight) - 1;
  return position < 0 ? 0 : position > last ? last : position;
}

static LigStatus
add_positions (LigLaunch *launch, const int32_t *starts, const LigOperand *y)
{
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  int64_t rows = lig_rows (x);
  LigStatus status = check_positions (launch, x, rows, weight);
  if (status != LIG_OK)
    return status;
  LigPositionParams p = positions_of (launch, weight);
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < rows; row++)
    add_position (x, row, weight, place_of (&p, starts, row, weight), y, row);
  return LIG_OK;
}

/* Computes y = x + weight[position]. */
LigStatus
LIG_CPU (position_embedding) (LigLaunch *launch)
{
  return add_positions (launch, NULL, &launch->operands[2]);
}

/* Computes the same for sequences that begin at other positions than 0. */
LigStatus
LIG_CPU (position_embedding_at) (LigLaunch *launch)
{
  return add_positions (launch, launch->operands[2].data, &launch->operands[3]);
}

/* Computes y = weight[x] + position[position of the row]. */
LigStatus
LIG_CPU (embedding_position) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  const LigOperand *position = &launch->operands[2], *y = &launch->operands[3];
  LigStatus status = check (launch, x, lig_rows (weight));
  if (status == LIG_OK)
    status = check_positions (launch, y, x->size, position);
  if (status != LIG_OK)
    return status;
  LigPositionParams p = positions_of (launch, position);
  const int32_t *tokens = x->data;
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < x->size; row++)
    add_position (weight, tokens[row], position, position_of (&p, row), y, row);
  return LIG_OK;
}

/* Sums the gradient of one row of the table in the order of the batch, and stores it. */
static void
sum_position (const LigOperand *dy,
              const LigPositionParams *p,
              int64_t position,
              const LigOperand *dweight,
              bool accumulate)
{
  float sum[LIG_PIECE], buffer[LIG_PIECE];
  int64_t columns = dy->columns, rows = lig_rows (dy);
  int64_t place = lig_position_place (position, p->length, p->ranks, p->rank);
  int64_t first = place < 0 ? rows : place;
  for (int64_t at = 0; at < columns; at += LIG_PIECE) {
    int64_t count = lig_piece (columns, at), element = position * columns + at;
    if (accumulate)
      lig_widen (dweight->dtype, lig_at (dweight, element), sum, (size_t) count);
    else
      memset (sum, 0, sizeof sum);
    for (int64_t row = first; row < rows; row += p->length) {
      const float *part = lig_load (dy, row * columns + at, count, buffer);
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        sum[i] += part[i];
    }
    lig_narrow (dweight->dtype, sum, lig_at (dweight, element), (size_t) count);
  }
}

/* Computes dweight; the rows of positions that do not occur become zero. */
LigStatus
LIG_CPU (position_embedding_backward) (LigLaunch *launch)
{
  const LigOperand *dy = &launch->operands[0], *dweight = &launch->operands[1];
  LigStatus status = check_positions (launch, dy, lig_rows (dy), dweight);
  if (status != LIG_OK)
    return status;
  LigPositionParams p = positions_of (launch, dweight);
#pragma omp parallel for schedule(static) if (dy->size > LIG_PARALLEL_FROM)
  for (int64_t position = 0; position < lig_rows (dweight); position++)
    sum_position (dy, &p, position, dweight, launch->accumulate);
  return LIG_OK;
}
