/* SPDX-License-Identifier: MIT */
/* Requests of the caller to a run while it is running. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

typedef enum {
  LIG_REQUEST_NONE,
  LIG_REQUEST_CANCEL,
  LIG_REQUEST_INTERRUPT,
  LIG_REQUEST_SAVE, /* on all ranks; the run continues */
} LigRunRequest;

/* Waits within a step while the run is paused, and returns whether to abandon the step; a
 * LigProgramInterrupt. */
gboolean lig_run_interrupt_step (gpointer run);

/* Returns whether rank 0 has requested the end of the run, which abandons the step on all ranks; a
 * LigProgramInterrupt. */
gboolean lig_run_interrupt_together (gpointer run);

/* Saves a checkpoint; if the file cannot be written, the run continues. */
gboolean lig_run_save_between (LigRun *self, GError **error);

/* Handles requests between steps: finishes pending steps, waits while paused, saves if requested or
 * if it is time. Sets the request that ends the run, or none. */
gboolean lig_run_handle_requests (LigRun *self, LigRunRequest *request, GError **error);

G_END_DECLS
