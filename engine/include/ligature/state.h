/* SPDX-License-Identifier: MIT */
/* States: the parameters, gradients, optimizer moments and counters of one sequence on one device,
 * keyed by parameter path (`1.weight`). Programs (<ligature/program.h>) train a state.
 *
 * Threads: one thread at a time may use a state, its programs and their device. */
#pragma once

#include <ligature/histogram.h>
#include <ligature/plan.h>
#include <ligature/state-arrays.h>
#include <ligature/tensor-file.h>

G_BEGIN_DECLS

typedef struct LigScaling LigScaling;

#define LIG_TYPE_STATE (lig_state_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigState, lig_state, LIG, STATE, GObject)

/**
 * lig_state_new:
 * @sequence: a sequence with an input; it is read, not changed
 * @device: the device that the state is on
 * @options: (nullable): types, accumulation and batch, the same as for the plans that will use the
 *   state
 * @seed: the seed of the initial values, which depend only on seed, path and name, so that they are
 *   the same on every device
 *
 * Returns: (transfer full): a state with initial parameters, or %NULL with an error set
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
 * Returns: (transfer none): the device of the state
 */
LIG_API LigDevice *lig_state_get_device (LigState *self);

/**
 * lig_state_get_seed:
 * @self: a state
 *
 * Returns: the seed of the initial values
 */
LIG_API guint64 lig_state_get_seed (LigState *self);

/**
 * lig_state_get_micro_step:
 * @self: a state
 *
 * Returns: the number of training forward passes so far
 */
LIG_API guint64 lig_state_get_micro_step (LigState *self);

/**
 * lig_state_get_step:
 * @self: a state
 *
 * Returns: the number of optimizer steps so far
 */
LIG_API guint64 lig_state_get_step (LigState *self);

/**
 * lig_state_set_steps:
 * @self: a state
 * @micro_step: the number of training forward passes
 * @step: the number of optimizer steps
 *
 * Sets the counters, which random numbers and optimizers depend on.
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
 * Returns: the number of elements of all parameters
 */
LIG_API gint64 lig_state_get_n_elements (LigState *self);

/**
 * lig_state_is_trained:
 * @self: a state
 * @path: the path of a parameter
 *
 * Returns: whether the parameter exists and is trained; a frozen one, and one that its op changes
 *   (LigParameterInfo.own_update), has no gradient and no optimizer state
 */
LIG_API gboolean lig_state_is_trained (LigState *self, const char *path);

/**
 * lig_state_get_shape:
 * @self: a state
 * @path: the path of the parameter
 * @shape: (out caller-allocates): its shape
 *
 * Reads the shape of a parameter without its values: a linear map's `weight` is [N, K],
 * out-features x in-features.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX set if there is no such parameter
 */
LIG_API gboolean lig_state_get_shape (LigState *self,
                                      const char *path,
                                      LigShape *shape,
                                      GError **error);

/**
 * lig_state_get:
 * @self: a state
 * @array: the kind of array
 * @path: the path of the parameter, `1.weight`
 *
 * Copies an array of a parameter to the host. Gradients are returned unscaled. They are fp32 if the
 * state's plans accumulate or scale the loss; otherwise they have the parameters' type.
 *
 * Returns: (transfer full): a copy in host memory; %NULL with %LIG_ERROR_INDEX set if there is no
 *   such parameter, it does not have that array yet, or the array is sharded
 */
LIG_API LigTensor *lig_state_get (LigState *self,
                                  LigStateArray array,
                                  const char *path,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_state_count_values: (skip)
 * @self: a state
 * @array: %LIG_STATE_PARAMETERS or %LIG_STATE_GRADIENTS
 * @path: the path of the parameter, `1.weight`
 * @to: the histogram that the values are added to
 *
 * Counts the values of a parameter, or of its unscaled gradient, that this rank has and no lower
 * rank counts: the histograms of all ranks together contain each element once, whether parameters,
 * or the update, are sharded or not. The gradient of the last step is complete on all ranks after
 * its update, which leaves it unchanged. The call waits for the device.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX or %LIG_ERROR_DEVICE set
 */
LIG_API gboolean lig_state_count_values (
  LigState *self, LigStateArray array, const char *path, LigHistogram *to, GError **error);

/**
 * lig_state_set:
 * @self: a state
 * @array: the kind of array
 * @path: the path of the parameter, `1.weight`
 * @tensor: a tensor of the parameter's shape
 *
 * Copies the tensor into the state and converts its type. For a sharded parameter, each rank takes
 * its shard of the whole tensor.
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
 * Reads the loss scale and the number of skipped updates, whose gradient norm was not finite: in
 * total, and the latest consecutive ones. Before the first update these are the initial values. The
 * call waits for the device.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean lig_state_get_scaling (LigState *self, LigScaling *scaling, GError **error);

/**
 * lig_state_set_scaling:
 * @self: a state
 * @scaling: the new values, copied
 *
 * Sets the scale and the numbers of updates, for example from a checkpoint; `carried` and `norm`
 * belong to the current gradients and are not set.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean lig_state_set_scaling (LigState *self, const LigScaling *scaling, GError **error);

/**
 * lig_state_load:
 * @self: a state
 * @file: a file with a tensor for each parameter
 *
 * Sets every parameter from a file, which has the parameters' paths as names, or those of another
 * program (<ligature/weights.h>), which are recognized. Missing, surplus and wrongly shaped tensors
 * are errors, whose message names the first ones and gives their number. On failure no parameter is
 * changed: all tensors are read before the first is set. Names that begin with `optimizer.` are not
 * parameters.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX, %LIG_ERROR_SHAPE or the error of reading set
 */
LIG_API gboolean lig_state_load (LigState *self, LigTensorFile *file, GError **error);

/**
 * lig_state_load_weights:
 * @self: a state
 * @path: (type filename): a file or folder, as for lig_weights_open()
 * @note: (out) (optional) (transfer full) (nullable): a sentence about the recognized names and the
 *   rows that were set to zero; %NULL for a file with the parameters' paths
 *
 * Opens weights and loads them like lig_state_load(). If the state has a recipe whose scales depend
 * on earlier steps, they are read from the file; @note reports if the file has none.
 *
 * Returns: %FALSE with the error of lig_weights_open() or lig_state_load() set, or with
 *   %LIG_ERROR_VALUE if a weight is not a finite number
 */
LIG_API gboolean lig_state_load_weights (LigState *self,
                                         const char *path,
                                         char **note,
                                         GError **error);

/**
 * lig_state_leave_out_padding:
 * @self: a state
 * @sequence: the sequence whose parameters it has
 * @note: (inout) (optional) (nullable) (transfer full): a note that a remark is appended to
 *
 * Excludes padding from the loss: if the loaded weights have a smaller vocabulary than the
 * parameter, the additional rows are zero and not classes. Sets the number of classes of the
 * sequence's loss, unless it is already set; plans compiled before still count the padding.
 *
 * Returns: whether the sequence has changed
 */
LIG_API gboolean lig_state_leave_out_padding (LigState *self, LigSequence *sequence, char **note);

/**
 * lig_state_store:
 * @self: a state
 * @file: (nullable): the file to add the tensors to; %NULL on ranks that only contribute their
 *   shards to another rank's file
 * @moments: whether to add the optimizer state, too
 *
 * Adds every parameter to a file. All ranks of a tensor group must call it if parameters are
 * sharded, and all ranks if the optimizer state is sharded.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_state_store (LigState *self,
                                  LigTensorFile *file,
                                  gboolean moments,
                                  GError **error);

/**
 * lig_state_describe_weights:
 * @sequence: a sequence with an input
 * @file: its parameters by their paths, as lig_state_store() adds them
 * @names: the name of a table of names, as for lig_weights_export()
 * @vocabulary: the number of rows of the embedding and of the head to write, 0 for all
 *
 * Makes the text of the `config.json` that the other program reads with the weights.
 *
 * Returns: (transfer full): JSON; or %NULL with an error set that names the part of the sequence
 *   that such models do not support
 */
LIG_API char *lig_state_describe_weights (LigSequence *sequence,
                                          LigTensorFile *file,
                                          const char *names,
                                          gint64 vocabulary,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_state_load_moments:
 * @self: a state
 * @file: a file with optimizer state
 *
 * Restores the optimizer state that lig_state_store() added with @moments. On failure nothing is
 * changed.
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
 * Returns the plan of a sequence for the state's device and parameters. A plan with the same
 * version, types, batch and options is taken from the state's cache; otherwise the sequence is
 * compiled. The cache keeps all plans until the sequence is edited and planned again.
 *
 * Returns: (transfer full): the plan, or %NULL with an error set
 */
LIG_API LigPlan *lig_state_plan (LigState *self,
                                 LigSequence *sequence,
                                 const LigPlanOptions *options,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
