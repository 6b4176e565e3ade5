/* SPDX-License-Identifier: MIT */
/* The rows of `lig predict` and the files that it writes. */
#pragma once

#include <ligature/predictor.h>
#include <ligature/transform.h>

G_BEGIN_DECLS

typedef struct {
  const char *path;
  LigTransform *transform; /* null for tensors */
  LigRows *rows;
} LigPredictRows;

typedef struct {
  LigTensor *output; /* fp32 */
  gint64 classes;    /* 0: the outputs are values */
  LigPredictorFigures figures;
  char *device;
} LigPredictResults;

void lig_predict_rows_clear (LigPredictRows *self);
void lig_predict_results_clear (LigPredictResults *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigPredictRows, lig_predict_rows_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigPredictResults, lig_predict_results_clear)

/* Reads the tensors `input` and, if there, `targets`. */
gboolean lig_predict_read_tensors (LigPredictRows *self, GError **error);

/* Checks that predictions can be written to the file. */
gboolean lig_predict_check_output (const char *file, GError **error);

/* Writes csv: the columns of the input, then `prediction` and `probability.LABEL`, or
 * `prediction.TARGET`; or safetensors: `output`, and for classes `prediction` and `probability`. An
 * empty file name: nothing. */
gboolean lig_predict_write (const LigPredictRows *rows,
                            const LigPredictResults *results,
                            const char *file,
                            GError **error);

G_END_DECLS
