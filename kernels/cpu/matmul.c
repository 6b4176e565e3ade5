/* SPDX-License-Identifier: MIT */
/* fp32 matmuls through BLAS, for operands of any floating type. Narrower operands are widened panel
 * by panel, quantized ones multiplied by their scales; a block of the result is accumulated in fp32
 * over the whole depth k. */
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/few-rows.h"
#include "kernels/cpu/threads.h"

#include <limits.h>

/* The partition of the workspace, in floats, and the largest blocks. BLAS repacks its operands in
 * each call: with 512 rows per call a matmul takes 8 % longer, with 1024 rows 3 %, which is more
 * than keeping the result in cache saves. So blocks are as large as the memory allows. */
#define A_SIZE (MAX_STAGED_ROWS * MAX_DEPTH)
#define B_SIZE (MAX_STAGED_COLUMNS * MAX_DEPTH)
#define C_SIZE (MAX_STAGED_ROWS * MAX_STAGED_COLUMNS)
#define MAX_STAGED_ROWS 1024
#define MAX_STAGED_COLUMNS 2048
#define MAX_DEPTH 1792
#define MAX_ROWS 2048
#define MAX_COLUMNS 4096
#define TILE_ROWS 32
_Static_assert(A_SIZE + B_SIZE + C_SIZE + (1 + MAX_ROWS / TILE_ROWS) * MAX_COLUMNS <=
                 (int) (LIG_WORKSPACE_SIZE / sizeof (float)),
               "the blocks of a matmul do not fit the workspace");

typedef struct {
  const LigBlas *blas;
  const LigCpuMatmul *matmul;
  int64_t rows, columns, depth; /* of a block, and of its panels */
  float *a, *b, *c, *partials, *sums;
} Blocks;

typedef struct {
  const float *values;
  int64_t stride;
} Panel;

/* Splits `size` into equal parts of at most `max`, each except the last a multiple of 16; returns
 * their size. */
static int64_t
part (int64_t size, int64_t max)
{
  if (size <= max)
    return size > 0 ? size : 1;
  int64_t parts = (size + max - 1) / max;
  return ((size + parts - 1) / parts + 15) / 16 * 16;
}

/* Splits a matmul into blocks, and partitions the workspace among their panels. */
static Blocks
divide (const LigCpuMatmul *matmul, float *workspace)
{
  bool widened = matmul->a->dtype != LIG_FP32 || matmul->b->dtype != LIG_FP32;
  Blocks blocks = {.matmul = matmul, .a = workspace, .b = workspace + A_SIZE};
  blocks.c = blocks.b + B_SIZE;
  blocks.sums = blocks.c + C_SIZE;
  blocks.partials = blocks.sums + MAX_COLUMNS;
  blocks.depth = widened ? part (matmul->k, MAX_DEPTH) : matmul->k;
  if (widened || !matmul->target) {
    blocks.rows = part (matmul->m, MAX_STAGED_ROWS);
    blocks.columns = part (matmul->n, MAX_STAGED_COLUMNS);
  } else {
    blocks.rows = matmul->finish ? part (matmul->m, MAX_ROWS) : matmul->m;
    blocks.columns = matmul->finish ? part (matmul->n, MAX_COLUMNS) : matmul->n;
  }
  return blocks;
}

/* Multiplies the elements of a row of a quantized matrix, `count` from `column` on, by their
 * scales, whose columns are those that LigScales names. */
static void
apply_scales (const LigOperand *scales,
              LigScales kind,
              int64_t row,
              int64_t column,
              int64_t count,
              float *values)
{
  const float *all = scales->data;
  int64_t stride = scales->columns;
  for (int64_t i = 0; i < count;) {
    int64_t block = (column + i) / LIG_SCALES_EDGE;
    int64_t end = kind == LIG_SCALES_ROW ? count : (block + 1) * LIG_SCALES_EDGE - column;
    float scale = kind == LIG_SCALES_ROW     ? all[row]
                  : kind == LIG_SCALES_BLOCK ? all[block * stride + row]
                                             : all[row / LIG_SCALES_EDGE * stride + block];
    for (end = end < count ? end : count; i < end; i++)
      values[i] *= scale;
  }
}

/* Returns rows and columns of a stored matrix as floats: in place, or widened into `buffer` and
 * multiplied by its scales unless they are null. */
static Panel
panel (const LigOperand *matrix,
       const LigOperand *scales,
       LigScales kind,
       int64_t row,
       int64_t column,
       int64_t rows,
       int64_t columns,
       float *buffer)
{
  int64_t stride = matrix->columns;
  if (matrix->dtype == LIG_FP32)
    return (Panel){(const float *) matrix->data + row * stride + column, stride};
#pragma omp parallel for schedule(static) if (rows * columns > LIG_PARALLEL_FROM)
  for (int64_t i = 0; i < rows; i++) {
    lig_widen (matrix->dtype, lig_at (matrix, (row + i) * stride + column), buffer + i * columns,
               (size_t) columns);
    if (scales)
      apply_scales (scales, kind, row + i, column, columns, buffer + i * columns);
  }
  return (Panel){buffer, columns};
}

/* Returns the panel of A for `rows` rows from `row` on and `depth` steps from `at` on. */
static Panel
panel_a (const Blocks *blocks, int64_t row, int64_t rows, int64_t at, int64_t depth)
{
  const LigCpuMatmul *matmul = blocks->matmul;
  return matmul->a_transposed
           ? panel (matmul->a, matmul->a_scales, matmul->a_kind, at, row, depth, rows, blocks->a)
           : panel (matmul->a, matmul->a_scales, matmul->a_kind, row, at, rows, depth, blocks->a);
}

/* Returns the panel of B for `columns` columns from `column` on and `depth` steps from `at` on. */
static Panel
panel_b (const Blocks *blocks, int64_t column, int64_t columns, int64_t at, int64_t depth)
{
  const LigCpuMatmul *matmul = blocks->matmul;
  return matmul->b_transposed ? panel (matmul->b, matmul->b_scales, matmul->b_kind, column, at,
                                       columns, depth, blocks->b)
                              : panel (matmul->b, matmul->b_scales, matmul->b_kind, at, column,
                                       depth, columns, blocks->b);
}

/* Multiplies one block; `whole_b` is its panel of B if a single panel covers the whole depth, else
 * null. */
static void
multiply (const Blocks *blocks, const LigTile *block, const Panel *whole_b)
{
  const LigCpuMatmul *matmul = blocks->matmul;
  for (int64_t at = 0; at < matmul->k || at == 0; at += blocks->depth) {
    int64_t depth = matmul->k - at < blocks->depth ? matmul->k - at : blocks->depth;
    Panel a = panel_a (blocks, block->row, block->rows, at, depth);
    Panel b = whole_b ? *whole_b : panel_b (blocks, block->column, block->columns, at, depth);
    bool add = at > 0 || (matmul->target && matmul->accumulate);
    blocks->blas->sgemm (CblasRowMajor, matmul->a_transposed ? CblasTrans : CblasNoTrans,
                         matmul->b_transposed ? CblasTrans : CblasNoTrans, (int) block->rows,
                         (int) block->columns, (int) depth, matmul->factor, a.values,
                         (int) a.stride, b.values, (int) b.stride, add ? 1 : 0, block->values,
                         (int) block->stride);
    if (depth == 0)
      break;
  }
}

/* Calls the matmul's `finish` for each tile of a block, and accumulates its column sums if
 * `sum`. */
static void
finish (const Blocks *blocks, const LigTile *block, bool sum)
{
  const LigCpuMatmul *matmul = blocks->matmul;
  int64_t down = (block->rows + TILE_ROWS - 1) / TILE_ROWS;
#pragma omp parallel for schedule(static) if (block->rows * block->columns > LIG_PARALLEL_FROM)
  for (int64_t i = 0; i < down; i++) {
    LigTile tile = *block;
    int64_t first = i * TILE_ROWS;
    float *sums = sum ? blocks->partials + i * block->columns : NULL;
    if (sums)
      memset (sums, 0, (size_t) block->columns * sizeof *sums);
    tile.row += first;
    tile.rows = block->rows - first < TILE_ROWS ? block->rows - first : TILE_ROWS;
    for (int64_t at = 0; at < block->columns; at += LIG_PIECE) {
      tile.values = block->values + first * block->stride + at;
      tile.column = block->column + at;
      tile.columns = lig_piece (block->columns, at);
      matmul->finish (&tile, matmul->data, sums ? sums + at : NULL);
    }
  }
  LigOperand total = {blocks->sums, block->columns, block->columns, LIG_FP32};
  if (sum)
    LIG_CPU (reduce_partials)
  (blocks->partials, down, block->columns, block->columns, &total, true);
}

/* Multiplies and finishes all blocks of `columns` columns from `column` on, from top to bottom. */
static void
run_columns (const Blocks *blocks, int64_t column, int64_t columns, const LigOperand *column_sums)
{
  const LigCpuMatmul *matmul = blocks->matmul;
  Panel b;
  bool whole = blocks->depth == matmul->k;
  if (whole)
    b = panel_b (blocks, column, columns, 0, matmul->k);
  if (column_sums)
    memset (blocks->sums, 0, (size_t) columns * sizeof (float));
  for (int64_t row = 0; row < matmul->m; row += blocks->rows) {
    int64_t rows = matmul->m - row < blocks->rows ? matmul->m - row : blocks->rows;
    LigTile block = {blocks->c, columns, row, column, rows, columns};
    if (matmul->target) {
      block.values = matmul->target + row * matmul->n + column;
      block.stride = matmul->n;
    }
    multiply (blocks, &block, whole ? &b : NULL);
    if (matmul->finish)
      finish (blocks, &block, column_sums);
  }
}

/* Runs the matmul block by block. */
LigStatus
LIG_CPU (matmul) (LigLaunch *launch, const LigCpuMatmul *matmul)
{
  if (matmul->m > INT_MAX || matmul->n > INT_MAX || matmul->k > INT_MAX)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "linear: a side is longer than 2^31 - 1; reduce it");
  const unsigned numbers = LIG_DTYPE_COMPUTES | LIG_DTYPE_QUANTIZED;
  if (!lig_dtype_has (matmul->a->dtype, numbers) || !lig_dtype_has (matmul->b->dtype, numbers))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "linear: not a floating type; convert to fp32, fp16 or bf16");
  if (!lig_cpu_prepare_threads ())
    return LIG_FAIL (launch, LIG_OUT_OF_MEMORY,
                     "linear: no memory for the buffers of BLAS; reduce OMP_NUM_THREADS");
  if (LIG_CPU (few_rows_suits) (matmul)) {
    LIG_CPU (few_rows) (matmul, launch->workspace);
    return LIG_OK;
  }
  Blocks blocks = divide (matmul, launch->workspace);
  blocks.blas = lig_cpu_blas ();
  if (!blocks.blas)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "linear: the library " LIG_BLAS_FILE " cannot be opened; install OpenBLAS, in "
                     "Debian libopenblas0-openmp");
  const LigOperand *sums = matmul->column_sums;
  if (sums && !sums->data)
    sums = NULL;
  for (int64_t column = 0; column < matmul->n; column += blocks.columns) {
    int64_t columns = matmul->n - column < blocks.columns ? matmul->n - column : blocks.columns;
    run_columns (&blocks, column, columns, sums);
    if (sums) {
      LigOperand part_of_sums = {lig_at (sums, column), columns, columns, sums->dtype};
      LIG_CPU (reduce_partials)
      (blocks.sums, 1, columns, columns, &part_of_sums, launch->accumulate);
    }
  }
  return LIG_OK;
}
