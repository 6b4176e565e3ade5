/* SPDX-License-Identifier: MIT */
/* Included by the files of engine/optimizers: one table each. The kernel's operands are
 * `gradients norm? scaling? -> parameters ARRAY… master`.
 *
 * Parameters are settings of a training, options of `lig train` and keys of a file's `train`
 * object under the same name. Optimizers that share a name share its label, help, range and
 * default; no name is that of a setting of every training, like `lr`. */
#pragma once

#include <ligature/optimizer.h>

#define N_(text) text

/* The table of an optimizer: LIG_DEFINE_OPTIMIZER (sgd) = { … }; the name is the file's, with `_`.
 */
#define LIG_DEFINE_OPTIMIZER(name) \
  extern const LigOptimizerInfo lig_optimizer_##name; \
  const LigOptimizerInfo lig_optimizer_##name

/* The parameter that a table names as its `decay`. */
#define LIG_WEIGHT_DECAY(type) \
  LIG_FLOAT (type, weight_decay, "weight-decay", N_ ("Weight decay"), \
             N_ ("Decay of the weights of linear maps and embeddings"), 0, 1e3, 0)
