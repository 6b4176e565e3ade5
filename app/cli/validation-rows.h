/* SPDX-License-Identifier: MIT */
/* The validation rows of the data that a model was trained on. */
#pragma once

#include "app/cli/model.h"
#include <ligature/predictor.h>
#include <ligature/transform.h>

G_BEGIN_DECLS

typedef struct {
  gint64 count;       /* 0: there are none, for the reason in `remark` */
  LigTensor *input;   /* fp32, scaled */
  LigTensor *targets; /* fp32, count x targets; NaN where the loss ignores it */
  char *remark;       /* (nullable): a sentence */
} LigCliValidation;

void lig_cli_validation_clear (LigCliValidation *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigCliValidation, lig_cli_validation_clear)

/* Reads them from the data of the run, or from `data` (nullable). Data that have changed since the
 * training, or cannot be read, are not a failure: the remark says so. */
void lig_cli_validation_read (LigCliValidation *self,
                              const LigCliModel *model,
                              const char *data,
                              LigPredictor *predictor);

/* Returns a row, or its targets, as a tensor with one row (transfer full). */
LigTensor *lig_cli_validation_get (const LigTensor *all, gint64 row, GError **error);

G_END_DECLS
