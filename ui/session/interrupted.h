/* SPDX-License-Identifier: MIT */
/* The training run that a crash, a kill or a closed window interrupted: what a later window needs
 * to show and continue it. */
#pragma once

#include "ui/session/curve.h"
#include <ligature/run.h>
#include <ligature/store-rows.h>

G_BEGIN_DECLS

typedef struct {
  LigRunRow *row;
  char *checkpoint; /* a file that exists; null if it is missing */
  char *missing;    /* (nullable): the file that is missing */
  LigRunSettings settings;
  GHashTable *curves; /* LigCurve by the name of its metric */
} LigInterrupted;

/* Returns: (nullable): the newest checkpoint among the artifacts of a run whose file still exists.
 * @artifacts: (nullable): of LigArtifactRow */
const char *lig_interrupted_find_checkpoint (const GPtrArray *artifacts);

/* Returns: (nullable): the newest checkpoint of a run of whose checkpoints no file exists; null if
 * one exists, or the run saved none. */
const char *lig_interrupted_find_missing (const GPtrArray *artifacts);

/* Returns whether the file of a checkpoint exists; if not, the error says which is missing. */
gboolean lig_interrupted_check (const char *checkpoint, GError **error);

/* Returns: (transfer full): that the file is missing, and the remedy. */
char *lig_interrupted_describe_missing (const char *checkpoint);

/**
 * lig_interrupted_find:
 * @store: a store
 * @metrics: (array zero-terminated=1): the names of the metrics to read
 *
 * Looks at the store's last training run. Blocks while it reads.
 *
 * Returns: (transfer full) (nullable): that run; null if it was not interrupted, is part of a
 * sweep, which continues it itself, or saved no checkpoint
 */
LigInterrupted *lig_interrupted_find (LigStore *store, const char *const *metrics);
void lig_interrupted_free (LigInterrupted *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigInterrupted, lig_interrupted_free)

G_END_DECLS
