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
};
