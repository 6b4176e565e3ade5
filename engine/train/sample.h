/* SPDX-License-Identifier: MIT */
/* Texts that a run generates between steps, to show what the model has learned. */
#pragma once

#include <ligature/run.h>
#include <ligature/store-rows.h>

G_BEGIN_DECLS

typedef struct _LigRunSamples LigRunSamples;

/* Plans and allocates what the samples need, before the first step, so that too little memory fails
 * there. Does nothing without the setting sample-every. */
gboolean lig_run_prepare_samples (LigRun *self, GError **error);
void lig_run_samples_free (LigRunSamples *self);

/* Returns whether texts are due after a step, or the last one. */
gboolean lig_run_samples_at (LigRun *self, gint64 step);

/* Generates the texts of a step on rank 0 and stores them. A request ends them early. Changes
 * neither the state nor the data's position, so that losses are the same without samples. */
gboolean lig_run_sample (LigRun *self, gint64 step, GError **error);

/* Stores a text that the run generated, if it has a store. */
gboolean lig_run_record_sample (LigRun *self, const LigSampleRow *row, GError **error);

G_END_DECLS
