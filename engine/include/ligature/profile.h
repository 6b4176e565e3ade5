/* SPDX-License-Identifier: MIT */
/* Profiles: the measured time of each step of a plan on the device, for comparison with the
 * predicted one.
 *
 * Threads: measuring uses the device and reads the sequence, so it must be done on a thread that
 * may use both; any thread may read a profile. */
#pragma once

#include <ligature/foreign.h>
#include <ligature/plan.h>
#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * LigProfile:
 * @plan: the plan that was measured
 * @forward: the time of the forward pass alone
 * @backward: the time of the backward pass alone
 * @update: the time of the update alone
 * @forward_backward: the time of both passes together, in one graph if the device has graphs
 * @step: the time of all three together, as in training
 * @steps: the time of each step of the plan, launched one by one between events
 * @health: the device's clocks, power and temperature after the last round
 * @run: (nullable): the uuid of the recorded run; %NULL without a store
 *
 * The measured times of a plan: medians in seconds.
 */
typedef struct {
  LigPlan *plan;
  double forward, backward, update, forward_backward, step;
  double *steps;
  LigDeviceHealth health;
  char *run;
} LigProfile;

#define LIG_TYPE_PROFILE (lig_profile_get_type ())
LIG_API GType lig_profile_get_type (void);

/**
 * lig_profile_free:
 * @self: a profile
 *
 * Releases the caller's reference; the last one frees the memory.
 */
LIG_API void lig_profile_free (LigProfile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigProfile, lig_profile_free)

/**
 * lig_profile_measure:
 * @sequence: a sequence with an input; it is read, not changed
 * @device: a device that can run kernels
 * @options: (array length=count) (nullable): the options of each plan to measure, for example one
 *   for each policy; %NULL: one plan with the defaults
 * @count: the number of options
 * @rounds: the number of runs of each plan; the plans alternate, so that the device's clocks are
 *   alike for all of them
 * @store: (nullable): the store that records the profiles
 *
 * Measures plans by running whole training steps on random data.
 *
 * Returns: (transfer full) (element-type LigProfile): one profile for each plan, or %NULL with an
 *   error set
 */
LIG_API GPtrArray *lig_profile_measure (LigSequence *sequence,
                                        LigDevice *device,
                                        const LigPlanOptions *options,
                                        guint count,
                                        guint rounds,
                                        LigStore *store,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * LigProfileMonitor:
 * @round: the number of the round that is about to begin
 * @rounds: the number of all rounds, warm-up included
 * @data: the caller's data
 *
 * Reports progress and can stop the measurement.
 *
 * Returns: %FALSE to stop the measurement
 */
typedef gboolean (*LigProfileMonitor) (guint round, guint rounds, gpointer data);

/**
 * lig_profile_measure_watched:
 * @sequence: a sequence
 * @device: a device
 * @options: (array length=count) (nullable): as for lig_profile_measure()
 * @count: the number of options
 * @rounds: as for lig_profile_measure()
 * @store: (nullable): the store that records the profiles
 * @monitor: (scope call) (closure data): called on this thread before each round
 * @data: the data of @monitor
 *
 * Measures plans like lig_profile_measure() and calls a monitor. If the monitor stops the
 * measurement, the error is %LIG_ERROR_CANCELLED and nothing is recorded.
 *
 * Returns: (transfer full) (element-type LigProfile): one profile for each plan, or %NULL with an
 *   error set
 */
LIG_API GPtrArray *lig_profile_measure_watched (LigSequence *sequence,
                                                LigDevice *device,
                                                const LigPlanOptions *options,
                                                guint count,
                                                guint rounds,
                                                LigStore *store,
                                                LigProfileMonitor monitor,
                                                gpointer data,
                                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_profile_health_to_json:
 * @health: the state of a device
 *
 * Returns: (transfer full): an object with clocks, power and the other fields; null for each that
 *   the device does not report
 */
LIG_API JsonNode *lig_profile_health_to_json (const LigDeviceHealth *health);

/**
 * lig_profile_get_group_seconds:
 * @self: a profile
 * @group: a group of the profile's plan
 *
 * Returns: the time of the group's steps in seconds
 */
LIG_API double lig_profile_get_group_seconds (const LigProfile *self, const LigPlanGroup *group);

/**
 * lig_profile_get_roofline:
 * @self: a profile
 * @predicted: the time in seconds that a group or step takes at the device's ceilings, 0 if unknown
 * @measured: its measured time in seconds
 *
 * Returns: the reached share of the ceilings, 1 for all of it; NaN if either time is unknown, or if
 * the input has no elements, so that its steps do nothing
 */
LIG_API double lig_profile_get_roofline (const LigProfile *self, double predicted, double measured);

G_END_DECLS
