/* SPDX-License-Identifier: MIT */
/* Matrices to quantize, random and adversarial, and the shapes of their scales. */
#pragma once

#include "tests/kernels/case.h"

typedef enum {
  RANDOM,
  ZEROS,
  TINY,
  SUBNORMAL,
  HUGE_ROW,
  INFINITE,
  NOT_NUMBERS,
  N_CONTENTS
} Content;

/* Fills a matrix: most contents are random values with some that are hard to scale. */
static inline LigOperand
content_of (Content content, LigDtype dtype, int64_t rows, int64_t columns)
{
  LigOperand x = random_tensor (dtype, rows, columns);
  g_autofree float *values = g_new (float, x.size);
  lig_widen (dtype, x.data, values, (size_t) x.size);
  for (int64_t i = 0; i < x.size; i++) {
    int64_t row = i / columns, column = i % columns;
    gboolean some = (row * 7 + column * 3) % 61 == 5;
    values[i] = content == ZEROS                      ? (some ? -0.0f : 0)
                : content == TINY                     ? values[i] * 0x1p-120f
                : content == SUBNORMAL                ? values[i] * 0x1p-140f
                : content == HUGE_ROW && row % 5 == 2 ? values[i] * 3e4f
                : content == INFINITE && some         ? (column % 2 ? INFINITY : -INFINITY)
                : content == NOT_NUMBERS && some      ? (column % 2 ? NAN : -NAN)
                : content == NOT_NUMBERS && row == 1  ? NAN
                                                      : values[i];
  }
  lig_narrow (dtype, values, x.data, (size_t) x.size);
  return x;
}

/* Returns the memory for the scales of a matrix. */
static inline LigOperand
scales_for (LigScales kind, int64_t rows, int64_t columns)
{
  int64_t down = (rows + LIG_SCALES_EDGE - 1) / LIG_SCALES_EDGE;
  int64_t across = (columns + LIG_SCALES_EDGE - 1) / LIG_SCALES_EDGE;
  switch (kind) {
  case LIG_SCALES_ROW:
    return blank (LIG_FP32, 1, rows);
  case LIG_SCALES_BLOCK:
    return blank (LIG_FP32, across, rows);
  case LIG_SCALES_TILE:
    return blank (LIG_FP32, down, (across + 3) / 4 * 4);
  default:
    return blank (LIG_FP32, 1, 1);
  }
}

/* The operands of quantize: `scale` 0 computes it from the amax. The amax of earlier steps is
 * `before`. */
typedef struct {
  LigOperand operands[9];
  LigQuantizeParams params;
} Quantizing;

static inline Quantizing
quantizing (LigOperand x, LigQuantizeParams params, float scale, float amax, float before)
{
  int64_t rows = x.size / x.columns, columns = x.columns;
  LigDtype format = (LigDtype) params.format;
  Quantizing q = {.params = params};
  LigOperand all[9] = {x,
                       scale > 0 ? number ((double) scale) : absent (LIG_FP32, 1, 1),
                       scale > 0 ? absent (LIG_FP32, 1, 1) : number ((double) amax),
                       blank (format, rows, columns),
                       scales_for ((LigScales) params.row, rows, columns),
                       blank (format, columns, rows),
                       scales_for ((LigScales) params.transposed, columns, rows),
                       number ((double) before),
                       blank (x.dtype, rows, columns)};
  memcpy (q.operands, all, sizeof all);
  return q;
}

static const LigScales kinds[][2] = {
  {LIG_SCALES_TENSOR, LIG_SCALES_TENSOR}, {LIG_SCALES_ROW, LIG_SCALES_TENSOR},
  {LIG_SCALES_ROW, LIG_SCALES_ROW},       {LIG_SCALES_BLOCK, LIG_SCALES_BLOCK},
  {LIG_SCALES_TILE, LIG_SCALES_TILE},     {LIG_SCALES_BLOCK, LIG_SCALES_TILE},
};

static const int64_t matrices[][2] = {{1, 1},     {16, 16},   {128, 128}, {256, 272},
                                      {303, 300}, {144, 400}, {48, 1040}, {5, 130}};
