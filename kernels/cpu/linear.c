/* SPDX-License-Identifier: MIT */
/* Linear maps: y[M,N] = factor x[M,K] weight[N,K]^T, its two gradients
 *   dx[M,K] = factor dy[M,N] weight[N,K],   dweight[N,K] = factor dy[M,N]^T x[M,K],
 * and what is fused with them: bias, residual, gelu, relu, gelu's gradient, sums over rows. The
 * product stays fp32 until then; each output is rounded once. */
#include "kernels/cpu/product.h"
#include "kernels/formulas.h"

/* What a finished product goes through, in this order. Absent operands take no part. */
typedef struct {
  const LigOperand *bias;     /* added to each row */
  const LigOperand *extra;    /* added; may be where the result goes */
  const LigOperand *gelu;     /* kept as rounded, and gelu applied; y's type if it is absent */
  bool activate;              /* gelu is wanted */
  bool relu;
  const LigOperand *gelu_of;  /* times the derivative of gelu here */
  const LigOperand *y;
} Epilogue;

static bool
present (const LigOperand *operand)
{
  return operand && operand->data;
}

/* Stores a row piece, which may lie there already, and leaves in `values` what was stored. */
static void
store (const LigOperand *target, LigDtype dtype, int64_t at, int64_t count, float *values)
{
  uint16_t rounded[LIG_PIECE];
  if (dtype == LIG_FP32) {
    if (present (target) && (float *) target->data + at != values)
      memcpy ((float *) target->data + at, values, (size_t) count * sizeof *values);
    return;
  }
  void *out = present (target) ? lig_at (target, at) : rounded;
  lig_narrow (dtype, values, out, (size_t) count);
  lig_widen (dtype, out, values, (size_t) count);
}

static void
add (float *restrict values, const float *restrict other, int64_t count)
{
  for (int64_t i = 0; i < count; i++)
    values[i] += other[i];
}

static void
finish (const LigTile *tile, const void *data, float *sums)
{
  const Epilogue *e = data;
  float bias_buffer[LIG_PIECE], other_buffer[LIG_PIECE];
  int64_t count = tile->columns, width = e->y->columns;
  const float *bias =
      present (e->bias) ? lig_load (e->bias, tile->column, count, bias_buffer) : NULL;
  for (int64_t i = 0; i < tile->rows; i++) {
    float *values = tile->values + i * tile->stride;
    int64_t at = (tile->row + i) * width + tile->column;
    if (bias)
      add (values, bias, count);
    if (present (e->extra))
      add (values, lig_load (e->extra, at, count, other_buffer), count);
    if (e->activate) {
      store (e->gelu, present (e->gelu) ? e->gelu->dtype : e->y->dtype, at, count, values);
    }
  }
}
