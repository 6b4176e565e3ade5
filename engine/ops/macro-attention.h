/* SPDX-License-Identifier: MIT */
/* Parameters and parts of the macros that contain attention. */
#pragma once

#include "engine/ops/macro-parts.h"

typedef struct {
  gint64 heads, kv_heads, features, window, original;
  int32_t mask, scaling, qk_norm;
  float scale, softcap, dropout, base, fraction, factor, low, high, eps;
  bool alibi, rotary, interleaved, norm_first;
} LigMacroAttention;

#define LIG_MOST_HEADS 65535
#define LIG_MACRO_ATTENTION_PARAMS(type, field) \
  LIG_INT (type, field.heads, "heads", N_ ("Heads"), N_ ("Number of query heads"), 1, \
           LIG_MOST_HEADS, 0, LIG_PARAM_REQUIRED | LIG_PARAM_POSITIONAL), \
    LIG_INT (type, field.kv_heads, "kv-heads", N_ ("Key heads"), \
             N_ ("Number of key and value heads; left out: as many as query heads"), 1, \
             LIG_MOST_HEADS, 0, LIG_PARAM_INFERRED), \
    LIG_INT (type, field.features, "head-features", N_ ("Head's features"), \
             N_ ("Features of a head; left out: those of the input divided by the query heads"), \
             1, 65536, 0, LIG_PARAM_INFERRED), \
    LIG_CHOICE (type, field.mask, "mask", N_ ("Mask"), \
                N_ ("Keys that a query sees; causal: none after its own position"), \
                "causal|none|causal-bottom-right", 0), \
    LIG_INT (type, field.window, "window", N_ ("Window"), \
             N_ ("Number of keys that a query sees at most; 0: all"), 0, G_MAXINT32, 0, 0), \
    LIG_FLOAT (type, field.scale, "scale", N_ ("Scale"), \
               N_ ("Factor of the scores; 0: 1 / root of a head's features"), 0, 1e6, 0), \
    LIG_FLOAT (type, field.softcap, "softcap", N_ ("Soft cap"), \
               N_ ("Bound of the scores, approached smoothly; 0: none"), 0, 1e6, 0), \
    LIG_BOOLEAN (type, field.alibi, "alibi", N_ ("ALiBi"), \
                 N_ ("Adds to each score a bias that falls with the distance"), FALSE), \
    LIG_FLOAT (type, field.dropout, "attention-dropout", N_ ("Attention dropout"), \
               N_ ("Probability that a weight of the attention becomes 0 in training"), 0, 1, 0), \
    LIG_BOOLEAN (type, field.rotary, "rotary", N_ ("Rotary"), \
                 N_ ("Turns queries and keys by their positions"), FALSE), \
    LIG_FLOAT (type, field.base, "rotary-base", N_ ("Rotary base"), \
               N_ ("Base of the rotary frequencies"), 1, 1e9, 10000), \
    LIG_FLOAT (type, field.fraction, "rotary-fraction", N_ ("Rotary fraction"), \
               N_ ("Part of a head's features that is turned"), 0, 1, 1), \
    LIG_BOOLEAN (type, field.interleaved, "rotary-interleaved", N_ ("Rotary interleaved"), \
                 N_ ("Pairs are neighbours instead of the two halves"), FALSE), \
    LIG_CHOICE (type, field.scaling, "rotary-scaling", N_ ("Rotary scaling"), \
                N_ ("How the frequencies are scaled for longer texts"), "none|linear|llama3", 0), \
    LIG_FLOAT (type, field.factor, "rotary-factor", N_ ("Rotary factor"), \
               N_ ("Factor of the scaling"), 1e-3, 1e6, 8), \
    LIG_FLOAT (type, field.low, "rotary-low", N_ ("Rotary low"), \
               N_ ("Waves longer than original / low are scaled by llama3"), 1e-3, 1e6, 1), \
    LIG_FLOAT (type, field.high, "rotary-high", N_ ("Rotary high"), \
               N_ ("Waves shorter than original / high are not scaled by llama3"), 1e-3, 1e6, 4), \
    LIG_INT (type, field.original, "rotary-original", N_ ("Rotary original"), \
             N_ ("Length of the texts that the model was first trained with, for llama3"), 1, \
             G_MAXINT32, 8192, 0), \
    LIG_CHOICE (type, field.qk_norm, "qk-norm", N_ ("Norm of heads"), \
                N_ ("How the queries and keys of each head are normalized"), "none|rms|l2|layer", \
                0), \
    LIG_FLOAT (type, field.eps, "qk-norm-eps", N_ ("Epsilon of heads"), \
               N_ ("Added to the variance of a head before its root"), 0, 1, 1e-6), \
    LIG_BOOLEAN (type, field.norm_first, "qk-norm-before-rotary", N_ ("Norm of heads first"), \
                 N_ ("Heads are normalized before they are turned, not after"), TRUE)

/* Groups of the parameters above; `more` are names of the macro's own, with a space in front. */
#define LIG_MACRO_SIZES(more) \
  { \
    N_ ("Sizes"), "heads kv-heads head-features" more \
  }
#define LIG_MACRO_ATTENTION(more) \
  { \
    N_ ("Attention"), "scale softcap attention-dropout memory" more \
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

/* Adds self attention from the packed product `qkv` to the product `proj`. */
void lig_macro_add_attention (LigParts *parts, LigOp *macro, const LigMacroAttention *values);

/* Adds cross attention: the products `query` and, from the memory, `key-value`, to the product
 * `proj`. `lengths`: the macro's parameter for the lengths of the memory. */
void lig_macro_add_cross_attention (LigParts *parts,
                                    LigOp *macro,
                                    const LigMacroAttention *values,
                                    const char *attention,
                                    const char *mask,
                                    const char *lengths,
                                    const char *proj);

/* Refuses parameters of attention that do not go together. */
void lig_macro_check_attention (LigParts *parts, LigOp *macro, const LigMacroAttention *values);
