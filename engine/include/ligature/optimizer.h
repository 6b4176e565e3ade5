/* SPDX-License-Identifier: MIT */
/* Optimizers: how parameters follow their gradients. One kernel runs over the whole arena of
 * parameters; weights of linear maps and embeddings decay, gains and biases do not, and a custom
 * op's parameter does if its table says so.
 *
 * Each optimizer is a table, from which come the settings of a training, the arrays of a state, the
 * update of a plan and the documentation.
 *
 * An update whose gradients' global norm is not finite writes nothing. It counts as a step of the
 * training, but not as one of those by which AdamW corrects its moments, as with PyTorch's
 * GradScaler.
 *
 * Threads: tables are constant; any thread may read them. */
#pragma once

#include <ligature/op.h>
#include <ligature/params.h>

G_BEGIN_DECLS

/* The optimizer of a training that names none. */
#define LIG_OPTIMIZER_DEFAULT "adamw"

/* Bytes of the params of an optimizer's kernel, at most. */
#define LIG_OPTIMIZER_PARAMS 64

/**
 * LigOptimizerArray:
 * @name: its name in states and, after `optimizer.`, in checkpoints; optimizers that name the same
 *   array share it
 * @operand: (nullable): the kernel's operand; %NULL: called like the array
 * @needs: (nullable): a parameter; the array is kept only where that one is not 0
 *
 * An fp32 array that a state keeps for an optimizer, as long as the parameters.
 */
typedef struct {
  const char *name;
  const char *operand;
  const char *needs;
} LigOptimizerArray;

/**
 * LigOptimizerInfo:
 * @name: kebab-case, as in `--optimizer adamw`
 * @title: a name for people, translatable
 * @help: one sentence without a full stop, translatable
 * @kernel: the built-in kernel of the update; its operands are `gradients norm? scaling? ->
 *   parameters ARRAY… master`
 * @params: what can be set, all of %LIG_PARAM_FLOAT; ends with a null name
 * @params_size: bytes of the kernel's params, at most %LIG_OPTIMIZER_PARAMS
 * @decay: (nullable): the parameter that is 0 in the update of parameters that do not decay
 * @arrays: what the state keeps; ends with a null name; may be null
 *
 * The table of an optimizer.
 */
typedef struct {
  const char *name, *title, *help;
  const char *kernel;
  const LigParam *params;
  gsize params_size;
  const char *decay;
  const LigOptimizerArray *arrays;
} LigOptimizerInfo;

/**
 * LigOptimizer:
 * @name: (nullable): of a table, a string that stays valid; %NULL: %LIG_OPTIMIZER_DEFAULT
 * @sgd: the params where the optimizer is sgd; momentum 0 keeps no moment
 * @adamw: the params where it is adamw
 * @params: the params of any optimizer, as its table describes them
 * @loss_scale: the factor by which the gradients that arrive from the caller are multiplied before
 *   the backward pass, and divided by in the update; 0: found as the training goes on where the
 *   output is a loss and activations or gradients are fp16 (65536 at first, half of it after each
 *   overflow, twice as much after 2,000 updates without), else 1; 1: none
 *
 * An optimizer with values for its parameters. It begins as %LIG_OPTIMIZER_INIT or by
 * lig_optimizer_init(). @sgd, @adamw and @params share their memory: a program that names another
 * optimizer fills in its params too.
 */
typedef struct _LigOptimizer {
  const char *name;
  union {
    LigSgdParams sgd;
    LigAdamwParams adamw;
    guint64 params[LIG_OPTIMIZER_PARAMS / sizeof (guint64)];
  };
  double loss_scale;
} LigOptimizer;

/* AdamW with the defaults of its table, but a weight decay of 0.01. */
#define LIG_OPTIMIZER_INIT \
  { \
    .name = "adamw", .adamw = { 0.9f, 0.95f, 1e-8f, 0.01f } \
  }

/**
 * lig_optimizer_info_nth:
 * @n: from 0
 *
 * Returns: (nullable) (transfer none): the optimizers one by one; %NULL after the last
 */
LIG_API const LigOptimizerInfo *lig_optimizer_info_nth (guint n);

/**
 * lig_optimizer_info_find:
 * @name: (nullable): of an optimizer; %NULL: %LIG_OPTIMIZER_DEFAULT
 * @error: set to %LIG_ERROR_VALUE, naming all optimizers
 *
 * Returns: (nullable) (transfer none): its table
 */
LIG_API const LigOptimizerInfo *lig_optimizer_info_find (const char *name, GError **error);

/**
 * lig_optimizer_init:
 * @self: (out caller-allocates): filled with the defaults of the table, and a loss scale of 0
 * @name: (nullable): of an optimizer; %NULL: %LIG_OPTIMIZER_DEFAULT
 * @error: set to %LIG_ERROR_VALUE where there is no such optimizer
 *
 * Returns: whether the optimizer is known
 */
LIG_API gboolean lig_optimizer_init (LigOptimizer *self, const char *name, GError **error);

/**
 * lig_optimizer_set:
 * @self: an optimizer
 * @param: the name of one of its parameters
 * @value: within the range of its table
 * @error: set to %LIG_ERROR_OP where it has no such parameter, %LIG_ERROR_VALUE where @value is
 *   beyond the range
 *
 * Returns: whether it was set
 */
LIG_API gboolean lig_optimizer_set (LigOptimizer *self,
                                    const char *param,
                                    double value,
                                    GError **error);

/**
 * lig_optimizer_get:
 * @self: an optimizer of a known name
 * @param: a parameter of its table
 *
 * Returns: the parameter's value
 */
LIG_API double lig_optimizer_get (const LigOptimizer *self, const LigParam *param);

/**
 * lig_optimizer_check:
 * @self: an optimizer
 * @error: set to %LIG_ERROR_VALUE, naming the parameter, its value and its range
 *
 * Checks the name and every parameter. Plans and states do so with the optimizers they are given.
 *
 * Returns: whether all is as the table wants it
 */
LIG_API gboolean lig_optimizer_check (const LigOptimizer *self, GError **error);

G_END_DECLS
