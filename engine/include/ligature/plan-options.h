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
 * LigCacheShape:
 * @rows: the number of texts that one run extends
 * @step: the number of tokens by which it extends each
 * @length: the number of tokens that a text can have
 * @slots: the number of texts that the cache holds
 * @chunk: the largest step of all plans of the cache; of attention with a window the cache then
 *   keeps only as many positions as the window and a chunk have. 0: it keeps all
 * @memory: for cross attention: the number of positions of a source that the cache keeps; 0: the
 *   sequence has none
 * @fill: whether runs only append keys and values, as for all but the last tokens of a prompt: the
 *   plan ends at the last op that keeps some, and its output is of no use
 * @source: whether a run reads the source of a text: @rows is 1, @step the number of its tokens, at
 *   most @memory. See lig_cache_set_source()
 *
 * The shape of a cache of keys and values, see <ligature/cache.h>, and of a run of a plan with it.
 * All zero: none.
 */
typedef struct {
  gint64 rows, step, length, slots, chunk, memory;
  gboolean fill, source;
} LigCacheShape;

/**
 * LigPlanOptions:
 * @size: the size of the struct that the program was compiled with, set by %LIG_PLAN_OPTIONS_INIT
 * @training: whether to save values for the backward pass and plan that pass
 * @input_gradient: whether to compute the gradients of the input and of the caller's extra inputs,
 *   each in its input's type
 * @policy: the policy that chooses fusions; %LIG_POLICY_DEFAULT: the device's default, see
 *   lig_policy_for()
 * @tf32: whether fp32 matmuls may round their operands to a 10-bit mantissa
 * @compute: the #LigDtype of activations; -1: the sequence's compute type, or its input's type if
 *   it has none
 * @parameters: the #LigDtype of the trained parameters; -1: the sequence's, or the type of
 *   activations if it has none. %LIG_FP8_E4M3: that of @compute, which must have 16 bits, except
 *   that trained weights that only matmuls with a recipe read exist only as fp32 master weights and
 *   fp8 copies; losses are identical
 * @batch: the length that replaces the input's first axis; 0: the sequence's own
 * @optimizer: (nullable): the optimizer whose update is planned
 * @tuning: (nullable): the store of measured times; copied, but its data must outlive the
 *   compilation and the first runs of the programs, in which kernels autotune
 * @accumulate: whether backward passes may add to the parameters' gradients (%LIG_RUN_ACCUMULATE),
 *   which are then fp32 for any parameter type
 * @accuracy: whether to also count the correctly predicted rows if the sequence ends with a
 *   cross-entropy
 * @choices: (nullable): the groups to use instead of choosing them, from lig_plan_get_choices()
 * @recall: whether to predict times that @tuning lacks instead of measuring them, so that compiling
 *   with policy `measured` launches nothing on the device
 * @freeze: (nullable): patterns like `0.*` or `*.weight`, separated by commas: parameters whose
 *   paths match are frozen, as by lig_op_set_trained(). Must be the same for all plans of a state
 * @nondeterministic: whether kernels may sum in an order that differs from run to run if that is
 * faster; the same seed then gives slightly different results
 * @recompute: the values that the backward pass recomputes, for blocks and macros whose own
 *   parameter `recompute` is `inherit`, and for ops outside of them
 * @recipe: (nullable): how the operands of matmuls are quantized, a text for lig_recipe_parse();
 *   %NULL: the sequence's recipe. `none` also disables recipes of single ops
 * @keep_values: whether the outputs of all ops and their gradients stay in memory until the next
 *   run, for programs that compare them
 * @calibrating: whether matmuls run unquantized while the amaxes of the operands that a recipe with
 *   amax histories would quantize are recorded for its scales
 * @shard_optimizer: whether each rank of a data group updates a shard of the parameters and keeps
 *   only the optimizer state of that shard (ZeRO stage 1): gradients are reduce-scattered, updated
 *   parameters all-gathered. No effect on one rank. Must be the same for all plans of a state
 * @bucket_bytes: the bucket size of gradient collectives in bytes, 1 to %LIG_BUCKET_MAX (0:
 *   %LIG_BUCKET_INITIAL): a collective begins as soon as the backward pass has written that many
 *   bytes. Larger buckets use links better, smaller ones begin earlier. Must be the same for all
 *   plans of a state with @shard_optimizer
 * @before_loss: whether the plan ends before the loss: its output is the loss's input, such as
 *   logits, and it takes no targets. No effect on a sequence without a loss
 * @cache: if its rows are not 0: the plan extends texts whose keys and values a cache holds, see
 *   <ligature/cache.h>; its input is int32 `rows x step`, it ends before the loss, and it has no
 *   backward pass
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
  gboolean before_loss;
  LigCacheShape cache;
} LigPlanOptions;

/* The default and the maximum of bucket_bytes: a collective of less than a few MiB is bound by
 * latency. */
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
 * @layout: the parallelism of the ranks that train it together
 *
 * Sets the batch size to that of one rank; the sequence's input has the global batch. Without an
 * input, or with one data-parallel rank, it is set to 0.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE set, naming both numbers, if the input's first axis is not
 *   divisible by the number of data-parallel ranks
 */
LIG_API gboolean lig_plan_options_shard (LigPlanOptions *self,
                                         LigSequence *sequence,
                                         const LigLayout *layout,
                                         GError **error);

/**
 * lig_recipe_check_device:
 * @recipe: a text for lig_recipe_parse()
 * @device: a device
 * @error: set to %LIG_ERROR_DEVICE, naming both capabilities, if the device does not support the
 *   recipe; to another error if the text is not a recipe
 *
 * Returns: whether the device supports the recipe; every device supports `none`
 */
LIG_API gboolean lig_recipe_check_device (const char *recipe, LigDevice *device, GError **error);

G_END_DECLS
