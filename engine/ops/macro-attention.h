/* SPDX-License-Identifier: MIT */
/* Parameters and parts of the macros that contain attention. */
#pragma once

#include "engine/ops/macro-parts.h"

typedef struct {
  gint64 heads, kv_heads, features;
  LigScores scores;
  LigRotation rotation;
  int32_t qk_norm;
  float dropout, eps;
  bool rotary, norm_first, qkv_bias, out_bias;
} LigMacroAttention;

#define LIG_MACRO_ATTENTION_PARAMS(type, field) \
  LIG_HEADS (type, field.heads), LIG_KV_HEADS (type, field.kv_heads), \
    LIG_INT ( \
      type, field.features, "head-features", N_ ("Head's features"), \
      N_ ("Features of a head; left out or 0: those of the input divided by the query heads"), 1, \
      65536, 0, LIG_PARAM_INFERRED), \
    LIG_SCORE_PARAMS (type, field.scores), \
    LIG_FLOAT (type, field.dropout, "attention-dropout", N_ ("Attention dropout"), \
               N_ ("Probability that a weight of the attention becomes 0 in training"), 0, 1, 0), \
    LIG_BOOLEAN (type, field.rotary, "rotary", N_ ("Rotary"), \
                 N_ ("Turns queries and keys by their positions"), FALSE), \
    LIG_ROTATION_PARAMS (type, field.rotation, "rotary-"), \
    LIG_CHOICE (type, field.qk_norm, "qk-norm", N_ ("Norm of heads"), \
                N_ ("How the queries and keys of each head are normalized"), "none|rms|l2|layer", \
                0), \
    LIG_FLOAT (type, field.eps, "qk-norm-eps", N_ ("Epsilon of heads"), \
               N_ ("Added to the variance of a head before its root"), 0, 1, 1e-6), \
    LIG_BOOLEAN (type, field.norm_first, "qk-norm-before-rotary", N_ ("Norm of heads first"), \
                 N_ ("Heads are normalized before they are turned, not after"), TRUE), \
    LIG_BOOLEAN (type, field.qkv_bias, "qkv-bias", N_ ("Bias of heads"), \
                 N_ ("The matmuls of queries, keys and values have a bias even if bias=false"), \
                 FALSE), \
    LIG_BOOLEAN (type, field.out_bias, "out-bias", N_ ("Bias behind heads"), \
                 N_ ("The matmul behind the attention has a bias if bias=true"), TRUE)

/* Groups of the parameters above; `more` are names of the macro's own, with a space in front. */
#define LIG_MACRO_SIZES(more) \
  { \
    N_ ("Sizes"), "heads kv-heads head-features" more \
  }
#define LIG_MACRO_ATTENTION(more) \
  { \
    N_ ("Attention"), "scale softcap attention-dropout memory" more \
  }
#define LIG_MACRO_HEAD_MATMULS \
  { \
    N_ ("Matmuls"), "bias qkv-bias out-bias init-std output-init-std parallel" \
  }
#define LIG_MACRO_MASKS \
  { \
    N_ ("Masks"), "mask window lengths documents" \
  }
#define LIG_MACRO_POSITIONS \
  { \
    N_ ("Positions"), \
      "alibi rotary rotary-base rotary-fraction rotary-interleaved rotary-scaling rotary-factor " \
      "rotary-low rotary-high rotary-original" \
  }
#define LIG_MACRO_HEAD_NORMS " qk-norm qk-norm-eps qk-norm-before-rotary"

#define LIG_MACRO_LENGTHS(slot, help) \
  { \
    LIG_PARAM_INPUT, "lengths", N_ ("Lengths"), help, 0, 0, 0, 0, slot, NULL \
  }
#define LIG_MACRO_DOCUMENTS(slot) \
  { \
    LIG_PARAM_INPUT, "documents", N_ ("Documents"), \
      N_ ("Channel of document numbers; attention stays inside a document"), 0, 0, 0, 0, slot, \
      NULL \
  }
#define LIG_MACRO_MEMORY(slot) \
  { \
    LIG_PARAM_INPUT, "memory", N_ ("Memory"), \
      N_ ("Channel of the sequence that cross attention reads keys and values from"), 0, 0, 0, 0, \
      slot, NULL \
  }

/* Adds self attention from the packed matmul `qkv` to the matmul `proj`. */
void lig_macro_add_attention (LigParts *parts, LigOp *macro, const LigMacroAttention *values);

/* Adds cross attention: the matmuls `query` and, from the memory, `key-value`, to the matmul
 * `proj`. `lengths`: the macro's parameter for the lengths of the memory. `behind`: whether it
 * follows self attention, whose window and ALiBi are then none of its business: positions of two
 * sequences have no distance. */
void lig_macro_add_cross_attention (LigParts *parts,
                                    LigOp *macro,
                                    const LigMacroAttention *values,
                                    const char *attention,
                                    const char *mask,
                                    const char *lengths,
                                    const char *proj,
                                    gboolean behind);

/* Rejects parameters of attention that do not go together. */
void lig_macro_check_attention (LigParts *parts, LigOp *macro, const LigMacroAttention *values);
