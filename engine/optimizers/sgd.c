/* SPDX-License-Identifier: MIT */
/* Stochastic gradient descent: g += decay p; m = momentum m + g; p -= rate m. */
#include "engine/optimizers/define.h"

static const LigParam params[] = {
  LIG_FLOAT (LigSgdParams,
             momentum,
             "momentum",
             N_ ("Momentum"),
             N_ ("Momentum coefficient; 0 needs no momentum buffer"),
             0,
             1,
             0),
  LIG_WEIGHT_DECAY (LigSgdParams),
  {.name = NULL},
};

static const LigOptimizerArray arrays[] = {
  {.name = "moment", .operand = "momentum", .needs = "momentum"},
  {.name = NULL},
};

LIG_DEFINE_OPTIMIZER (sgd) = {
  .name = "sgd",
  .title = N_ ("Stochastic gradient descent"),
  .help = N_ ("Stochastic gradient descent, optionally with momentum"),
  .kernel = "sgd",
  .params = params,
  .params_size = sizeof (LigSgdParams),
  .decay = "weight-decay",
  .arrays = arrays,
};
