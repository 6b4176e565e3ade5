/* SPDX-License-Identifier: MIT */
/* Plans: a sequence compiled for a device, shapes and types. Compiling allocates nothing on the
 * device, so that plans can be made for a GPU that the machine does not have. A program
 * (<ligature/program.h>) runs a plan.
 *
 * A plan is immutable and owns copies of all its contents: later edits of the sequence or its ops
 * do not change it.
 *
 * Threads: any number of threads may read, reference and release one plan at once. Compiling reads
 * the sequence, so it must be done on the thread that edits it, or with a lig_sequence_copy(). With
 * policy `measured` it uses the device too. */
#pragma once

#include <ligature/device.h>
#include <ligature/fusion.h>
#include <ligature/plan-tables.h>
#include <ligature/policy.h>
#include <ligature/sequence.h>
#include <ligature/verdict.h>

G_BEGIN_DECLS

typedef struct _LigPlan LigPlan;
typedef struct _LigPlanOptions LigPlanOptions;

#define LIG_TYPE_PLAN (lig_plan_get_type ())
LIG_API GType lig_plan_get_type (void);

/* --- The parts of a plan ------------------------------------------------------------------- */

/**
 * lig_lane_name:
 * @lane: a lane
 *
 * Returns: (transfer none): `main`, `side`, `communication` or `copy`
 */
LIG_API const char *lig_lane_name (LigLane lane);

/**
 * lig_plan_ref:
 * @self: a plan
 *
 * Returns: (transfer full): the plan, with one more reference; counting is atomic
 */
LIG_API LigPlan *lig_plan_ref (LigPlan *self);

/**
 * lig_plan_unref:
 * @self: a plan
 *
 * Releases a reference; the last one frees the plan.
 */
LIG_API void lig_plan_unref (LigPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigPlan, lig_plan_unref)

/**
 * lig_plan_get_device:
 * @self: a plan
 *
 * Returns: (transfer none): the device that the plan was compiled for
 */
LIG_API LigDevice *lig_plan_get_device (LigPlan *self);

/**
 * lig_plan_get_sequence:
 * @self: a plan
 *
 * Returns: (transfer none): the plan's copy of the sequence, which must not be edited
 */
LIG_API LigSequence *lig_plan_get_sequence (LigPlan *self);

/**
 * lig_plan_get_options:
 * @self: a plan
 *
 * Returns: (transfer none): the options that the plan was compiled with, with defaults resolved
 */
LIG_API const LigPlanOptions *lig_plan_get_options (LigPlan *self);

/**
 * lig_plan_get_idle_recipe:
 * @self: a plan
 *
 * Returns: (transfer none) (nullable): the name of a recipe that the sequence or a block sets, but
 *   that applies to no op; otherwise %NULL
 */
LIG_API const char *lig_plan_get_idle_recipe (LigPlan *self);

/**
 * lig_plan_get_extra_input_name:
 * @self: a plan
 * @n: the number of an extra input that the caller provides
 *
 * Returns: (transfer none): the name of its value, `#3.targets`
 */
LIG_API const char *lig_plan_get_extra_input_name (LigPlan *self, guint n);

/**
 * lig_plan_describe_extra_input:
 * @self: a plan
 * @n: the number of an extra input that the caller provides
 *
 * Returns: (transfer full): the path in the sequence of the op that reads it, and the
 *   name of its port: `3.extra`
 */
LIG_API char *lig_plan_describe_extra_input (LigPlan *self, guint n);

/**
 * lig_plan_get_policy:
 * @self: a plan
 *
 * Returns: the policy that chose the groups, never %LIG_POLICY_DEFAULT
 */
LIG_API LigPolicy lig_plan_get_policy (LigPlan *self);

/**
 * lig_plan_get_compute:
 * @self: a plan
 *
 * Returns: the type of activations
 */
LIG_API LigDtype lig_plan_get_compute (LigPlan *self);

/**
 * lig_plan_get_parameters:
 * @self: a plan
 *
 * Returns: the type of parameters
 */
LIG_API LigDtype lig_plan_get_parameters (LigPlan *self);

/**
 * lig_plan_get_parameters_name:
 * @self: a plan
 *
 * Returns: (transfer none): the name of the parameters' type, or `fp8` if the weights of quantized
 *   matmuls are kept only in fp8 and fp32
 */
LIG_API const char *lig_plan_get_parameters_name (LigPlan *self);

/**
 * lig_plan_get_tf32:
 * @self: a plan
 *
 * Returns: whether fp32 matmuls may round their operands to a 10-bit mantissa
 */
LIG_API gboolean lig_plan_get_tf32 (LigPlan *self);

/**
 * lig_plan_get_nondeterministic:
 * @self: a plan
 *
 * Returns: whether kernels may sum in an order that differs from run to run
 */
LIG_API gboolean lig_plan_get_nondeterministic (LigPlan *self);

/**
 * lig_plan_get_shares:
 * @self: a plan
 *
 * Returns: the number of ranks over which the optimizer state is sharded; 1 if it is replicated, or
 *   if the plan has no update
 */
LIG_API int lig_plan_get_shares (LigPlan *self);

/**
 * lig_plan_get_bucket_bytes:
 * @self: a plan
 *
 * Returns: the bucket size of gradient collectives in bytes
 */
LIG_API gint64 lig_plan_get_bucket_bytes (LigPlan *self);

/**
 * lig_plan_get_version:
 * @self: a plan
 *
 * Returns: the version of the compiled sequence
 */
LIG_API guint64 lig_plan_get_version (LigPlan *self);

/**
 * lig_plan_has_pass:
 * @self: a plan
 * @pass: a pass
 *
 * Returns: whether the plan has the pass: every plan has a forward pass, a plan for training a
 *   backward pass, and a plan with an optimizer and parameters an update
 */
LIG_API gboolean lig_plan_has_pass (LigPlan *self, LigPass pass);

/**
 * lig_plan_get_ops:
 * @self: a plan
 * @count: (out): the length of the array
 *
 * Returns: (transfer none) (array length=count): the expanded ops by index, valid as long as the
 *   plan
 */
LIG_API const LigPlanOp *lig_plan_get_ops (LigPlan *self, guint *count);

/**
 * lig_plan_find_extra_input_reader: (skip)
 * @self: a plan
 * @n: the number of an extra input that the caller provides
 *
 * Returns: (transfer none): the first op that reads it
 */
LIG_API const LigPlanOp *lig_plan_find_extra_input_reader (LigPlan *self, guint n);

/**
 * lig_plan_get_groups:
 * @self: a plan
 * @pass: %LIG_PASS_FORWARD or %LIG_PASS_BACKWARD
 * @count: (out): the length of the array
 *
 * Returns: (transfer none) (array length=count): the groups of the pass, in the order of the ops
 *   even for the backward pass, valid as long as the plan
 */
LIG_API const LigPlanGroup *lig_plan_get_groups (LigPlan *self, LigPass pass, guint *count);

/**
 * lig_plan_is_forced:
 * @self: a plan
 * @group: a group of the plan
 *
 * Returns: whether the sequence forces the group's fusion at its first op
 */
LIG_API gboolean lig_plan_is_forced (LigPlan *self, const LigPlanGroup *group);

/**
 * lig_plan_is_quantized:
 * @self: a plan
 * @group: a group of the plan
 *
 * Returns: whether the group's kernels read or write copies of values that a recipe quantizes
 */
LIG_API gboolean lig_plan_is_quantized (LigPlan *self, const LigPlanGroup *group);

/**
 * lig_plan_get_bits:
 * @self: a plan
 * @group: a group of the plan
 *
 * Returns: the bits per element of the quantized copies that the group's kernels read or write, 8
 *   or 4; 0 if there are none
 */
LIG_API int lig_plan_get_bits (LigPlan *self, const LigPlanGroup *group);

/**
 * lig_plan_name_ops:
 * @plan: a plan
 * @first: the expanded index of the first op
 * @count: the number of ops
 *
 * Returns: (transfer full): the displayed name of a group of these ops, translated: `Linear + bias
 *   + GELU`, `Layer norm`
 */
LIG_API char *lig_plan_name_ops (LigPlan *plan, int first, int count);

/**
 * lig_plan_list_parts:
 * @plan: a plan
 * @first: the expanded index of the first op
 * @count: the number of ops
 *
 * Returns: (transfer full): the parts of a macro in one line, `norm · fc1 · GELU · fc2`: their
 *   names, or titles if they have no name
 */
LIG_API char *lig_plan_list_parts (LigPlan *plan, int first, int count);

/**
 * lig_plan_name_values:
 * @self: a plan
 * @names: the name of one or several of its values: LigPlanValue.name, LigPlanStep.operands
 *
 * Returns: (transfer full): the displayed names, with paths in place of expanded indexes: `3.y` for
 *   `#5.y`; values inside a macro have the part's name, `2.basic-linear.y`
 */
LIG_API char *lig_plan_name_values (LigPlan *self, const char *names) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_get_verdicts:
 * @self: a plan
 * @count: (out): the length of the array
 *
 * Returns: (transfer none) (array length=count): the verdicts on each fusion at each examined
 *   place, valid as long as the plan
 */
LIG_API const LigVerdict *lig_plan_get_verdicts (LigPlan *self, guint *count);

/**
 * lig_plan_get_steps:
 * @self: a plan
 * @count: (out): the length of the array
 *
 * Returns: (transfer none) (array length=count): the kernel launches in order, valid as long as the
 *   plan
 */
LIG_API const LigPlanStep *lig_plan_get_steps (LigPlan *self, guint *count);

/**
 * lig_plan_name_operands:
 * @self: a plan
 * @step: one of its steps
 *
 * Returns: (transfer full): the names of the values that the step reads and writes: `0.y 1.weight
 * -> 1.y`
 */
LIG_API char *lig_plan_name_operands (LigPlan *self, const LigPlanStep *step);

/**
 * lig_plan_get_values:
 * @self: a plan
 * @count: (out): the length of the array
 *
 * Returns: (transfer none) (array length=count): the tensors and their memory, valid as long as the
 *   plan
 */
LIG_API const LigPlanValue *lig_plan_get_values (LigPlan *self, guint *count);

/**
 * lig_plan_find_fix:
 * @self: a plan
 * @number: the number of the edit, LigFix.number, from 1
 *
 * Returns: (transfer none): the first fix with that number, or %NULL with %LIG_ERROR_INDEX set:
 *   `no edit has the number 9; the plan offers 4`
 */
LIG_API const LigFix *lig_plan_find_fix (LigPlan *self, guint number, GError **error);

/**
 * lig_plan_get_choices:
 * @self: a plan
 *
 * Returns: (transfer full): the fused groups as text, for LigPlanOptions.choices of a plan that
 *   must have the same groups in another process or on another machine
 */
LIG_API char *lig_plan_get_choices (LigPlan *self);

/**
 * lig_plan_get_recipe:
 * @self: a plan
 *
 * Returns: (transfer none): the recipe of its sequence, `none` or a text for lig_recipe_parse();
 *   blocks and matmuls may have their own recipes
 */
LIG_API const char *lig_plan_get_recipe (LigPlan *self);

/**
 * lig_plan_get_recompute:
 * @self: a plan
 *
 * Returns: the values that the backward pass recomputes, except in blocks and macros that set
 *   `recompute` themselves
 */
LIG_API LigRecompute lig_plan_get_recompute (LigPlan *self);

/**
 * lig_plan_get_spared_bytes:
 * @self: a plan
 *
 * Returns: the bytes by which recomputation lowers the live peak, see lig_plan_get_arena_bytes(); 0
 *   without recomputation
 */
LIG_API gint64 lig_plan_get_spared_bytes (LigPlan *self);

/**
 * lig_plan_scales_loss:
 * @self: a plan
 *
 * Returns: whether the plan multiplies the gradients of its outputs by a loss scale, see
 *   #LigOptimizer
 */
LIG_API gboolean lig_plan_scales_loss (LigPlan *self);

/**
 * lig_plan_get_arena_bytes:
 * @self: a plan
 * @live_peak: (out) (optional): the lower bound of the arena: the maximum over steps of the bytes
 *   in use
 *
 * Returns: the bytes of the activation arena
 */
LIG_API gint64 lig_plan_get_arena_bytes (LigPlan *self, gint64 *live_peak);

/**
 * lig_plan_get_state_bytes:
 * @self: a plan
 *
 * Returns: the bytes of parameters, gradients and optimizer state that the plan needs
 */
LIG_API gint64 lig_plan_get_state_bytes (LigPlan *self);

/**
 * lig_plan_get_segments:
 * @self: a plan
 *
 * Returns: the number of segments between opaque ops; each is captured as one graph if the device
 *   supports graphs
 */
LIG_API guint lig_plan_get_segments (LigPlan *self);

/**
 * lig_plan_to_text:
 * @self: a plan
 *
 * Returns: (transfer full): the plan as readable lines: groups, steps, memory map. The same
 *   sequence, device and options give the same text, so that plans can be compared
 */
LIG_API char *lig_plan_to_text (LigPlan *self);

/**
 * lig_plan_get_input:
 * @self: a plan
 * @shape: (out caller-allocates): its shape
 * @dtype: (out): its type
 *
 * Reads the shape and type of the caller's main input.
 */
LIG_API void lig_plan_get_input (LigPlan *self, LigShape *shape, LigDtype *dtype);

/**
 * lig_plan_get_output:
 * @self: a plan
 * @shape: (out caller-allocates): its shape
 * @dtype: (out): its type
 *
 * Reads the shape and type of the main output.
 */
LIG_API void lig_plan_get_output (LigPlan *self, LigShape *shape, LigDtype *dtype);

/**
 * lig_plan_get_n_extra_inputs:
 * @self: a plan
 *
 * Returns: the number of the caller's extra inputs
 */
LIG_API guint lig_plan_get_n_extra_inputs (LigPlan *self);

/**
 * lig_plan_get_n_extra_outputs:
 * @self: a plan
 *
 * Returns: the number of the caller's extra outputs
 */
LIG_API guint lig_plan_get_n_extra_outputs (LigPlan *self);

/**
 * lig_plan_get_extra_input:
 * @self: a plan
 * @n: its index in the order of the ops, from 0
 * @shape: (out caller-allocates): its shape
 * @dtype: (out): its type
 *
 * Reads the shape and type of an extra input of the caller.
 */
LIG_API void lig_plan_get_extra_input (LigPlan *self, guint n, LigShape *shape, LigDtype *dtype);

/**
 * lig_plan_get_range:
 * @self: a plan
 * @n: the number of an extra input of the caller; -1 for the main input
 * @min: (out): the smallest valid number
 * @max: (out): the largest valid number; less than @min if no number is valid for all ops
 *
 * Reads the range of integers that all readers of the input accept: token ids of an embedding's
 * vocabulary, classes of a loss, attention lengths up to the number of keys.
 */
LIG_API void lig_plan_get_range (LigPlan *self, int n, gint32 *min, gint32 *max);

/**
 * lig_plan_get_extra_output:
 * @self: a plan
 * @n: its index in the order of the ops, from 0
 * @shape: (out caller-allocates): its shape
 * @dtype: (out): its type
 *
 * Reads the shape and type of an extra output to the caller.
 */
LIG_API void lig_plan_get_extra_output (LigPlan *self, guint n, LigShape *shape, LigDtype *dtype);

G_END_DECLS
