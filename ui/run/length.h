/* SPDX-License-Identifier: MIT */
/* How long a training would take, by the times of the document's plan. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/* Returns: (transfer full) (nullable): how long a new training would take, `About 60 d 4 h: 20,000
 *   steps of 4 min 20 s each, predicted for AMD EPYC`; null if that is not known.
 *   The steps alone are counted.
 * @seconds: (out): the same in seconds; NaN: unknown */
char *lig_train_describe_length (LigDocument *doc, double *seconds);

G_END_DECLS
