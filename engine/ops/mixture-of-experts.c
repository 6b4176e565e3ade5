/* SPDX-License-Identifier: MIT */
/* A macro: a router selects some of many MLPs, the experts, for each token (Shazeer and others,
 * 2017, Outrageously Large Neural Networks). The tokens are sorted by expert, so that each layer of
 * all experts is one grouped matmul; the outputs of a token's experts are summed. A shared expert
 * sees all tokens. */
#include "engine/ops/experts.h"
#include "engine/ops/macro-parts.h"

#include <inttypes.h>

typedef struct {
  LigRouterParams kernel; /* the choices of the router's parameters */
  LigMacroExperts mixture;
  LigMacroExchange exchange;
  gint64 experts, groups, group_top_k, interleave;
  float scale, aux, z, balance, limit, alpha, offset;
  LigMacroStds stds;
  bool normalize, correction, bias, router_bias;
  int32_t activation, recompute, parallel;
} MixtureParams;

enum { AUTO, AT_ACTIVATION, AT_OUTPUT };

static const LigParam params[] = {
  LIG_INT (MixtureParams,
           experts,
           "experts",
           N_ ("Experts"),
           N_ ("Number of experts"),
           1,
           LIG_MAX_EXPERTS,
           8,
           LIG_PARAM_POSITIONAL),
  LIG_MACRO_EXPERT_PARAMS (MixtureParams, mixture),
  LIG_CHOICE (MixtureParams,
              activation,
              "activation",
              N_ ("Activation"),
              N_ ("Activation or gated unit of the experts"),
              LIG_MACRO_ACTIVATIONS,
              LIG_MACRO_SWIGLU),
  LIG_FLOAT (MixtureParams,
             limit,
             "activation-limit",
             N_ ("Activation's limit"),
             N_ ("Bound of clamped-swiglu"),
             1e-6,
             1e6,
             7),
  LIG_FLOAT (MixtureParams,
             alpha,
             "activation-alpha",
             N_ ("Activation's alpha"),
             N_ ("Slope inside the sigmoid of clamped-swiglu"),
             -1e3,
             1e3,
             1.702),
  LIG_FLOAT (MixtureParams,
             offset,
             "glu-linear-offset",
             N_ ("Activation's offset"),
             N_ ("Added by clamped-swiglu to the linear half after its clamp"),
             -1e6,
             1e6,
             1),
  LIG_INT (MixtureParams,
           interleave,
           "interleave",
           N_ ("Interleave"),
           N_ ("Length of the blocks in which the halves of the experts' gated unit alternate; 0: "
               "one after the other"),
           0,
           LIG_MAX_FEATURES,
           0,
           0),
  LIG_ROUTER_PARAMS (MixtureParams),
  LIG_BOOLEAN (MixtureParams,
               bias,
               "bias",
               N_ ("Bias"),
               N_ ("Adds a bias to the matmuls of the experts"),
               FALSE),
  LIG_BOOLEAN (MixtureParams,
               router_bias,
               "router-bias",
               N_ ("Router bias"),
               N_ ("Adds a bias to the router's logits"),
               FALSE),
  LIG_MACRO_STDS (MixtureParams, stds),
  LIG_EXPERTS_PARALLEL (MixtureParams, parallel),
  LIG_EXCHANGE_PARAMS (MixtureParams, exchange),
  LIG_RECOMPUTE_PARAM (MixtureParams, recompute),
  {.name = NULL},
};

static const LigParamGroup groups[] = {
  {N_ ("Sizes"), "experts top-k expert-features shared-features shared-gate capacity"},
  {N_ ("MLP"), "activation activation-limit activation-alpha glu-linear-offset interleave "
               "weights-at"},
  LIG_ROUTER_GROUPS,
  {N_ ("Matmuls"), "bias router-bias init-std output-init-std"},
  {N_ ("Ranks"), "parallel exchange-capacity overflow"},
  LIG_MACRO_BACKWARD,
  {.title = NULL},
};

/* Returns a new part with a parameter of the macro that only some activations have. */
static LigOp *
make_unit (LigOp *self, const char *name, const char *scaled)
{
  g_autofree char *op = g_strconcat (scaled, name, NULL);
  gboolean clamped = g_str_equal (name, "clamped-swiglu");
  LigOp *unit = lig_macro_op (
    self, op, clamped ? "activation-limit=limit activation-alpha=alpha glu-linear-offset" : NULL);
  return unit;
}

static gboolean
is_gated (const char *name)
{
  const LigOpInfo *info = lig_op_info_find (name);
  return info && info->flags & LIG_OP_GATED;
}

/* Returns whether the weights are applied to the activation. */
static gboolean
is_scaled (const MixtureParams *values, const char *activation)
{
  g_autofree char *scaled = g_strconcat ("scaled-", activation, NULL);
  return values->mixture.weights_at == AT_ACTIVATION ||
         (values->mixture.weights_at == AUTO && lig_op_info_find (scaled));
}

/* Rejects a gate without a shared expert. */
static void
check_shared (LigParts *parts, const LigMacroExperts *mixture)
{
  if (mixture->gated && mixture->shared == 0)
    lig_parts_reject (parts, _ ("shared-gate is true, but shared-features is 0; set "
                                "shared-features, or omit shared-gate"));
}

/* Returns whether ranks exchange rows. */
static gboolean
exchanges (const LigParts *parts, const MixtureParams *values)
{
  return values->parallel == LIG_EXPERTS_DIVIDED &&
         lig_parts_get_n_ranks (parts, LIG_GROUP_EXPERT) > 1;
}

/* Rejects a number of selected experts, or groups of them, that the router would reject: the user
 * knows their number as a parameter. */
static void
check_choice (LigParts *parts, const MixtureParams *values)
{
  const LigExpertChoice choice = {values->experts, values->mixture.top_k, values->groups,
                                  values->group_top_k};
  g_autoptr (GError) error = NULL;
  const char *param;
  gint64 value;
  if (!lig_check_choice (&choice, "experts", &param, &value, &error))
    lig_parts_reject (parts, "%s", error->message);
}

static void
check (LigParts *parts, const MixtureParams *values, const char *activation)
{
  if (exchanges (parts, values) &&
      values->experts % lig_parts_get_n_ranks (parts, LIG_GROUP_EXPERT) != 0)
    lig_parts_reject (parts, _ ("experts is %" PRId64 ", expected a multiple of expert, %d"),
                      values->experts, lig_parts_get_n_ranks (parts, LIG_GROUP_EXPERT));
  g_autofree char *scaled = g_strconcat ("scaled-", activation, NULL);
  check_choice (parts, values);
  if (values->mixture.weights_at == AT_ACTIVATION && !lig_op_info_find (scaled))
    lig_parts_reject (parts,
                      _ ("activation=%s has no scaled form; set weights-at=output, or another "
                         "activation, like swiglu"),
                      activation);
  check_shared (parts, &values->mixture);
  if (values->interleave > 0 && !is_gated (activation))
    lig_parts_reject (parts, _ ("interleave is %" PRId64 ", but %s is not a gated unit; omit it"),
                      values->interleave, activation);
}

static void
add_router (LigParts *parts, LigOp *self, const MixtureParams *values)
{
  LigOp *matmul = lig_macro_op (self, "basic-linear", "init-std experts=out-features");
  LigOp *router = lig_macro_op (self, "router",
                                "top-k score first normalize groups group-top-k scale aux z "
                                "correction balance");
  g_object_set (router, "weights", "weights", "experts", "experts", NULL);
  lig_macro_add_branch (parts, "tokens");
  lig_parts_add (parts, "router", matmul);
  if (values->router_bias)
    lig_parts_add (parts, "router", lig_op_new ("bias", NULL));
  lig_parts_add (parts, "router", router);
  lig_macro_add_load_branch (parts, "tokens");
}

/* Adds a matmul of all experts; `names` are the parameters of the macro that it gets. */
static void
add_grouped (LigParts *parts,
             LigOp *self,
             const char *name,
             const char *names,
             LigMacroLength length,
             const char *offsets,
             const char *scales)
{
  LigOp *matmul = lig_macro_op (self, "grouped-linear", names);
  g_object_set (matmul, "offsets", offsets, "scales", scales, NULL);
  if (length.length == 0)
    lig_parts_add_scaled (parts, name, matmul, "out-features", length.multiple, length.divisor);
  else {
    g_object_set (matmul, "out-features", length.length, NULL);
    lig_parts_add (parts, name, matmul);
  }
}

/* Adds the part that sends rows to the ranks that have their experts, with their scales, or that
 * returns them. */
static void
add_exchange (LigParts *parts, LigOp *self, gboolean back, const char *scales)
{
  LigOp *op = back ? lig_op_new ("combine", NULL)
                   : lig_macro_op (self, "dispatch", "exchange-capacity=capacity overflow");
  if (!back)
    g_object_set (op, "offsets", "offsets", "scales", scales, "own-offsets", "own-offsets",
                  "own-scales", "own-scales", NULL);
  g_object_set (op, "sent", "sent", "received", "received", NULL);
  lig_parts_add (parts, NULL, op);
}

static void
add_experts (LigParts *parts, LigOp *self, const MixtureParams *values, const char *activation)
{
  gboolean scaled = is_scaled (values, activation), gated = is_gated (activation);
  gboolean apart = exchanges (parts, values);
  const char *offsets = apart ? "own-offsets" : "offsets";
  const char *scales = apart ? "own-scales" : "scales";
  gint64 halves = gated ? 2 : 1;
  LigOp *permute = lig_macro_op (self, "permute", "experts=groups capacity");
  LigOp *unit = make_unit (self, activation, scaled ? "scaled-" : "");
  LigOp *unpermute = lig_op_new ("unpermute", NULL);
  g_object_set (permute, "experts", "experts", "weights", scaled ? "weights" : NULL, "offsets",
                "offsets", "places", "places", "scales", "scales", NULL);
  g_object_set (unpermute, "places", "places", "weights", scaled ? NULL : "weights", NULL);
  if (unit && scaled)
    g_object_set (unit, "scales", scales, NULL);
  if (unit && gated)
    g_object_set (unit, "interleave", values->interleave, NULL);
  lig_parts_add (parts, NULL, permute);
  if (apart)
    add_exchange (parts, self, FALSE, scaled ? "scales" : NULL);
  add_grouped (parts, self, "experts-fc1", "experts=groups bias init-std parallel",
               (LigMacroLength){values->mixture.features * halves, 4 * halves, 1}, offsets, NULL);
  lig_parts_add (parts, NULL, unit);
  /* fc2 returns to the number of features of the tokens. */
  add_grouped (parts, self, "experts-fc2", "experts=groups bias output-init-std=init-std parallel",
               (LigMacroLength){0, 1, 1}, offsets, scaled && values->bias ? scales : NULL);
  if (apart)
    add_exchange (parts, self, TRUE, NULL);
  lig_parts_add (parts, NULL, unpermute);
}

/* Adds the branch with the logit of each token's gate for the shared expert. */
static void
add_gate (LigParts *parts, LigOp *self)
{
  LigOp *matmul = lig_macro_op (self, "basic-linear", "init-std");
  g_object_set (matmul, "out-features", (gint64) 1, NULL);
  lig_parts_add (parts, "shared-gate", matmul);
  lig_macro_add_branch (parts, "gate");
  lig_macro_add_load_branch (parts, "tokens");
}

/* Adds the expert that sees all tokens. */
static void
add_shared (LigParts *parts, LigOp *self, const MixtureParams *values, const char *activation)
{
  gint64 halves = is_gated (activation) ? 2 : 1;
  LigOp *first = lig_macro_op (self, "basic-linear", "init-std");
  LigOp *last = lig_macro_op (self, "basic-linear", "output-init-std=init-std");
  g_object_set (first, "out-features", values->mixture.shared * halves, NULL);
  lig_macro_add_branch (parts, "mixed");
  lig_macro_add_load_branch (parts, "tokens");
  if (values->mixture.gated)
    add_gate (parts, self);
  lig_parts_add (parts, "shared-fc1", first);
  if (values->bias)
    lig_parts_add (parts, "shared-fc1", lig_op_new ("bias", NULL));
  lig_parts_add (parts, NULL, make_unit (self, activation, ""));
  lig_parts_add_scaled (parts, "shared-fc2", last, "out-features", 1, 1);
  if (values->bias)
    lig_parts_add (parts, "shared-fc2", lig_op_new ("bias", NULL));
  if (values->mixture.gated) {
    LigOp *gate = lig_op_new ("row-gate", NULL);
    g_object_set (gate, "gate", "gate", NULL);
    lig_parts_add (parts, NULL, gate);
  }
  lig_macro_add_join (parts, "mixed");
}

static void
expand (LigOp *self, LigParts *parts)
{
  const MixtureParams *values = lig_op_get_params (self);
  g_autofree char *activation = lig_macro_text (self, "activation");
  check (parts, values, activation);
  add_router (parts, self, values);
  add_experts (parts, self, values, activation);
  if (values->mixture.shared > 0)
    add_shared (parts, self, values, activation);
}

LIG_DEFINE_OP (mixture_of_experts) = {
  LIG_OP_INFO_SIZES,
  .name = "mixture-of-experts",
  .title = N_ ("Mixture of experts"),
  .category = N_ ("Layers"),
  .summary = N_ ("MLPs of which a router selects some for each token, and adds their outputs"),
  .formula = "y = sum over the experts e of a token of weights[e] mlp[e] (x)",
  .example = "mixture-of-experts (4, expert-features=6) @ 5x8",
  .params = params,
  .groups = groups,
  .params_size = sizeof (MixtureParams),
  .expand = expand,
};
