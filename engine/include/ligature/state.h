/* SPDX-License-Identifier: MIT */
/* States: the parameters, gradients, optimizer moments and counters of one sequence on one device,
 * keyed by parameter path (`1.weight`). Programs (engine/include/ligature/program.h) hold it and
 * train it.
 *
 * Threads: a state, its programs and their device are used by one thread at a time. */
#pragma once

#include <ligature/plan.h>
#include <ligature/state-arrays.h>
#include <ligature/tensor-file.h>

G_BEGIN_DECLS

#define LIG_TYPE_STATE (lig_state_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigState, lig_state, LIG, STATE, GObject)

/**
 * lig_state_new:
 * @options: (nullable): types, accumulation and batch, as for the plans that will run on it
 * @seed: initial values follow from (seed, path, name), the same on every device
 *
 * Returns: (transfer full): a state with initial parameters, or %NULL with an error
 */
LIG_API LigState *lig_state_new (LigSequence *sequence,
                                 LigDevice *device,
                                 const LigPlanOptions *options,
                                 guint64 seed,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_state_get_device:
 *
 * Returns: (transfer none): the device that it is on
 */
LIG_API LigDevice *lig_state_get_device (LigState *self);
LIG_API guint64 lig_state_get_seed (LigState *self);

/* Forward passes in training, and optimizer steps, so far. */
LIG_API guint64 lig_state_get_micro_step (LigState *self);
LIG_API guint64 lig_state_get_step (LigState *self);
LIG_API void lig_state_set_steps (LigState *self, guint64 micro_step, guint64 step);

/* Paths of the parameters in op order, null-terminated; (transfer none). */
LIG_API const char *const *lig_state_get_paths (LigState *self);
LIG_API gint64 lig_state_get_n_elements (LigState *self);

/* The shape of a parameter, without a look at its values; %LIG_ERROR_INDEX without one. */
LIG_API gboolean lig_state_get_shape (LigState *self,
                                      const char *path,
                                      LigShape *shape,
                                      GError **error);

/**
 * lig_state_get:
 *
 * Gradients come without the loss scale. They are fp32 in a state whose plans accumulate, and where
 * they were scaled; else they have the parameters' type.
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
 * lig_state_get_scaling:
 *
 * Tells the loss scale, and how many updates wrote nothing as the norm of their gradients was not
 * finite: in all, and in a row up to now. A state without updates tells what it begins with.
 * Waits for the device.
 */
LIG_API gboolean lig_state_get_scaling (LigState *self, LigScaling *scaling, GError **error);

/* Sets the scale and the numbers of updates, as a checkpoint has them; `carried` and `norm` belong
 * to the gradients that are there, and are not taken over. */
LIG_API gboolean lig_state_set_scaling (LigState *self, const LigScaling *scaling, GError **error);

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
 * @options: (nullable): as for lig_plan_compile()
 *
 * The plan of this sequence for this state's device and parameters: from the cache if one with the
 * same version, types, batch and options is there, else compiled. Any number are kept, until the
 * sequence has been edited and planned again.
 *
 * Returns: (transfer full): the plan, or %NULL with an error
 */
LIG_API LigPlan *lig_state_plan (LigState *self,
                                 LigSequence *sequence,
                                 const LigPlanOptions *options,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* How many plans were compiled so far. */
LIG_API guint lig_state_get_n_compiled (LigState *self);

G_END_DECLS
