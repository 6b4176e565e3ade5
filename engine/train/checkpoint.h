/* SPDX-License-Identifier: MIT */
/* Checkpoints: their path, its lock, their contents, and the run that resumes from them. */
#pragma once

#include <ligature/run.h>
#include <ligature/tensor-file.h>

G_BEGIN_DECLS

/* Returns whether checkpoints can be written to their path; checked early, so that hours of
 * training are not lost. */
gboolean lig_run_check_checkpoint (LigRun *self, GError **error);

/* Returns whether a file of this name can be created, or replaces only a checkpoint. */
gboolean lig_run_check_place (const char *path, GError **error);

/* Returns the path with links resolved, also for a file that does not exist yet; (transfer
 * full). */
char *lig_run_resolve_place (const char *path);

/* Creates a folder that only this user can read. */
gboolean lig_run_make_folder (const char *folder, GError **error);

/* Chooses the checkpoint file once: the setting, else a file named after the run. */
void lig_run_choose_checkpoint (LigRun *self);

/* Locks the checkpoint file against other runs until lig_run_release(); a file that is named after
 * the run needs no lock. If no lock file can be made, the run continues without a lock. */
gboolean lig_run_claim (LigRun *self, GError **error);
void lig_run_release (LigRun *self);

/* Writes parameters, optimizer state, counters, settings and choices to self->checkpoint. */
gboolean lig_run_save_checkpoint (LigRun *self, GError **error);

/* Returns the card and the libraries: on a GPU, the bits depend on them and on the algorithms
 * chosen for matmuls; (transfer full). */
char *lig_run_describe_machine (LigDevice *device);

/* Checks that the file of a checkpoint after `step` has the complete optimizer state. */
gboolean lig_run_check_arrays (LigRun *self, LigTensorFile *file, gint64 step, GError **error);

/* Rejects a checkpoint with no remaining step or evaluation. */
gboolean lig_run_check_left (LigRun *self, LigTensorFile *file, GError **error);

/* Makes this process resume the checkpoint's run or, if that run has advanced beyond the
 * checkpoint, registers a new run with that run as its parent. */
gboolean lig_run_take_up (LigRun *self, LigTensorFile *file, GError **error);

G_END_DECLS
