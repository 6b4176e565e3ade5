/* SPDX-License-Identifier: MIT */
/* The options of compiling a sequence into a plan: types, passes, and how fusions are chosen. */
#pragma once

#include <ligature/optimizer.h>
#include <ligature/tuning.h>

G_BEGIN_DECLS

typedef enum { LIG_POLICY_NONE, LIG_POLICY_ALL, LIG_POLICY_MEASURED, LIG_POLICY_DEFAULT } LigPolicy;

/* `none`, `all`, `measured`. */
LIG_API const char *lig_policy_name (LigPolicy policy);
LIG_API gboolean lig_policy_from_name (const char *name, LigPolicy *policy);

/* Returns the policy that compiling for the device follows: `policy`, or the device's default. */
LIG_API LigPolicy lig_policy_for (LigPolicy policy, LigDevice *device);

/**
 * LigPlanOptions:
 * @size: of the struct as the program knows it
 * @training: keep what backward needs and plan the backward pass
 * @input_gradient: the caller wants the gradients of the input and of its extra inputs, each in
 *   the type that it was given in
 * @policy: %LIG_POLICY_DEFAULT: the device's, as lig_policy_for() returns it
 * @tf32: fp32 products may round their operands to 10 bits
 * @compute: a #LigDtype, or -1: what the sequence says, else its input's type
 * @parameters: likewise, of the trained parameters
 * @batch: replaces the input's first axis; 0: as the sequence says
 * @optimizer: (nullable): also plan the update
 * @tuning: (nullable): where measured times are kept; copied, but its data has to outlive the
 *   compiling and the first runs of the programs, in which kernels choose
 * @accumulate: backward passes may add to the parameters' gradients (%LIG_RUN_ACCUMULATE): they are
 *   kept in fp32 then, whatever the parameters' type
 * @accuracy: with a cross-entropy at the end, also count the rows that are right
 * @choices: (nullable): the groups to use instead of choosing, as lig_plan_get_choices() wrote them
 *
 * Begins with its size as the program knows it, which LIG_PLAN_OPTIONS_INIT sets; what a shorter
 * one lacks has the values of LIG_PLAN_OPTIONS_INIT. Wherever options are taken, %NULL stands for
 * %LIG_PLAN_OPTIONS_INIT.
 */
typedef struct {
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
} LigPlanOptions;

#define LIG_PLAN_OPTIONS_INIT \
  { \
    .size = sizeof (LigPlanOptions), .training = TRUE, .policy = LIG_POLICY_DEFAULT, \
    .compute = -1, .parameters = -1 \
  }

#define LIG_TYPE_PLAN_OPTIONS (lig_plan_options_get_type ())
LIG_API GType lig_plan_options_get_type (void);

/**
 * lig_plan_options_new:
 *
 * Returns: (transfer full): %LIG_PLAN_OPTIONS_INIT in memory of its own, for bindings
 */
LIG_API LigPlanOptions *lig_plan_options_new (void) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_options_free:
 * @self: (nullable) (transfer full): what lig_plan_options_new() returned; what it points to stays
 */
LIG_API void lig_plan_options_free (LigPlanOptions *self);

G_END_DECLS
