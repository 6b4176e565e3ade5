/* SPDX-License-Identifier: MIT */
/* The steps of a run. */
#pragma once

#include <ligature/program.h>
#include <ligature/run.h>

G_BEGIN_DECLS

/* Runs passes of a program. Adds the seconds in which kernels chose algorithms, at their first
 * launch, to `tuning_seconds` (nullable): they do not count in step times and rates. */
gboolean lig_run_program (
  LigRun *self, LigProgram *program, unsigned flags, double *tuning_seconds, GError **error);

/* Runs a training step. Its results are noted now or, on asynchronous devices, a few steps later;
 * lig_run_finish_pending() waits for all pending results and notes them. */
gboolean lig_run_step (LigRun *self, gint64 step, GError **error);
gboolean lig_run_finish_pending (LigRun *self, GError **error);

/* Compute the weights of the next step's micro-batches; return one; pass it to the training
 * program, as the gradient of the loss. All ranks call the first function together. */
gboolean lig_run_share_parts (LigRun *self, GError **error);
double lig_run_get_share (LigRun *self, gint64 part);
gboolean lig_run_scale_part (LigRun *self, gint64 part, GError **error);

G_END_DECLS
