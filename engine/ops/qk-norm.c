/* SPDX-License-Identifier: MIT */
/* Norms of the query and key heads of packed rows (Dehghani and others, 2023). */
#include "engine/ops/define.h"
#include <ligature/params-norm.h>

typedef struct {
  LigQkNormParams kernel;
  gint64 heads, kv_heads;
} QkNormParams;

static const LigParam params[] = {
  LIG_HEADS (QkNormParams, heads),
  LIG_KV_HEADS (QkNormParams, kv_heads),
  LIG_CHOICE (QkNormParams,
              kernel.kind,
              "kind",
              N_ ("Kind"),
              N_ ("Norm of a head: RMS norm, L2 normalization or layer norm"),
              "rms|l2|layer",
              0),
  LIG_FLOAT (QkNormParams,
             kernel.eps,
             "eps",
             N_ ("Epsilon"),
             N_ ("Added to the variance of a head before the square root"),
             0,
             1,
             1e-6),
  {.name = NULL},
};

/* Layer norm has weights and biases, RMS norm only weights, L2 normalization none. */
static const LigParameterInfo parameters[] = {{.name = "query", .init = LIG_INIT_ONES},
                                              {.name = "key", .init = LIG_INIT_ONES},
                                              {.name = "query_bias", .init = LIG_INIT_ZEROS},
                                              {.name = "key_bias", .init = LIG_INIT_ZEROS},
                                              {.name = NULL}};

static gboolean
infer (LigInfer *self, GError **error)
{
  QkNormParams *values = (QkNormParams *) self->params;
  LigQkNormParams *kernel = &values->kernel;
  LigHeads packed;
  LigShape statistics = lig_shape_without (&self->x, 1);
  if (!lig_infer_heads (self, values->heads, values->kv_heads, FALSE, &packed, error))
    return FALSE;
  kernel->heads = packed.heads;
  kernel->kv_heads = packed.kv_heads;
  kernel->features = packed.features;
  self->n_parameters = kernel->kind == LIG_QK_LAYER_NORM ? 4 : kernel->kind == LIG_QK_RMS ? 2 : 0;
  for (int i = 0; i < self->n_parameters; i++)
    lig_shape_init (&self->parameters[i], 1, (gint64) packed.features);
  statistics.axes[statistics.n_axes++] = packed.heads + packed.kv_heads;
  self->kept[0] = self->kept[1] = statistics;
  return TRUE;
}

/* Writes the ONNX nodes of the norm of heads [.., heads, features]; `weight` and `bias` are ports.
 */
static const char *
write_norm (LigOnnx *onnx, const char *x, const char *weight, const char *bias)
{
  const LigQkNormParams *values = lig_onnx_get_params (onnx);
  const char *last = lig_onnx_integers (onnx, 1, (gint64) -1);
  if (values->kind == LIG_QK_LAYER_NORM) {
    const char *gain = lig_onnx_get (onnx, weight), *shift = lig_onnx_get (onnx, bias);
    const char *y = lig_onnx_node (onnx, "LayerNormalization", x, gain, shift, NULL);
    lig_onnx_attribute (onnx, "axis", -1);
    lig_onnx_attribute_number (onnx, "epsilon", values->eps);
    return y;
  }
  const char *size = lig_onnx_node (onnx, values->kind == LIG_QK_L2 ? "ReduceSum" : "ReduceMean",
                                    lig_onnx_node (onnx, "Mul", x, x, NULL), last, NULL);
  size = lig_onnx_node (onnx, "Add", size, lig_onnx_number (onnx, (double) values->eps), NULL);
  const char *y = lig_onnx_node (onnx, "Div", x, lig_onnx_node (onnx, "Sqrt", size, NULL), NULL);
  return values->kind == LIG_QK_L2
           ? y
           : lig_onnx_node (onnx, "Mul", y, lig_onnx_get (onnx, weight), NULL);
}

static void
write_onnx (LigOnnx *onnx)
{
  const LigQkNormParams *values = lig_onnx_get_params (onnx);
  int n_axes = lig_onnx_count_axes (onnx, "x");
  const gint64 lengths[] = {values->heads, values->kv_heads, values->kv_heads};
  const char *pieces[3];
  const char *heads =
    lig_onnx_split_heads (onnx, lig_onnx_get (onnx, "x"), n_axes, values->features);
  lig_onnx_split (onnx, heads, n_axes - 1, lengths, 3, pieces);
  const char *queries = write_norm (onnx, pieces[0], "query", "query_bias");
  const char *keys = write_norm (onnx, pieces[1], "key", "key_bias");
  const char *all = lig_onnx_node (onnx, "Concat", queries, keys, pieces[2], NULL);
  lig_onnx_attribute (onnx, "axis", n_axes - 1);
  const char *rows = lig_onnx_shape (onnx, n_axes - 1, 1, (gint64) -1);
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "Reshape", all, rows, NULL));
}

LIG_DEFINE_OP (qk_norm) = {
  LIG_OP_INFO_SIZES,
  .name = "qk-norm",
  .title = N_ ("QK norm"),
  .category = N_ ("Attention"),
  .summary = N_ ("Normalizes each query and key head of packed rows"),
  .formula = "q = norm (q) query + query_bias, k = norm (k) key + key_bias for each head",
  .example = "qk-norm (2) @ 2x5x24",
  .params = params,
  .params_size = sizeof (QkNormParams),
  .kernel_params_size = sizeof (LigQkNormParams),
  .parameters = parameters,
  .computes = "mean rstd",
  .saves = "x mean rstd",
  .infer = infer,
  .forward = "qk_norm",
  .backward = "qk_norm_backward",
  .shardings = LIG_COMPUTES_ROWS | LIG_COMPUTES_COLUMNS,
  .onnx = write_onnx,
};
