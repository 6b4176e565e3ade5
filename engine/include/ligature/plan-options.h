/* SPDX-License-Identifier: MIT */
/* The options of compiling a sequence into a plan: types, passes, and the policy that chooses
 * fusions. The functions may be called from any thread. */
#pragma once

#include <ligature/layout.h>
#include <ligature/policy.h>
#include <ligature/sequence.h>

G_BEGIN_DECLS

typedef struct _LigOptimizer LigOptimizer;
typedef struct _LigTuning LigTuning;

/**
 * LigPlanOptions:
 * @size: the size of the struct in the program's version of it, set by %LIG_PLAN_OPTIONS_INIT
 * @training: whether to save values for the backward pass and plan that pass
 * @input_gradient: whether to compute the gradients of the input and of the caller's extra inputs,
 *   each in its input's type
 * @policy: the policy that chooses fusions; %LIG_POLICY_DEFAULT: the device's default, see
 *   lig_policy_for()
 * @tf32: whether fp32 matmuls may round their operands to 10 bits of mantissa
 * @compute: the #LigDtype of activations; -1: the sequence's compute type, or its input's type if
 *   it has none
 * @parameters: the #LigDtype of the trained parameters, or -1 likewise. %LIG_FP8_E4M3: that of
 *   @compute, which has 16 bits, but trained weights that only a matmul with a recipe reads are
 *   kept as their fp32 masters and their copies in fp8 alone; losses are the same
 * @batch: the length that replaces the input's first axis; 0: the sequence's own
 * @optimizer: (nullable): the optimizer whose update is planned
 * @tuning: (nullable): the store of measured times; copied, but its data must outlive the
 *   compilation and the first runs of the programs, in which kernels choose algorithms
 * @accumulate: whether backward passes may add to the parameters' gradients (%LIG_RUN_ACCUMULATE),
 *   which are then fp32, whatever the parameters' type
 * @accuracy: whether to count the correctly predicted rows too, if the sequence ends with a
 *   cross-entropy
 * @choices: (nullable): the groups to use instead of choosing them, a text of
 *   lig_plan_get_choices()
 * @recall: whether to predict the times that @tuning does not have instead of measuring them, so
 *   that compiling with policy `measured` launches nothing on the device
 * @freeze: (nullable): patterns like `0.*` or `*.weight`, separated by commas: parameters whose
 *   paths match are not trained, as if their ops were frozen (lig_op_set_trained()). All plans of a
 *   state need the same
 * @nondeterministic: whether kernels may add up sums in an order that differs from run to run,
 * where that is faster; the same seed then gives slightly different results
 * @recompute: the values that the backward pass computes again, for the blocks and macros whose
 *   own parameter `recompute` is `inherit`, and for the ops outside of them
 * @recipe: (nullable): how the operands of matmuls are quantized, a text for lig_recipe_parse();
 *   %NULL: as the sequence says. With `none` ops have no recipes of their own either
 * @keep_values: whether the outputs of all ops and their gradients keep their memory until the next
 *   run, for programs that compare them
 * @calibrating: whether matmuls stay in the compute type, while the amaxes of those operands that
 *   a recipe with histories would quantize are recorded for its scales
 * @shard_optimizer: whether each rank of a data group updates a part of the parameters and keeps
 *   the optimizer's arrays of that part alone: the gradients of a part are reduced to its rank, and
 *   all ranks gather the updated parameters. One rank updates all. All plans of a state need the
 *   same
 * @bucket_bytes: the bytes of gradients, 1 to %LIG_BUCKET_MOST, from which ranks exchange them
 *   (0: %LIG_BUCKET_INITIAL), as soon as the backward pass has written so many. Larger exchanges
 * use links better, smaller ones begin earlier. All plans of a state with @shard_optimizer need the
 * same
 *
 * The options of lig_plan_compile() and others. Fields beyond @size have the values of
 * %LIG_PLAN_OPTIONS_INIT. Functions that accept options take %NULL for %LIG_PLAN_OPTIONS_INIT.
 */
typedef struct _LigPlanOptions {
  gsize size;
  gboolean training;
  gboolean input_gradient;
  gboolean tf32, accuracy, accumulate;
  LigPolicy policy;
  int compute, parameters;
  gint64 batch;
  const LigOptimizer *optimizer;
  const LigTuning *tuning;
  const char *choices;
  gboolean recall;
  const char *freeze;
  gboolean nondeterministic;
  LigRecompute recompute;
  const char *recipe;
  gboolean keep_values;
  gboolean calibrating;
  gboolean shard_optimizer;
  gint64 bucket_bytes;
} LigPlanOptions;

/* The initial and the largest value of bucket_bytes: a collective of fewer than some MiB is bound
 * by its latency. */
#define LIG_BUCKET_INITIAL (G_GINT64_CONSTANT (25) << 20)
#define LIG_BUCKET_MAX (G_GINT64_CONSTANT (1) << 30)

#define LIG_PLAN_OPTIONS_INIT \
  { \
    .size = sizeof (LigPlanOptions), .training = TRUE, .policy = LIG_POLICY_DEFAULT, \
    .compute = -1, .parameters = -1, .recompute = LIG_RECOMPUTE_DEFAULT, \
    .bucket_bytes = LIG_BUCKET_INITIAL \
  }

#define LIG_TYPE_PLAN_OPTIONS (lig_plan_options_get_type ())
LIG_API GType lig_plan_options_get_type (void);

/**
 * lig_plan_options_new:
 *
 * Returns: (transfer full): a new struct with the values of %LIG_PLAN_OPTIONS_INIT, for bindings
 */
LIG_API LigPlanOptions *lig_plan_options_new (void) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_options_free:
 * @self: (nullable) (transfer full): options from lig_plan_options_new()
 *
 * Frees the options, but not the objects that they point to.
 */
LIG_API void lig_plan_options_free (LigPlanOptions *self);

/**
 * lig_plan_options_shard:
 * @self: the options
 * @sequence: a sequence
 * @layout: the layout of the ranks that train it together
 *
 * Sets the batch size to that of one of the ranks; the sequence's input is that of all together. A
 * sequence without an input has none.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE set, naming both numbers, if the data ranks of the layout
 *   cannot share the input's first axis
 */
LIG_API gboolean lig_plan_options_shard (LigPlanOptions *self,
                                         LigSequence *sequence,
                                         const LigLayout *layout,
                                         GError **error);

/**
 * lig_recipe_check_device:
 * @recipe: a text for lig_recipe_parse()
 * @device: a device
 * @error: set to %LIG_ERROR_DEVICE, naming both capabilities, if the device does not compute with
 *   the recipe; to another error if it is no recipe
 *
 * Returns: whether the device computes with the recipe; with `none` each one does
 */
LIG_API gboolean lig_recipe_check_device (const char *recipe, LigDevice *device, GError **error);

G_END_DECLS
