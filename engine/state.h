/* SPDX-License-Identifier: MIT */
/* States: the parameters, gradients, optimizer moments and counters of one sequence on one device,
 * keyed by parameter path (`1.weight`). A state outlives plans; any number of plans bind to it. */
#pragma once

#include "engine/plan.h"
#include "engine/tensor-file.h"

G_BEGIN_DECLS

#define LIG_TYPE_STATE (lig_state_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigState, lig_state, LIG, STATE, GObject)

/**
 * lig_state_new:
 * @options: types and batch, as for the plans that will bind
 * @seed: initial values follow from (seed, path, name), the same on every device
 *
 * Returns: (transfer full): a state with initial parameters, or %NULL with an error
 */
LIG_API LigState *lig_state_new (LigSequence *sequence,
                                 LigDevice *device,
                                 const LigPlanOptions *options,
                                 guint64 seed,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

LIG_API LigDevice *lig_state_get_device (LigState *self);
LIG_API guint64 lig_state_get_seed (LigState *self);

/* Forward passes in training, and optimizer steps, so far. */
LIG_API guint64 lig_state_get_micro_step (LigState *self);
LIG_API guint64 lig_state_get_step (LigState *self);
LIG_API void lig_state_set_steps (LigState *self, guint64 micro_step, guint64 step);

/* Paths of the parameters in op order, null-terminated; (transfer none). */
LIG_API const char *const *lig_state_get_paths (LigState *self);
LIG_API gint64 lig_state_get_n_elements (LigState *self);

/* The kinds of array that a state keeps for each parameter. */
typedef enum {
  LIG_STATE_PARAMETERS,
  LIG_STATE_GRADIENTS,
  LIG_STATE_MASTER,   /* fp32 weights behind 16-bit parameters */
  LIG_STATE_MOMENT,   /* momentum, or Adam's mean */
  LIG_STATE_VARIANCE, /* Adam's */
  LIG_N_STATE_ARRAYS
} LigStateArray;

/* The shape of a parameter, without a look at its values; %LIG_ERROR_INDEX without one. */
LIG_API gboolean lig_state_get_shape (LigState *self,
                                      const char *path,
                                      LigShape *shape,
                                      GError **error);

/**
 * lig_state_get:
 *
 * Returns: (transfer full): a copy in host memory; %NULL with %LIG_ERROR_INDEX set where there is
 *   no such parameter, or no such array yet
 */
LIG_API LigTensor *lig_state_get (LigState *self,
                                  LigStateArray array,
                                  const char *path,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Copies into the state, converting the type; the shape must be the parameter's. */
LIG_API gboolean lig_state_set (
  LigState *self, LigStateArray array, const char *path, LigTensor *tensor, GError **error);

/**
 * lig_state_load:
 *
 * Sets every parameter from a file; missing, surplus and wrongly shaped tensors are each named.
 * Nothing is changed then, nor where a tensor cannot be read: all are read before the first is set.
 * Names that begin with `optimizer.` are not parameters.
 */
LIG_API gboolean lig_state_load (LigState *self, LigTensorFile *file, GError **error);

/* Adds every parameter (and, with @moments, what the optimizer keeps) to a file. */
LIG_API gboolean lig_state_store (LigState *self,
                                  LigTensorFile *file,
                                  gboolean moments,
                                  GError **error);

/* Restores what lig_state_store() added with moments, all of it or nothing. */
LIG_API gboolean lig_state_load_moments (LigState *self, LigTensorFile *file, GError **error);

/**
 * lig_state_plan:
 *
 * The plan of this sequence, bound to this state: from the cache if one with the same version,
 * types, batch and options is there, else compiled. Any number are kept.
 *
 * Returns: (transfer none): the plan, valid until the sequence has been edited and planned again,
 * or %NULL with an error
 */
LIG_API LigPlan *lig_state_plan (LigState *self,
                                 LigSequence *sequence,
                                 const LigPlanOptions *options,
                                 GError **error);

/* How many plans were compiled so far. */
LIG_API guint lig_state_get_n_compiled (LigState *self);

/* --- Running a bound plan ------------------------------------------------------------------ */

typedef enum {
  LIG_RUN_FORWARD = 1 << 0,
  LIG_RUN_BACKWARD = 1 << 1,
  LIG_RUN_UPDATE = 1 << 2,
  LIG_RUN_ACCUMULATE = 1 << 3, /* backward adds to the parameters' gradients */
} LigRunFlags;

/* Copies into the plan's input, its extra inputs, or the gradients that arrive at its output and
 * extra outputs; types are converted, shapes must fit. */
LIG_API gboolean lig_plan_set_input (LigPlan *self, LigTensor *tensor, GError **error);
LIG_API gboolean lig_plan_set_extra_input (LigPlan *self,
                                           guint n,
                                           LigTensor *tensor,
                                           GError **error);
LIG_API gboolean lig_plan_set_gradient (LigPlan *self, LigTensor *tensor, GError **error);
LIG_API gboolean lig_plan_set_extra_gradient (LigPlan *self,
                                              guint n,
                                              LigTensor *tensor,
                                              GError **error);

/* Learning rate and clipping norm (0: none) of the next update. */
LIG_API void lig_plan_set_rate (LigPlan *self, double learning_rate, double clip_norm);

/**
 * lig_plan_run:
 * @flags: #LigRunFlags
 *
 * Runs the passes in order. A forward pass in training counts a micro-step, an update a step.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set, naming kernel and step
 */
LIG_API gboolean lig_plan_run (LigPlan *self, unsigned flags, GError **error);

/* Copies of results in host memory; (transfer full). %NULL with %LIG_ERROR_INDEX set where the
 * plan has no such result. */
LIG_API LigTensor *lig_plan_read_output (LigPlan *self, GError **error);
LIG_API LigTensor *lig_plan_read_extra_output (LigPlan *self, guint n, GError **error);
LIG_API LigTensor *lig_plan_read_input_gradient (LigPlan *self, GError **error);
LIG_API LigTensor *lig_plan_read_extra_gradient (LigPlan *self, guint n, GError **error);

/* The loss without an allocation: the scalar output as a float. */
LIG_API float lig_plan_read_loss (LigPlan *self);
/* Rows that were right and rows counted, in a plan with accuracy; FALSE in others. */
LIG_API gboolean lig_plan_read_accuracy (LigPlan *self, double *correct, double *counted);
/* The global norm of the gradients at the last update; 0 without an optimizer. */
LIG_API float lig_plan_read_gradient_norm (LigPlan *self);

/* Seconds of each step of the plan, run once more one by one; @seconds has a place for each. */
LIG_API gboolean lig_plan_time_steps (LigPlan *self, double *seconds, GError **error);

G_END_DECLS
