/* SPDX-License-Identifier: MIT */
/* Shared code of the element-wise families: loops over pieces, a vector repeated along rows, and
 * sums over rows.
 *
 * A fused kernel must match the kernels that it replaces bit for bit. So each formula is compiled
 * into one function over pieces that all kernels of its family call, and every value that an
 * unfused kernel would have written is rounded to the type of that output. */
#pragma once

#include "kernels/cpu/cpu.h"

/* A function that applies a formula to `count` elements; it is compiled once. */
#define LIG_PIECE_FUNCTION static __attribute__ ((noinline)) void

/* A loop over independent elements, so that the output may be one of the inputs. */
#define LIG_EACH_ELEMENT(i, count) _Pragma ("omp simd") for (int64_t i = 0; i < (count); i++)

/* Returns the smaller of both. */
static inline int64_t
lig_min (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* Reads an operand into the buffer. */
static inline void
lig_load_into (const LigOperand *operand, int64_t at, int64_t count, float *buffer)
{
  const float *from = lig_load (operand, at, count, buffer);
  if (from != buffer)
    memcpy (buffer, from, (size_t) count * sizeof *from);
}

/* Returns whether the operand is absent or of the type. */
static inline bool
lig_has_type (const LigOperand *operand, LigDtype dtype)
{
  return !operand->data || operand->dtype == dtype;
}

/* Returns whether those of the first `count` operands that are present have types that kernels
 * compute in. */
static inline bool
lig_all_floating (const LigLaunch *launch, int count)
{
  for (int i = 0; i < count; i++)
    if (launch->operands[i].data && !lig_dtype_is_floating (launch->operands[i].dtype))
      return false;
  return true;
}

/* Returns memory for floats that lig_commit_rounded () will store: `buffer` if the operand is
 * absent. */
static inline float *
lig_stage_if_present (const LigOperand *operand, int64_t element, float *buffer)
{
  return operand->data ? lig_stage (operand, element, buffer) : buffer;
}

/* A vector broadcast along rows, to be read in pieces. Short vectors are replicated in memory. */
typedef struct {
  const LigOperand *vector;
  float repeated[2 * LIG_PIECE];
} LigRepeat;

/* Prepares to read a vector broadcast along rows. */
static inline void
lig_repeat (LigRepeat *repeat, const LigOperand *vector)
{
  int64_t size = vector->size;
  repeat->vector = vector;
  if (size >= LIG_PIECE)
    return;
  lig_widen (vector->dtype, vector->data, repeat->repeated, (size_t) size);
  for (int64_t i = size; i < 2 * LIG_PIECE; i++)
    repeat->repeated[i] = repeat->repeated[i - size];
}

/* Returns the `count` values, at most LIG_PIECE, that belong to the elements from `element` on. */
static inline const float *
lig_repeat_at (const LigRepeat *repeat, int64_t element, int64_t count, float *buffer)
{
  const LigOperand *vector = repeat->vector;
  int64_t offset = element % vector->size, first = lig_min (count, vector->size - offset);
  if (vector->size < LIG_PIECE)
    return repeat->repeated + offset;
  if (first == count)
    return lig_load (vector, offset, count, buffer);
  lig_widen (vector->dtype, lig_at (vector, offset), buffer, (size_t) first);
  lig_widen (vector->dtype, vector->data, buffer + first, (size_t) (count - first));
  return buffer;
}

/* A sum over rows as tasks that run in any order: each covers one block of a LigPartition and one
 * piece of the columns, and has its own partial sums. Rows shorter than a piece are read several at
 * once. */
typedef struct {
  LigPartition partition;
  float *partials;
  int64_t rows, columns, pieces, tasks, at_once;
} LigRowSum;

typedef struct {
  int64_t row, end;     /* rows of the task */
  int64_t first, width; /* columns of the task */
  float *sums;          /* partial sums of the whole row: that of column i is at i */
} LigRowTask;

/* Returns whether one row of partial sums fits the workspace. */
static inline bool
lig_row_sum_fits (int64_t columns)
{
  return columns <= (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float));
}

/* Splits a sum over the rows of x into tasks. They split `width` columns into pieces: the whole
 * row, or half of it if a task processes the same piece of both halves. */
static inline LigRowSum
lig_row_sum (const LigLaunch *launch, const LigOperand *x, int64_t width)
{
  int64_t rows = lig_rows (x), pieces = (width + LIG_PIECE - 1) / LIG_PIECE;
  LigPartition partition = lig_partition (rows, x->columns);
  return (LigRowSum){
    .partition = partition,
    .partials = launch->workspace,
    .rows = rows,
    .columns = x->columns,
    .pieces = pieces,
    .tasks = partition.blocks * pieces,
    .at_once = width == x->columns && pieces == 1 ? LIG_PIECE / width : 1,
  };
}

/* Returns task `index` of a sum whose rows are split at `width` columns. */
static inline LigRowTask
lig_row_task (const LigRowSum *sum, int64_t index, int64_t width)
{
  int64_t block = index / sum->pieces, row = block * sum->partition.rows_per_block;
  int64_t first = index % sum->pieces * LIG_PIECE;
  return (LigRowTask){row, lig_min (row + sum->partition.rows_per_block, sum->rows), first,
                      lig_piece (width, first), sum->partials + block * sum->columns};
}

/* Adds `count` rows of `width` floats to `sums`. */
static inline void
lig_add_rows (float *restrict sums, const float *restrict rows, int64_t count, int64_t width)
{
  for (int64_t row = 0; row < count; row++)
    for (int64_t i = 0; i < width; i++)
      sums[i] += rows[row * width + i];
}

/* Sums the partial sums of all tasks, unless the target is absent. */
static inline void
lig_row_sum_finish (const LigRowSum *sum, const LigOperand *target, bool accumulate)
{
  int64_t blocks = sum->partition.blocks, columns = sum->columns;
  if (target->data)
    LIG_CPU (reduce_partials) (sum->partials, blocks, columns, columns, target, accumulate);
}
