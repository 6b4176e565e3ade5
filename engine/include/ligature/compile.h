/* SPDX-License-Identifier: MIT */
/* Compiling plans. */
#pragma once

#include <ligature/plan-options.h>
#include <ligature/plan.h>

G_BEGIN_DECLS

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
 * lig_plan_compile_unfused:
 * @sequence: a sequence with an input; it is read, not changed
 * @device: the device to compile for
 * @options: (nullable): the options, copied; their policy and choices do not matter
 *
 * Compiles a sequence with every op alone, whatever it forces: the baseline of savings. Nothing is
 * measured; groups have the measured times that the options' tuning already contains. As no fusion
 * is tried, there are no verdicts.
 *
 * Returns: (transfer full): a plan, or %NULL with an error set
 */
LIG_API LigPlan *lig_plan_compile_unfused (LigSequence *sequence,
                                           LigDevice *device,
                                           const LigPlanOptions *options,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_unfuse:
 * @self: a plan
 *
 * Compiles the sequence of a plan again, for the same device and types, with every op alone,
 * whatever it forces. Its groups have the times that were measured for @self. The device is not
 * used, so that any thread may call it. The plan is for comparison: it has no verdicts, its values
 * have no memory, and no program can be made of it; lig_plan_compile_unfused() makes one that runs.
 *
 * Returns: (transfer full): a plan, or %NULL with an error set
 */
LIG_API LigPlan *lig_plan_unfuse (LigPlan *self, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_fix:
 * @self: a plan
 * @numbers: (array length=count): the numbers of edits, LigFix.number
 * @count: the length of the array
 *
 * Compiles the sequence of a plan after these edits, for the same device, types and policy. Nothing
 * is measured, and measured times are not used: the plan shows by predictions what the edits would
 * save, also where they let other fusions in than those that were rejected. Of several edits that
 * insert or remove ops the first may move the ops of the next.
 *
 * Returns: (transfer full): the plan, or %NULL with an error set if an edit is unknown or cannot be
 *   made, or the sequence does not compile
 */
LIG_API LigPlan *lig_plan_fix (LigPlan *self, const guint *numbers, guint count, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

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

G_END_DECLS
