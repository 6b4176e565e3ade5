/* SPDX-License-Identifier: MIT */
/* How long a training would take, by the times of the document's plan. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/* Returns the seconds that a new training would take by the times of the document's plan; NaN:
 * unknown. The steps alone are counted. */
double lig_train_predict_seconds (LigDocument *doc);

/* Returns: (transfer full) (nullable): how long a new training would take, `About 60 d 4 h: 20,000
 *   steps of 4 min 20 s each, predicted for AMD EPYC`; null if that is not known. */
char *lig_train_describe_length (LigDocument *doc);

G_END_DECLS
