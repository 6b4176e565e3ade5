/* SPDX-License-Identifier: MIT */
/* Comparisons of two plans, pass by pass and group by group: the same sequence for two devices or
 * policies, or before and after an edit. Ops are aligned, so that groups after an inserted or
 * removed op are still compared with their counterparts.
 *
 * A comparison is immutable and keeps both plans. Threads: any number of threads may read,
 * reference and release one comparison at once. */
#pragma once

#include <ligature/figures.h>

G_BEGIN_DECLS

typedef struct _LigPlanComparison LigPlanComparison;

#define LIG_TYPE_PLAN_COMPARISON (lig_plan_comparison_get_type ())
LIG_API GType lig_plan_comparison_get_type (void);

/**
 * LigPlanSide:
 * @first: the expanded index of the first op in that plan
 * @count: the number of ops; 0 if that plan has none of the ops
 * @first_group: the index of the first group of the pass
 * @n_groups: the number of groups
 * @n_steps: the number of kernel launches
 * @seconds: their time; NaN if it is unknown
 * @bytes: the bytes that they read and write
 * @memory: for the total of a step, the bytes of device memory that running the plan needs, by
 *   lig_plan_get_needed_memory(); otherwise 0
 *
 * One plan's side of a #LigPlanChange.
 */
typedef struct {
  int first, count;
  guint first_group, n_groups, n_steps;
  double seconds, bytes, memory;
} LigPlanSide;

/**
 * LigPlanChange:
 * @pass: the pass; %LIG_PASS_JOINT for the total of a step
 * @same: whether both plans have the same groups
 * @measured: whether the seconds of both sides were measured; otherwise both are predicted. A total
 *   adds measured and predicted seconds, but compares each only with its own kind on the other side
 * @before: the first plan
 * @after: the second plan
 * @like: the index of the first equal change in an earlier repetition of a block; the change's own
 *   index if there is none
 * @times: the number of equal changes, this one included; 0 if @like is another change
 * @predicted: the predicted seconds of the first and of the second plan; NaN if unknown
 * @difference: for a total whose times were measured repeatedly on both sides, the comparison of
 *   their spreads; otherwise its kind is %LIG_DIFFERENCE_UNKNOWN
 *
 * The shortest range of ops whose ends are group boundaries in both plans.
 */
typedef struct {
  LigPass pass;
  gboolean same, measured;
  LigPlanSide before, after;
  guint like, times;
  double predicted[2];
  LigDifference difference;
} LigPlanChange;

/**
 * lig_plan_compare:
 * @before: a plan
 * @after: another plan
 *
 * Returns: (transfer full): the comparison of both
 */
LIG_API LigPlanComparison *lig_plan_compare (LigPlan *before,
                                             LigPlan *after) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_compare_timed: (skip)
 * @before: a plan
 * @after: another plan
 *
 * Compares plans like lig_plan_compare(), with the times that were measured for them.
 *
 * Returns: (transfer full): the comparison, with copies of the times
 */
LIG_API LigPlanComparison *
lig_plan_compare_timed (const LigTimedPlan *before,
                        const LigTimedPlan *after) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_comparison_ref:
 * @self: a comparison
 *
 * Returns: (transfer full): the comparison, with one more reference; counting is atomic
 */
LIG_API LigPlanComparison *lig_plan_comparison_ref (LigPlanComparison *self);

/**
 * lig_plan_comparison_unref:
 * @self: a comparison
 *
 * Releases a reference; the last one frees the comparison.
 */
LIG_API void lig_plan_comparison_unref (LigPlanComparison *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigPlanComparison, lig_plan_comparison_unref)

/**
 * lig_plan_comparison_get_before:
 * @self: a comparison
 *
 * Returns: (transfer none): the first plan
 */
LIG_API LigPlan *lig_plan_comparison_get_before (LigPlanComparison *self);

/**
 * lig_plan_comparison_get_after:
 * @self: a comparison
 *
 * Returns: (transfer none): the second plan
 */
LIG_API LigPlan *lig_plan_comparison_get_after (LigPlanComparison *self);

/**
 * lig_plan_comparison_get_timed: (skip)
 * @self: a comparison
 * @after: whether to return the second plan
 * @timed: (out caller-allocates): one of the plans with its measured times, valid as long as the
 *   comparison
 */
LIG_API void
lig_plan_comparison_get_timed (LigPlanComparison *self, gboolean after, LigTimedPlan *timed);

/**
 * lig_plan_comparison_get_changes:
 * @self: a comparison
 * @count: (out): the length of the array
 *
 * Returns: (transfer none) (array length=count): the ranges of both passes, forward before
 *   backward, in the order of the ops, including unchanged ones
 */
LIG_API const LigPlanChange *lig_plan_comparison_get_changes (LigPlanComparison *self,
                                                              guint *count);

/**
 * lig_plan_comparison_get_total:
 * @self: a comparison
 * @pass: a pass; %LIG_PASS_JOINT: all passes
 * @total: (out caller-allocates): filled in
 *
 * Compares the whole pass or step. The figures of each side are those of
 * lig_figures_of_pass() or lig_figures_of_step(), so they include recomputation, conversions of
 * parameters and the update. They are measured if both were; if only some groups were measured on
 * both sides, these count by their measured times, and the rest by its predictions.
 */
LIG_API void
lig_plan_comparison_get_total (LigPlanComparison *self, LigPass pass, LigPlanChange *total);

/**
 * lig_plan_comparison_find_op:
 * @self: a comparison
 * @op: the expanded index of an op in the second plan
 *
 * Returns: the expanded index of the same op in the first plan, -1 if it has none
 */
LIG_API int lig_plan_comparison_find_op (LigPlanComparison *self, int op);

/* --- Texts --------------------------------------------------------------------------------- */

/**
 * lig_plan_change_get_sign:
 * @self: a change
 *
 * Returns: 1 if the second plan takes longer, -1 if the first does, 0 if neither does, if they
 *   differ by no more than the noise of their measurements, or if a time is unknown
 */
LIG_API int lig_plan_change_get_sign (const LigPlanChange *self);

/**
 * lig_plan_change_side_text:
 * @self: a change
 * @after: whether to return the second plan's time
 *
 * Returns: (transfer full) (nullable): `22.1 µs`, `≈ 22.1 µs` if it is predicted; %NULL: unknown
 */
LIG_API char *lig_plan_change_side_text (const LigPlanChange *self, gboolean after);

/**
 * lig_plan_change_time_text:
 * @self: a change
 *
 * Returns: (transfer full) (nullable): the difference in time, `+4.8 µs`, `−12 µs`, or translated
 *   `no difference`, with the noise of the measurements if that is known; %NULL: unknown
 */
LIG_API char *lig_plan_change_time_text (const LigPlanChange *self);

/**
 * lig_plan_change_bytes_text:
 * @self: a change
 *
 * Returns: (transfer full): the difference in bytes, `+12.6 MB`, or translated `no difference`
 */
LIG_API char *lig_plan_change_bytes_text (const LigPlanChange *self);

/**
 * lig_plan_change_memory_text:
 * @self: the total of a step
 *
 * Returns: (transfer full): the difference in memory, `−4.50 GB`, or translated `no difference`
 */
LIG_API char *lig_plan_change_memory_text (const LigPlanChange *self);

/**
 * lig_plan_change_factor_text:
 * @self: a change
 *
 * Returns: (transfer full) (nullable): the second plan's time divided by the first one's, `× 1.15`;
 *   %NULL if the times do not differ or one is unknown
 */
LIG_API char *lig_plan_change_factor_text (const LigPlanChange *self);

/**
 * lig_plan_change_ratio_text:
 * @self: a change
 *
 * Returns: (transfer full) (nullable): lig_plan_change_factor_text() and what it means, translated:
 *   `× 1.15, slower`
 */
LIG_API char *lig_plan_change_ratio_text (const LigPlanChange *self);

/**
 * lig_plan_comparison_describe:
 * @self: a comparison
 *
 * Returns: (transfer full): the step time and the memory of the second plan and the differences,
 *   translated: `step ≈ 190 µs (+4.8 µs), memory 3.20 GB (−120 MB)`; if times are unknown, the
 *   difference in bytes or the number of groups that differ
 */
LIG_API char *lig_plan_comparison_describe (LigPlanComparison *self);

G_END_DECLS
