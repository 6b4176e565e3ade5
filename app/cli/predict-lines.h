/* SPDX-License-Identifier: MIT */
/* The lines of `lig predict --lines`. */
#pragma once

#include "app/cli/validation-rows.h"
#include <ligature/device.h>

G_BEGIN_DECLS

/* Serves requests until the input ends. The first line that is written describes the model:
 * `{"model", "weights", "device", "task", "features": [{"name", "mean", "std", "min", "max"}],
 * "targets", "classes", "image", "validation", "remark"}`. Requests, each with an `id` that its
 * answer repeats:
 *
 * `{"id": "a", "row": {"age": "41", …}, "target": "no"}` predicts a row: `{"id", "prediction",
 * "probabilities", "values", "loss", "influence"}`. The target may be omitted. The influence of a
 * column is the gradient of the predicted class's logit, or of the first value, times the scaled
 * number.
 * `{"id": "a", "validation": 3}` predicts a validation row, with `row`, or `pixels`, and `target`.
 * `{"id": "a", "evaluate": true}` predicts all of them: `{"id", "rows", "loss", "accuracy",
 * "confusion", "worst": [{"row", "loss", "target", "prediction"}]}`. A row of the confusion matrix
 * is a target, a column a prediction.
 * `{"id": "a", "cell": [0, 2]}` lists the rows of a cell: `{"id", "rows", "losses"}`, the worst
 * first, at most 1,000.
 *
 * A rejected request is answered `{"id", "error"}`. */
gboolean lig_predict_lines (const LigCliModel *model,
                            const LigTransform *transform,
                            LigDevice *device,
                            LigPredictor *predictor,
                            const LigCliValidation *validation,
                            GError **error);

G_END_DECLS
