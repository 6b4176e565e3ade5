/* SPDX-License-Identifier: MIT */
/* The inputs of a run that decide its bits besides its sequence and its settings. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* The facts that a repetition takes from the record of a run, besides sequence and settings. Fields
 * are NULL or 0 where the run chooses itself. */
typedef struct {
  const char *repeats;             /* the run that is repeated */
  const char *choices;             /* its groups, in the form of lig_plan_get_choices() */
  const char *calibration_choices; /* those while it calibrated */
  const char *algorithms;
  int threads;
} LigRunOrigin;

/* Makes a run like lig_run_new(), with the groups and threads of another one. */
LigRun *lig_run_new_from (LigSequence *sequence,
                          LigDevice *device,
                          const LigRunSettings *settings,
                          const char *init,
                          LigStore *store,
                          const LigRunOrigin *origin,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Returns as JSON everything else that decides the bits of the run: hashes of its data and initial
 * parameters, threads, instructions, groups, algorithms; (transfer full). */
char *lig_run_describe_inputs (LigRun *self);

/* Returns the inputs of a run that other ranks continue, as they are now, (transfer full); NULL if
 * they are the same ranks. */
char *lig_run_renew_inputs (LigRun *self, const char *inputs);

/* Returns the SHA-256 of the files of weights at a path, (transfer full); NULL with an error set.
 */
char *lig_run_hash_weights (const char *path, GError **error);

G_END_DECLS
