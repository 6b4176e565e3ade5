/* SPDX-License-Identifier: MIT */
/* The loads of experts in training runs in the store: how many rows each expert of a mixture
 * received. */
#pragma once

#include <ligature/loads.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/**
 * LigLoadEntry:
 * @path: the path of the op with the router
 * @experts: the number of experts
 * @load: (array length=experts): the number of rows that selected each expert
 * @balance: the load-balancing loss before its coefficient: 1 if all experts are equally probable
 *   and loaded
 * @z: the mean squared log-sum-exp of the logits
 * @dropped: the number of rows that had no room in their expert
 *
 * The load of a router's experts that is written to the store.
 */
typedef struct {
  const char *path;
  guint experts;
  const double *load;
  double balance, z, dropped;
} LigLoadEntry;

/**
 * lig_store_add_loads: (skip)
 * @self: a store
 * @run: the uuid of a run
 * @step: the step of the loads
 * @entries: (array length=count): the loads in the order in which they are read back
 * @count: their number
 *
 * Adds the loads of a step, all or none. They replace those of the same step.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_add_loads (LigStore *self,
                                      const char *run,
                                      gint64 step,
                                      const LigLoadEntry *entries,
                                      guint count,
                                      GError **error);

/**
 * lig_store_get_loads: (skip)
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigLoadSeries): series owned by the array, in the
 *   order of the ops; empty without experts; %NULL with %LIG_ERROR_STORE or %LIG_ERROR_FORMAT set
 */
LIG_API GPtrArray *lig_store_get_loads (LigStore *self, const char *run, GError **error);

G_END_DECLS
