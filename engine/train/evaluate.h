/* SPDX-License-Identifier: MIT */
/* Validation evaluation. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Returns the number of steps from one validation evaluation to the next; 0: only one at the end.
 * Without a setting there are about 20. `batches` is set to the most batches of each but the last
 * (0: all); without a setting they are few compared with those of the training. Neither depends on
 * times, so that a repetition evaluates the same. */
gint64 lig_run_get_evaluation_interval (LigRun *self, gint64 *batches);

/* Returns the most batches of the last evaluation (0: all). Without a setting a small validation
 * part is evaluated whole, and of a large one about as many batches as the training had. */
gint64 lig_run_get_last_evaluation (LigRun *self);

/* Computes the validation loss, and accuracy for classes (else NaN), over at most `max` batches (0:
 * all), spread evenly; sets `cut` and NaN if the training was ended in the meantime. FALSE with the
 * error set. */
gboolean lig_run_evaluate (
  LigRun *self, gint64 max, double *loss, double *accuracy, gboolean *cut, GError **error);

G_END_DECLS
