/* SPDX-License-Identifier: MIT */
/* The trash of a store: deleted runs that can be restored. Lists, names and counts leave them out;
 * a uuid still finds them. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/**
 * LIG_TRASH_DAYS:
 *
 * The days that runs stay in the trash.
 */
#define LIG_TRASH_DAYS 30

/**
 * lig_store_trash_runs:
 * @self: a store
 * @runs: (array length=count): uuids
 * @count: their number
 * @error: set to %LIG_ERROR_STORE; then no run is moved
 *
 * Moves runs to the trash.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_store_trash_runs (LigStore *self,
                                       const char *const *runs,
                                       guint count,
                                       GError **error);

/**
 * lig_store_restore_runs:
 * @self: a store
 * @runs: (array length=count): uuids
 * @count: their number
 * @error: set to %LIG_ERROR_STORE; then no run is restored
 *
 * Takes runs out of the trash. So does a run that continues.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_store_restore_runs (LigStore *self,
                                         const char *const *runs,
                                         guint count,
                                         GError **error);

/**
 * lig_store_count_trash:
 * @self: a store
 * @error: set to %LIG_ERROR_STORE
 *
 * Returns: the number of runs in the trash; -1 with an error set
 */
LIG_API gint64 lig_store_count_trash (LigStore *self, GError **error);

/**
 * lig_store_list_trash:
 * @self: a store
 * @before: only runs that were deleted before this time, in microseconds since 1970, UTC
 * @error: set to %LIG_ERROR_STORE
 *
 * Returns: (transfer full) (nullable): the uuids of the runs in the trash; %NULL with an error set
 */
LIG_API GStrv lig_store_list_trash (LigStore *self, gint64 before, GError **error);

G_END_DECLS
