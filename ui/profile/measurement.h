/* SPDX-License-Identifier: MIT */
/* The base class of measurements of a document. They run on a thread with its own device, report
 * progress, can be cancelled by the user or the end of the document, and keep their results, which
 * may become outdated, until they are cleared.
 *
 * Signals: `changed` when state, progress or staleness change; `measured` when there are new
 * results. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

typedef struct _LigPlanOptions LigPlanOptions;

#define LIG_TYPE_MEASUREMENT (lig_measurement_get_type ())
G_DECLARE_DERIVABLE_TYPE (LigMeasurement, lig_measurement, LIG, MEASUREMENT, GObject)

/**
 * LigMeasurementJob: the input of the thread: copies from the document at the start.
 *
 * @options: of the document, `count` of them, one for each policy
 * @store: (nullable): records the results
 */
typedef struct {
  LigSequence *sequence;
  const LigPlanOptions *options;
  guint count, rounds;
  LigStore *store;
} LigMeasurementJob;

/**
 * LigMeasurementClass:
 * @busy: the error if a measurement is already running
 * @empty: the same for a sequence without ops
 * @any_recipe: whether results are independent of the sequence's recipe
 * @measure: fills the results, which were passed to lig_measurement_start(), on the thread
 * @take: (nullable): called with new results before `measured` is emitted
 */
struct _LigMeasurementClass {
  GObjectClass parent_class;
  const char *busy, *empty; /* N_() */
  gboolean any_recipe;
  gboolean (*measure) (LigMeasurement *self,
                       const LigMeasurementJob *job,
                       LigDevice *device,
                       gpointer results,
                       GError **error);
  void (*take) (LigMeasurement *self);
  GDestroyNotify free_results;
};

/* Returns: (transfer none): the measurement of this type of a document, created at the first call;
 *   it lives as long as the document. */
gpointer lig_measurement_of (LigDocument *document, GType type);

/**
 * lig_measurement_start:
 * @policies: of the plans
 * @results: (transfer full): to be filled by the class
 *
 * Returns: %FALSE with an error if the document cannot be measured: no ops, a problem, a plan-only
 *   device, or a measurement that is already running
 */
gboolean lig_measurement_start (LigMeasurement *self,
                                const LigPolicy *policies,
                                guint count,
                                guint rounds,
                                gpointer results,
                                GError **error);

/* Records the progress, on the thread; returns whether to continue. The signature is that of the
 * engine's monitors; @measurement: a #LigMeasurement. */
gboolean lig_measurement_watch (guint done, guint count, gpointer measurement);

/* Returns the numbers of completed and of all rounds, both 0 during preparation. */
guint lig_measurement_get_done (LigMeasurement *self, guint *count);

/* Stops at the engine's next call of lig_measurement_watch(); nothing is kept or recorded. */
void lig_measurement_cancel (LigMeasurement *self);

gboolean lig_measurement_is_active (LigMeasurement *self);
gboolean lig_measurement_is_cancelled (LigMeasurement *self);

/* Returns: (nullable): the error of the last start; null again after the next one. */
const char *lig_measurement_get_error (LigMeasurement *self);

/* Returns: (transfer none): the document; null after its end. */
LigDocument *lig_measurement_get_document (LigMeasurement *self);

/* Returns: (nullable): the last results. */
gpointer lig_measurement_get_results (LigMeasurement *self);

/* Discards the results. */
void lig_measurement_clear (LigMeasurement *self);

/* Returns whether the sequence or the device changed since the measurement. */
gboolean lig_measurement_is_stale (LigMeasurement *self);

/* Updates everything that shows the results or their state. */
void lig_measurement_announce (LigMeasurement *self);

G_END_DECLS
