/* SPDX-License-Identifier: MIT */
/* Profiles of a document: measured on a thread with a device of its own, recorded in the store,
 * and kept, so that the score and the pictures can show them. Of what was measured the plan and
 * the times stay; the device's memory is given back.
 *
 * Signals: `changed` whenever state, progress or staleness are new; `profiled` when there are new
 * results.
 */
#pragma once

#include "ui/document/document.h"
#include <ligature/draw.h>

G_BEGIN_DECLS

#define LIG_TYPE_PROFILING (lig_profiling_get_type ())
G_DECLARE_FINAL_TYPE (LigProfiling, lig_profiling, LIG, PROFILING, GObject)

/**
 * LigProfiled: one measured plan; times are medians in seconds, as in #LigProfile.
 *
 * @plan: compiled as that which was measured; bound to no memory
 * @steps: each step of @plan
 */
typedef struct {
  LigPlan *plan;
  double *steps;
  double forward, backward, update, step;
  LigDeviceHealth health;
  char *run; /* uuid in the store, or null */
} LigProfiled;

/* (transfer none): the one of a document, made when it is first asked for; it lives as long. */
LigProfiling *lig_profiling_of (LigDocument *document);

/**
 * lig_profiling_start:
 * @policies: to be measured, taking turns
 * @rounds: how often each runs
 *
 * Returns: %FALSE with an error where the document cannot be profiled as it is: no ops, a problem,
 *   a device that is only planned for, or one that is being profiled already
 */
gboolean lig_profiling_start (
  LigProfiling *self, const LigPolicy *policies, guint count, guint rounds, GError **error);

/* It ends with the round under way; nothing is recorded then. */
void lig_profiling_cancel (LigProfiling *self);

gboolean lig_profiling_is_active (LigProfiling *self);
gboolean lig_profiling_is_cancelled (LigProfiling *self);

/* 0 to 1, negative while it is being prepared; seconds that are left, NaN where unknown. */
double lig_profiling_get_progress (LigProfiling *self, double *left);

/* (nullable): why the last one failed; null again with the next start. */
const char *lig_profiling_get_error (LigProfiling *self);

/* (nullable): the last results, one for each policy that was asked for. */
const LigProfiled *lig_profiling_get (LigProfiling *self, guint n);

/* (nullable): that which is shown: the one last chosen, else that of the document's policy, else
 * the fastest. */
const LigProfiled *lig_profiling_get_shown (LigProfiling *self);
void lig_profiling_show (LigProfiling *self, guint n);

/* Gives the results up. */
void lig_profiling_clear (LigProfiling *self);

/* Whether the sequence and the device are no longer what was measured. */
gboolean lig_profiling_is_stale (LigProfiling *self);

/* `lig_profiling_get_shown()` as pictures take it; %FALSE where there is nothing or it is stale. */
gboolean lig_profiling_get_timed (LigProfiling *self, LigTimedPlan *timed);

/* --- What is predicted ------------------------------------------------------------------------ */

/**
 * LigPrediction: a document's plan with an update, and the same with every op alone.
 */
typedef struct {
  LigPlan *plan, *unfused;
} LigPrediction;

void lig_prediction_free (LigPrediction *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigPrediction, lig_prediction_free)

/* Compiles both on a thread, with the groups of the document's plan; %FALSE without one. */
gboolean lig_prediction_make (LigDocument *document,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer data);
LigPrediction *lig_prediction_finish (GAsyncResult *result, GError **error);

G_END_DECLS
