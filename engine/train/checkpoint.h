/* SPDX-License-Identifier: MIT */
/* Checkpoints: their place, who writes to it, what they contain, and the run that continues them.
 */
#pragma once

#include <ligature/run.h>
#include <ligature/tensor-file.h>

G_BEGIN_DECLS

/* Returns whether checkpoints can be written to their place, so that hours of training are not lost
 * there. */
gboolean lig_run_check_checkpoint (LigRun *self, GError **error);

/* Returns whether a file of this name can be made, or replaces nothing but a checkpoint. */
gboolean lig_run_check_place (const char *path, GError **error);

/* Returns the path without links, also of a file that does not exist yet; (transfer full). */
char *lig_run_resolve_place (const char *path);

/* Makes a folder that only this user can read. */
gboolean lig_run_make_folder (const char *folder, GError **error);

/* Chooses the file of the checkpoints once: the setting, else a file named after the run. */
void lig_run_choose_checkpoint (LigRun *self);

/* Locks the checkpoint file against other trainings until lig_run_release(); a file that is named
 * after the run needs no lock. If no lock file can be made, the run continues without a lock. */
gboolean lig_run_claim (LigRun *self, GError **error);
void lig_run_release (LigRun *self);

/* Writes parameters, moments, counters, settings and choices to self->checkpoint. */
gboolean lig_run_save_checkpoint (LigRun *self, GError **error);

/* Returns the card and the libraries, on which with the algorithms chosen for matmuls the bits
 * depend on a GPU; (transfer full). */
char *lig_run_describe_machine (LigDevice *device);

/* Checks that the file of a checkpoint after `step` has all arrays of the optimizer. */
gboolean lig_run_check_arrays (LigRun *self, LigTensorFile *file, gint64 step, GError **error);

/* Rejects a checkpoint after which no step or evaluation is left. */
gboolean lig_run_check_left (LigRun *self, LigTensorFile *file, GError **error);

/* Makes this process continue the checkpoint's run or, if that run has advanced beyond the
 * checkpoint, registers a new run that names it as its parent. */
gboolean lig_run_take_up (LigRun *self, LigTensorFile *file, GError **error);

G_END_DECLS
