/* SPDX-License-Identifier: MIT */
/* AdamW (Loshchilov and Hutter, 2019): decay is decoupled, moments are bias-corrected. */
#include "engine/optimizers/define.h"

/* Bounds below 1 in single precision, and above 0: the update divides by 1 - beta and by eps. */
#define BETA_MAXIMUM 0.9999999
#define EPS_MINIMUM 1e-30

static const LigParam params[] = {
  LIG_FLOAT (LigAdamwParams,
             beta1,
             "beta1",
             N_ ("Beta 1"),
             N_ ("Decay rate of the running mean of the gradients"),
             0,
             BETA_MAXIMUM,
             0.9),
  LIG_FLOAT (LigAdamwParams,
             beta2,
             "beta2",
             N_ ("Beta 2"),
             N_ ("Decay rate of the running mean of the squared gradients"),
             0,
             BETA_MAXIMUM,
             0.95),
  LIG_FLOAT (LigAdamwParams,
             eps,
             "eps",
             N_ ("Epsilon"),
             N_ ("Epsilon, added to the square root in the denominator"),
             EPS_MINIMUM,
             1,
             1e-8),
  LIG_WEIGHT_DECAY (LigAdamwParams),
  {.name = NULL},
};

static const LigOptimizerArray arrays[] = {
  {.name = "moment", .operand = "mean"},
  {.name = "variance"},
  {.name = NULL},
};

LIG_DEFINE_OPTIMIZER (adamw) = {
  .name = "adamw",
  .title = N_ ("AdamW"),
  .help = N_ ("Adam with decoupled weight decay"),
  .kernel = "adamw",
  .params = params,
  .params_size = sizeof (LigAdamwParams),
  .decay = "weight-decay",
  .arrays = arrays,
};
