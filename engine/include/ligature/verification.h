/* SPDX-License-Identifier: MIT */
/* Verifies a plan: compares the outputs, the gradients and the parameters after one optimizer step,
 * group by group, with the unfused plan, run in fp32 on the CPU and in the plan's types on its
 * device. A group is outside if its error exceeds the one that rounding explains.
 *
 * Threads: one thread at a time may verify on a device; any thread may read the result. */
#pragma once

#include <ligature/plan.h>
#include <ligature/program.h>

G_BEGIN_DECLS

/* The factor by which a group's error may exceed the one that rounding explains. Two runs that
 * round in different orders differ by about 1.4 times that error; a wrong power-of-two scale in
 * fp8, whose rounding errors are largest, still exceeds the limit several times. */
#define LIG_VERIFICATION_FACTOR 4.0

/**
 * LigVerificationFeed:
 * @program: the program of the plan, or of the unfused plan
 * @batch: the index of the batch, from 0; each batch is requested once for every program
 * @data: the caller's data
 * @error: set if there is no such batch
 *
 * Sets all inputs of a program to those of a batch.
 *
 * Returns: %FALSE with the error set
 */
typedef gboolean (*LigVerificationFeed) (LigProgram *program,
                                         guint batch,
                                         gpointer data,
                                         GError **error);

/**
 * LigVerificationMonitor:
 * @done: the number of finished batches
 * @count: the total number
 * @data: the caller's data
 *
 * Reports progress.
 *
 * Returns: %FALSE to end the verification with %LIG_ERROR_CANCELLED
 */
typedef gboolean (*LigVerificationMonitor) (guint done, guint count, gpointer data);

/**
 * LigVerificationOptions: (skip)
 * @size: the size of the struct that the program was compiled with
 * @seeds: the number of random batches, each with its own inputs and initial parameters
 * @batches: the number of batches from @feed, after the random ones
 * @weights: (nullable): a file or folder with the parameters, as for lig_state_load_weights();
 *   %NULL: they are initialized randomly
 * @rate: the learning rate of the optimizer step
 * @feed: (nullable): provides batches of the user's data
 * @feed_data: its data
 * @monitor: (nullable): reports progress
 * @monitor_data: its data
 *
 * The options of a verification, initialized with %LIG_VERIFICATION_OPTIONS_INIT.
 */
typedef struct _LigVerificationOptions {
  gsize size;
  guint seeds, batches;
  const char *weights;
  double rate;
  LigVerificationFeed feed;
  gpointer feed_data;
  LigVerificationMonitor monitor;
  gpointer monitor_data;
} LigVerificationOptions;

#define LIG_VERIFICATION_OPTIONS_INIT \
  { \
    .size = sizeof (LigVerificationOptions), .seeds = 3, .rate = 1e-3 \
  }

/**
 * LigVerified:
 * @title: the displayed name of the ops, `Linear + bias`; %NULL for a result
 * @fusion: (nullable): the fusion of the group; %NULL for an unfused op
 * @path: (nullable): the path of the first op; for a result, that of its parameter, if any
 * @value: (nullable): the name of the value whose error is closest to its limit; %NULL if no output
 *   of the group can be compared
 * @pass: the pass
 * @group: the number of the group in its pass; -1 for steps outside of groups, and for results
 * @first: the expanded index of the first op, -1 for results
 * @count: the number of ops
 * @again: whether these are recomputation steps of the backward pass
 * @error: the relative error of that value against unfused fp32 on the CPU: the norm of the
 *   difference divided by the norm of the value, over all batches; NaN if nothing was compared
 * @rounding: the relative error that rounding explains, see lig_plan_verify()
 * @limit: the largest error that is not outside
 * @scale: the factor that best maps the reference to the value: 1 except for rounding; NaN if
 *   nothing was compared or the reference is zero
 * @outside: whether the error exceeds its limit
 *
 * The comparison of a group or of a result of the plan.
 */
typedef struct {
  char *title, *path, *value;
  const char *fusion;
  LigPass pass;
  int group, first, count;
  gboolean again;
  double error, rounding, limit, scale;
  gboolean outside;
} LigVerified;

/**
 * LigVerification:
 * @groups: the groups in execution order
 * @n_groups: their number
 * @results: the output or the loss, and for each trained parameter its gradient and its change by
 *   the optimizer step, in the order of the ops
 * @n_results: their number
 * @outside: (nullable): the first group that is outside, otherwise the first such result; %NULL if
 *   none is outside
 * @batches: the number of compared batches
 *
 * The findings of a verification.
 */
typedef struct _LigVerification {
  LigVerified *groups, *results;
  guint n_groups, n_results;
  const LigVerified *outside;
  guint batches;
} LigVerification;

/**
 * lig_plan_verify: (skip)
 * @plan: a plan for a device that runs
 * @options: (nullable): the options
 * @error: set if a plan cannot be compiled or run, or the weights or data cannot be read
 *
 * Verifies a plan. Its steps run one by one in its own memory, and the outputs of each are compared
 * with the same values of the unfused fp32 plan on the CPU, with the same parameters and inputs.
 *
 * The error that rounding explains is the larger of two: that of the unfused plan on the device in
 * the plan's types, and that of the unfused fp32 plan after all inputs and parameters are perturbed
 * by half a unit in the last place of the plan's type; it is at least half a unit in the last
 * place. The limit is %LIG_VERIFICATION_FACTOR times that.
 *
 * The optimizer step gets the reference gradients. A quantized copy is compared through the results
 * of the ops that read it. With several ranks, each compares its shard on its own device, and all
 * return the errors of all ranks.
 *
 * Returns: (transfer full): the findings, or %NULL with @error set
 */
LIG_API LigVerification *lig_plan_verify (LigPlan *plan,
                                          const LigVerificationOptions *options,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_verification_explain: (skip)
 * @self: a verification
 *
 * Returns: (transfer full): one sentence that names the first group that is outside, or says that
 *   there is none
 */
LIG_API char *lig_verification_explain (const LigVerification *self) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_verification_free: (skip)
 * @self: (nullable) (transfer full): a verification
 */
LIG_API void lig_verification_free (LigVerification *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigVerification, lig_verification_free)

G_END_DECLS
