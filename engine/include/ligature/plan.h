/* SPDX-License-Identifier: MIT */
/* Plans: a sequence compiled for a device, shapes and types. Compiling allocates nothing on the
 * device, so a plan for a GPU that is not there can be read; a program
 * (engine/include/ligature/program.h) runs it.
 *
 * A plan is immutable and owns copies of all that it tells: editing the sequence, or one of its
 * ops, changes nothing in it.
 *
 * Threads: any number may read, reference and release one plan at once. Compiling reads the
 * sequence, so it belongs on the thread that edits it; elsewhere, compile lig_sequence_copy(). With
 * a policy that measures it uses the device, too. */
#pragma once

#include <ligature/device.h>
#include <ligature/fusion.h>
#include <ligature/plan-options.h>
#include <ligature/sequence.h>
#include <ligature/verdict.h>

G_BEGIN_DECLS

typedef struct _LigPlan LigPlan;

#define LIG_TYPE_PLAN (lig_plan_get_type ())
LIG_API GType lig_plan_get_type (void);

/* --- What a plan says of itself ------------------------------------------------------------ */

/* An expanded op: blocks repeated, macros taken apart. */
typedef struct {
  int index;
  const char *path;
  const char *prefix; /* of its parameters' paths: the path, in a macro with the part's name */
  LigOp *op;          /* the plan's own copy of the op, or of a macro's part; not to be changed */
  const char *title;  /* of the op as written: `linear` for both parts of the macro */
  const LigOpInfo *info;
  LigShape x, y;
  LigDtype y_dtype;
  gint64 parameters;  /* trained elements */
  gint64 saved_bytes; /* kept for backward and not counted at an earlier op */
  gboolean needs_backward;
} LigPlanOp;

/* The ops that one fusion, or one op alone, covers in a pass. */
typedef struct {
  const LigFusion *fusion; /* null: one op alone */
  LigPass pass;
  int first, count;        /* expanded indexes */
  int first_step, n_steps; /* of the plan; 0 steps: no kernel at all */
  double bytes, flops;
  double predicted; /* seconds, from the device's ceilings; 0 where these are not known */
  double measured;  /* seconds; 0 where nothing was measured */
} LigPlanGroup;

/* One kernel launch. */
typedef struct {
  const LigKernel *kernel; /* null: an opaque op's callback */
  LigPass pass;
  int group;            /* of its pass, -1 for what belongs to none */
  int part;             /* expanded index of the first op it serves, -1 for the update */
  gboolean beside;      /* runs beside those after it, until the next such or the update */
  const char *operands; /* values by name: "0.y 1.weight -> 1.y" */
  double read, written, flops;
  double predicted; /* seconds; 0 where the device's ceilings are not known */
} LigPlanStep;

/* A tensor of the plan and where it lives. Parameters are called by their path, `3.weight`; what an
 * op computes by the op's index, `#5.y`; a gradient has a `d` in front. */
typedef struct {
  const char *name;
  LigShape shape;
  LigDtype dtype;
  const char *place; /* `arena`, `state`, `alias` or `unused` */
  gint64 offset;     /* in the arena, bytes */
  gint64 bytes;
  int first, last; /* steps between which it lives */
  gboolean saved;  /* read by backward */
} LigPlanValue;

/**
 * lig_plan_compile:
 * @options: (nullable): copied
 *
 * Runs the passes of the compiler: expand, infer, differentiate, represent, fuse, schedule,
 * allocate.
 *
 * Returns: (transfer full): a plan, or %NULL with an error that names the op by its path
 */
LIG_API LigPlan *lig_plan_compile (LigSequence *sequence,
                                   LigDevice *device,
                                   const LigPlanOptions *options,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Counting is atomic. */
LIG_API LigPlan *lig_plan_ref (LigPlan *self);
LIG_API void lig_plan_unref (LigPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigPlan, lig_plan_unref)

/**
 * lig_plan_get_device:
 *
 * Returns: (transfer none): the device that the plan was compiled for
 */
LIG_API LigDevice *lig_plan_get_device (LigPlan *self);
LIG_API LigPolicy lig_plan_get_policy (LigPlan *self);
LIG_API LigDtype lig_plan_get_compute (LigPlan *self);
LIG_API LigDtype lig_plan_get_parameters (LigPlan *self);
LIG_API gboolean lig_plan_get_tf32 (LigPlan *self);

/* The version that the sequence had. */
LIG_API guint64 lig_plan_get_version (LigPlan *self);

/* Whether a program of the plan can be asked for the pass: every plan has a forward pass, one for
 * training a backward pass, one with an optimizer and parameters an update. */
LIG_API gboolean lig_plan_has_pass (LigPlan *self, LigPass pass);

/**
 * lig_plan_get_ops:
 * @self: a plan
 * @count: (out): how many there are
 *
 * Returns: (transfer none) (array length=count): the expanded ops by index, valid as long as the
 *   plan
 */
LIG_API const LigPlanOp *lig_plan_get_ops (LigPlan *self, guint *count);

/**
 * lig_plan_get_groups:
 * @self: a plan
 * @pass: %LIG_PASS_FORWARD or %LIG_PASS_BACKWARD
 * @count: (out): how many there are
 *
 * Returns: (transfer none) (array length=count): the groups of the pass, in the order of the ops in
 *   either pass, valid as long as the plan
 */
LIG_API const LigPlanGroup *lig_plan_get_groups (LigPlan *self, LigPass pass, guint *count);

/**
 * lig_plan_get_verdicts:
 * @self: a plan
 * @count: (out): how many there are
 *
 * Returns: (transfer none) (array length=count): why each fusion was taken or refused at each place
 *   that was looked at, valid as long as the plan
 */
LIG_API const LigVerdict *lig_plan_get_verdicts (LigPlan *self, guint *count);

/**
 * lig_plan_get_steps:
 * @self: a plan
 * @count: (out): how many there are
 *
 * Returns: (transfer none) (array length=count): the kernel launches in the order in which they are
 *   made, valid as long as the plan
 */
LIG_API const LigPlanStep *lig_plan_get_steps (LigPlan *self, guint *count);

/**
 * lig_plan_get_values:
 * @self: a plan
 * @count: (out): how many there are
 *
 * Returns: (transfer none) (array length=count): the tensors and where they are, valid as long as
 *   the plan
 */
LIG_API const LigPlanValue *lig_plan_get_values (LigPlan *self, guint *count);

/**
 * lig_plan_find_mend:
 * @number: from 1, as `lig fuse` lists it
 *
 * Returns: (transfer none): the mend of that number, or %NULL with %LIG_ERROR_INDEX set: `no edit
 *   has the number 9; the plan offers 4`
 */
LIG_API const LigMend *lig_plan_find_mend (LigPlan *self, guint number, GError **error);

/**
 * lig_plan_get_choices:
 *
 * Returns: (transfer full): the fused groups as text, for a plan that must be the same elsewhere
 */
LIG_API char *lig_plan_get_choices (LigPlan *self);

/* Whether the plan multiplies the gradients that arrive at it by a loss scale (optimizer.h). */
LIG_API gboolean lig_plan_scales_loss (LigPlan *self);

/* Bytes of the activation arena, and the least that any plan could do with: the largest sum of
 * values alive at one step. */
LIG_API gint64 lig_plan_get_arena_bytes (LigPlan *self, gint64 *live_peak);

/* Bytes of parameters, gradients and optimizer state that the plan asks of a state. */
LIG_API gint64 lig_plan_get_state_bytes (LigPlan *self);

/* Segments between opaque ops: captured as one graph each where the device has graphs. */
LIG_API guint lig_plan_get_segments (LigPlan *self);

/**
 * lig_plan_to_text:
 *
 * Returns: (transfer full): the plan as readable lines: groups, steps, memory map; the same for
 *   the same input, so that it can be compared
 */
LIG_API char *lig_plan_to_text (LigPlan *self);

/* The caller's tensors: main input and output, then its extra inputs and outputs in op order. */
LIG_API void lig_plan_get_input (LigPlan *self, LigShape *shape, LigDtype *dtype);
LIG_API void lig_plan_get_output (LigPlan *self, LigShape *shape, LigDtype *dtype);
LIG_API guint lig_plan_get_n_extra_inputs (LigPlan *self);
LIG_API guint lig_plan_get_n_extra_outputs (LigPlan *self);
LIG_API void lig_plan_get_extra_input (LigPlan *self, guint n, LigShape *shape, LigDtype *dtype);
LIG_API void lig_plan_get_extra_output (LigPlan *self, guint n, LigShape *shape, LigDtype *dtype);

G_END_DECLS
