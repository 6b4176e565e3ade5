/* SPDX-License-Identifier: MIT */
/* A macro: a packed matmul for queries, keys and values, attention, and an output projection. With
 * a memory it is cross attention: queries come from the main line, keys and values from the
 * memory. */
#include "engine/ops/macro-attention.h"

typedef struct {
  LigMacroAttention attention;
  LigMacroNorm norm;
  LigMacroStds stds;
  int32_t recompute;
  bool bias, input_norm;
  int32_t division;
} MultiHeadAttentionParams;

static const LigParam params[] = {
  LIG_MACRO_ATTENTION_PARAMS (MultiHeadAttentionParams, attention),
  LIG_MACRO_BIAS (MultiHeadAttentionParams, bias),
  LIG_BOOLEAN (MultiHeadAttentionParams,
               input_norm,
               "input-layer-norm",
               N_ ("Norm of the input"),
               N_ ("Applies a norm to the input first"),
               FALSE),
  LIG_MACRO_NORM_PARAMS (MultiHeadAttentionParams, norm),
  LIG_MACRO_NORM_OUTPUT,
  LIG_MACRO_LENGTHS (0, N_ ("Channel of the sequence lengths, or with a memory of its lengths")),
  LIG_MACRO_DOCUMENTS (1),
  LIG_MACRO_MEMORY (2),
  LIG_MACRO_STDS (MultiHeadAttentionParams, stds),
  LIG_RECOMPUTE_PARAM (MultiHeadAttentionParams, recompute),
  LIG_MACRO_PARALLEL (MultiHeadAttentionParams, division),
  {.name = NULL},
};

static const LigParamGroup groups[] = {
  LIG_MACRO_SIZES (""),
  LIG_MACRO_ATTENTION (""),
  LIG_MACRO_MASKS,
  LIG_MACRO_POSITIONS,
  LIG_MACRO_NORMS (" input-layer-norm norm-output" LIG_MACRO_HEAD_NORMS),
  LIG_MACRO_HEAD_MATMULS,
  LIG_MACRO_BACKWARD,
  {.title = NULL},
};

static void
expand (LigOp *self, LigParts *parts)
{
  const MultiHeadAttentionParams *values = lig_op_get_params (self);
  g_autofree char *memory = lig_macro_text (self, "memory");
  g_autofree char *output = lig_macro_text (self, "norm-output");
  g_autofree char *documents = lig_macro_text (self, "documents");
  g_autofree char *mask = lig_macro_text (self, "mask");
  lig_macro_check_attention (parts, self, &values->attention);
  if (memory && (documents || values->attention.rotary || values->attention.qk_norm))
    lig_parts_reject (parts, _ ("with a memory, %s is not supported"),
                      documents                  ? "documents"
                      : values->attention.rotary ? "rotary"
                                                 : "qk-norm");
  if (output && !values->input_norm)
    lig_parts_reject (parts, _ ("norm-output is %s, expected input-layer-norm=true with it"),
                      output);
  if (values->input_norm) {
    lig_macro_add_norm (parts, self, "norm");
    lig_macro_add_norm_output (parts, self);
  }
  if (memory)
    lig_macro_add_cross_attention (parts, self, &values->attention, "attention", mask, "lengths",
                                   "proj", FALSE);
  else
    lig_macro_add_attention (parts, self, &values->attention);
}

LIG_DEFINE_OP (multi_head_attention) = {
  LIG_OP_INFO_SIZES,
  .name = "multi-head-attention",
  .title = N_ ("Multi-head attention"),
  .category = N_ ("Layers"),
  .summary = N_ ("Multi-head attention with its QKV and output projections"),
  .formula = "y = proj (attention (qkv (x)))",
  .example = "multi-head-attention (2) @ 2x4x8",
  .params = params,
  .groups = groups,
  .params_size = sizeof (MultiHeadAttentionParams),
  .extra_inputs = "lengths? documents? memory?",
  .extra_outputs = LIG_MACRO_NORM_PORT,
  .expand = expand,
};
