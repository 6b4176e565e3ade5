/* SPDX-License-Identifier: MIT */
/* Deletes runs for good, with the files that they own. */
#pragma once

#include <ligature/store-trash.h>

G_BEGIN_DECLS

/**
 * lig_purge_runs:
 * @store: a store
 * @runs: (array length=count): uuids
 * @count: their number
 * @error: set to %LIG_ERROR_STORE, or to %LIG_ERROR_FILE if a file cannot be deleted
 *
 * Deletes runs from the store for good, with the checkpoints that they were the last to write.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_purge_runs (LigStore *store,
                                 const char *const *runs,
                                 guint count,
                                 GError **error);

/**
 * lig_purge_owns_checkpoint:
 * @path: a path that the store names as a checkpoint
 * @run: the uuid of a run
 *
 * A row of a database may name any file, and several runs may have written to the same one.
 *
 * Returns: whether the file is a checkpoint that this run was the last to write
 */
LIG_API gboolean lig_purge_owns_checkpoint (const char *path, const char *run);

G_END_DECLS
