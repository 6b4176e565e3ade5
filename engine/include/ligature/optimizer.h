/* SPDX-License-Identifier: MIT */
/* Optimizers update parameters from their gradients. One kernel updates all parameters, which share
 * one array. Weight decay applies to the weights of linear maps and embeddings, not to biases and
 * the weights of norms, and to parameters of custom ops whose table enables it.
 *
 * Each optimizer is described by a table, from which the settings of a run, the arrays of a state,
 * the update of a plan and the documentation are derived.
 *
 * An update writes nothing if the global norm of the gradients is not finite. It counts as a
 * training step, but not in AdamW's bias correction, as with PyTorch's GradScaler.
 *
 * Threads: tables are constant; any thread may read them. */
#pragma once

#include <ligature/op.h>
#include <ligature/params-optimizer.h>

G_BEGIN_DECLS

/* The default optimizer of a run. */
#define LIG_OPTIMIZER_DEFAULT "adamw"

/* The maximum size in bytes of the params of an optimizer's kernel, and the number of 8-byte words
 * that hold them. */
#define LIG_OPTIMIZER_PARAMS 64
#define LIG_OPTIMIZER_NUMBERS 8

/**
 * LigOptimizerArray:
 * @name: the name of the array in states and, after `optimizer.`, in checkpoints; optimizers that
 *   use the same name share the array
 * @operand: (nullable): the name of the kernel's operand; %NULL: the same as @name
 * @needs: (nullable): a parameter; the array is kept only if this parameter is not 0
 *
 * An fp32 array of optimizer state, with one element for each parameter element.
 */
typedef struct {
  const char *name;
  const char *operand;
  const char *needs;
} LigOptimizerArray;

/**
 * LigOptimizerInfo:
 * @name: kebab-case, as in `--optimizer adamw`
 * @title: the displayed name, translatable
 * @help: one sentence without a full stop, translatable
 * @kernel: the name of the built-in update kernel; its operands are `gradients norm? scaling? ->
 *   parameters ARRAY… master`
 * @params: the adjustable parameters, all of %LIG_PARAM_FLOAT; ends with a null name
 * @params_size: the size of the kernel's params in bytes, at most %LIG_OPTIMIZER_PARAMS
 * @decay: (nullable): the parameter that is set to 0 for parameters without weight decay
 * @arrays: (nullable): the arrays that the state keeps; ends with a null name
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
 * @name: (nullable): the name of a table, a string that must remain valid; %NULL:
 *   %LIG_OPTIMIZER_DEFAULT
 * @sgd: the params of sgd; a momentum of 0 keeps no moment
 * @adamw: the params of adamw
 * @params: the params of any optimizer, described by its table
 * @loss_scale: the factor that multiplies the caller's gradients before the backward pass and
 *   divides the gradients in the update; 1: none; 0: adjusted dynamically if the output is a loss
 *   and activations or gradients are fp16 (initially 65536, halved after each overflow, doubled
 *   after 2,000 updates without overflow), otherwise 1
 *
 * An optimizer with values for its parameters, initialized with %LIG_OPTIMIZER_INIT or
 * lig_optimizer_init(). @sgd, @adamw and @params are a union: a caller that changes @name must also
 * set the params.
 */
typedef struct _LigOptimizer {
  const char *name;
#ifdef __GI_SCANNER__ /* bindings do not support anonymous unions */
  guint64 params[LIG_OPTIMIZER_NUMBERS];
#else
  union {
    LigSgdParams sgd;
    LigAdamwParams adamw;
    guint64 params[LIG_OPTIMIZER_NUMBERS];
  };
#endif
  double loss_scale;
} LigOptimizer;

/* AdamW with the defaults of its table, but a weight decay of 0.01. */
#define LIG_OPTIMIZER_INIT \
  { \
    .name = "adamw", .adamw = { 0.9f, 0.95f, 1e-8f, 0.01f } \
  }

/**
 * lig_optimizer_info_nth:
 * @n: an index from 0
 *
 * Returns: (nullable) (transfer none): the table of an optimizer; %NULL after the last
 */
LIG_API const LigOptimizerInfo *lig_optimizer_info_nth (guint n);

/**
 * lig_optimizer_info_find:
 * @name: (nullable): the name of an optimizer; %NULL: %LIG_OPTIMIZER_DEFAULT
 * @error: set to %LIG_ERROR_VALUE, naming all optimizers, if the name is unknown
 *
 * Returns: (nullable) (transfer none): the table of the optimizer
 */
LIG_API const LigOptimizerInfo *lig_optimizer_info_find (const char *name, GError **error);

/**
 * lig_optimizer_init:
 * @self: (out caller-allocates): set to the defaults of the table and a loss scale of 0
 * @name: (nullable): the name of an optimizer; %NULL: %LIG_OPTIMIZER_DEFAULT
 * @error: set to %LIG_ERROR_VALUE if the name is unknown
 *
 * Returns: whether the optimizer is known
 */
LIG_API gboolean lig_optimizer_init (LigOptimizer *self, const char *name, GError **error);

/**
 * lig_optimizer_set:
 * @self: an optimizer
 * @param: the name of one of its parameters
 * @value: a value within the range in the table
 * @error: set to %LIG_ERROR_OP if the optimizer has no such parameter, to %LIG_ERROR_VALUE if
 *   @value is out of range
 *
 * Returns: whether the parameter was set
 */
LIG_API gboolean lig_optimizer_set (LigOptimizer *self,
                                    const char *param,
                                    double value,
                                    GError **error);

/**
 * lig_optimizer_get:
 * @self: an optimizer whose name is known
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
 * Checks the name and every parameter. Plans and states do this themselves.
 *
 * Returns: whether the name is known and all values are in range
 */
LIG_API gboolean lig_optimizer_check (const LigOptimizer *self, GError **error);

G_END_DECLS
