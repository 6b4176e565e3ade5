/* SPDX-License-Identifier: MIT */
/* Profiles of a document, recorded in the store and kept for the score and the pictures. The plan
 * and its times are kept; the device's memory is freed. */
#pragma once

#include "ui/profile/measurement.h"
#include <ligature/conditions.h>
#include <ligature/draw.h>

G_BEGIN_DECLS

#define LIG_TYPE_PROFILING (lig_profiling_get_type ())
G_DECLARE_FINAL_TYPE (LigProfiling, lig_profiling, LIG, PROFILING, LigMeasurement)

/**
 * LigProfiled: one measured plan; times are medians in seconds, as in #LigProfile.
 *
 * @passes: forward, backward, update: for pictures
 * @spreads: of forward, backward, update and step
 * @conditions: conditions that may have disturbed the measurement
 * @plan: compiled like the measured plan; bound to no memory
 * @steps: each step of @plan
 * @load: (nullable): the load of experts, as in #LigProfile
 * @recorded: when it was measured, in microseconds since 1970, if it was read from the store; 0 if
 *   it was measured since the document was opened
 */
typedef struct {
  LigPlan *plan;
  double *steps;
  double forward, backward, update, step;
  double passes[3];
  LigSpread spreads[4];
  LigConditions conditions;
  LigDeviceHealth health;
  char *run; /* uuid in the store, or null */
  char *load;
  gint64 recorded;
} LigProfiled;

void lig_profiled_free (LigProfiled *self);

/* Returns: (transfer none): the profiling of a document, created at the first call; it lives as
 *   long as the document. */
LigProfiling *lig_profiling_of (LigDocument *document);

/**
 * lig_profiling_start:
 * @policies: to be measured, interleaved
 * @rounds: how often each runs
 *
 * Returns: %FALSE with an error as lig_measurement_start()
 */
gboolean lig_profiling_start (
  LigProfiling *self, const LigPolicy *policies, guint count, guint rounds, GError **error);

/* Sets the load of experts of the next profiles, as for lig_profile_load_parse(); null: even. A
 * plan without experts ignores it. */
void lig_profiling_set_load (LigProfiling *self, const char *load);
const char *lig_profiling_get_load (LigProfiling *self);

/* Returns 0 to 1, negative during preparation; sets the seconds left, NaN if unknown. */
double lig_profiling_get_progress (LigProfiling *self, double *left);

/* Returns: (nullable): the last results, one for each requested policy. */
const LigProfiled *lig_profiling_get (LigProfiling *self, guint n);

/* Returns: (nullable): the shown result: the one chosen last, else that of the document's policy,
 * else the fastest. */
const LigProfiled *lig_profiling_get_shown (LigProfiling *self);
void lig_profiling_show (LigProfiling *self, guint n);

/* Converts lig_profiling_get_shown() for pictures; returns %FALSE if there is no result or it is
 * stale. */
gboolean lig_profiling_get_timed (LigProfiling *self, LigTimedPlan *timed);

/* --- Prediction ------------------------------------------------------------------------------- */

/**
 * LigPrediction: a document's plan with an update, and the same with every op unfused.
 *
 * @recorded, @recorded_unfused: (nullable): the newest profiles of both in the store; they have no
 *   conditions
 */
typedef struct {
  LigPlan *plan, *unfused;
  LigProfiled *recorded, *recorded_unfused;
} LigPrediction;

void lig_prediction_free (LigPrediction *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigPrediction, lig_prediction_free)

/* Compiles both on a thread, with the groups of the document's plan; returns %FALSE without one. */
gboolean lig_prediction_make (LigDocument *document,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer data);
LigPrediction *lig_prediction_finish (GAsyncResult *result, GError **error);

G_END_DECLS
