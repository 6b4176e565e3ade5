/* SPDX-License-Identifier: MIT */
/* Normalization of rows, backward. With h = (x - mean) rstd and u = gain dy,
 *   layer norm: dx = rstd (u - mean (u) - h mean (u h)), dbias = sum over rows of dy,
 *   rms norm: the same without mean (u) and dbias,
 *   l2: dx = rstd (dy - h sum (dy h)),
 * dweight = sum over rows of dy h. If there is a branch, dx + branch is rounded once. */
#include "kernels/cpu/norm.h"

typedef struct {
  LigNorm norm;
  const LigOperand *dy, *branch, *x, *mean, *rstd, *dx; /* null where the kernel has none */
} Backward;

/* The sums of u and of u h over a row. */
typedef struct {
  float u, uh;
} Sums;

/* Returns the sums of u and u h over a piece; `gain` is null for l2, which does not need u. */
static Sums
row_sums (const float *restrict dy,
          const float *restrict x,
          const float *restrict gain,
          float mean,
          float rstd,
          int64_t count)
{
  float u = 0, uh = 0;
  if (gain) {
#pragma omp simd reduction(+ : u, uh)
    for (int64_t i = 0; i < count; i++) {
      u += gain[i] * dy[i];
      uh += gain[i] * dy[i] * ((x[i] - mean) * rstd);
    }
  } else {
#pragma omp simd reduction(+ : uh)
    for (int64_t i = 0; i < count; i++)
      uh += dy[i] * ((x[i] - mean) * rstd);
  }
  return (Sums){u, uh};
}

/* First pass over a row: returns its sums, and adds to the partial sums over rows. */
static Sums
gather (const Backward *b, int64_t start, float mean, float rstd, float *dweight, float *dbias)
{
  float dy_buffer[LIG_PIECE], x_buffer[LIG_PIECE];
  Sums total = {0, 0};
  for (int64_t at = 0; at < b->norm.length; at += LIG_PIECE) {
    int64_t count = lig_piece (b->norm.length, at);
    const float *dy = lig_load (b->dy, start + at, count, dy_buffer);
    const float *x = lig_load (b->x, start + at, count, x_buffer);
    Sums part = row_sums (dy, x, b->norm.gain ? b->norm.gain + at : NULL, mean, rstd, count);
    total.u += part.u;
    total.uh += part.uh;
    if (dweight) {
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        dweight[at + i] += dy[i] * ((x[i] - mean) * rstd);
    }
    if (dbias) {
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        dbias[at + i] += dy[i];
    }
  }
  return total;
}

/* Second pass over a row: writes dx. Each piece is read before it is written, because dx may be dy
 * or branch. */
static void
write_row (const Backward *b, int64_t start, float mean, float rstd, Sums sums)
{
  float dy_buffer[LIG_PIECE], x_buffer[LIG_PIECE], branch_buffer[LIG_PIECE], staged[LIG_PIECE];
  float u_mean = b->norm.centered ? sums.u * b->norm.share : 0, uh_mean = sums.uh * b->norm.share;
  for (int64_t at = 0; at < b->norm.length; at += LIG_PIECE) {
    int64_t count = lig_piece (b->norm.length, at);
    const float *dy = lig_load (b->dy, start + at, count, dy_buffer);
    const float *x = lig_load (b->x, start + at, count, x_buffer);
    const float *gain = b->norm.gain ? b->norm.gain + at : NULL;
    float *dx = lig_stage (b->dx, start + at, staged);
    if (!gain) {
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        dx[i] = rstd * (dy[i] - u_mean - (x[i] - mean) * rstd * uh_mean);
    } else if (b->branch) {
      const float *branch = lig_load (b->branch, start + at, count, branch_buffer);
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        dx[i] = rstd * (gain[i] * dy[i] - u_mean - (x[i] - mean) * rstd * uh_mean) + branch[i];
    } else {
#pragma omp simd
      for (int64_t i = 0; i < count; i++)
        dx[i] = rstd * (gain[i] * dy[i] - u_mean - (x[i] - mean) * rstd * uh_mean);
    }
    lig_commit (b->dx, start + at, count, dx);
  }
}

/* Runs one block of the fixed partition; writes its partial sums of dweight and dbias unless
 * these are null. */
static void
run_block (const Backward *b, int64_t first, int64_t end, float *dweight, float *dbias)
{
  if (dweight)
    memset (dweight, 0, (size_t) b->norm.length * sizeof *dweight);
  if (dbias)
    memset (dbias, 0, (size_t) b->norm.length * sizeof *dbias);
  for (int64_t row = first; row < end; row++) {
    int64_t start = row * b->norm.length;
    float mean = b->mean ? ((const float *) b->mean->data)[row] : 0;
    float rstd = ((const float *) b->rstd->data)[row];
    Sums sums = gather (b, start, mean, rstd, dweight, dbias);
    if (lig_is_present (b->dx))
      write_row (b, start, mean, rstd, sums);
  }
}

/* Computes dx, dweight and dbias, each of which may be absent. `weight`, `dweight` and `dbias` are
 * null for a kernel without them. */
static LigStatus
backward (LigLaunch *launch,
          Backward *b,
          const LigOperand *weight,
          const LigOperand *dweight,
          const LigOperand *dbias)
{
  LigNorm *norm = &b->norm;
  LigStatus status = lig_norm_prepare (norm, launch, b->x, weight);
  if (status != LIG_OK)
    return status;
  /* The third vector is the gain, stored before the partial sums. */
  int64_t length = norm->length;
  LigPartition partition = lig_partition (norm->rows, 3 * length);
  float *weights = lig_is_present (dweight) ? norm->scratch : NULL;
  float *biases = lig_is_present (dbias) ? norm->scratch + partition.blocks * length : NULL;
#pragma omp parallel for schedule(static) if (lig_norm_parallel(norm))
  for (int64_t block = 0; block < partition.blocks; block++) {
    int64_t first = block * partition.rows_per_block, end = first + partition.rows_per_block;
    run_block (b, first, end < norm->rows ? end : norm->rows,
               weights ? weights + block * length : NULL, biases ? biases + block * length : NULL);
  }
  if (weights)
    LIG_CPU (reduce_partials)
  (weights, partition.blocks, length, length, dweight, launch->accumulate);
  if (biases)
    LIG_CPU (reduce_partials) (biases, partition.blocks, length, length, dbias, launch->accumulate);
  return LIG_OK;
}

/* Computes dx [M, N], dweight [N] and dbias [N] from dy, x, mean and rstd. */
LigStatus
LIG_CPU (layer_norm_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Backward b = {
    .dy = &o[0], .x = &o[1], .mean = &o[3], .rstd = &o[4], .dx = &o[5], .norm.centered = true};
  return backward (launch, &b, &o[2], &o[6], &o[7]);
}

/* Computes the same with a branch [M, N] that is added to dx. */
LigStatus
LIG_CPU (layer_norm_backward_add) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Backward b = {.dy = &o[0],
                .branch = &o[1],
                .x = &o[2],
                .mean = &o[4],
                .rstd = &o[5],
                .dx = &o[6],
                .norm.centered = true};
  return backward (launch, &b, &o[3], &o[7], &o[8]);
}

/* Computes dx [M, N] and dweight [N] from dy, x and rstd. */
LigStatus
LIG_CPU (rms_norm_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Backward b = {.dy = &o[0], .x = &o[1], .rstd = &o[3], .dx = &o[4]};
  return backward (launch, &b, &o[2], &o[5], NULL);
}

/* Computes the same with a branch [M, N] that is added to dx. */
LigStatus
LIG_CPU (rms_norm_backward_add) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Backward b = {.dy = &o[0], .branch = &o[1], .x = &o[2], .rstd = &o[4], .dx = &o[5]};
  return backward (launch, &b, &o[3], &o[6], NULL);
}

/* Computes dx [M, N] from dy, x and rstd. */
LigStatus
LIG_CPU (l2_normalization_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  Backward b = {.dy = &o[0], .x = &o[1], .rstd = &o[2], .dx = &o[3], .norm.summed = true};
  return backward (launch, &b, NULL, NULL, NULL);
}
