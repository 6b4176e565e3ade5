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
 * @self: a state
 *
 * Returns: (transfer none): the device that it is on
 */
LIG_API LigDevice *lig_state_get_device (LigState *self);

/**
 * lig_state_get_seed:
 * @self: a state
 *
 * Returns: the seed that it was made with
 */
LIG_API guint64 lig_state_get_seed (LigState *self);

/**
 * lig_state_get_micro_step:
 * @self: a state
 *
 * Returns: forward passes in training so far
 */
LIG_API guint64 lig_state_get_micro_step (LigState *self);

/**
 * lig_state_get_step:
 * @self: a state
 *
 * Returns: optimizer steps so far
 */
LIG_API guint64 lig_state_get_step (LigState *self);

/**
 * lig_state_set_steps:
 * @self: a state
 * @micro_step: forward passes in training
 * @step: optimizer steps
 *
 * Sets the counters, which random draws and optimizers depend on.
 */
LIG_API void lig_state_set_steps (LigState *self, guint64 micro_step, guint64 step);

/**
 * lig_state_get_paths:
 * @self: a state
 *
 * Returns: (transfer none) (array zero-terminated=1): the paths of the parameters in the order
 *   of the ops
 */
LIG_API const char *const *lig_state_get_paths (LigState *self);

/**
 * lig_state_get_n_elements:
 * @self: a state
 *
 * Returns: elements of all parameters
 */
LIG_API gint64 lig_state_get_n_elements (LigState *self);

/**
 * lig_state_get_shape:
 * @self: a state
 * @path: of the parameter
 * @shape: (out caller-allocates): its shape
 *
 * Reads the shape of a parameter without its values: a linear map's `weight` is [N, K],
 * out-features x in-features.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX set where there is no such parameter
 */
LIG_API gboolean lig_state_get_shape (LigState *self,
                                      const char *path,
                                      LigShape *shape,
                                      GError **error);

/**
 * lig_state_get:
 * @self: a state
 * @array: the kind of array
 * @path: of the parameter, `1.weight`
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

/**
 * lig_state_set:
 * @self: a state
 * @array: the kind of array
 * @path: of the parameter, `1.weight`
 * @tensor: of the parameter's shape
 *
 * Copies into the state, converting the type.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX or %LIG_ERROR_SHAPE set
 */
LIG_API gboolean lig_state_set (
  LigState *self, LigStateArray array, const char *path, LigTensor *tensor, GError **error);

/**
 * lig_state_get_scaling:
 * @self: a state
 * @scaling: (out caller-allocates): filled in
 *
 * Tells the loss scale, and how many updates wrote nothing as the norm of their gradients was not
 * finite: in all, and in a row up to now. A state without updates tells what it begins with.
 * Waits for the device.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean lig_state_get_scaling (LigState *self, LigScaling *scaling, GError **error);

/**
 * lig_state_set_scaling:
 * @self: a state
 * @scaling: copied
 *
 * Sets the scale and the numbers of updates, as a checkpoint has them; `carried` and `norm`
 * belong to the present gradients and are not taken over.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean lig_state_set_scaling (LigState *self, const LigScaling *scaling, GError **error);

/**
 * lig_state_load:
 * @self: a state
 * @file: with a tensor for each parameter
 *
 * Sets every parameter from a file; missing, surplus and wrongly shaped tensors are each named.
 * Nothing is changed then, nor where a tensor cannot be read: all are read before the first is set.
 * Names that begin with `optimizer.` are not parameters.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX, %LIG_ERROR_SHAPE or the error of reading set
 */
LIG_API gboolean lig_state_load (LigState *self, LigTensorFile *file, GError **error);

/**
 * lig_state_store:
 * @self: a state
 * @file: added to
 * @moments: whether what the optimizer keeps is added too
 *
 * Adds every parameter to a file.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_state_store (LigState *self,
                                  LigTensorFile *file,
                                  gboolean moments,
                                  GError **error);

/**
 * lig_state_load_moments:
 * @self: a state
 * @file: with the moments
 *
 * Restores what lig_state_store() added with moments, all of it or nothing.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_state_load_moments (LigState *self, LigTensorFile *file, GError **error);

/**
 * lig_state_plan:
 * @self: a state
 * @sequence: a sequence of the state's parameters
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

/**
 * lig_state_get_n_compiled:
 * @self: a state
 *
 * Returns: how many plans were compiled so far
 */
LIG_API guint lig_state_get_n_compiled (LigState *self);

G_END_DECLS
