/* SPDX-License-Identifier: MIT */
/* The requests of the caller of a training, which are obeyed while it runs. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

typedef enum {
  LIG_REQUEST_NONE,
  LIG_REQUEST_CANCEL,
  LIG_REQUEST_INTERRUPT,
  LIG_REQUEST_SAVE, /* of all ranks; the training goes on */
} LigRunRequest;

/* Waits in a step while the run is paused, and returns whether the step has to be abandoned; a
 * LigProgramInterrupt. */
gboolean lig_run_interrupt_step (gpointer run);

/* Returns whether rank 0 has asked for the end of the training, which abandons the step on all
 * ranks; a LigProgramInterrupt. */
gboolean lig_run_interrupt_together (gpointer run);

/* Saves a checkpoint; if the file cannot be written, the training goes on. */
gboolean lig_run_save_between (LigRun *self, GError **error);

/* Handles requests between steps: ends pending steps, waits while paused, saves if requested or
 * after a while. Sets the request that ends the training, or none. */
gboolean lig_run_handle_requests (LigRun *self, LigRunRequest *request, GError **error);

G_END_DECLS
