/* SPDX-License-Identifier: MIT */
/* Gated units y = act (a) b (formulas.h), where a row of x [M, 2 N] is [a, b] and y is [M, N], with
 * or without a bias [2 N] that is added to x first, and their gradients. */
#define UNIT_PARTS 2
#include "kernels/cpu/gated.h"
#include "kernels/cpu/unit.h"

/* Defines the four kernels of a unit, and the functions that apply its formulas to a piece. */
#define UNIT(name, backward_name, bias_name, bias_backward_name, forward_formula, \
             backward_formula) \
  LIG_PIECE_FUNCTION name##_piece (LigUnitValues x, float *y, int64_t count, const void *params) \
  { \
    const LigGatedParams p __attribute__ ((unused)) = lig_gated_params (params); \
    LIG_EACH_ELEMENT (i, count) \
    y[i] = forward_formula; \
  } \
  LIG_PIECE_FUNCTION backward_name##_piece (const float *dy, LigUnitValues x, float *da, \
                                            float *db, int64_t count, const void *params) \
  { \
    const LigGatedParams p __attribute__ ((unused)) = lig_gated_params (params); \
    LIG_EACH_ELEMENT (i, count) \
    backward_formula; \
  } \
  LIG_UNIT_KERNELS ("gated unit", name, backward_name, bias_name, bias_backward_name, NULL, \
                    lig_gated_params (launch->params).interleave)

#define SIMPLE_UNIT(name, backward, biased, biased_backward, ...) \
  UNIT (name, backward, biased, biased_backward, lig_##name (x.a[i], x.b[i]), \
        lig_##backward (dy[i], x.a[i], x.b[i], &da[i], &db[i]))
LIG_EACH_GATED (SIMPLE_UNIT)

#define UNIT_WITH_PARAMS(name, backward, biased, biased_backward, ...) \
  UNIT (name, backward, biased, biased_backward, lig_##name (x.a[i], x.b[i], &p), \
        lig_##backward (dy[i], x.a[i], x.b[i], &p, &da[i], &db[i]))
LIG_EACH_GATED_WITH_PARAMS (UNIT_WITH_PARAMS)
