/* SPDX-License-Identifier: MIT */
/* Validation evaluation. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Returns the number of steps between validation evaluations; 0: only one at the end. By default
 * there are about 20. Sets `batches` to the maximum batches of each but the last (0: all); by
 * default few compared with the training batches. Neither depends on measured times, so that a
 * repetition evaluates the same. */
gint64 lig_run_get_evaluation_interval (LigRun *self, gint64 *batches);

/* Returns the maximum batches of the last evaluation (0: all). By default small validation data are
 * evaluated completely, and large ones by about as many batches as the run trained on. */
gint64 lig_run_get_last_evaluation (LigRun *self);

/* The results of an evaluation: NaN without one. */
typedef struct {
  double loss, accuracy;
  gint64 rows; /* that the accuracy counts; 0 without classes */
} LigEvaluation;

/* Computes the validation loss, and accuracy for classes (else NaN), over at most `max` batches (0:
 * all), spread evenly; sets `cut` and NaN if the run was ended in the meantime. Returns FALSE with
 * the error set on failure. */
gboolean
lig_run_evaluate (LigRun *self, gint64 max, LigEvaluation *result, gboolean *cut, GError **error);

G_END_DECLS
