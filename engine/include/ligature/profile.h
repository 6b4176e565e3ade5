/* SPDX-License-Identifier: MIT */
/* Profiles: the measured time of each step of a plan on the device, for comparison with the
 * predicted one.
 *
 * Threads: measuring uses the device and reads the sequence, so it must be done on a thread that
 * may use both; any thread may read a profile. */
#pragma once

#include <ligature/attention.h>
#include <ligature/conditions.h>
#include <ligature/foreign.h>
#include <ligature/recipe-errors.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/**
 * LigProfileCollective:
 * @step: the step of the plan
 * @seconds: the duration of the collective itself, on the rank that reaches it last
 * @exposed: the time that other steps of the slowest rank wait for it in a training step
 * @imbalance: the maximum additional wait of another rank
 *
 * A collective among ranks: medians in seconds. A wait for several collectives is attributed to the
 * last.
 */
typedef struct {
  int step;
  double seconds, exposed, imbalance;
} LigProfileCollective;

/**
 * LigProfileRanks:
 * @count: the number of ranks
 * @slowest: the rank that waits least, because the others reach each collective before it
 * @exposed: the time that its other steps wait for collectives
 * @imbalance: the maximum additional wait of another rank, which is for the slowest rank
 * @collectives: (array length=n_collectives): the collectives in step order
 * @n_collectives: their number
 *
 * The time that ranks wait for one another in a step.
 */
typedef struct {
  int count, slowest;
  double exposed, imbalance;
  LigProfileCollective *collectives;
  guint n_collectives;
} LigProfileRanks;

/**
 * LigProfile:
 * @plan: the plan that was measured
 * @forward: the time of the forward pass by itself
 * @backward: the time of the backward pass by itself
 * @update: the time of the update by itself
 * @forward_backward: the time of both passes together, in one graph if the device supports graphs
 * @step: the time of all three together, as in training
 * @steps: the time of each step of the plan, launched one by one between events
 * @health: the device's clocks, power and temperature after the last round
 * @run: (nullable): the uuid of the recorded run; %NULL without a store
 * @forward_spread: the quartiles of @forward and the number of its measurements
 * @backward_spread: the same for @backward
 * @update_spread: the same for @update
 * @forward_backward_spread: the same for @forward_backward
 * @step_spread: the same for @step
 * @conditions: the load of the machine and other reasons to distrust the times
 * @ranks: (nullable): the waits of ranks; %NULL for a single process. The other times are this
 *   rank's
 * @load: (nullable): the load of experts, `even`, `zipf:1` or the uuid of a run; %NULL if no op
 *   distributes rows to experts. Predictions assume an even load
 *
 * The measured times of a plan: medians in seconds, and their spreads. Two profiles are compared by
 * lig_spread_compare().
 */
typedef struct _LigProfile {
  LigPlan *plan;
  double forward, backward, update, forward_backward, step;
  double *steps;
  LigDeviceHealth health;
  char *run;
  LigSpread forward_spread, backward_spread, update_spread, forward_backward_spread, step_spread;
  LigConditions conditions;
  LigProfileRanks *ranks;
  char *load;
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
 * @rounds: the number of runs of each plan; the plans alternate, so that all of them see the same
 *   device clocks
 * @store: (nullable): the store that records the profiles
 *
 * Measures plans by running whole training steps on random data. If the device has joined ranks,
 * all of them call this with the same sequence and options, whose batch is that of one rank; rank 0
 * chooses the groups, and only rank 0 should have a store.
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
 * @round: the number of rounds that were measured; 0 during the warm-up
 * @rounds: the number of rounds to measure
 * @data: the caller's data
 *
 * Reports progress and can stop the measurement. Called before each round and, if the plan's steps
 * take long on a CPU, up to twenty times a second during a round.
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
 * LigProfileLoad: (skip)
 *
 * The load of experts with which a profile is measured.
 */
typedef struct _LigProfileLoad LigProfileLoad;

/**
 * lig_profile_load_parse: (skip)
 * @text: `even`; `zipf:EXPONENT`, where expert e of a router gets rows in proportion to
 *   (e + 1)^-EXPONENT; or a run, as for lig_store_find_run(): the last load that it recorded
 * @store: (nullable): the store of the run
 *
 * Returns: (transfer full): the load; %NULL with an error set
 */
LIG_API LigProfileLoad *lig_profile_load_parse (const char *text, LigStore *store, GError **error);

/**
 * lig_profile_load_free: (skip)
 * @self: (nullable) (transfer full): a load
 *
 * Frees it.
 */
LIG_API void lig_profile_load_free (LigProfileLoad *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigProfileLoad, lig_profile_load_free)

/**
 * lig_profile_load_describe: (skip)
 * @load: LigProfile.load of a profile
 *
 * Returns: (transfer full): the load as a sentence without full stop, translated, which also says
 *   that predictions assume an even load
 */
LIG_API char *lig_profile_load_describe (const char *load);

/**
 * lig_profile_measure_loaded: (skip)
 * @sequence: a sequence
 * @device: a device
 * @options: (array length=count) (nullable): as for lig_profile_measure()
 * @count: the number of options
 * @rounds: as for lig_profile_measure()
 * @load: (nullable): the load of experts; %NULL: even
 * @store: (nullable): the store that records the profiles
 * @monitor: (nullable): as for lig_profile_measure_watched()
 * @data: the data of @monitor
 * @error: set, too, if @load is that of other routers than those of the sequence
 *
 * Measures plans like lig_profile_measure_watched(), with a given load of experts. Fusions are
 * chosen for an even load.
 *
 * Returns: (transfer full) (element-type LigProfile): one profile for each plan, or %NULL with an
 *   error set
 */
LIG_API GPtrArray *lig_profile_measure_loaded (LigSequence *sequence,
                                               LigDevice *device,
                                               const LigPlanOptions *options,
                                               guint count,
                                               guint rounds,
                                               const LigProfileLoad *load,
                                               LigStore *store,
                                               LigProfileMonitor monitor,
                                               gpointer data,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_profile_get_spread:
 * @store: a store
 * @run: the uuid of a run
 * @figure: (nullable): `forward`, `backward`, `update` or `forward-backward` of a profile; %NULL or
 *   `step` for a whole step
 * @spread: (out caller-allocates): filled in, in seconds; for a training run from its last steps,
 *   at most 1,000
 *
 * Reads the measured times of a run, so that runs can be compared with lig_spread_compare().
 *
 * Returns: %FALSE if the store has no such times; with an error set if reading failed
 */
LIG_API gboolean lig_profile_get_spread (
  LigStore *store, const char *run, const char *figure, LigSpread *spread, GError **error);

/**
 * lig_profile_record_errors:
 * @profiles: (element-type LigProfile): the profiles of a comparison of recipes, recorded in @store
 * @errors: (element-type LigRecipeErrors): the errors of the recipes
 * @store: a store
 * @error: set if writing failed
 *
 * Records each recipe's errors with its profile. The profile of recipe `none` is also part of the
 * comparison.
 *
 * Returns: whether they were recorded
 */
LIG_API gboolean lig_profile_record_errors (GPtrArray *profiles,
                                            GPtrArray *errors,
                                            LigStore *store,
                                            GError **error);

/**
 * lig_profile_get_errors:
 * @store: a store
 * @run: the uuid of a profile
 * @error: set if reading failed
 *
 * Returns: (transfer full) (element-type LigRecipeErrors): the errors of all recipes except `none`
 *   in this profile's comparison, including its own; empty if it is not part of one
 */
LIG_API GPtrArray *lig_profile_get_errors (LigStore *store, const char *run, GError **error);

/**
 * lig_profile_errors_to_json: (skip)
 * @errors: (element-type LigRecipeErrors): the errors of recipes
 *
 * Returns: (transfer full): the errors as a JSON array
 */
LIG_API JsonNode *lig_profile_errors_to_json (GPtrArray *errors);

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
 * @floor: the time in seconds of a group or step at the device's peak rates, 0 if unknown
 * @measured: its measured time in seconds
 *
 * Returns: the achieved fraction of the roofline, from 0 to 1; NaN if either time is unknown, or if
 * the input has no elements
 */
LIG_API double lig_profile_get_roofline (const LigProfile *self, double floor, double measured);

/**
 * lig_profile_list_attention: (skip)
 *
 * Lists the choices between cuDNN and the built-in attention kernels that were made, or read from a
 * store, in this process. May be called from any thread.
 *
 * Returns: (transfer full): an array of #LigAttentionTimes, sorted by their descriptions; empty
 *   before attention has run on a GPU
 */
LIG_API GPtrArray *lig_profile_list_attention (void);

G_END_DECLS
