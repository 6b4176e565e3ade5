/* SPDX-License-Identifier: MIT */
/* The quantization errors of recipes: the same batch and weights are run unquantized and with each
 * recipe, and compared op by op.
 *
 * Threads: a list may be made by any thread and then read by all. */
#pragma once

#include <ligature/plan.h>

G_BEGIN_DECLS

/**
 * LigOpErrors:
 * @path: the path of the op; for a part of a macro with its name, `3.qkv`
 * @op: the name of the op
 * @output: the relative error of its output
 * @gradient: the relative error of the gradient of its output; NaN if it has none
 * @parameters: the relative error of the gradients of its trained parameters; NaN if it has none
 * @recipe: (nullable): the recipe of a matmul with quantized operands
 * @written: the path of the op as written: that of the macro for each of its parts
 * @title: the name of the op as written: `linear` for both parts of that macro
 * @unquantized: (nullable): why a matmul with a recipe is not quantized
 *
 * The errors of one op. A relative error is the norm of the difference between a tensor and the
 * unquantized one, divided by the norm of the latter.
 */
typedef struct {
  char *path;
  const char *op;
  double output, gradient, parameters;
  const char *recipe;
  char *written;
  const char *title;
  char *unquantized;
} LigOpErrors;

/**
 * LigRecipeErrors:
 * @recipe: the recipe, a text for lig_recipe_parse()
 * @output: the relative error of the output of the sequence
 * @gradient: the relative error of all parameter gradients together; NaN if there are none
 * @bytes: the bytes that training with this recipe needs: the plan's values and the state
 * @ops: the errors of its ops, in order, except those that only pass values on
 * @n_ops: their number
 *
 * The errors of one recipe.
 */
typedef struct {
  char *recipe;
  double output, gradient;
  gint64 bytes;
  LigOpErrors *ops;
  guint n_ops;
} LigRecipeErrors;

#define LIG_TYPE_RECIPE_ERRORS (lig_recipe_errors_get_type ())
LIG_API GType lig_recipe_errors_get_type (void);

/**
 * lig_recipe_choose_for: (skip)
 * @options: options of a plan, whose `recipe` is set
 * @sequence: the sequence of the plan
 * @recipe: a text for lig_recipe_parse(), which must outlive @options
 *
 * Sets the recipe of one of several compared plans. With `none`, parameters that would be kept in
 * fp8 have the type of activations.
 */
LIG_API void
lig_recipe_choose_for (LigPlanOptions *options, LigSequence *sequence, const char *recipe);

/**
 * lig_recipe_errors_measure:
 * @sequence: a sequence with an input
 * @device: a device that can run kernels
 * @options: (nullable): options; `recipe`, `policy` and `optimizer` are not read
 * @recipes: (array zero-terminated=1): texts for lig_recipe_parse()
 * @error: set if one of the plans cannot be compiled or run
 *
 * Runs both passes with initial weights on random data, once unquantized and once with each recipe,
 * after two warm-up runs if its scales follow from earlier steps. Nothing is updated. All outputs
 * and gradients are kept, so this needs more memory than training.
 *
 * Returns: (transfer full) (element-type LigRecipeErrors): the errors of each recipe, or %NULL with
 *   an error set
 */
LIG_API GPtrArray *lig_recipe_errors_measure (LigSequence *sequence,
                                              LigDevice *device,
                                              const LigPlanOptions *options,
                                              const char *const *recipes,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * LigRecipeErrorsMonitor:
 * @done: the number of recipes that are done, including the unquantized run
 * @count: the total number
 * @data: the caller's data
 *
 * Reports progress and can stop the measurement. Called before each recipe, and up to twenty times
 * a second during its passes if the device runs them step by step.
 *
 * Returns: %FALSE to stop the measurement
 */
typedef gboolean (*LigRecipeErrorsMonitor) (guint done, guint count, gpointer data);

/**
 * lig_recipe_errors_measure_watched:
 * @sequence: a sequence with an input
 * @device: a device that can run kernels
 * @options: (nullable): as for lig_recipe_errors_measure()
 * @recipes: (array zero-terminated=1): texts for lig_recipe_parse()
 * @monitor: (scope call) (closure data): called on this thread
 * @data: the data of @monitor
 * @error: set if one of the plans cannot be compiled or run
 *
 * Measures errors like lig_recipe_errors_measure() and calls a monitor. If the monitor stops the
 * measurement, the error is %LIG_ERROR_CANCELLED.
 *
 * Returns: (transfer full) (element-type LigRecipeErrors): the errors of each recipe, or %NULL with
 *   an error set
 */
LIG_API GPtrArray *lig_recipe_errors_measure_watched (LigSequence *sequence,
                                                      LigDevice *device,
                                                      const LigPlanOptions *options,
                                                      const char *const *recipes,
                                                      LigRecipeErrorsMonitor monitor,
                                                      gpointer data,
                                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_recipe_errors_free:
 * @self: (nullable) (transfer full): errors
 */
LIG_API void lig_recipe_errors_free (LigRecipeErrors *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRecipeErrors, lig_recipe_errors_free)

G_END_DECLS
