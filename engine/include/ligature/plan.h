/* SPDX-License-Identifier: MIT */
/* Plans: a sequence compiled for a device, shapes and types. Compiling allocates nothing on the
 * device, so that plans can be made for a GPU that the machine does not have. A program
 * (<ligature/program.h>) runs a plan.
 *
 * A plan is immutable and owns copies of all its contents: edits of the sequence, or of one of its
 * ops, do not change it.
 *
 * Threads: any number of threads may read, reference and release one plan at once. Compiling reads
 * the sequence, so it must be done on the thread that edits it, or with a lig_sequence_copy(). With
 * policy `measured` it uses the device too. */
#pragma once

#include <ligature/device.h>
#include <ligature/fusion.h>
#include <ligature/launch.h>
#include <ligature/policy.h>
#include <ligature/sequence.h>
#include <ligature/verdict.h>

G_BEGIN_DECLS

typedef struct _LigPlan LigPlan;
typedef struct _LigPlanOptions LigPlanOptions;

#define LIG_TYPE_PLAN (lig_plan_get_type ())
LIG_API GType lig_plan_get_type (void);

/* --- The parts of a plan ------------------------------------------------------------------- */

/* An op after expansion: blocks are repeated, macros replaced by their parts. */
typedef struct {
  int index;
  const char *path;
  const char *prefix; /* the beginning of its parameters' paths: the path, and in a macro the part's
                         name */
  LigOp *op;          /* the plan's copy of the op, or of a macro's part; read-only */
  const char *title;  /* the name of the op as written: `linear` for both parts of the macro */
  const LigOpInfo *info;
  LigShape x, y;
  LigDtype y_dtype;
  gint64 parameters;  /* the number of elements of its own parameters, trained and frozen */
  gint64 frozen;      /* of these, the frozen ones */
  gint64 saved_bytes; /* bytes saved for the backward pass and not counted at an earlier op */
  gboolean needs_backward;
  /* For each parameter of its table that is tied: the path of the other op's parameter. */
  const char *tied[LIG_MAX_PARAMETERS];
  gboolean implicit;  /* quantizes for the product before or after it; not written by a person */
  const char *recipe; /* of a product: the recipe that quantizes its operands; or null */
  const char *unquantized; /* of a product with a recipe: why its operands are not quantized: `50
                              output features, fp8-rows needs a multiple of 16`; or null */
} LigPlanOp;

/* The ops that one fusion covers in a pass, or one op alone. */
typedef struct {
  const LigFusion *fusion; /* null: one op alone */
  LigPass pass;
  int first, count;        /* expanded indexes */
  int first_step, n_steps; /* steps of the plan; 0 steps: no kernel is launched */
  double bytes, flops;
  double predicted;  /* seconds, from the device's ceilings and costs; 0 if these are unknown */
  double floor;      /* seconds that the ceilings alone allow: the roofline; 0 if unknown */
  double measured;   /* seconds; 0 if nothing was measured */
  const char *title; /* the ops in translated words: `Linear + bias + GELU` */
} LigPlanGroup;

/* One kernel launch. */
typedef struct {
  const LigKernel *kernel; /* null: an opaque op's callback */
  LigPass pass;
  int group;            /* index of a group of its pass, or -1 */
  int part;             /* expanded index of the first op it serves, -1 for the update */
  LigLane lane;         /* not the main one: runs in parallel with the steps after it, in the side
                           lane up to the next such step, in both up to the update */
  const char *operands; /* the names of the values: "0.y 1.weight -> 1.y" */
  double read, written, flops;
  double predicted; /* seconds; 0 if the device's ceilings are unknown */
  double floor;     /* seconds that the ceilings alone allow; 0 if unknown */
  gboolean
    once; /* depends on parameters alone: runs only after they have changed, once per update */
  gboolean again; /* of the backward pass: computes a value of the forward pass again */
  double starts;  /* predicted seconds from the beginning of the forward pass */
  double lasts;   /* predicted seconds; in the communication lane `predicted` is less, the seconds
                     that the step adds to its pass */
  double waited;  /* of a collective: the predicted seconds for which the main lane waits */
} LigPlanStep;

/**
 * lig_lane_name:
 * @lane: a lane
 *
 * Returns: (transfer none): `main`, `side`, `communication` or `copy`
 */
LIG_API const char *lig_lane_name (LigLane lane);

/* A tensor of the plan and its memory. The name of a parameter is its path, `3.weight`; the name of
 * a value that an op computes has the op's index, `#5.y`; the name of a gradient has a `d` in
 * front. */
typedef struct {
  const char *name;
  LigShape shape;
  LigDtype dtype;
  const char *place; /* `arena`, `state`, `alias` or `unused` */
  gint64 offset;     /* in the arena, in bytes */
  gint64 bytes;
  int first, last; /* the first and the last step that use it */
  gboolean saved;  /* read by backward */
  gboolean again;  /* a value of the forward pass that backward computes again */
} LigPlanValue;

/**
 * lig_plan_compile:
 * @sequence: a sequence with an input; it is read, not changed
 * @device: the device to compile for
 * @options: (nullable): the options, copied
 *
 * Compiles the sequence by the passes of the compiler: expand, infer, differentiate, represent,
 * fuse, schedule, allocate.
 *
 * Returns: (transfer full): a plan, or %NULL with an error set that names the op by its path
 */
LIG_API LigPlan *lig_plan_compile (LigSequence *sequence,
                                   LigDevice *device,
                                   const LigPlanOptions *options,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

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
 *   products are kept in fp8 and fp32 alone
 */
LIG_API const char *lig_plan_get_parameters_name (LigPlan *self);

/**
 * lig_plan_get_tf32:
 * @self: a plan
 *
 * Returns: whether fp32 products may round their operands to 10 bits
 */
LIG_API gboolean lig_plan_get_tf32 (LigPlan *self);

/**
 * lig_plan_get_nondeterministic:
 * @self: a plan
 *
 * Returns: whether kernels may add up sums in an order that differs from run to run
 */
LIG_API gboolean lig_plan_get_nondeterministic (LigPlan *self);

/**
 * lig_plan_get_shares:
 * @self: a plan
 *
 * Returns: the number of ranks that divide the optimizer's arrays; 1 if each has all, or the plan
 *   has no update
 */
LIG_API int lig_plan_get_shares (LigPlan *self);

/**
 * lig_plan_get_bucket_bytes:
 * @self: a plan
 *
 * Returns: the bytes of gradients from which ranks exchange them
 */
LIG_API gint64 lig_plan_get_bucket_bytes (LigPlan *self);

/**
 * lig_plan_get_version:
 * @self: a plan
 *
 * Returns: the version of the sequence when it was compiled
 */
LIG_API guint64 lig_plan_get_version (LigPlan *self);

/**
 * lig_plan_has_pass:
 * @self: a plan
 * @pass: a pass
 *
 * Returns: whether a program of the plan can run the pass: every plan has a forward pass, a plan
 *   for training has a backward pass, a plan with an optimizer and parameters has an update
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
 * lig_plan_get_groups:
 * @self: a plan
 * @pass: %LIG_PASS_FORWARD or %LIG_PASS_BACKWARD
 * @count: (out): the length of the array
 *
 * Returns: (transfer none) (array length=count): the groups of the pass, in the order of the ops
 *   for both passes, valid as long as the plan
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
 * Returns: whether the group's kernels read or write quantized copies of values, as a recipe says
 */
LIG_API gboolean lig_plan_is_quantized (LigPlan *self, const LigPlanGroup *group);

/**
 * lig_plan_get_bits:
 * @self: a plan
 * @group: a group of the plan
 *
 * Returns: the bits of an element of the quantized copies that the group's kernels read or write,
 *   8 or 4; 0 without any
 */
LIG_API int lig_plan_get_bits (LigPlan *self, const LigPlanGroup *group);

/**
 * lig_plan_name_ops:
 * @plan: a plan
 * @first: the expanded index of the first op
 * @count: the number of ops
 *
 * Returns: (transfer full): the name of a group of these ops for people, translated: `Linear + bias
 *   + GELU`, `Layer norm`
 */
LIG_API char *lig_plan_name_ops (LigPlan *plan, int first, int count);

/**
 * lig_plan_op_get_part: (skip)
 * @op: an op of a plan
 *
 * Returns: (transfer none) (nullable): its name in the macro that it is a part of, `qkv`, with
 *   which the paths of its parameters go on; %NULL if it has none
 */
LIG_API const char *lig_plan_op_get_part (const LigPlanOp *op);

/**
 * lig_plan_list_parts:
 * @plan: a plan
 * @first: the expanded index of the first op
 * @count: the number of ops
 *
 * Returns: (transfer full): the parts of a macro in one line, `norm · fc1 · GELU · fc2`: their
 *   names, and the titles of parts without one
 */
LIG_API char *lig_plan_list_parts (LigPlan *plan, int first, int count);

/**
 * lig_plan_name_values:
 * @self: a plan
 * @names: the name of one of its values, or several of them: LigPlanValue.name,
 *   LigPlanStep.operands
 *
 * Returns: (transfer full): the same names for people, with paths in place of expanded indexes:
 *   `3.y` for `#5.y`; the value of an inner part of a macro has the part's name, `2.basic-linear.y`
 */
LIG_API char *lig_plan_name_values (LigPlan *self, const char *names) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_get_verdicts:
 * @self: a plan
 * @count: (out): the length of the array
 *
 * Returns: (transfer none) (array length=count): the verdicts on each fusion at each place that was
 *   examined, valid as long as the plan
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
 * lig_plan_get_values:
 * @self: a plan
 * @count: (out): the length of the array
 *
 * Returns: (transfer none) (array length=count): the tensors and their memory, valid as long as the
 *   plan
 */
LIG_API const LigPlanValue *lig_plan_get_values (LigPlan *self, guint *count);

/**
 * lig_plan_find_mend:
 * @self: a plan
 * @number: the number of the edit, LigMend.number, from 1
 *
 * Returns: (transfer none): the first mend with that number, or %NULL with %LIG_ERROR_INDEX set:
 *   `no edit has the number 9; the plan offers 4`
 */
LIG_API const LigMend *lig_plan_find_mend (LigPlan *self, guint number, GError **error);

/**
 * lig_plan_mend:
 * @self: a plan
 * @numbers: (array length=count): the numbers of edits, LigMend.number
 * @count: the length of the array
 *
 * Compiles the sequence of a plan after these edits, for the same device, types and policy. Nothing
 * is measured, and measured times are not used: the plan shows by predictions what the edits would
 * save, also where they let other fusions in than those that were refused. Of several edits that
 * insert or remove ops the first may move the ops of the next.
 *
 * Returns: (transfer full): the plan, or %NULL with an error set if an edit is unknown or cannot be
 *   made, or the sequence does not compile
 */
LIG_API LigPlan *lig_plan_mend (LigPlan *self, const guint *numbers, guint count, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_get_choices:
 * @self: a plan
 *
 * Returns: (transfer full): the fused groups as text, for LigPlanOptions.choices of a plan that
 *   must have the same groups in another process or machine
 */
LIG_API char *lig_plan_get_choices (LigPlan *self);

/**
 * lig_plan_get_recipe:
 * @self: a plan
 *
 * Returns: (transfer none): the recipe of its sequence, `none` or a text for lig_recipe_parse();
 *   blocks and products may have recipes of their own
 */
LIG_API const char *lig_plan_get_recipe (LigPlan *self);

/**
 * lig_plan_get_recompute:
 * @self: a plan
 *
 * Returns: what the backward pass computes again, but for blocks and macros with a parameter
 *   `recompute` of their own
 */
LIG_API LigRecompute lig_plan_get_recompute (LigPlan *self);

/**
 * lig_plan_with_recompute:
 * @self: a plan
 * @recompute: what the backward pass computes again
 * @error: (out) (optional): the error
 *
 * Returns: (transfer full): a plan with the same groups that computes other values again; %NULL
 *   with @error set if the plan's kernels are no longer registered
 */
LIG_API LigPlan *lig_plan_with_recompute (LigPlan *self,
                                          LigRecompute recompute,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_get_spared_bytes:
 * @self: a plan
 *
 * Returns: the bytes by which values that are computed again lower the live peak, see
 *   lig_plan_get_arena_bytes(); 0 if there are none
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
 * @live_peak: (out) (optional): the lower bound for the arena of any plan: the largest sum of bytes
 *   in use at one step
 *
 * Returns: the bytes of the activation arena
 */
LIG_API gint64 lig_plan_get_arena_bytes (LigPlan *self, gint64 *live_peak);

/**
 * lig_plan_get_state_bytes:
 * @self: a plan
 *
 * Returns: the bytes of parameters, gradients and optimizer state that the plan requires of a state
 */
LIG_API gint64 lig_plan_get_state_bytes (LigPlan *self);

/**
 * lig_plan_get_segments:
 * @self: a plan
 *
 * Returns: the number of segments between opaque ops; each is captured as one graph if the device
 *   has graphs
 */
LIG_API guint lig_plan_get_segments (LigPlan *self);

/**
 * lig_plan_to_text:
 * @self: a plan
 *
 * Returns: (transfer full): the plan as readable lines: groups, steps, memory map. The text is the
 *   same for the same sequence, device and options, so that plans can be compared
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
 * @n: its number in the order of the ops, from 0
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
 * @least: (out): the least number
 * @most: (out): the greatest number; less than @least if no number suits all ops
 *
 * Reads which integers all ops accept that read the input: an embedding its vocabulary, a loss its
 * classes, attention lengths up to the number of its keys.
 */
LIG_API void lig_plan_get_range (LigPlan *self, int n, gint32 *least, gint32 *most);

/**
 * lig_plan_get_extra_output:
 * @self: a plan
 * @n: its number in the order of the ops, from 0
 * @shape: (out caller-allocates): its shape
 * @dtype: (out): its type
 *
 * Reads the shape and type of an extra output to the caller.
 */
LIG_API void lig_plan_get_extra_output (LigPlan *self, guint n, LigShape *shape, LigDtype *dtype);

G_END_DECLS
