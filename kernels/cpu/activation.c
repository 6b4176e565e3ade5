/* SPDX-License-Identifier: MIT */
/* The activations of kernels/activations.h on elements, with or without a bias that is added to
 * each row first, and their gradients. */
#define UNIT_PARTS 1
#include "kernels/cpu/unit.h"
#include "kernels/formulas.h"

/* Defines the four kernels of an activation, and the functions that apply its formulas to a piece.
 * The backward pass of one that reads its output gets y as x. */
#define ACTIVATION(name, backward_name, bias_name, bias_backward_name, ...) \
  LIG_PIECE_FUNCTION name##_piece (LigUnitValues x, float *y, int64_t count, const void *params) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    y[i] = lig_##name (x.a[i]); \
  } \
  LIG_PIECE_FUNCTION bias_name##_piece (const float *x, const float *bias, float *y, \
                                        int64_t count) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    y[i] = lig_##name (x[i] + bias[i]); \
  } \
  LIG_PIECE_FUNCTION backward_name##_piece (const float *dy, LigUnitValues x, float *dx, \
                                            float *none, int64_t count, const void *params) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    dx[i] = lig_##backward_name (dy[i], x.a[i]); \
  } \
  LIG_UNIT_KERNELS ("activation", name, backward_name, bias_name, bias_backward_name, \
                    bias_name##_piece, 0)

LIG_EACH_ACTIVATION (ACTIVATION)
