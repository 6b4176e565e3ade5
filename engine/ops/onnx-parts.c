/* SPDX-License-Identifier: MIT */
/* ONNX nodes that several ops write: activations, gated units, heads. The formulas are those of
 * kernels/formulas.h. */
#include "engine/ops/gated.h"

/* Returns x sigmoid (z). */
static const char *
gate (LigOnnx *onnx, const char *x, const char *z)
{
  return lig_onnx_node (onnx, "Mul", x, lig_onnx_sigmoid (onnx, z), NULL);
}

static const char *
scale (LigOnnx *onnx, const char *x, double factor)
{
  return lig_onnx_node (onnx, "Mul", x, lig_onnx_number (onnx, factor), NULL);
}

const char *
lig_onnx_sigmoid (LigOnnx *onnx, const char *x)
{
  return lig_onnx_node (onnx, "Sigmoid", x, NULL);
}

const char *
lig_onnx_silu (LigOnnx *onnx, const char *x)
{
  return gate (onnx, x, x);
}

const char *
lig_onnx_qgelu (LigOnnx *onnx, const char *x)
{
  return gate (onnx, x, scale (onnx, x, 1.702));
}

const char *
lig_onnx_gelu (LigOnnx *onnx, const char *x)
{
  const char *square = lig_onnx_node (onnx, "Mul", x, x, NULL);
  const char *slope = lig_onnx_node (onnx, "Add", scale (onnx, square, 0.0713548162726),
                                     lig_onnx_number (onnx, 1.5957691216), NULL);
  return gate (onnx, x, lig_onnx_node (onnx, "Mul", x, slope, NULL));
}

const char *
lig_onnx_gelu_erf (LigOnnx *onnx, const char *x)
{
  const char *erf = lig_onnx_node (onnx, "Erf", scale (onnx, x, 0.70710678118654752), NULL);
  const char *twice = lig_onnx_node (onnx, "Add", erf, lig_onnx_number (onnx, 1), NULL);
  return lig_onnx_node (onnx, "Mul", x, scale (onnx, twice, 0.5), NULL);
}

const char *
lig_onnx_relu (LigOnnx *onnx, const char *x)
{
  return lig_onnx_node (onnx, "Relu", x, NULL);
}

const char *
lig_onnx_srelu (LigOnnx *onnx, const char *x)
{
  const char *positive = lig_onnx_relu (onnx, x);
  return lig_onnx_node (onnx, "Mul", positive, positive, NULL);
}

void
lig_onnx_activate (LigOnnx *onnx, LigOnnxActivation *activation)
{
  lig_onnx_set (onnx, "y", activation (onnx, lig_onnx_get (onnx, "x")));
}

/* --- Gated units --------------------------------------------------------------------------- */

/* Splits x into the gate and the linear half, which may alternate in blocks. */
static void
halve (LigOnnx *onnx, const char *halves[2])
{
  const LigGatedParams *params = lig_onnx_get_params (onnx);
  int n_axes = lig_onnx_count_axes (onnx, "x");
  const char *x = lig_onnx_get (onnx, "x");
  if (params->interleave == 0) {
    lig_onnx_halve (onnx, x, n_axes - 1, halves);
    return;
  }
  const char *blocks = lig_onnx_node (
    onnx, "Reshape", x,
    lig_onnx_shape (onnx, n_axes - 1, 3, (gint64) -1, (gint64) 2, params->interleave), NULL);
  const char *row = lig_onnx_shape (onnx, n_axes - 1, 1, (gint64) -1);
  lig_onnx_halve (onnx, blocks, n_axes, halves);
  for (int i = 0; i < 2; i++)
    halves[i] = lig_onnx_node (onnx, "Reshape", halves[i], row, NULL);
}

const char *
lig_onnx_gated (LigOnnx *onnx, LigOnnxActivation *activation)
{
  const char *halves[2];
  halve (onnx, halves);
  return lig_onnx_node (onnx, "Mul", activation (onnx, halves[0]), halves[1], NULL);
}

const char *
lig_onnx_clamped_swiglu (LigOnnx *onnx)
{
  const LigGatedParams *params = lig_onnx_get_params (onnx);
  const char *halves[2], *limit = lig_onnx_number (onnx, (double) params->limit);
  halve (onnx, halves);
  const char *a = lig_onnx_node (onnx, "Min", halves[0], limit, NULL);
  const char *b = lig_onnx_node (onnx, "Clip", halves[1],
                                 lig_onnx_number (onnx, -(double) params->limit), limit, NULL);
  b = lig_onnx_node (onnx, "Add", b, lig_onnx_number (onnx, (double) params->offset), NULL);
  return lig_onnx_node (onnx, "Mul", gate (onnx, a, scale (onnx, a, (double) params->alpha)), b,
                        NULL);
}

/* Returns beta tanh (x / beta). */
static const char *
bound (LigOnnx *onnx, const char *x, double beta)
{
  const char *ratio = lig_onnx_node (onnx, "Div", x, lig_onnx_number (onnx, beta), NULL);
  return scale (onnx, lig_onnx_node (onnx, "Tanh", ratio, NULL), beta);
}

const char *
lig_onnx_situ_glu (LigOnnx *onnx)
{
  const LigGatedParams *params = lig_onnx_get_params (onnx);
  const char *halves[2];
  halve (onnx, halves);
  const char *a = gate (onnx, bound (onnx, halves[0], (double) params->beta1), halves[0]);
  return lig_onnx_node (onnx, "Mul", a, bound (onnx, halves[1], (double) params->beta2), NULL);
}

void
lig_onnx_set_scaled (LigOnnx *onnx, const char *value)
{
  const char *column = lig_onnx_node (onnx, "Unsqueeze", lig_onnx_get (onnx, "scales"),
                                      lig_onnx_integers (onnx, 1, (gint64) -1), NULL);
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "Mul", value, column, NULL));
}

/* --- Heads --------------------------------------------------------------------------------- */

const char *
lig_onnx_split_heads (LigOnnx *onnx, const char *x, int n_axes, gint64 features)
{
  return lig_onnx_node (onnx, "Reshape", x,
                        lig_onnx_shape (onnx, n_axes - 1, 2, (gint64) -1, features), NULL);
}
