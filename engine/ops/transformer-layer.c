/* SPDX-License-Identifier: MIT */
/* A macro: self attention, in a decoder also cross attention, and an MLP, each a residual branch
 * (Vaswani and others, 2017).
 *
 *   pre-norm, the default       x += attention (norm (x)); x += mlp (norm (x))
 *   residual-post-norm          n = norm (x); x = n + attention (n); likewise for the perceptron
 *   output-layer-norm           x += attention (x); x += mlp (norm (x)); x = norm (x)
 *   both                        x += attention (x); n = norm (x); x = norm (n + mlp (n)): BERT
 *   parallel-attention-mlp      x += attention (norm (x)) + mlp (norm' (x))
 *
 * The defaults are those of GPT-2: causal, layer norms, gelu, biases. Dropouts are 0. An encoder
 * that sees the whole text has mask=none. */
#include "engine/ops/experts.h"
#include "engine/ops/macro-attention.h"

#include <inttypes.h>

typedef struct {
  LigMacroAttention attention;
  LigMacroMlp mlp;
  LigMacroNorm norm;
  LigMacroExperts experts;
  LigMacroExchange exchange;
  LigMacroStds stds;
  gint64 n_experts, interleave;
  int32_t type, recompute, score, first;
  float scale, aux, z, balance;
  float hidden_dropout, drop_path;
  bool bias, post_norm, output_norm, parallel, normalize, router_bias;
  int32_t division;
} TransformerLayerParams;

enum { ENCODER, DECODER };

/* The value of `parallel` after those of the other macros. */
enum { BY_EXPERTS = LIG_MACRO_SEQUENCE + 1 };

static const LigParam params[] = {
  LIG_MACRO_ATTENTION_PARAMS (TransformerLayerParams, attention),
  LIG_MACRO_MLP_PARAMS (TransformerLayerParams, mlp, 0),
  LIG_INT (TransformerLayerParams,
           n_experts,
           "experts",
           N_ ("Experts"),
           N_ ("Number of experts that replace the MLP; 0: none"),
           0,
           LIG_MAX_EXPERTS,
           0,
           0),
  LIG_MACRO_EXPERT_PARAMS (TransformerLayerParams, experts),
  LIG_INT (TransformerLayerParams,
           interleave,
           "interleave",
           N_ ("Interleave"),
           N_ ("Length of the blocks in which the halves of the experts' gated unit alternate; 0: "
               "one after the other"),
           0,
           LIG_MAX_FEATURES,
           0,
           0),
  LIG_EXCHANGE_PARAMS (TransformerLayerParams, exchange),
  LIG_CHOICE (TransformerLayerParams,
              score,
              "router-score",
              N_ ("Router score"),
              N_ ("How the router's logits become weights"),
              "softmax|sigmoid|sqrt-softplus",
              0),
  LIG_CHOICE (TransformerLayerParams,
              first,
              "router-first",
              N_ ("Router softmax over"),
              N_ ("select: the softmax is over the selected experts; score: over all experts"),
              "select|score",
              0),
  LIG_BOOLEAN (TransformerLayerParams,
               normalize,
               "router-normalize",
               N_ ("Router normalizes"),
               N_ ("Divides the weights of a token's experts by their sum"),
               TRUE),
  LIG_BOOLEAN (TransformerLayerParams,
               router_bias,
               "router-bias",
               N_ ("Router bias"),
               N_ ("Adds a bias to the router's logits"),
               FALSE),
  LIG_FLOAT (TransformerLayerParams,
             scale,
             "router-scale",
             N_ ("Router scale"),
             N_ ("Factor of the weights of experts"),
             1e-6,
             1e6,
             1),
  LIG_FLOAT (TransformerLayerParams,
             aux,
             "aux",
             N_ ("Balance loss"),
             N_ ("Coefficient of the load-balancing loss of the experts"),
             0,
             1e6,
             0),
  LIG_FLOAT (TransformerLayerParams,
             z,
             "z",
             N_ ("Z-loss"),
             N_ ("Coefficient of the router's z-loss"),
             0,
             1e6,
             0),
  LIG_ROUTER_BALANCE (TransformerLayerParams, "balance"),
  LIG_MACRO_NORM_PARAMS (TransformerLayerParams, norm),
  LIG_MACRO_BIAS (TransformerLayerParams, bias),
  LIG_FLOAT (TransformerLayerParams,
             hidden_dropout,
             "hidden-dropout",
             N_ ("Hidden dropout"),
             N_ ("Dropout probability of a branch's output in training"),
             0,
             1,
             0),
  LIG_FLOAT (TransformerLayerParams,
             drop_path,
             "drop-path",
             N_ ("Drop path"),
             N_ ("Probability that a sample skips a branch in training (stochastic depth)"),
             0,
             1,
             0),
  LIG_CHOICE (TransformerLayerParams,
              type,
              "layer-type",
              N_ ("Layer type"),
              N_ ("A decoder also has cross attention to a memory, without window or ALiBi"),
              "encoder|decoder",
              ENCODER),
  LIG_BOOLEAN (TransformerLayerParams,
               post_norm,
               "residual-post-norm",
               N_ ("Residual after norm"),
               N_ ("Adds a branch to the output of its norm instead of the norm's input"),
               FALSE),
  LIG_BOOLEAN (TransformerLayerParams,
               output_norm,
               "output-layer-norm",
               N_ ("Norm of the output"),
               N_ ("Post-norm: ends with a norm instead of starting with one"),
               FALSE),
  LIG_BOOLEAN (TransformerLayerParams,
               parallel,
               "parallel-attention-mlp",
               N_ ("Parallel branches"),
               N_ ("Attention and MLP read the same input"),
               FALSE),
  LIG_MACRO_LENGTHS (0, N_ ("Channel of the sequence lengths; the rest is padding")),
  LIG_MACRO_DOCUMENTS (1),
  LIG_MACRO_MEMORY (2),
  {LIG_PARAM_INPUT, "memory-lengths", N_ ("Memory lengths"),
   N_ ("Channel of the memory's sequence lengths"), 0, 0, 0, 0, 3, NULL},
  LIG_MACRO_STDS (TransformerLayerParams, stds),
  LIG_RECOMPUTE_PARAM (TransformerLayerParams, recompute),
  LIG_CHOICE (TransformerLayerParams,
              division,
              "parallel",
              N_ ("Parallel"),
              N_ ("How ranks shard the layer: none, by heads and FFN size (tensor), also by the "
                  "rows in between (sequence), or by experts (expert)"),
              "none|tensor|sequence|expert",
              LIG_MACRO_TENSOR),
  {.name = NULL},
};

/* Parameters of experts, without effect in a layer without them. */
#define OF_EXPERTS \
  "top-k expert-features shared-features shared-gate capacity weights-at interleave router-score " \
  "router-first router-normalize router-bias router-scale aux z balance exchange-capacity " \
  "overflow"

static const LigParamGroup groups[] = {
  LIG_MACRO_SIZES (" ffn-features"),
  LIG_MACRO_ATTENTION (" layer-type memory-lengths"),
  LIG_MACRO_MASKS,
  LIG_MACRO_POSITIONS,
  LIG_MACRO_PERCEPTRON (""),
  {N_ ("Experts"), "experts " OF_EXPERTS},
  LIG_MACRO_NORMS (LIG_MACRO_HEAD_NORMS " residual-post-norm output-layer-norm"),
  {N_ ("Branches"), "hidden-dropout drop-path parallel-attention-mlp"},
  LIG_MACRO_HEAD_MATMULS,
  LIG_MACRO_BACKWARD,
  {.title = NULL},
};

/* Starts a branch with its norm. */
static void
begin (LigParts *parts,
       LigOp *self,
       const TransformerLayerParams *values,
       const char *channel,
       const char *norm)
{
  gboolean first = values->post_norm && norm;
  if (first)
    lig_macro_add_norm (parts, self, norm);
  lig_macro_add_branch (parts, channel);
  if (norm && !first)
    lig_macro_add_norm (parts, self, norm);
}

/* Ends a branch with its dropout, drop path and residual addition. */
static void
end (LigParts *parts,
     LigOp *self,
     const TransformerLayerParams *values,
     const char *channel,
     const char *dropout,
     const char *path)
{
  if (values->hidden_dropout > 0)
    lig_parts_add (parts, dropout, lig_macro_op (self, "dropout", "hidden-dropout=p"));
  if (values->drop_path > 0)
    lig_parts_add (parts, path, lig_macro_op (self, "drop-path", "drop-path=p"));
  lig_macro_add_join (parts, channel);
}

/* Adds the MLP, or the experts in its place. */
static void
add_mlp (LigParts *parts, LigOp *self, const TransformerLayerParams *values)
{
  if (values->n_experts == 0) {
    lig_macro_add_mlp (parts, self, values->mlp.features);
    return;
  }
  LigOp *mixture = lig_macro_op (
    self, "mixture-of-experts",
    "experts top-k expert-features shared-features shared-gate capacity weights-at interleave "
    "router-score=score router-first=first router-normalize=normalize "
    "router-bias router-scale=scale aux z balance activation activation-limit activation-alpha "
    "glu-linear-offset bias init-std output-init-std exchange-capacity overflow");
  if (mixture && values->division == BY_EXPERTS)
    g_object_set (mixture, "parallel", "expert", NULL);
  lig_parts_add (parts, NULL, mixture);
}

static void
expand_parallel (LigParts *parts, LigOp *self, const TransformerLayerParams *values)
{
  begin (parts, self, values, "residual", "attention-norm");
  lig_macro_add_attention (parts, self, &values->attention);
  lig_macro_add_branch (parts, "attention");
  lig_macro_add_load_branch (parts, "residual");
  lig_macro_add_norm (parts, self, "mlp-norm");
  add_mlp (parts, self, values);
  lig_macro_add_join (parts, "attention");
  end (parts, self, values, "residual", "hidden-dropout", "drop-path");
}

static void
expand_serial (LigParts *parts, LigOp *self, const TransformerLayerParams *values)
{
  begin (parts, self, values, "attention", values->output_norm ? NULL : "attention-norm");
  lig_macro_add_attention (parts, self, &values->attention);
  end (parts, self, values, "attention", "attention-dropout", "attention-path");
  if (values->type == DECODER) {
    begin (parts, self, values, "cross", "cross-norm");
    lig_macro_add_cross_attention (parts, self, &values->attention, "cross-attention", "none",
                                   "memory-lengths", "cross-proj", TRUE);
    end (parts, self, values, "cross", "cross-dropout", "cross-path");
  }
  begin (parts, self, values, "mlp", "mlp-norm");
  add_mlp (parts, self, values);
  end (parts, self, values, "mlp", "mlp-dropout", "mlp-path");
  if (values->output_norm)
    lig_macro_add_norm (parts, self, "output-norm");
}

/* Returns a number, boolean or choice as in a file (transfer full). */
static char *
write_value (const GValue *value)
{
  if (G_VALUE_HOLDS_BOOLEAN (value))
    return g_strdup (g_value_get_boolean (value) ? "true" : "false");
  if (G_VALUE_HOLDS_STRING (value))
    return g_value_dup_string (value);
  if (G_VALUE_HOLDS_INT64 (value))
    return g_strdup_printf ("%" PRId64, g_value_get_int64 (value));
  return g_strdup_printf ("%g", g_value_get_double (value));
}

/* Rejects parameters of experts that differ from their defaults. */
static void
reject_idle (LigParts *parts, LigOp *self)
{
  g_auto (GStrv) names = g_strsplit (OF_EXPERTS, " ", -1);
  for (const LigParam *param = params; param->name; param++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (!g_strv_contains ((const char *const *) names, param->name) ||
        !lig_op_get_value (self, param, &value))
      continue;
    g_autofree char *text = write_value (&value);
    lig_parts_reject (parts, _ ("%s is %s, but experts is 0; set experts, or omit %s"), param->name,
                      text, param->name);
  }
}

/* Rejects parameters that would have no effect. */
static void
check_experts (LigParts *parts, LigOp *self, const TransformerLayerParams *values)
{
  if (values->division == BY_EXPERTS && values->n_experts == 0)
    lig_parts_reject (parts, _ ("parallel is expert, but experts is 0; set experts, or omit it"));
  if (values->n_experts == 0)
    reject_idle (parts, self);
  if (values->n_experts > 0 && values->mlp.features > 0)
    lig_parts_reject (
      parts,
      _ ("ffn-features is %" PRId64 ", but experts is %" PRId64 "; set expert-features instead"),
      values->mlp.features, values->n_experts);
}

static void
check (LigParts *parts, LigOp *self, const TransformerLayerParams *values)
{
  g_autofree char *memory = lig_macro_text (self, "memory");
  g_autofree char *lengths = lig_macro_text (self, "memory-lengths");
  lig_macro_check_attention (parts, self, &values->attention);
  if (values->type == DECODER && !memory)
    lig_parts_reject (parts, _ ("layer-type is decoder, but memory is missing; name its channel"));
  if (values->type != DECODER && (memory || lengths))
    lig_parts_reject (parts, _ ("layer-type is encoder, expected decoder with %s"),
                      memory ? "memory" : "memory-lengths");
  check_experts (parts, self, values);
  if (!values->parallel)
    return;
  if (values->type == DECODER || values->post_norm || values->output_norm)
    lig_parts_reject (parts, _ ("with parallel-attention-mlp, %s is not supported"),
                      values->type == DECODER ? "layer-type=decoder"
                      : values->post_norm     ? "residual-post-norm"
                                              : "output-layer-norm");
}

static void
expand (LigOp *self, LigParts *parts)
{
  const TransformerLayerParams *values = lig_op_get_params (self);
  check (parts, self, values);
  if (values->parallel)
    expand_parallel (parts, self, values);
  else
    expand_serial (parts, self, values);
}

LIG_DEFINE_OP (transformer_layer) = {
  LIG_OP_INFO_SIZES,
  .name = "transformer-layer",
  .title = N_ ("Transformer layer"),
  .category = N_ ("Layers"),
  .summary = N_ ("Transformer layer: attention and an MLP with residual connections"),
  .formula = "y = h + mlp (norm (h)), h = x + attention (norm (x))",
  .example = "transformer-layer (2) @ 2x4x8",
  .params = params,
  .groups = groups,
  .params_size = sizeof (TransformerLayerParams),
  .extra_inputs = "lengths? documents? memory? memory_lengths?",
  .expand = expand,
};
