/* SPDX-License-Identifier: MIT */
/* Means of the results of runs, which start zeroed. */
#pragma once

#include <ligature/store-groups.h>

G_BEGIN_DECLS

/* Adds a value unless it is NaN; the fields are valid only after lig_run_mean_end(). */
void lig_run_mean_add (LigRunMean *mean, double value);
void lig_run_mean_end (LigRunMean *mean);

G_END_DECLS
