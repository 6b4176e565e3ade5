/* SPDX-License-Identifier: MIT */
/* Small matmuls: a tile of the result stays in vector registers over the whole depth. */
#include "kernels/cpu/tile.h"

/* The floats of a vector, and the rows and vectors of a tile: as many as fit into the registers in
 * addition to a row of b. */
#if defined(__AVX512F__)
#define WIDTH 16
#define TILE_ROWS 6
#define TILE_VECTORS 4
#elif defined(__AVX2__)
#define WIDTH 8
#define TILE_ROWS 6
#define TILE_VECTORS 2
#else
#define WIDTH 4
#define TILE_ROWS 4
#define TILE_VECTORS 2
#endif

typedef float Vector __attribute__ ((vector_size (4 * WIDTH), aligned (4), may_alias));
typedef float Four __attribute__ ((vector_size (16), aligned (4), may_alias));

typedef struct {
  LigTileLeft a;
  const float *b;
  float *c;
  int64_t depth, b_row, c_row;
  bool add;
} Tile;

/* Computes one tile of `rows` x `vectors`, both compile-time constants at the call. */
static inline __attribute__ ((always_inline)) void
compute (const Tile *t, const int rows, const int vectors)
{
  Vector sum[TILE_ROWS][TILE_VECTORS];
  const float *a = t->a.data, *b = t->b;
  int64_t row = t->a.row, column = t->a.column, b_row = t->b_row, depth = t->depth;
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
    for (int j = 0; j < vectors; j++)
      sum[i][j] = t->add ? *(const Vector *) (t->c + i * t->c_row + j * WIDTH) : (Vector){0};
  for (int64_t k = 0; k < depth; k++, a += column, b += b_row) {
    Vector right[TILE_VECTORS];
#pragma GCC unroll 8
    for (int j = 0; j < vectors; j++)
      right[j] = *(const Vector *) (b + j * WIDTH);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
      for (int j = 0; j < vectors; j++)
        sum[i][j] += a[i * row] * right[j];
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
    for (int j = 0; j < vectors; j++)
      *(Vector *) (t->c + i * t->c_row + j * WIDTH) = sum[i][j];
}

/* Computes the tiles of all rows for some columns. */
static inline __attribute__ ((always_inline)) void
compute_rows (Tile t, int64_t rows, const int vectors)
{
  for (; rows >= TILE_ROWS; rows -= TILE_ROWS) {
    compute (&t, TILE_ROWS, vectors);
    t.a.data += TILE_ROWS * t.a.row;
    t.c += TILE_ROWS * t.c_row;
  }
  switch (rows) {
  case 1:
    compute (&t, 1, vectors);
    break;
  case 2:
    compute (&t, 2, vectors);
    break;
  case 3:
    compute (&t, 3, vectors);
    break;
#if TILE_ROWS > 4
  case 4:
    compute (&t, 4, vectors);
    break;
  case 5:
    compute (&t, 5, vectors);
    break;
#endif
  default:
    break;
  }
}

void
LIG_CPU (tile_matmul) (int64_t rows,
                       int64_t columns,
                       int64_t depth,
                       LigTileLeft a,
                       const float *b,
                       int64_t b_row,
                       float *c,
                       int64_t c_row,
                       bool add)
{
  for (int64_t at = 0; at < columns;) {
    Tile t = {a, b + at, c + at, depth, b_row, c_row, add};
    int64_t vectors = (columns - at) / WIDTH;
#if TILE_VECTORS > 2
    if (vectors >= 4) {
      compute_rows (t, rows, 4);
      at += 4 * WIDTH;
      continue;
    }
#endif
    if (vectors >= 2) {
      compute_rows (t, rows, 2);
      at += 2 * WIDTH;
    } else {
      compute_rows (t, rows, 1);
      at += WIDTH;
    }
  }
}

void
LIG_CPU (tile_transpose) (
  const float *a, int64_t a_row, int64_t rows, int64_t columns, float *b, int64_t b_row)
{
  for (int64_t i = 0; i < rows; i += 4)
    for (int64_t k = 0; k < columns; k += 4) {
      const float *from = a + i * a_row + k;
      float *to = b + k * b_row + i;
      Four w = *(const Four *) from, x = *(const Four *) (from + a_row);
      Four y = *(const Four *) (from + 2 * a_row), z = *(const Four *) (from + 3 * a_row);
      Four low = __builtin_shufflevector (w, x, 0, 4, 1, 5);
      Four high = __builtin_shufflevector (w, x, 2, 6, 3, 7);
      Four low2 = __builtin_shufflevector (y, z, 0, 4, 1, 5);
      Four high2 = __builtin_shufflevector (y, z, 2, 6, 3, 7);
      *(Four *) to = __builtin_shufflevector (low, low2, 0, 1, 4, 5);
      *(Four *) (to + b_row) = __builtin_shufflevector (low, low2, 2, 3, 6, 7);
      *(Four *) (to + 2 * b_row) = __builtin_shufflevector (high, high2, 0, 1, 4, 5);
      *(Four *) (to + 3 * b_row) = __builtin_shufflevector (high, high2, 2, 3, 6, 7);
    }
}
