/* SPDX-License-Identifier: MIT */
/* y = x + weight[position]: a trainable row for each position of x [.., T, features]. */
#include "engine/ops/define.h"
#include <ligature/params-positions.h>

#include <inttypes.h>

typedef struct {
  LigPositionParams kernel;
  gint64 length;
  float init_std;
} PositionEmbeddingParams;

static const LigParam params[] = {
  LIG_INT (PositionEmbeddingParams,
           length,
           "length",
           N_ ("Length"),
           N_ ("Maximum sequence length"),
           1,
           LIG_MAX_FEATURES,
           0,
           LIG_PARAM_REQUIRED | LIG_PARAM_POSITIONAL),
  LIG_FLOAT (PositionEmbeddingParams,
             init_std,
             "init-std",
             N_ ("Initial std"),
             N_ ("Standard deviation of the initial weights"),
             0,
             1000,
             0.02),
  {.name = NULL},
};

static const LigParameterInfo parameters[] = {
  {.name = "weight", .init = LIG_INIT_NORMAL, .decays = TRUE}, {.name = NULL}};

static gboolean
infer (LigInfer *self, GError **error)
{
  PositionEmbeddingParams *values = (PositionEmbeddingParams *) self->params;
  gint64 positions = lig_count_positions (self);
  if (!lig_check_has_axis (self, error) || !lig_check_batch (self, error) ||
      !lig_check_samples (self, error))
    return FALSE;
  gint64 ranks = self->n_ranks[LIG_GROUP_CONTEXT], own = positions;
  if (__builtin_mul_overflow (positions, ranks, &positions) || positions > values->length) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input has %" PRId64 " positions, expected at most %" PRId64), positions,
                 values->length);
    return FALSE;
  }
  if (self->cache_length > values->length) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("its length is %" PRId64 ", that of the cache %" PRId64 "; use length=%" PRId64),
      values->length, self->cache_length, values->length);
    return FALSE;
  }
  values->kernel = (LigPositionParams){own, (int32_t) ranks, self->places[LIG_GROUP_CONTEXT]};
  lig_shape_init (&self->parameters[0], 2, values->length, lig_shape_columns (&self->x));
  return TRUE;
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_alias (lowering, "dx", "dy");
  lig_lower_kernel (lowering, "position_embedding_backward", NULL, NULL, 0);
}

static void
lower_forward (LigLowering *lowering)
{
  if (lig_lower_has (lowering, "$starts"))
    lig_lower_kernel (lowering, "position_embedding_at", "starts=$starts", NULL, 0);
  else
    lig_lower_kernel (lowering, "position_embedding", NULL, NULL, 0);
}

/* A value with one axis has one position. */
static void
write_onnx (LigOnnx *onnx)
{
  int n_axes = lig_onnx_count_axes (onnx, "x");
  const char *x = lig_onnx_get (onnx, "x"), *zero = lig_onnx_integer (onnx, 0), *positions = zero;
  if (n_axes > 1)
    positions = lig_onnx_node (onnx, "Range", zero, lig_onnx_length (onnx, x, n_axes - 2),
                               lig_onnx_integer (onnx, 1), NULL);
  const char *rows = lig_onnx_rows (onnx, "weight", positions);
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "Add", x, rows, NULL));
}

LIG_DEFINE_OP (position_embedding) = {
  LIG_OP_INFO_SIZES,
  .name = "position-embedding",
  .title = N_ ("Position embedding"),
  .category = N_ ("Attention"),
  .summary = N_ ("Adds a trainable row for each position"),
  .formula = "y = x + weight[position]",
  .example = "position-embedding (8) @ 2x5x16",
  .params = params,
  .params_size = sizeof (PositionEmbeddingParams),
  .kernel_params_size = sizeof (LigPositionParams),
  .parameters = parameters,
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS,
  .onnx = write_onnx,
};
