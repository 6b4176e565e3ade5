/* SPDX-License-Identifier: MIT */
/* The parts of a predictor, for the files that compute with it. */
#pragma once

#include <ligature/plan-options.h>
#include <ligature/predictor.h>
#include <ligature/program.h>

G_BEGIN_DECLS

struct _LigPredictor {
  LigSequence *sequence;
  LigPlanOptions options;
  LigProgramCache *programs;
  LigProgramCache *gradients; /* programs with a backward pass, of `quiet` */
  LigSequence *quiet;         /* (nullable): the sequence without dropout */
  LigPlan *plan;              /* of a full batch */
  gint64 batch;
  gint64 classes, ignored;
  gboolean has_loss;
  LigPredictorProgress progress;
  gpointer data;
};

/* Returns a tensor of a plan's shape that begins with rows `first` to `first` + `count` - 1 of all;
 * the others are copies of the first (transfer full). */
LigTensor *lig_predictor_take_rows (
  const LigTensor *all, const LigShape *like, gint64 first, gint64 count, GError **error);

/* Checks that rows have the type and the size of the model's. */
gboolean lig_predictor_check_rows (LigPredictor *self, const LigTensor *rows, GError **error);

G_END_DECLS
