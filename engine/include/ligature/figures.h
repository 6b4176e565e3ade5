/* SPDX-License-Identifier: MIT */
/* Figures of plans: the time of a group or a pass, its saving compared with the same ops unfused,
 * its rate, and the peak rate that bounds it. The baseline of all savings is the plan of the same
 * sequence without fusions, even forced ones: lig_plan_compile_unfused().
 *
 * Measured seconds are compared with measured ones, predicted with predicted ones. An unknown
 * figure is NaN, and its text %NULL.
 *
 * Threads: any thread may call these functions. */
#pragma once

#include <ligature/plan.h>
#include <ligature/spread.h>

G_BEGIN_DECLS

/**
 * LIG_STEP_SPREAD:
 *
 * The index of the whole step in the spreads of a #LigTimedPlan, after those of the passes.
 */
#define LIG_STEP_SPREAD 3

/**
 * LigTimedPlan:
 * @plan: a plan
 * @steps: (nullable): the seconds of each step of the plan; %NULL: not profiled
 * @passes: (nullable): the seconds of the forward pass, the backward pass and the update, each
 *   measured as a whole, 0 for one that was not; %NULL: unknown, so that the sums of their steps
 * are shown
 * @spreads: (nullable): the spreads, in seconds, of the same three times and of the whole step; the
 *   count is 0 for one that was not measured
 *
 * A plan with the measured times of its steps.
 */
typedef struct {
  LigPlan *plan;
  const double *steps;
  const double *passes;
  const LigSpread *spreads;
} LigTimedPlan;

/**
 * LigBound:
 * @LIG_BOUND_UNKNOWN: the device's peak rates are unknown, or there is no kernel
 * @LIG_BOUND_MEMORY: reading and writing at the bandwidth of a copy
 * @LIG_BOUND_COMPUTE: matmuls at the device's peak rate
 * @LIG_BOUND_LAUNCH: launching the kernels
 *
 * The largest component of the lower bound on the time.
 */
typedef enum {
  LIG_BOUND_UNKNOWN,
  LIG_BOUND_MEMORY,
  LIG_BOUND_COMPUTE,
  LIG_BOUND_LAUNCH,
} LigBound;

/**
 * lig_bound_name:
 * @bound: a bound
 *
 * Returns: (transfer none) (nullable): `memory`, `compute` or `launch`; %NULL for
 *   %LIG_BOUND_UNKNOWN
 */
LIG_API const char *lig_bound_name (LigBound bound);

/**
 * LigFigures:
 * @kernels: the number of kernels; if 0, all times are 0
 * @groups: the number of groups that have kernels
 * @fused: the number of these groups that are fused
 * @measured: whether the time of every part with a kernel was measured
 * @seconds: the time: measured, or predicted for the parts that were not measured; NaN: unknown
 * @predicted: the time predicted from the device's peak rates and costs; NaN: unknown
 * @bytes: the bytes read and written
 * @flops: the floating-point operations
 * @alone_bytes: the bytes of the same ops unfused; NaN: unknown
 * @saved_bytes: @alone_bytes minus @bytes
 * @saved_measured: whether @fused_seconds and @alone_seconds were both measured in the same way;
 *   otherwise both are predicted
 * @fused_seconds: the time to compare with @alone_seconds; NaN: unknown
 * @alone_seconds: the time of the same ops unfused; NaN: unknown
 * @saved_seconds: @alone_seconds minus @fused_seconds, negative if fusion costs time; NaN: unknown
 * @bound: the peak rate that bounds it
 * @rate: the achieved floating-point operations per second; NaN unless measured
 * @copy_share: the achieved fraction of the device's copy bandwidth; NaN unless measured
 * @matmul_share: the achieved fraction of the device's peak matmul rate; NaN unless measured
 * @roofline: the lower bound on the time by the device's peak rates, divided by the measured time,
 * so 1 on the roofline; NaN unless measured
 *
 * The figures of one or more groups, or of a pass. The other fields belong to the library.
 */
typedef struct {
  guint kernels, groups, fused;
  gboolean measured;
  double seconds, predicted;
  double bytes, flops;
  double alone_bytes, saved_bytes;
  gboolean saved_measured;
  double fused_seconds, alone_seconds, saved_seconds;
  LigBound bound;
  double rate, copy_share, matmul_share, roofline;
  /*< private >*/
  double matmuls, floors[3], copy, peak;
  double own_pair[2], alone_pair[2]; /* predicted, measured */
} LigFigures;

/**
 * lig_plan_with_times:
 * @self: a plan
 * @steps: the seconds of each step of the plan
 *
 * Copies a plan with the measured times of its groups, for reports.
 *
 * Returns: (transfer full): a plan
 */
LIG_API LigPlan *lig_plan_with_times (LigPlan *self, const double *steps) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_figures_init:
 * @self: a struct for figures
 *
 * Initializes the figures to those of no group.
 */
LIG_API void lig_figures_init (LigFigures *self);

/**
 * lig_figures_add:
 * @self: figures
 * @part: the figures of another part
 *
 * Adds the figures of a part. The sum is measured if all its parts are.
 */
LIG_API void lig_figures_add (LigFigures *self, const LigFigures *part);

/**
 * lig_figures_of_group:
 * @timed: the plan of the group
 * @unfused: (nullable): the plan of lig_plan_unfuse(); %NULL: savings are unknown
 * @group: a group of the plan
 * @figures: (out caller-allocates): its figures
 *
 * Finds the figures of one group. Times of steps replace the time that was measured for the group
 * by itself. If @unfused has another number of ops, savings are unknown.
 */
LIG_API void lig_figures_of_group (const LigTimedPlan *timed,
                                   const LigTimedPlan *unfused,
                                   const LigPlanGroup *group,
                                   LigFigures *figures);

/**
 * lig_figures_of_pass:
 * @timed: a plan
 * @unfused: (nullable): the plan of lig_plan_unfuse()
 * @pass: a pass
 * @figures: (out caller-allocates): its figures
 *
 * Finds the figures of a whole pass: its time as a whole if that was measured, otherwise the sum of
 * its steps. Steps outside of any group, such as conversions of parameters, are included; if their
 * times are unknown, a measured pass is the sum of its groups.
 */
LIG_API void lig_figures_of_pass (const LigTimedPlan *timed,
                                  const LigTimedPlan *unfused,
                                  LigPass pass,
                                  LigFigures *figures);

/**
 * lig_figures_of_step:
 * @timed: a plan
 * @unfused: (nullable): the plan of lig_plan_unfuse()
 * @figures: (out caller-allocates): its figures
 *
 * Finds the figures of a whole step: forward, backward, and the update if the plan has one. Its
 * time is the median of the whole step if that was measured, otherwise the sum of the passes.
 */
LIG_API void
lig_figures_of_step (const LigTimedPlan *timed, const LigTimedPlan *unfused, LigFigures *figures);

/**
 * LigCommunication:
 * @ranks: the number of ranks that train together
 * @collectives: the number of steps that are collectives
 * @bytes: the bytes of the values that they communicate, each counted once
 * @seconds: the predicted time of these steps, overlapped or not
 * @exposed: the predicted part of that time for which the main lane waits
 * @whole: (nullable): a translated sentence, without capital and full stop, about the matmul before
 *   the loss if tensor parallelism cannot shard it
 *
 * The collectives of a training step. Times are 0 if the device's peak rates are unknown.
 */
typedef struct {
  int ranks;
  guint collectives;
  double bytes;
  double seconds, exposed;
  const char *whole;
} LigCommunication;

/**
 * lig_figures_of_communication:
 * @plan: a plan
 * @collective: (out caller-allocates): its collectives
 *
 * Finds the communication of a plan's rank in a training step.
 */
LIG_API void lig_figures_of_communication (LigPlan *plan, LigCommunication *collective);

/**
 * LigUpload:
 * @bytes: the bytes of a batch: the input and the other values that the caller provides
 * @seconds: the predicted time of the copy from host memory
 * @exposed: the predicted part of that time for which the next step waits
 *
 * The copy of a batch to a device with its own memory, which runs in the copy lane concurrently
 * with the step of the previous batch. Times are 0 if the rate of such copies is unknown.
 */
typedef struct {
  double bytes, seconds, exposed;
} LigUpload;

/**
 * lig_figures_of_upload:
 * @plan: a plan
 * @upload: (out caller-allocates): the copy of its batch
 *
 * Predicts the copy of a batch to the device. All fields are 0 for a device that shares the host's
 * memory, and for a sequence without a loss, which is a part of a model.
 */
LIG_API void lig_figures_of_upload (LigPlan *plan, LigUpload *upload);

/**
 * LigUse:
 * @rows: the number of tokens, or of other rows, of a step on all data ranks
 * @tokens: whether they are tokens: the input is integers, or has an axis of positions
 * @per_second: the tokens or rows per second; NaN: unknown
 * @mfu: the model FLOP/s utilization of a rank: the operations of the forward and the backward pass
 *   without recomputation, divided by those that the device could compute in the time of a step,
 *   the update included, with matmuls of the compute type; NaN: unknown
 * @measured: whether the time was measured
 *
 * How well a step uses the device.
 */
typedef struct {
  double rows;
  gboolean tokens;
  double per_second, mfu;
  gboolean measured;
} LigUse;

/**
 * lig_figures_of_use:
 * @plan: a plan
 * @step: its figures, from lig_figures_of_step()
 * @use: (out caller-allocates): filled in
 *
 * Finds how well a step uses the device.
 */
LIG_API void lig_figures_of_use (LigPlan *plan, const LigFigures *step, LigUse *use);

/**
 * lig_figures_use_in:
 * @plan: a plan
 * @seconds: the measured time of a step of the plan; 0 or NaN: unknown
 * @use: (out caller-allocates): filled in
 *
 * Finds how well a step of this time uses the device.
 */
LIG_API void lig_figures_use_in (LigPlan *plan, double seconds, LigUse *use);

/**
 * lig_figures_use_text:
 * @use: from lig_figures_of_use()
 *
 * Returns: (transfer full) (nullable): `2.34 M tokens/s, 48 % MFU`, translated; %NULL if the time
 *   is unknown
 */
LIG_API char *lig_figures_use_text (const LigUse *use);

/* --- Texts --------------------------------------------------------------------------------- */

/**
 * lig_figures_time_text:
 * @self: figures
 *
 * Returns: (transfer full) (nullable): `22.1 µs`, `≈ 22.1 µs` if it is predicted, `0` if there is
 *   no kernel; %NULL: unknown
 */
LIG_API char *lig_figures_time_text (const LigFigures *self);

/**
 * lig_figures_saving_text:
 * @self: figures
 *
 * Returns: (transfer full) (nullable): the saving compared with the same ops unfused, `3.5 µs, 6.3
 *   MB less`, with ≈ if it is predicted; %NULL if there is none, or it is unknown
 */
LIG_API char *lig_figures_saving_text (const LigFigures *self);

/**
 * lig_figures_rate_text:
 * @self: figures
 *
 * Returns: (transfer full) (nullable): the achieved fraction of the peak rate and its name, `437
 * TFLOP/s · compute`, `91 % of copy · memory`; only `compute` if the time is predicted; %NULL:
 * unknown
 */
LIG_API char *lig_figures_rate_text (const LigFigures *self);

/**
 * lig_figures_roofline_text:
 * @self: figures
 *
 * Returns: (transfer full) (nullable): `61 % of roofline`; %NULL unless measured
 */
LIG_API char *lig_figures_roofline_text (const LigFigures *self);

/**
 * lig_figures_against_text:
 * @self: figures
 *
 * Returns: (transfer full) (nullable): the time of the same ops unfused and the change, `205.3 µs,
 *   10 % less`, with ≈ if it is predicted; %NULL: unknown
 */
LIG_API char *lig_figures_against_text (const LigFigures *self);

/**
 * lig_figures_describe:
 * @self: figures
 *
 * Returns: (transfer full) (nullable): all known figures as lines, for a tooltip
 */
LIG_API char *lig_figures_describe (const LigFigures *self);

G_END_DECLS
