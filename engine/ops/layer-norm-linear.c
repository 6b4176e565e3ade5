/* SPDX-License-Identifier: MIT */
/* A macro: a norm, then a matmul with its bias. */
#include "engine/ops/macro-parts.h"

typedef struct {
  LigMacroNorm norm;
  gint64 features;
  float std;
  int32_t recompute, division;
  bool bias;
} LayerNormLinearParams;

static const LigParam params[] = {
  LIG_INT (LayerNormLinearParams,
           features,
           "out-features",
           N_ ("Out features"),
           N_ ("Length of the output's last axis"),
           1,
           LIG_MAX_FEATURES,
           0,
           LIG_PARAM_REQUIRED | LIG_PARAM_POSITIONAL),
  LIG_MACRO_NORM_PARAMS (LayerNormLinearParams, norm),
  LIG_MACRO_NORM_OUTPUT,
  LIG_MACRO_BIAS (LayerNormLinearParams, bias),
  LIG_FLOAT (LayerNormLinearParams,
             std,
             "init-std",
             N_ ("Initial std"),
             N_ ("Standard deviation of the initial weights"),
             0,
             1000,
             0.023),
  LIG_RECOMPUTE_PARAM (LayerNormLinearParams, recompute),
  LIG_CHOICE (LayerNormLinearParams,
              division,
              "parallel",
              N_ ("Parallel"),
              N_ ("How tensor parallelism shards the weight: none, or by out-features (column)"),
              "none|column",
              0),
  {.name = NULL},
};

static void
expand (LigOp *self, LigParts *parts)
{
  const LayerNormLinearParams *values = lig_op_get_params (self);
  LigMacroLength length = {MAX (values->features, 1), 1, 1};
  lig_macro_add_norm (parts, self, "norm");
  lig_macro_add_norm_output (parts, self);
  lig_macro_add_first (parts, self, "linear", lig_macro_is (self, "bias"), length, NULL);
}

LIG_DEFINE_OP (layer_norm_linear) = {
  LIG_OP_INFO_SIZES,
  .name = "layer-norm-linear",
  .title = N_ ("Layer norm, linear"),
  .category = N_ ("Layers"),
  .summary = N_ ("A norm and a linear layer"),
  .formula = "y = norm (x) weight^T + bias",
  .example = "layer-norm-linear (12) @ 5x8",
  .params = params,
  .params_size = sizeof (LayerNormLinearParams),
  .extra_outputs = LIG_MACRO_NORM_PORT,
  .expand = expand,
};
