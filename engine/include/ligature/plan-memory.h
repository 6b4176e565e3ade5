/* SPDX-License-Identifier: MIT */
/* Whether a plan fits into the memory of a device, as `lig check`, `lig fuse`, `lig plan`, `lig
 * train` and the window report it. Nothing is allocated, and the device may be one that is only
 * described.
 *
 * Threads: plans may be read by any thread. */
#pragma once

#include <ligature/plan.h>

G_BEGIN_DECLS

/**
 * LigPlanMemory:
 * @values: the bytes of the values of a step
 * @state: the bytes of parameters, gradients and optimizer state
 * @workspace: the bytes that kernels use for intermediate results
 * @needed: their sum
 * @total: the bytes of device memory; 0 if unknown
 * @reserve: the bytes of it that are reserved for the driver, libraries and other programs: 1 GiB,
 *   at most a sixteenth of the memory
 * @available: the rest
 * @fits: whether @needed is at most @available; %TRUE if the device's memory is unknown
 *
 * The memory that a plan needs, and the memory that a device has.
 */
typedef struct {
  double values, state, workspace, needed;
  double total, reserve, available;
  gboolean fits;
} LigPlanMemory;

/**
 * lig_plan_get_memory:
 * @self: a plan
 * @device: (nullable): the device whose memory is compared; %NULL: the plan's own
 * @memory: (out caller-allocates): the numbers
 *
 * Compares the memory that the plan needs with that of a device.
 */
LIG_API void lig_plan_get_memory (LigPlan *self, LigDevice *device, LigPlanMemory *memory);

/**
 * lig_plan_get_needed_memory:
 * @self: a plan
 *
 * Returns: the bytes of device memory that running the plan needs: values, state and workspace
 */
LIG_API double lig_plan_get_needed_memory (LigPlan *self);

/**
 * lig_plan_explain_memory:
 * @self: a plan
 * @device: (nullable): the device whose memory is compared; %NULL: the plan's own
 *
 * Explains a plan that does not fit.
 *
 * Returns: (transfer full) (nullable): a translated sentence, without capital and full stop, that
 *   gives the needed and the available size, the reserve, the largest values, and the #LigRecompute
 *   with which the plan would fit, if any; %NULL if the plan fits
 */
LIG_API char *lig_plan_explain_memory (LigPlan *self, LigDevice *device);

/**
 * lig_plan_check_memory:
 * @self: a plan
 * @device: (nullable): the device whose memory is compared; %NULL: the plan's own
 *
 * Checks that a plan fits.
 *
 * Returns: %TRUE if it does; %FALSE with %LIG_ERROR_MEMORY set, whose message is that of
 *   lig_plan_explain_memory()
 */
LIG_API gboolean lig_plan_check_memory (LigPlan *self, LigDevice *device, GError **error);

G_END_DECLS
