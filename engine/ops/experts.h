/* SPDX-License-Identifier: MIT */
/* Parameters and checks that the ops and macros of mixtures of experts share. */
#pragma once

#include "engine/ops/define.h"
#include <ligature/params-experts.h>

/* Checks that x has an element for each of at most LIG_MAX_EXPERTS groups. */
gboolean lig_check_groups (const LigInfer *infer, GError **error);

/* How many experts a router selects. */
typedef struct {
  gint64 experts, top_k, groups, group_top_k;
} LigExpertChoice;

/* Checks that so many experts can be selected. `experts` is how the error calls their number. An
 * error is about a parameter, called as in the router, of which a value would remove it. */
gboolean lig_check_choice (const LigExpertChoice *choice,
                           const char *experts,
                           const char **param,
                           gint64 *value,
                           GError **error);

/* Returns the largest divisor of a number that is not above the limit. */
gint64 lig_find_divisor (gint64 number, gint64 limit);

/* How ranks share the experts. */
enum { LIG_EXPERTS_WHOLE, LIG_EXPERTS_DIVIDED };

#define LIG_EXPERTS_PARALLEL(type, field) \
  LIG_CHOICE (type, field, "parallel", N_ ("Parallel"), \
              N_ ("none: each rank has all experts; expert: each rank of an expert group has an " \
                  "equal part of them"), \
              "none|expert", LIG_EXPERTS_WHOLE)

/* The exchange of rows between the ranks that share experts. */
#define LIG_EXCHANGE_CAPACITY 2
#define LIG_OVERFLOW_PARAM(type, field) \
  LIG_CHOICE (type, field, "overflow", N_ ("Overflow"), \
              N_ ("If a rank gets more rows than there is room for: stop ends the run, drop " \
                  "omits the last ones, and counts them"), \
              "stop|drop", 0)
#define LIG_EXCHANGE_PARAMS(type, field) \
  LIG_FLOAT ( \
    type, field.capacity, "exchange-capacity", N_ ("Exchange capacity"), \
    N_ ("Maximum number of rows that a rank sends to another one that has other experts: " \
        "a multiple of the mean"), \
    1, LIG_MAX_EXPERTS, LIG_EXCHANGE_CAPACITY), \
    LIG_OVERFLOW_PARAM (type, field.overflow)

typedef struct {
  float capacity;
  int32_t overflow;
} LigMacroExchange;

/* The step of the router's correction. */
#define LIG_ROUTER_BALANCE(type, name) \
  LIG_FLOAT (type, balance, name, N_ ("Balance step"), \
             N_ ("Each update moves the correction of an expert by this number: up if its load " \
                 "is below the mean, down if above; above 0 it implies correction"), \
             0, 1, 0)

/* The parameters of a router other than top-k. */
#define LIG_ROUTER_PARAMS(type) \
  LIG_CHOICE (type, kernel.score, "score", N_ ("Score"), \
              N_ ("How logits become weights: the softmax, or of each logit the sigmoid or the " \
                  "square root of softplus"), \
              "softmax|sigmoid|sqrt-softplus", 0), \
    LIG_CHOICE (type, kernel.first, "first", N_ ("Softmax over"), \
                N_ ("select: the softmax is over the selected experts; score: over all experts"), \
                "select|score", 0), \
    LIG_BOOLEAN (type, normalize, "normalize", N_ ("Normalize"), \
                 N_ ("Divides the weights of a row by their sum, if it has several experts"), \
                 TRUE), \
    LIG_INT (type, groups, "groups", N_ ("Groups"), \
             N_ ("Number of equal groups of experts, of which the best ones are selected first"), \
             1, LIG_MAX_EXPERTS, 1, 0), \
    LIG_INT (type, group_top_k, "group-top-k", N_ ("Groups selected"), \
             N_ ("Number of groups from which the experts of a row are selected"), 1, \
             LIG_MAX_EXPERTS, 1, 0), \
    LIG_FLOAT (type, scale, "scale", N_ ("Scale"), N_ ("Factor of all weights"), 1e-6, 1e6, 1), \
    LIG_FLOAT (type, aux, "aux", N_ ("Balance loss"), \
               N_ ("Coefficient of the load-balancing loss, which is added to the sequence's"), 0, \
               1e6, 0), \
    LIG_FLOAT (type, z, "z", N_ ("Z-loss"), \
               N_ ("Coefficient of the mean squared log-sum-exp of the logits, which is added to " \
                   "the sequence's loss"), \
               0, 1e6, 0), \
    LIG_BOOLEAN (type, correction, "correction", N_ ("Correction"), \
                 N_ ("Adds a number for each expert to its scores, for the selection only; needs " \
                     "score=sigmoid or sqrt-softplus"), \
                 FALSE), \
    LIG_ROUTER_BALANCE (type, "balance")

/* Groups of these parameters. */
#define LIG_ROUTER_GROUPS \
  {N_ ("Router"), "score first normalize scale groups group-top-k"}, \
  { \
    N_ ("Balance"), "aux z correction balance" \
  }

/* Parameters of the experts that replace an MLP. */
#define LIG_MACRO_EXPERT_PARAMS(type, field) \
  LIG_INT (type, field.top_k, "top-k", N_ ("Top k"), \
           N_ ("Number of experts that are selected for each token"), 1, LIG_MAX_EXPERTS, 2, 0), \
    LIG_INT (type, field.features, "expert-features", N_ ("Expert size"), \
             N_ ("Features of an expert's activation; omitted or 0: four times the input's"), 1, \
             LIG_MAX_FEATURES / 2, 0, LIG_PARAM_INFERRED), \
    LIG_INT (type, field.shared, "shared-features", N_ ("Shared expert size"), \
             N_ ("Features of the activation of an expert that sees all tokens; 0: none"), 0, \
             LIG_MAX_FEATURES / 2, 0, 0), \
    LIG_BOOLEAN (type, field.gated, "shared-gate", N_ ("Shared expert's gate"), \
                 N_ ("Multiplies the output of the shared expert by the sigmoid of a linear " \
                     "function of the token"), \
                 FALSE), \
    LIG_FLOAT (type, field.capacity, "capacity", N_ ("Capacity"), \
               N_ ("Maximum number of tokens of an expert: a multiple of the mean; later " \
                   "tokens skip the expert; 0: no maximum"), \
               0, 1000, 0), \
    LIG_CHOICE (type, field.weights_at, "weights-at", N_ ("Weights at"), \
                N_ ("The value that is multiplied by the weights of the experts: the activation, " \
                    "which needs less memory, or the output; auto: the activation if it has a " \
                    "scaled form, like swiglu, srelu, clamped-swiglu and situ-glu"), \
                "auto|activation|output", 0)

typedef struct {
  gint64 top_k, features, shared;
  float capacity;
  int32_t weights_at;
  bool gated;
} LigMacroExperts;
