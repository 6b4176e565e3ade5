/* SPDX-License-Identifier: MIT */
/* Included by the files of engine/optimizers, each of which defines one table. The kernel's
 * operands are `gradients norm? scaling? -> parameters ARRAY… master`.
 *
 * Parameters are settings of a training run: options of `lig train` and keys of a file's `train`
 * object with the same name. If several optimizers have a parameter of the same name, its label,
 * help, range and default must be the same. The names of settings that every run has, like `lr`,
 * are reserved. */
#pragma once

#include <ligature/optimizer.h>

#define N_(text) text

/* Begins the table of an optimizer: LIG_DEFINE_OPTIMIZER (sgd) = { … }; the name is that of the
 * file, with `_`. */
#define LIG_DEFINE_OPTIMIZER(name) \
  extern const LigOptimizerInfo lig_optimizer_##name; \
  const LigOptimizerInfo lig_optimizer_##name

/* Defines the parameter that a table names as its `decay`. */
#define LIG_WEIGHT_DECAY(type) \
  LIG_FLOAT (type, weight_decay, "weight-decay", N_ ("Weight decay"), \
             N_ ("Weight decay of linear layers and embeddings"), 0, 1e3, 0)
