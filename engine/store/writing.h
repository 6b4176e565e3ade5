/* SPDX-License-Identifier: MIT */
/* The functions by which runs, profiles and sweeps write to the store. The writer thread writes
 * queued rows; functions that return a success flag write immediately, and set LIG_ERROR_STORE on
 * failure. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/* Returns whether this process can never write to the store again because another program truncated
 * its file. */
gboolean lig_store_is_lost (LigStore *self);

/* Checks that no other process is running the run; the error names the process and its host. */
gboolean lig_store_check_idle (LigStore *self, const char *run, GError **error);

/* Makes this process the owner of the run. Fails while another process is running it. */
gboolean lig_store_resume_run (LigStore *self, const char *run, GError **error);

/* Queues the timing of one group of the pass `forward`, `backward` or `update` in one step. */
void lig_store_add_timing (LigStore *self,
                           const char *run,
                           gint64 step,
                           int group,
                           const char *pass,
                           double microseconds,
                           double bytes,
                           double flops);

/* Queues one group of a pass; `first_op` is an expanded index, `fusion` NULL for a single unfused
 * op. */
void lig_store_add_fusion (LigStore *self,
                           const char *run,
                           const char *pass,
                           int group,
                           int first_op,
                           int count,
                           const char *fusion);

/* Queues the reason why a fusion was chosen or rejected at `first_op`. The texts from `reason` on
 * are nullable; a chosen fusion has none. */
void lig_store_add_verdict (LigStore *self,
                            const char *run,
                            const char *fusion,
                            const char *pass,
                            int first_op,
                            int count,
                            gboolean taken,
                            const char *reason,
                            const char *observed,
                            const char *required,
                            const char *text);

/* Queues the name of a file that the run wrote; `kind` is one word, `checkpoint`. */
void lig_store_add_artifact (LigStore *self, const char *run, const char *kind, const char *path);

/* Queues the record that a checkpoint contains the state of the run after the step. */
void lig_store_add_saved_step (LigStore *self, const char *run, gint64 step);

/* Queues the number of rows or tokens of the last evaluation's accuracy. */
void lig_store_add_eval_rows (LigStore *self, const char *run, gint64 rows);

/* Replaces the settings, JSON, of a run that continues for more steps. */
gboolean
lig_store_set_settings (LigStore *self, const char *run, const char *settings, GError **error);

/* Replaces the inputs, JSON as returned by lig_store_get_inputs(), of a run that other ranks
 * continue. */
gboolean lig_store_set_inputs (LigStore *self, const char *run, const char *inputs, GError **error);

G_END_DECLS
