/* SPDX-License-Identifier: MIT */
/* The expected duration of a run, from the times of the document's plan. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/* Returns: (transfer full) (nullable): the expected duration of a new run, `About 60 d 4 h: 20,000
 * steps of 4 min 20 s each, predicted for AMD EPYC`; null if unknown. Only the steps count.
 * @seconds: (out): the same in seconds; NaN: unknown */
char *lig_train_describe_length (LigDocument *doc, double *seconds);

G_END_DECLS
