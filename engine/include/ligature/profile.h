/* SPDX-License-Identifier: MIT */
/* Profiles: how long each step of a plan takes on the device, beside what was predicted. */
#pragma once

#include <ligature/foreign.h>
#include <ligature/plan.h>
#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * LigProfile:
 * @plan: the plan that was measured
 * @forward: the forward pass by itself
 * @backward: the backward pass by itself
 * @update: the update by itself
 * @forward_backward: both passes together, in one graph where the device has graphs
 * @step: all three together, as a training runs them
 * @steps: each step of the plan, launched one by one between events
 * @health: the device's clocks, power and temperature at the end of the rounds
 *
 * Medians in seconds.
 */
typedef struct {
  LigPlan *plan;
  double forward, backward, update, forward_backward, step;
  double *steps;
  LigDeviceHealth health;
  char *run; /* uuid in the store, or null */
} LigProfile;

#define LIG_TYPE_PROFILE (lig_profile_get_type ())
LIG_API GType lig_profile_get_type (void);

/**
 * lig_profile_free:
 * @self: a profile
 *
 * Releases the caller's reference; the memory goes with the last one.
 */
LIG_API void lig_profile_free (LigProfile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigProfile, lig_profile_free)

/**
 * lig_profile_measure:
 * @sequence: a sequence with an input; it is read, not changed
 * @device: a device that runs
 * @options: (array length=count) (nullable): a plan each, like one for each policy; %NULL: one with
 *   the defaults
 * @count: how many options there are
 * @rounds: how often each is run; the plans take turns, so that they meet the same clocks
 * @store: (nullable): where the profiles are recorded
 *
 * Runs whole training steps on random data.
 *
 * Returns: (transfer full) (element-type LigProfile): as many profiles, or %NULL with an error
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
 * @round: about to begin, of @rounds, those for warming up included
 *
 * Returns: %FALSE to stop
 */
typedef gboolean (*LigProfileMonitor) (guint round, guint rounds, gpointer data);

/**
 * lig_profile_measure_watched:
 * @sequence: a sequence
 * @device: a device
 * @options: (array length=count) (nullable): as for lig_profile_measure()
 * @count: how many options there are
 * @rounds: as for lig_profile_measure()
 * @store: (nullable): where the profiles are recorded
 * @monitor: (scope call) (closure data): called on this thread before each round
 * @data: of @monitor
 *
 * The same with a monitor; where it stops, the error is %LIG_ERROR_CANCELLED and nothing is
 * recorded.
 *
 * Returns: (transfer full) (element-type LigProfile): as many profiles, or %NULL with an error
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
 * @health: of a device
 *
 * Returns: (transfer full): clocks, power and the like as an object; null for what the device
 *   does not report
 */
LIG_API JsonNode *lig_profile_health_to_json (const LigDeviceHealth *health);

/**
 * lig_profile_get_group_seconds:
 * @self: a profile
 * @group: of the profile's plan
 *
 * Returns: seconds that the steps of the group took
 */
LIG_API double lig_profile_get_group_seconds (const LigProfile *self, const LigPlanGroup *group);

/**
 * lig_profile_get_roofline:
 * @self: a profile
 * @predicted: seconds that a group or step takes at the device's ceilings, 0 where unknown
 * @measured: seconds that it took
 *
 * Returns: the share of the ceilings that was reached, 1 for all; NaN where either time is unknown,
 *   or where the input has no elements, whose steps return at once
 */
LIG_API double lig_profile_get_roofline (const LigProfile *self, double predicted, double measured);

G_END_DECLS
