/* SPDX-License-Identifier: MIT */
/* Extracts a slice of positions and columns from packed rows, and adds a slice to them. */
#include "kernels/cpu/rows.h"
#include <ligature/params-positions.h>

/* Checks that the slice is within rows like those of `whole`. */
static LigStatus
check (LigLaunch *launch, int count, const LigOperand *whole, const LigOperand *slice)
{
  const LigSliceParams *p = launch->params;
  int64_t rows = lig_rows (whole);
  if (!lig_all_floating (launch, count))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "slice: not a floating type; convert the input");
  if (!p || p->first < 0 || p->count < 1 || p->column < 0 || p->length < p->count ||
      p->first > p->length - p->count || p->column > whole->columns - slice->columns ||
      rows % p->length != 0 || lig_rows (slice) != rows / p->length * p->count)
    return LIG_FAIL (launch, LIG_FAILED, "slice: it does not fit the rows; compile the plan again");
  return LIG_OK;
}

/* Copies the slice of x. */
LigStatus
LIG_CPU (slice) (LigLaunch *launch)
{
  const LigSliceParams *p = launch->params;
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  LigStatus status = check (launch, 2, x, y);
  if (status != LIG_OK)
    return status;
  if (x->dtype != y->dtype)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "slice: not one type; convert the input before it");
  size_t bytes = (size_t) y->columns * lig_dtype_size (y->dtype);
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < lig_rows (y); row++) {
    int64_t from = row / p->count * p->length + p->first + row % p->count;
    memcpy (lig_at (y, row * y->columns), lig_at (x, from * x->columns + p->column), bytes);
  }
  return LIG_OK;
}

/* Writes columns [at, end) of a row of y: x, plus the slice from element `added` on unless that is
 * negative. */
static void
write_columns (const LigLaunch *launch, int64_t row, int64_t at, int64_t end, int64_t added)
{
  const LigOperand *x = &launch->operands[0], *slice = &launch->operands[1],
                   *y = &launch->operands[2];
  for (int64_t count; at < end; at += count, added += added < 0 ? 0 : count) {
    float sum[LIG_PIECE] = {0}, buffer[LIG_PIECE];
    int64_t element = row * y->columns + at;
    count = lig_piece (end, at);
    if (x->data)
      lig_widen (x->dtype, lig_at (x, element), sum, (size_t) count);
    if (added >= 0) {
      const float *more = lig_load (slice, added, count, buffer);
      LIG_EACH_ELEMENT (i, count)
      sum[i] += more[i];
    }
    lig_narrow (y->dtype, sum, lig_at (y, element), (size_t) count);
  }
}

/* Computes y. */
LigStatus
LIG_CPU (add_slice) (LigLaunch *launch)
{
  const LigSliceParams *p = launch->params;
  const LigOperand *x = &launch->operands[0], *slice = &launch->operands[1],
                   *y = &launch->operands[2];
  LigStatus status = check (launch, 3, y, slice);
  if (status != LIG_OK)
    return status;
  if (x->data && x->size != y->size)
    return LIG_FAIL (launch, LIG_FAILED, "slice: x and y differ in size; compile the plan again");
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < lig_rows (y); row++) {
    int64_t place = row % p->length - p->first, end = p->column + slice->columns;
    if (place < 0 || place >= p->count) {
      write_columns (launch, row, 0, y->columns, -1);
      continue;
    }
    write_columns (launch, row, 0, p->column, -1);
    write_columns (launch, row, p->column, end,
                   (row / p->length * p->count + place) * slice->columns);
    write_columns (launch, row, end, y->columns, -1);
  }
  return LIG_OK;
}
