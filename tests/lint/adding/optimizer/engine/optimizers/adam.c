/* SPDX-License-Identifier: MIT */
/* Adam (Kingma and Ba, 2015): AdamW without decay. */
#include "engine/optimizers/define.h"

static const LigParam params[] = {
  LIG_FLOAT (LigAdamwParams,
             beta1,
             "mean-share",
             N_ ("Share of the mean"),
             N_ ("Decay rate of the running mean of the gradients (beta1)"),
             0,
             0.9999999,
             0.9),
  LIG_FLOAT (LigAdamwParams,
             beta2,
             "square-share",
             N_ ("Share of the squares"),
             N_ ("Share of the mean of the squares that each update keeps"),
             0,
             0.9999999,
             0.999),
  LIG_FLOAT (LigAdamwParams,
             eps,
             "floor",
             N_ ("Floor"),
             N_ ("Added to the root of the mean of the squares"),
             1e-30,
             1,
             1e-8),
  {.name = NULL},
};

static const LigOptimizerArray arrays[] = {
  {.name = "adam-mean", .operand = "mean"},
  {.name = "adam-squares", .operand = "variance"},
  {.name = NULL},
};

LIG_DEFINE_OPTIMIZER (adam) = {
  .name = "adam",
  .title = N_ ("Adam"),
  .help = N_ ("Adapts the rate of each weight to its gradients"),
  .kernel = "adamw",
  .params = params,
  .params_size = sizeof (LigAdamwParams),
  .arrays = arrays,
};
