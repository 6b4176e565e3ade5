/* SPDX-License-Identifier: MIT */
/* The inputs of a run that determine its bits besides its sequence and settings. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* The facts that a repetition takes from the record of a run, besides sequence and settings. The
 * run itself chooses fields that are NULL or 0. */
typedef struct {
  const char *repeats;             /* the run that is repeated */
  const char *choices;             /* its groups, in the form of lig_plan_get_choices() */
  const char *calibration_choices; /* its groups during calibration */
  const char *algorithms;
  int threads;
} LigRunOrigin;

/* Makes a run like lig_run_new() does, with the groups and threads of another one. */
LigRun *lig_run_new_from (LigSequence *sequence,
                          LigDevice *device,
                          const LigRunSettings *settings,
                          const char *init,
                          LigStore *store,
                          const LigRunOrigin *origin,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Returns as JSON everything else that determines the bits of the run: hashes of its data and
 * initial parameters, threads, instructions, groups, algorithms; (transfer full). */
char *lig_run_describe_inputs (LigRun *self);

/* Returns the current inputs of a run that other ranks continue (transfer full); NULL if the ranks
 * are the same. */
char *lig_run_renew_inputs (LigRun *self, const char *inputs);

/* Returns the SHA-256 of the weight files at a path (transfer full); NULL with an error set. */
char *lig_run_hash_weights (const char *path, GError **error);

G_END_DECLS
