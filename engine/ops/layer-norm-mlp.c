/* SPDX-License-Identifier: MIT */
/* A macro: a norm, a matmul, an activation, and a matmul back to the input's number of features. */
#include "engine/ops/macro-parts.h"

typedef struct {
  LigMacroNorm norm;
  LigMacroMlp mlp;
  LigMacroStds stds;
  int32_t recompute;
  bool bias;
  int32_t division;
} LayerNormMlpParams;

static const LigParam params[] = {
  LIG_MACRO_MLP_PARAMS (LayerNormMlpParams, mlp, LIG_PARAM_POSITIONAL),
  LIG_MACRO_NORM_PARAMS (LayerNormMlpParams, norm),
  LIG_MACRO_NORM_OUTPUT,
  LIG_MACRO_BIAS (LayerNormMlpParams, bias),
  LIG_MACRO_STDS (LayerNormMlpParams, stds),
  LIG_RECOMPUTE_PARAM (LayerNormMlpParams, recompute),
  LIG_MACRO_PARALLEL (LayerNormMlpParams, division),
  {.name = NULL},
};

static const LigParamGroup groups[] = {
  LIG_MACRO_PERCEPTRON ("ffn-features "),
  LIG_MACRO_NORMS (" norm-output"),
  LIG_MACRO_MATMULS,
  LIG_MACRO_BACKWARD,
  {.title = NULL},
};

static void
expand (LigOp *self, LigParts *parts)
{
  const LayerNormMlpParams *values = lig_op_get_params (self);
  lig_macro_add_norm (parts, self, "norm");
  lig_macro_add_norm_output (parts, self);
  lig_macro_add_mlp (parts, self, values->mlp.features);
}

LIG_DEFINE_OP (layer_norm_mlp) = {
  LIG_OP_INFO_SIZES,
  .name = "layer-norm-mlp",
  .title = N_ ("Layer norm, MLP"),
  .category = N_ ("Layers"),
  .summary = N_ ("A norm and a feed-forward network: two linear layers with an activation between"),
  .formula = "y = fc2 (activation (fc1 (norm (x))))",
  .example = "layer-norm-mlp (12) @ 5x8",
  .params = params,
  .groups = groups,
  .params_size = sizeof (LayerNormMlpParams),
  .extra_outputs = LIG_MACRO_NORM_PORT,
  .expand = expand,
};
