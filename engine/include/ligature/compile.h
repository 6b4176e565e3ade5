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
 * Compiles a sequence without any fusion, even forced ones: the baseline of savings. Nothing is
 * measured; groups get the times that the options' tuning already contains. There are no verdicts,
 * because no fusion is tried.
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
 * Compiles the sequence of a plan again, for the same device and types, without any fusion, even
 * forced ones. Its groups get the times that were measured for @self. May be called from any
 * thread, because the device is not used. The plan is only for comparison: it has no verdicts, its
 * values have no memory, and it cannot be run; lig_plan_compile_unfused() makes one that runs.
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
 * is measured, and measured times are not used: the plan predicts the savings of the edits,
 * including those of further fusions that they allow. An edit that inserts or removes ops may shift
 * the ops of the edits after it.
 *
 * Returns: (transfer full): the plan, or %NULL with an error set if an edit is unknown or cannot be
 *   made, or the sequence does not compile
 */
LIG_API LigPlan *lig_plan_fix (LigPlan *self, const guint *numbers, guint count, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_with_recompute:
 * @self: a plan
 * @recompute: the values that the backward pass recomputes
 * @error: (out) (optional): the error
 *
 * Returns: (transfer full): a plan with the same groups and this recomputation; %NULL with @error
 *   set if the plan's kernels are no longer registered
 */
LIG_API LigPlan *lig_plan_with_recompute (LigPlan *self,
                                          LigRecompute recompute,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
