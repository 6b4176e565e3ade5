/* SPDX-License-Identifier: MIT */
/* Matmuls of a few rows, those of a generated token, with a weight [n, k]. The weight is read
 * once, in its own type; packing or widening all of it for BLAS costs more than such a matmul. An
 * element is the sum over the depth in one fixed order, so that its bits depend neither on the
 * number of rows nor on that of threads. */
#include "kernels/cpu/few-rows.h"
#include "kernels/cpu/rows.h"

/* The floats of a vector, and the sums that stay in vector registers. */
#if defined(__AVX512F__)
#define WIDTH 16
#define SUMS 24
#elif defined(__AVX2__)
#define WIDTH 8
#define SUMS 8
#else
#define WIDTH 4
#define SUMS 8
#endif

/* The most columns of the result that are computed at once, and those of a task. */
#define COLUMNS 4
#define TASK_COLUMNS 64

/* The number of weights from which threads share a matmul. */
#define SHARED_FROM (1 << 17)

typedef float Vector __attribute__ ((vector_size (4 * WIDTH), aligned (4), may_alias));
typedef float Four __attribute__ ((vector_size (16), aligned (4), may_alias));

typedef struct {
  const LigCpuMatmul *matmul;
  const float *x; /* [m, k] */
} FewRows;

bool
LIG_CPU (few_rows_suits) (const LigCpuMatmul *matmul)
{
  return matmul->m > 0 && matmul->m <= LIG_FEW_ROWS && matmul->k > 0 && !matmul->a_transposed &&
         matmul->b_transposed && !matmul->a_scales && !matmul->b_scales && !matmul->column_sums &&
         lig_dtype_has (matmul->a->dtype, LIG_DTYPE_COMPUTES) &&
         lig_dtype_has (matmul->b->dtype, LIG_DTYPE_COMPUTES) &&
         matmul->k <= (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float) / LIG_FEW_ROWS);
}

/* --- Sums ---------------------------------------------------------------------------------- */

static inline float
add_lanes (const Vector *vector)
{
  const Four *parts = (const Four *) vector;
  Four sum = parts[0];
#pragma GCC unroll 4
  for (int i = 1; i < WIDTH / 4; i++)
    sum += parts[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Adds the products of `depth` steps of rows of x, which are `stride` apart, and of weights to
 * sums[row][column]. `rows` and `columns` are constants at the call. */
static inline __attribute__ ((always_inline)) void
add_products (const float *x,
              int64_t stride,
              const float *const *weights,
              int64_t depth,
              const int rows,
              const int columns,
              float sums[][COLUMNS])
{
  Vector sum[LIG_FEW_ROWS][COLUMNS];
  int64_t k = 0;
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
    for (int j = 0; j < columns; j++)
      sum[i][j] = (Vector){0};
  for (; k + WIDTH <= depth; k += WIDTH)
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
      Vector values = *(const Vector *) (x + i * stride + k);
#pragma GCC unroll 8
      for (int j = 0; j < columns; j++)
        sum[i][j] += values * *(const Vector *) (weights[j] + k);
    }
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
    for (int j = 0; j < columns; j++) {
      float total = add_lanes (&sum[i][j]);
      for (int64_t rest = k; rest < depth; rest++)
        total += x[i * stride + rest] * weights[j][rest];
      sums[i][j] += total;
    }
}

/* Computes the sums of `columns` columns from `column` on. */
static inline __attribute__ ((always_inline)) void
compute_columns (
  const FewRows *self, int64_t column, const int rows, const int columns, float sums[][COLUMNS])
{
  const LigOperand *weight = self->matmul->b;
  int64_t k = self->matmul->k, length = weight->dtype == LIG_FP32 ? k : LIG_PIECE;
  float wide[COLUMNS][LIG_PIECE];
  memset (sums, 0, (size_t) rows * sizeof *sums);
  for (int64_t at = 0; at < k; at += length) {
    const float *weights[COLUMNS];
    int64_t depth = lig_min (length, k - at);
    for (int j = 0; j < columns; j++)
      weights[j] = lig_load (weight, (column + j) * k + at, depth, wide[j]);
    add_products (self->x + at, k, weights, depth, rows, columns, sums);
  }
}

/* --- Tiles --------------------------------------------------------------------------------- */

/* Writes the sums as the result's columns from `at` of a tile on. */
static void
store (
  const LigCpuMatmul *matmul, const LigTile *tile, int64_t at, int columns, float sums[][COLUMNS])
{
  bool add = matmul->target && matmul->accumulate;
  for (int64_t i = 0; i < tile->rows; i++) {
    float *to = tile->values + i * tile->stride + at;
    for (int j = 0; j < columns; j++)
      to[j] = matmul->factor * sums[i][j] + (add ? to[j] : 0);
  }
}

static inline __attribute__ ((always_inline)) void
compute_tile (const FewRows *self, const LigTile *tile, const int rows)
{
  const int columns = SUMS / rows >= 4 ? 4 : SUMS / rows >= 2 ? 2 : 1;
  float sums[LIG_FEW_ROWS][COLUMNS];
  int64_t at = 0;
  for (; at + columns <= tile->columns; at += columns) {
    compute_columns (self, tile->column + at, rows, columns, sums);
    store (self->matmul, tile, at, columns, sums);
  }
  for (; at < tile->columns; at++) {
    compute_columns (self, tile->column + at, rows, 1, sums);
    store (self->matmul, tile, at, 1, sums);
  }
}

/* One function for each number of rows. */
#define EACH_NUMBER(WORK) WORK (1) WORK (2) WORK (3) WORK (4) WORK (5) WORK (6) WORK (7) WORK (8)
#define DEFINE(rows) \
  static void compute_##rows (const FewRows *self, const LigTile *tile) \
  { \
    compute_tile (self, tile, rows); \
  }
EACH_NUMBER (DEFINE)
#define NAME(rows) compute_##rows,
static void (*const compute[]) (const FewRows *, const LigTile *) = {EACH_NUMBER (NAME)};
_Static_assert(sizeof compute / sizeof *compute == LIG_FEW_ROWS,
               "a number of rows has no function");

/* Returns x as floats. */
static const float *
widen_rows (const LigCpuMatmul *matmul, float *workspace)
{
  return lig_load (matmul->a, 0, matmul->m * matmul->k, workspace);
}

void
LIG_CPU (few_rows) (const LigCpuMatmul *matmul, float *workspace)
{
  const FewRows self = {matmul, widen_rows (matmul, workspace)};
  int64_t tasks = (matmul->n + TASK_COLUMNS - 1) / TASK_COLUMNS;
#pragma omp parallel for schedule(static) if (matmul->n * matmul->k >= SHARED_FROM)
  for (int64_t task = 0; task < tasks; task++) {
    float values[LIG_FEW_ROWS * TASK_COLUMNS];
    int64_t column = task * TASK_COLUMNS;
    LigTile tile = {values, TASK_COLUMNS, 0,
                    column, matmul->m,    lig_min (TASK_COLUMNS, matmul->n - column)};
    if (matmul->target) {
      tile.values = matmul->target + column;
      tile.stride = matmul->n;
    }
    compute[matmul->m - 1](&self, &tile);
    if (matmul->finish)
      matmul->finish (&tile, matmul->data, NULL);
  }
}
