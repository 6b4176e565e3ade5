/* SPDX-License-Identifier: MIT */
/* The permutation of rows by expert, and its inverse. Rows are sorted by counting; all sums are in
 * a fixed order. */
#include "kernels/cpu/rows.h"
#include <ligature/params-experts.h>

static const LigPermuteParams default_permutation = {.experts = 1, .align = 1};

#define REJECTED \
  "experts: operands that do not fit together, or of another type; pass what the signature names"

/* --- Permutation -------------------------------------------------------------------------- */

/* The sort of the choices of all tokens: where the rows of each expert begin, how many it has, and
 * how many have no room. */
typedef struct {
  LigPermuteParams params;
  int64_t rows; /* of the result */
  int64_t dropped;
  int64_t first[LIG_MAX_EXPERTS + 1], count[LIG_MAX_EXPERTS];
} Sort;

/* Counts the rows of each expert, and sets where they begin. */
static void
count_rows (Sort *sort, const LigOperand *experts, int32_t *offsets)
{
  const int32_t *chosen = experts->data;
  int64_t align = sort->params.align, limit = sort->params.limit;
  memset (sort->count, 0, sizeof sort->count);
  for (int64_t i = 0; i < experts->size; i++)
    if (chosen[i] >= 0 && chosen[i] < sort->params.experts)
      sort->count[chosen[i]]++;
  sort->first[0] = sort->dropped = 0;
  for (int e = 0; e < sort->params.experts; e++) {
    sort->dropped += sort->count[e];
    if (limit > 0)
      sort->count[e] = lig_min (sort->count[e], limit);
    int64_t end = sort->first[e] + (sort->count[e] + align - 1) / align * align;
    sort->first[e + 1] = lig_min (end, sort->rows);
    sort->count[e] = lig_min (sort->count[e], sort->first[e + 1] - sort->first[e]);
    sort->dropped -= sort->count[e];
  }
  for (int e = 0; offsets && e <= sort->params.experts; e++)
    offsets[e] = (int32_t) sort->first[e];
}

/* Sets the place of each choice, in the order of the tokens. */
static void
place (const Sort *sort, const LigOperand *experts, int32_t *places)
{
  int64_t used[LIG_MAX_EXPERTS] = {0};
  const int32_t *chosen = experts->data;
  for (int64_t i = 0; i < experts->size; i++) {
    int32_t e = chosen[i];
    places[i] = -1;
    if (e >= 0 && e < sort->params.experts && used[e] < sort->count[e])
      places[i] = (int32_t) (sort->first[e] + used[e]++);
  }
}

/* Clears rows of y, and their scales, that have no token. */
static void
clear_rows (const LigOperand *y, const LigOperand *scales, int64_t first, int64_t end)
{
  if (first >= end)
    return;
  if (y->data)
    memset (lig_at (y, first * y->columns), 0,
            (size_t) ((end - first) * y->columns) * lig_dtype_size (y->dtype));
  if (scales->data)
    memset (lig_at (scales, first), 0, (size_t) (end - first) * sizeof (float));
}

/* Copies each token to its places. */
static void
copy_rows (const LigLaunch *launch, const int32_t *places, int64_t top_k)
{
  const LigOperand *o = launch->operands, *x = &o[0], *weights = &o[2], *y = &o[3], *scales = &o[6];
  size_t bytes = (size_t) x->columns * lig_dtype_size (x->dtype);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t token = 0; token < lig_rows (x); token++)
    for (int64_t i = token * top_k; i < (token + 1) * top_k; i++) {
      if (places[i] < 0)
        continue;
      if (y->data)
        memcpy (lig_at (y, places[i] * x->columns), lig_at (x, token * x->columns), bytes);
      if (scales->data)
        ((float *) scales->data)[places[i]] = weights->data ? ((float *) weights->data)[i] : 1;
    }
}

/* Sorts rows by expert. The places are kept in the workspace if they are absent. */
LigStatus
LIG_CPU (permute) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[0], *experts = &o[1], *y = &o[3];
  const LigOperand *offsets = &o[4], *places = &o[5], *scales = &o[6];
  const LigOperand *dropped = &o[7];
  Sort sort = {.params =
                 launch->params ? *(const LigPermuteParams *) launch->params : default_permutation};
  int64_t tokens = lig_rows (x), top_k = experts->size / tokens;
  sort.rows = y->columns > 0 ? lig_rows (y) : 0;
  int32_t *to = places->data ? places->data : launch->workspace;
  bool fits = places->data || (size_t) experts->size * sizeof *to <= LIG_WORKSPACE_SIZE;
  if (!fits || sort.params.experts < 1 || sort.params.experts > LIG_MAX_EXPERTS ||
      sort.params.align < 1 || sort.rows > INT32_MAX || experts->size != tokens * top_k ||
      experts->dtype != LIG_INT32 || !lig_has_type (offsets, LIG_INT32) ||
      !lig_has_type (places, LIG_INT32) || !lig_has_type (scales, LIG_FP32) ||
      !lig_has_type (dropped, LIG_FP32) || !lig_has_type (&o[2], LIG_FP32) ||
      !lig_has_type (y, x->dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  count_rows (&sort, experts, offsets->data);
  place (&sort, experts, to);
  if (dropped->data)
    *(float *) dropped->data = (float) sort.dropped;
  for (int e = 0; e < sort.params.experts; e++)
    clear_rows (y, scales, sort.first[e] + sort.count[e], sort.first[e + 1]);
  clear_rows (y, scales, sort.first[sort.params.experts], sort.rows);
  copy_rows (launch, to, top_k);
  return LIG_OK;
}

/* Returns whether a choice has a row. */
static bool
is_placed (int32_t place, int64_t rows)
{
  return place >= 0 && place < rows;
}

/* Sums rows of x, each times its weight, in a piece of a row of y. */
static void
gather_piece (const LigOperand *x,
              const int32_t *places,
              const float *weights,
              int64_t top_k,
              int64_t column,
              int64_t count,
              float *sums)
{
  float buffer[LIG_PIECE];
  memset (sums, 0, (size_t) count * sizeof *sums);
  for (int64_t j = 0; j < top_k; j++) {
    if (!is_placed (places[j], lig_rows (x)))
      continue;
    const float *from = lig_load (x, places[j] * x->columns + column, count, buffer);
    float weight = weights ? weights[j] : 1;
    for (int64_t i = 0; i < count; i++)
      sums[i] += weight * from[i];
  }
}

/* y_t = the sum of weights[t, j] x[places[t, j]]. */
static void
gather (const LigOperand *x, const LigOperand *places, const float *weights, const LigOperand *y)
{
  int64_t tokens = lig_rows (y), top_k = places->size / tokens;
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t token = 0; token < tokens; token++)
    for (int64_t column = 0; column < y->columns; column += LIG_PIECE) {
      float sums[LIG_PIECE];
      int64_t count = lig_piece (y->columns, column), at = token * y->columns + column;
      float *to = lig_stage (y, at, sums);
      gather_piece (x, (const int32_t *) places->data + token * top_k,
                    weights ? weights + token * top_k : NULL, top_k, column, count, to);
      lig_commit (y, at, count, to);
    }
}

/* dx_t is the sum of the gradients of its rows; dweights are those of the rows' scales. */
LigStatus
LIG_CPU (permute_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *dy = &o[0], *dscales = &o[1], *places = &o[2];
  const LigOperand *dx = &o[3], *dweights = &o[4];
  if (places->dtype != LIG_INT32 || !lig_has_type (dscales, LIG_FP32) ||
      !lig_has_type (dweights, LIG_FP32) || (dx->data && !dy->data))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  if (dx->data)
    gather (dy, places, NULL, dx);
  for (int64_t i = 0; dweights->data && i < dweights->size; i++) {
    int32_t at = ((const int32_t *) places->data)[i];
    bool placed = dscales->data && is_placed (at, dscales->size);
    ((float *) dweights->data)[i] = placed ? ((const float *) dscales->data)[at] : 0;
  }
  return LIG_OK;
}

/* Sums the rows of each token, times their weights. */
LigStatus
LIG_CPU (unpermute) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[0], *places = &o[1], *weights = &o[2], *y = &o[3];
  if (places->dtype != LIG_INT32 || !lig_has_type (weights, LIG_FP32) ||
      !lig_all_floating (launch, 1))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  gather (x, places, weights->data, y);
  return LIG_OK;
}

/* Writes the gradient of the row of a choice, and returns that of its weight. */
static float
scatter_row (const LigLaunch *launch, int64_t token, int64_t row, float weight)
{
  const LigOperand *o = launch->operands, *dy = &o[0], *x = &o[1], *dx = &o[4];
  double sum = 0;
  for (int64_t column = 0; column < dy->columns; column += LIG_PIECE) {
    float a[LIG_PIECE], b[LIG_PIECE];
    int64_t count = lig_piece (dy->columns, column), at = row * dy->columns + column;
    const float *from = lig_load (dy, token * dy->columns + column, count, a);
    const float *by = x->data ? lig_load (x, at, count, b) : NULL;
    for (int64_t i = 0; by && i < count; i++)
      sum += (double) from[i] * (double) by[i];
    if (!dx->data)
      continue;
    float out[LIG_PIECE], *to = lig_stage (dx, at, out);
    for (int64_t i = 0; i < count; i++)
      to[i] = weight * from[i];
    lig_commit (dx, at, count, to);
  }
  return (float) sum;
}

/* Clears the rows of dx that no place names. */
static LigStatus
clear_unplaced (LigLaunch *launch, const LigOperand *places, const LigOperand *dx)
{
  static const LigOperand none;
  int64_t rows = lig_rows (dx);
  char *placed = launch->workspace;
  if ((size_t) rows > LIG_WORKSPACE_SIZE)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "experts: more than 2^25 rows; use fewer tokens");
  memset (placed, 0, (size_t) rows);
  for (int64_t i = 0; i < places->size; i++)
    if (is_placed (((const int32_t *) places->data)[i], rows))
      placed[((const int32_t *) places->data)[i]] = 1;
  for (int64_t row = 0; row < rows; row++)
    if (!placed[row])
      clear_rows (dx, &none, row, row + 1);
  return LIG_OK;
}

/* Returns the gradient of each token to its rows. */
LigStatus
LIG_CPU (unpermute_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *dy = &o[0], *places = &o[2], *weights = &o[3];
  const LigOperand *dx = &o[4], *dweights = &o[5];
  int64_t tokens = lig_rows (dy), top_k = places->size / tokens;
  const int32_t *at = places->data;
  if (places->dtype != LIG_INT32 || !lig_has_type (weights, LIG_FP32) ||
      !lig_has_type (dweights, LIG_FP32) || (dweights->data && !o[1].data))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  int64_t rows = dx->data ? lig_rows (dx) : lig_rows (&o[1]);
  LigStatus status = dx->data ? clear_unplaced (launch, places, dx) : LIG_OK;
  if (status != LIG_OK)
    return status;
#pragma omp parallel for schedule(static) if (dy->size > LIG_PARALLEL_FROM)
  for (int64_t token = 0; token < tokens; token++)
    for (int64_t i = token * top_k; i < (token + 1) * top_k; i++) {
      float weight = weights->data ? ((const float *) weights->data)[i] : 1, sum = 0;
      if (is_placed (at[i], rows))
        sum = scatter_row (launch, token, at[i], weight);
      if (dweights->data)
        ((float *) dweights->data)[i] = sum;
    }
  return LIG_OK;
}

/* Sums sizes, each rounded up. */
LigStatus
LIG_CPU (row_offsets) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigRowOffsetsParams *params = launch->params;
  int64_t align = params && params->align > 1 ? params->align : 1, sum = 0;
  if (x->dtype != LIG_INT32 || y->dtype != LIG_INT32 || y->size != x->size + 1)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  for (int64_t i = 0; i <= x->size; i++) {
    ((int32_t *) y->data)[i] = (int32_t) sum;
    int64_t size = i < x->size ? ((const int32_t *) x->data)[i] : 0;
    sum = lig_min (sum + (size > 0 ? (size + align - 1) / align * align : 0), INT32_MAX);
  }
  return LIG_OK;
}
