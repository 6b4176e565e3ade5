/* SPDX-License-Identifier: MIT */
/* Moves blocks of tokens: the two blocks of a rank, and the blocks of all ranks in sequence
 * order. */
#include "kernels/cpu/cpu.h"
#include "kernels/positions.h"
#include <ligature/params-positions.h>

/* Copies a part of a row, or clears it if there is no source. */
static void
copy (const LigOperand *from, int64_t at, const LigOperand *to, int64_t to_at, int64_t count)
{
  size_t bytes = (size_t) count * lig_dtype_size (to->dtype);
  if (to->data && from->data)
    memcpy (lig_at (to, to_at), lig_at (from, at), bytes);
  else if (to->data)
    memset (lig_at (to, to_at), 0, bytes);
}

/* Checks that the operands that are present have the same type. */
static bool
one_type (const LigLaunch *launch, int count, LigDtype dtype)
{
  for (int i = 0; i < count; i++)
    if (launch->operands[i].data && launch->operands[i].dtype != dtype)
      return false;
  return true;
}

/* The rows of x, and the pieces of each. */
typedef struct {
  int64_t rows, length, columns, part, rest;
} Halves;

static LigStatus
prepare (LigLaunch *launch, const LigOperand *x, Halves *h)
{
  const LigHalvesParams *p = launch->params;
  *h = (Halves){lig_rows (x), p ? p->length : 0, x->columns, p ? p->columns : 0,
                p ? x->columns - p->columns : 0};
  if (!one_type (launch, 4, x->dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "halves: not one type; convert the input before it");
  if (h->length < 2 || h->length % 2 != 0 || h->rows % h->length != 0 || h->part < 1 || h->rest < 0)
    return LIG_FAIL (launch, LIG_FAILED,
                     "halves: the positions or columns do not fit the rows; correct them");
  return LIG_OK;
}

/* Returns the element of first or second at which row `row` begins, and which of the two has it. */
static int64_t
place (const Halves *h, int64_t row, bool *late)
{
  int64_t half = h->length / 2, at = row % h->length;
  *late = at >= half;
  return (row / h->length * half + at % half) * h->part;
}

/* Splits the rows of x. */
LigStatus
LIG_CPU (split_halves) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *halves = &launch->operands[1];
  Halves h;
  LigStatus status = prepare (launch, x, &h);
  if (status != LIG_OK)
    return status;
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < h.rows; row++) {
    bool late;
    int64_t to = place (&h, row, &late), from = row * h.columns;
    copy (x, from, &halves[late], to, h.part);
    copy (x, from + h.part, &halves[2], row * h.rest, h.rest);
  }
  return LIG_OK;
}

/* Joins the rows of x. */
LigStatus
LIG_CPU (join_halves) (LigLaunch *launch)
{
  const LigOperand *halves = &launch->operands[0], *x = &launch->operands[3];
  Halves h;
  LigStatus status = prepare (launch, x, &h);
  if (status != LIG_OK)
    return status;
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < h.rows; row++) {
    bool late;
    int64_t from = place (&h, row, &late), to = row * h.columns;
    copy (&halves[late], from, x, to, h.part);
    copy (&halves[2], row * h.rest, x, to + h.part, h.rest);
  }
  return LIG_OK;
}

/* Checks the gathered rows against the params. Returns the number of rows of the batch, or 0 if
 * they do not match. */
static int64_t
count_batch (const LigLaunch *launch, const LigOperand *all)
{
  const LigArrangeParams *p = launch->params;
  if (!p || p->length < 2 || p->length % 2 != 0 || p->ranks < 1 || p->rank < 0 ||
      p->rank >= p->ranks || lig_rows (all) % (p->length * p->ranks) != 0)
    return 0;
  return lig_rows (all) / (p->length * p->ranks);
}

static LigStatus
reject (LigLaunch *launch)
{
  return LIG_FAIL (launch, LIG_FAILED,
                   "halves: the rows do not match the ranks; compile the plan again");
}

/* Computes y and second. */
LigStatus
LIG_CPU (arrange_halves) (LigLaunch *launch)
{
  const LigArrangeParams *p = launch->params;
  const LigOperand *x = &launch->operands[0];
  int64_t batch = count_batch (launch, x), columns = x->columns;
  if (batch == 0 || !one_type (launch, 3, x->dtype))
    return x->size == 0 ? LIG_OK : reject (launch);
  for (int late = 0; late < 2; late++) {
    const LigOperand *to = &launch->operands[1 + late];
    int64_t reach = lig_block_reach (p->length, p->ranks, p->rank, p->causal, late);
    int64_t half = p->length / 2, blocks = reach / half;
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
    for (int64_t i = 0; i < batch * blocks; i++) {
      int64_t row = i / blocks, position = i % blocks * half;
      int64_t from = lig_block_source (row, batch, position, p->length, p->ranks);
      copy (x, from * columns, to, (row * reach + position) * columns, half * columns);
    }
  }
  return LIG_OK;
}

/* Sums the contributions of first and second to one row. */
static void
add_row (const LigLaunch *launch, int64_t batch, int64_t row, int64_t position)
{
  const LigArrangeParams *p = launch->params;
  const LigOperand *dx = &launch->operands[2];
  int64_t target = lig_block_source (row, batch, position, p->length, p->ranks) * dx->columns;
  for (int64_t at = 0; at < dx->columns; at += LIG_PIECE) {
    float sum[LIG_PIECE] = {0}, buffer[LIG_PIECE];
    int64_t count = lig_piece (dx->columns, at);
    for (int late = 0; late < 2; late++) {
      const LigOperand *dy = &launch->operands[late];
      int64_t reach = lig_block_reach (p->length, p->ranks, p->rank, p->causal, late);
      if (!dy->data || position >= reach)
        continue;
      const float *part = lig_load (dy, (row * reach + position) * dx->columns + at, count, buffer);
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        sum[i] += part[i];
    }
    lig_narrow (dx->dtype, sum, lig_at (dx, target + at), (size_t) count);
  }
}

/* Computes dx. */
LigStatus
LIG_CPU (arrange_halves_backward) (LigLaunch *launch)
{
  const LigArrangeParams *p = launch->params;
  const LigOperand *dx = &launch->operands[2];
  int64_t batch = count_batch (launch, dx);
  if (batch == 0 || !lig_dtype_is_floating (dx->dtype) || !one_type (launch, 3, dx->dtype))
    return dx->size == 0 ? LIG_OK : reject (launch);
  int64_t positions = p->length * p->ranks;
#pragma omp parallel for schedule(static) if (dx->size > LIG_PARALLEL_FROM)
  for (int64_t i = 0; i < batch * positions; i++)
    add_row (launch, batch, i / positions, i % positions);
  return LIG_OK;
}
