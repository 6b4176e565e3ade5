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
    LIG_INT (type, field.features, "head-features", N_ ("Head dim"), \
             N_ ("Head dim; omitted or 0: input features / number of query heads"), 1, 65536, 0, \
             LIG_PARAM_INFERRED), \
    LIG_SCORE_PARAMS (type, field.scores), \
    LIG_FLOAT (type, field.dropout, "attention-dropout", N_ ("Attention dropout"), \
               N_ ("Dropout probability of attention weights in training"), 0, 1, 0), \
    LIG_BOOLEAN (type, field.rotary, "rotary", N_ ("Rotary"), \
                 N_ ("Applies rotary position embeddings to queries and keys"), FALSE), \
    LIG_ROTATION_PARAMS (type, field.rotation, "rotary-"), \
    LIG_CHOICE (type, field.qk_norm, "qk-norm", N_ ("QK norm"), \
                N_ ("Norm of the queries and keys of each head"), "none|rms|l2|layer", 0), \
    LIG_FLOAT (type, field.eps, "qk-norm-eps", N_ ("QK norm epsilon"), \
               N_ ("Added to the variance of a head before the square root"), 0, 1, 1e-6), \
    LIG_BOOLEAN (type, field.norm_first, "qk-norm-before-rotary", N_ ("QK norm before rotary"), \
                 N_ ("Applies the QK norm before the rotary embedding, not after it"), TRUE), \
    LIG_BOOLEAN (type, field.qkv_bias, "qkv-bias", N_ ("QKV bias"), \
                 N_ ("Adds a bias to the query, key and value matmuls even if bias=false"), \
                 FALSE), \
    LIG_BOOLEAN (type, field.out_bias, "out-bias", N_ ("Output bias"), \
                 N_ ("Adds a bias to the output projection if bias=true"), TRUE)

/* Groups of the parameters above; `more` are the macro's own names, each after a space. */
#define LIG_MACRO_SIZES(more) \
  { \
    N_ ("Sizes"), "heads kv-heads head-features" more \
  }
#define LIG_MACRO_ATTENTION(more) \
  { \
    N_ ("Attention"), "scale softcap sinks attention-dropout memory" more \
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
      "rotary-low rotary-high rotary-original rotary-magnitude rotary-truncate" \
  }
#define LIG_MACRO_HEAD_NORMS " qk-norm qk-norm-eps qk-norm-before-rotary"

#define LIG_MACRO_LENGTHS(slot, help) \
  { \
    LIG_PARAM_INPUT, "lengths", N_ ("Lengths"), help, 0, 0, 0, 0, slot, NULL \
  }
#define LIG_MACRO_DOCUMENTS(slot) \
  { \
    LIG_PARAM_INPUT, "documents", N_ ("Documents"), \
      N_ ("Channel of document ids; attention stays within a document"), 0, 0, 0, 0, slot, NULL \
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
 * follows self attention; window and ALiBi then apply only to that, because tokens of two sequences
 * have no distance. */
void lig_macro_add_cross_attention (LigParts *parts,
                                    LigOp *macro,
                                    const LigMacroAttention *values,
                                    const char *attention,
                                    const char *mask,
                                    const char *lengths,
                                    const char *proj,
                                    gboolean behind);

/* Rejects attention parameters that exclude each other. */
void lig_macro_check_attention (LigParts *parts, LigOp *macro, const LigMacroAttention *values);
