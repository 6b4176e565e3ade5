/* SPDX-License-Identifier: MIT */
/* The measured times of profiles in a store for plans: those of the recompiled plan of a
 * profile, or those that the newest profile of a given plan recorded. Nothing is measured.
 *
 * Threads: these functions use the device of the plan only for its properties; any thread may call
 * them, and read, but not share, the results. */
#pragma once

#include <ligature/figures.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/**
 * LigRecordedTimes: (skip)
 * @plan: the plan
 * @steps: the seconds of each step of the plan. Profiles record the times of groups, which are
 *   distributed over the steps in proportion to their predictions
 * @passes: the seconds of the forward pass, the backward pass and the update, each measured as a
 *   whole; 0: not recorded
 * @spreads: the spreads of these and of the whole step in seconds, see #LigTimedPlan
 * @run: the uuid of the profile
 * @started: the time of the profile, in microseconds since 1970
 * @note: (nullable): a sentence on how the plan was recompiled
 *
 * The times of a profile.
 */
typedef struct {
  LigPlan *plan;
  double *steps;
  double passes[LIG_STEP_SPREAD];
  LigSpread spreads[LIG_STEP_SPREAD + 1];
  char *run;
  gint64 started;
  char *note;
} LigRecordedTimes;

/**
 * lig_recorded_times_free: (skip)
 * @self: (nullable): times
 *
 * Frees them.
 */
LIG_API void lig_recorded_times_free (LigRecordedTimes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRecordedTimes, lig_recorded_times_free)

/**
 * lig_recorded_times_read: (skip)
 * @store: a store
 * @run: a profile; a selector for lig_store_find_run()
 * @error: set if the store cannot be read, the run is not a profile, or its plan cannot be compiled
 *
 * Recompiles the plan of a profile with the recorded groups, for its device or a description of
 * that.
 *
 * Returns: (transfer full): its times; %NULL with an error set
 */
LIG_API LigRecordedTimes *
lig_recorded_times_read (LigStore *store, const char *run, GError **error);

/**
 * lig_recorded_times_find: (skip)
 * @store: a store
 * @plan: a plan of one process
 *
 * Finds the newest completed profile of the same sequence on a device of the same model and with
 * the same libraries, whose plan has the same groups with the same work. An update is ignored if
 * only the profile has one.
 *
 * Returns: (transfer full) (nullable): its times for @plan; %NULL: there are none
 */
LIG_API LigRecordedTimes *lig_recorded_times_find (LigStore *store, LigPlan *plan);

/**
 * lig_recorded_times_get: (skip)
 * @self: times
 * @timed: (out caller-allocates): the plan with its times, valid as long as @self
 */
LIG_API void lig_recorded_times_get (const LigRecordedTimes *self, LigTimedPlan *timed);

G_END_DECLS
