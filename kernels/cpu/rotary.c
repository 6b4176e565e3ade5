/* SPDX-License-Identifier: MIT */
/* Rotary position embedding of packed rows: the pairs of features of each query and key head are
 * rotated by angles proportional to the position. */
#include "kernels/rotary.h"
#include "kernels/cpu/cpu.h"
#include "kernels/positions.h"

/* The largest number of features of a head that are rotated. */
#define MAX_ROTATED 4096

typedef struct {
  const LigRotaryParams *params;
  const LigOperand *x, *y;
  int64_t heads;  /* that are rotated */
  int64_t first;  /* position of the first row of `table` */
  int64_t end;    /* end of its positions */
  float *table;   /* per position the cosines of all pairs, then their sines */
  float backward; /* 1, or -1 to rotate back */
} Rotary;

/* Computes the table for the positions [first, end). */
static void
fill_table (const Rotary *r)
{
  float frequencies[MAX_ROTATED / 2], magnitude = lig_rotary_magnitude (r->params);
  int32_t pairs = r->params->rotated / 2;
  for (int32_t pair = 0; pair < pairs; pair++)
    frequencies[pair] = lig_rotary_frequency (r->params, pair);
#pragma omp parallel for schedule(static) if ((r->end - r->first) * pairs > LIG_PARALLEL_FROM / 16)
  for (int64_t at = r->first; at < r->end; at++) {
    float *cosines = r->table + (at - r->first) * 2 * pairs, *sines = cosines + pairs;
    const LigRotaryParams *p = r->params;
    int64_t position = lig_position (at, p->length, p->ranks, p->rank);
    for (int32_t pair = 0; pair < pairs; pair++) {
      float angle = (float) position * frequencies[pair];
      cosines[pair] = magnitude * cosf (angle);
      sines[pair] = magnitude * (r->backward * sinf (angle));
    }
  }
}

/* Rotates one head in place, pairs (i, i + pairs). */
static void
rotate_halves (float *head, const float *cosines, const float *sines, int32_t pairs)
{
  float *low = head, *high = head + pairs;
#pragma omp simd
  for (int32_t i = 0; i < pairs; i++) {
    float a = low[i], b = high[i];
    low[i] = a * cosines[i] - b * sines[i];
    high[i] = b * cosines[i] + a * sines[i];
  }
}

/* Rotates one head in place, pairs (2 i, 2 i + 1). */
static void
rotate_neighbours (float *head, const float *cosines, const float *sines, int32_t pairs)
{
#pragma omp simd
  for (int32_t i = 0; i < pairs; i++) {
    float a = head[2 * i], b = head[2 * i + 1];
    head[2 * i] = a * cosines[i] - b * sines[i];
    head[2 * i + 1] = b * cosines[i] + a * sines[i];
  }
}

/* Copies elements that are not rotated. */
static void
leave (const Rotary *r, int64_t element, int64_t count)
{
  size_t size = lig_dtype_size (r->x->dtype);
  if (count > 0 && r->x->data != r->y->data)
    memcpy (lig_at (r->y, element), lig_at (r->x, element), (size_t) count * size);
}

/* Rotates one row at its position. */
static void
rotate_row (const Rotary *r, int64_t row, int64_t position)
{
  int32_t features = r->params->features, rotated = r->params->rotated, pairs = rotated / 2;
  const float *cosines = r->table + (position - r->first) * rotated, *sines = cosines + pairs;
  int64_t start = row * r->x->columns;
  for (int64_t head = 0; head < r->heads; head++) {
    float staged[MAX_ROTATED];
    int64_t at = start + head * features;
    lig_widen (r->x->dtype, lig_at (r->x, at), staged, (size_t) rotated);
    if (r->params->interleaved)
      rotate_neighbours (staged, cosines, sines, pairs);
    else
      rotate_halves (staged, cosines, sines, pairs);
    lig_narrow (r->y->dtype, staged, lig_at (r->y, at), (size_t) rotated);
    leave (r, at + rotated, features - rotated);
  }
  leave (r, start + r->heads * features, r->x->columns - r->heads * features);
}

/* Checks the parameters against the operands. */
static LigStatus
check (LigLaunch *launch, const LigOperand *x, const LigOperand *y)
{
  const LigRotaryParams *p = launch->params;
  if (!lig_dtype_is_floating (x->dtype) || x->dtype != y->dtype)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "rotary: not one floating type; convert to fp32, fp16 or bf16");
  int64_t heads = p->heads + p->kv_heads, rows = lig_rows (x), length = p->length;
  if (p->rotated % 2 != 0 || p->rotated > p->features || length < 1 || rows % length != 0 ||
      x->columns != (heads + p->kv_heads) * (int64_t) p->features)
    return LIG_FAIL (launch, LIG_FAILED,
                     "rotary: the parameters do not fit the rows; correct them");
  if (p->rotated > MAX_ROTATED)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "rotary: a head has more than 4096 features; reduce them");
  return LIG_OK;
}

/* Rotates rows of positions [first, end) of `count` sequences, whose rows begin at `row`. */
static void
rotate_range (Rotary *r, int64_t row, int64_t count, int64_t first, int64_t end)
{
  int64_t length = r->params->length, n = end - first;
  r->first = first;
  r->end = end;
  fill_table (r);
#pragma omp parallel for schedule(static) if (r->x->size > LIG_PARALLEL_FROM)
  for (int64_t i = 0; i < count * n; i++)
    rotate_row (r, row + i / n * length + i % n, first + i % n);
}

/* Rotates all rows by the angles, or back. The table holds a limited number of positions, which are
 * processed at a time. @starts: (nullable): the first position of each sequence */
static LigStatus
rotate (LigLaunch *launch, const int32_t *starts, const LigOperand *y, float direction)
{
  const LigRotaryParams *p = launch->params;
  const LigOperand *x = &launch->operands[0];
  LigStatus status = check (launch, x, y);
  if (status != LIG_OK)
    return status;
  int64_t rows = lig_rows (x), length = p->length, count = rows / length;
  int64_t max = (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float)) / (p->rotated + 1);
  Rotary r = {p, x, y, p->heads + p->kv_heads, 0, 0, launch->workspace, direction};
  for (int64_t first = 0; first < length; first += max) {
    int64_t end = length - first < max ? length : first + max;
    if (!starts)
      rotate_range (&r, first, count, first, end);
    for (int64_t b = 0; starts && b < count; b++)
      rotate_range (&r, b * length + first, 1, starts[b] + first, starts[b] + end);
  }
  return LIG_OK;
}

/* Computes y. */
LigStatus
LIG_CPU (rotary) (LigLaunch *launch)
{
  return rotate (launch, NULL, &launch->operands[1], 1);
}

/* Computes y for sequences that begin at other positions than 0. */
LigStatus
LIG_CPU (rotary_at) (LigLaunch *launch)
{
  return rotate (launch, launch->operands[1].data, &launch->operands[2], 1);
}

/* Computes dx: rotations are orthogonal, so the gradient is rotated back, times the same factor. */
LigStatus
LIG_CPU (rotary_backward) (LigLaunch *launch)
{
  return rotate (launch, NULL, &launch->operands[1], -1);
}
