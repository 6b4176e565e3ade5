/* SPDX-License-Identifier: MIT */
/* Sweeps in the store, and the inputs that the exact results of runs depend on. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * LigSweepRow:
 * @uuid: the identifier of the sweep
 * @name: the name of the experiment
 * @document: the sequence, the device, the settings and the axes, JSON
 * @started: the start in microseconds since 1970, UTC
 * @runs: the number of runs in the store that belong to it
 *
 * A recorded sweep. Missing strings are empty, never %NULL.
 */
typedef struct {
  char *uuid, *name, *document;
  gint64 started, runs;
} LigSweepRow;

#define LIG_TYPE_SWEEP_ROW (lig_sweep_row_get_type ())
LIG_API GType lig_sweep_row_get_type (void);

/**
 * lig_sweep_row_copy:
 * @row: a row
 *
 * Returns: (transfer full): a copy
 */
LIG_API LigSweepRow *lig_sweep_row_copy (const LigSweepRow *row);

/**
 * lig_sweep_row_free:
 * @row: (nullable) (transfer full): a row
 *
 * Releases a row.
 */
LIG_API void lig_sweep_row_free (LigSweepRow *row);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigSweepRow, lig_sweep_row_free)

/**
 * lig_store_get_inputs:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer full) (nullable): the hashes of the run's data and everything else that its
 *   exact results depend on, as JSON; %NULL without an error if an older version recorded the run
 */
LIG_API char *lig_store_get_inputs (LigStore *self, const char *run, GError **error);

/**
 * lig_store_begin_sweep:
 * @self: a store
 * @name: the name of the experiment
 * @document: the sequence, the device, the settings and the axes, JSON
 *
 * Records a sweep.
 *
 * Returns: (transfer full): the uuid of the sweep, or %NULL with an error set
 */
LIG_API char *lig_store_begin_sweep (LigStore *self,
                                     const char *name,
                                     const char *document,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_store_set_sweep:
 * @self: a store
 * @run: the uuid of a run
 * @sweep: the uuid of a sweep
 * @point: the number of the run's settings in the sweep, from 0
 *
 * Assigns a run to a sweep.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_set_sweep (
  LigStore *self, const char *run, const char *sweep, gint64 point, GError **error);

/**
 * lig_store_find_sweep:
 * @self: a store
 * @selector: a uuid, its beginning with at least four characters, or `last`
 *
 * Returns: (transfer full): the sweep, or %NULL with %LIG_ERROR_STORE set if none or several match
 */
LIG_API LigSweepRow *lig_store_find_sweep (LigStore *self, const char *selector, GError **error);

/**
 * lig_store_list_sweeps:
 * @self: a store
 *
 * Returns: (transfer full) (element-type LigSweepRow): the sweeps, the newest first, or %NULL with
 *   an error set
 */
LIG_API GPtrArray *lig_store_list_sweeps (LigStore *self, GError **error);

G_END_DECLS
