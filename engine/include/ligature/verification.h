/* SPDX-License-Identifier: MIT */
/* Verifies a plan: runs it beside the plan of every op alone, in fp32 on the CPU and in its own
 * types on its own device, and compares what each group computes: outputs, gradients, and the
 * parameters after one step of the optimizer. A group is outside if its error exceeds what rounding
 * alone explains.
 *
 * Threads: one thread at a time may verify on a device; a verification may then be read by all. */
#pragma once

#include <ligature/plan.h>
#include <ligature/program.h>

G_BEGIN_DECLS

/* How many times the error that rounding explains a group may have. Two runs that round in another
 * order differ by about 1.4 times that error; a factor of a power of two in fp8, whose errors are
 * largest, is still several times the limit. */
#define LIG_VERIFICATION_FACTOR 4.0

/**
 * LigVerificationFeed:
 * @program: the program of a plan, or of the same ops alone
 * @batch: the number of the batch, from 0; each is asked for once for every program
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
 * @done: the number of batches that are done
 * @count: the number of all
 * @data: the caller's data
 *
 * Reports progress.
 *
 * Returns: %FALSE to end the verification with %LIG_ERROR_CANCELLED
 */
typedef gboolean (*LigVerificationMonitor) (guint done, guint count, gpointer data);

/**
 * LigVerificationOptions: (skip)
 * @size: the size of the struct in the program's version of it
 * @seeds: the number of random batches, each with its own inputs and initial parameters
 * @batches: the number of batches that @feed gives, after the random ones
 * @weights: (nullable): a file or folder with the parameters, as for lig_state_load_weights();
 *   %NULL: they are drawn
 * @rate: the learning rate of the step of the optimizer
 * @feed: (nullable): gives the batches of the user's data
 * @feed_data: its data
 * @monitor: (nullable): reports progress
 * @monitor_data: its data
 *
 * The options of a verification, initialized with %LIG_VERIFICATION_OPTIONS_INIT.
 */
typedef struct {
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
 * @title: the ops for people, `Linear + bias`; of a result %NULL
 * @fusion: (nullable): the fusion of the group; %NULL for an op alone
 * @path: (nullable): the path of the first op; of a result the parameter's, if it is of one
 * @value: (nullable): the name of the value whose error is nearest to its limit; %NULL if nothing
 *   that the group writes can be compared
 * @pass: the pass
 * @group: the number of the group in its pass; -1 for steps outside of groups, and for results
 * @first: the expanded index of the first op, -1 for results
 * @count: the number of ops
 * @again: whether these are steps of the backward pass that compute values of the forward pass
 *   again
 * @error: the relative error of that value against fp32 on the CPU, every op alone: the length of
 *   the difference, divided by the length of the value, over all batches together; NaN if nothing
 *   was compared
 * @rounding: the relative error that rounding alone explains, see lig_plan_verify()
 * @limit: the largest error that is inside
 * @scale: the factor by which the value is nearest to the right one: 1 but for rounding; NaN if
 *   nothing was compared, or the right one is zero
 * @outside: whether the error exceeds its limit
 *
 * The comparison of a group, or of a result of the plan.
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
 * @groups: the groups in the order in which they run
 * @n_groups: their number
 * @results: the output or the loss, the gradient of each trained parameter, and its change by the
 *   step of the optimizer, in the order of the ops
 * @n_results: their number
 * @outside: (nullable): the first group that is outside, else the first result; %NULL: all are
 *   inside
 * @batches: the number of batches that were compared
 *
 * The findings of a verification.
 */
typedef struct {
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
 * Verifies a plan. Its steps run one by one on its own memory, and what each writes is compared
 * with the same value of the plan of every op alone in fp32 on the CPU, whose parameters and inputs
 * are the same.
 *
 * Rounding explains the larger of two errors: that of every op alone on the device and in the types
 * of the plan, and that of every op alone in fp32 after all inputs and parameters have changed by
 * half of the last bit of the plan's type; but at least half a bit. The limit is
 * %LIG_VERIFICATION_FACTOR times that.
 *
 * The step of the optimizer has the right gradients. A quantized copy is compared by what the ops
 * that read it make of it. Of several ranks each compares its part, on its own device, and all
 * return the errors of all.
 *
 * Returns: (transfer full): what was found, or %NULL with @error set
 */
LIG_API LigVerification *lig_plan_verify (LigPlan *plan,
                                          const LigVerificationOptions *options,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_verification_explain: (skip)
 * @self: a verification
 *
 * Returns: (transfer full): one sentence, which names the first group that is outside, or says that
 *   none is
 */
LIG_API char *lig_verification_explain (const LigVerification *self) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_verification_free: (skip)
 * @self: (nullable) (transfer full): a verification
 */
LIG_API void lig_verification_free (LigVerification *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigVerification, lig_verification_free)

G_END_DECLS
