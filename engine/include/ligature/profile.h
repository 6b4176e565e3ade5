/* SPDX-License-Identifier: MIT */
/* Profiles: how long each step of a plan takes on the device, beside what was predicted. */
#pragma once

#include <ligature/foreign.h>
#include <ligature/plan.h>
#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * LigProfile:
 * @forward, @backward, @update: the passes, each run by itself; @forward_backward, @step: two and
 *   all of them together, as a training runs them, in one graph where the device has graphs
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

LIG_API void lig_profile_free (LigProfile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigProfile, lig_profile_free)

/**
 * lig_profile_measure:
 * @options: (array length=count) (nullable): a plan each, like one for each policy; %NULL: one with
 * the defaults
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
 * @options: (array length=count) (nullable): as for lig_profile_measure()
 * @monitor: (scope call) (closure data): called on this thread before each round
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

/* Clocks, power and the like as an object; null for what the device does not tell. */
LIG_API JsonNode *lig_profile_health_to_json (const LigDeviceHealth *health);

/* Seconds that the steps of a group took. */
LIG_API double lig_profile_get_group_seconds (const LigProfile *self, const LigPlanGroup *group);

G_END_DECLS
