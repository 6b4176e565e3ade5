/* SPDX-License-Identifier: MIT */
/* The distributions of repeated measurements in the store. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/**
 * LigSpreadRow:
 * @figure: `forward`, `backward`, `update`, `forward-backward` or `step`
 * @count: the number of measurements
 * @microseconds: their median
 * @lower: the first quartile in microseconds
 * @upper: the third quartile in microseconds
 *
 * The distribution of repeated measurements of one figure of a run.
 */
typedef struct {
  char *figure;
  int count;
  double microseconds, lower, upper;
} LigSpreadRow;

/**
 * lig_store_put_spread:
 * @self: a store
 * @run: the uuid of a run
 * @row: the distribution of a figure, copied; it replaces an earlier one
 *
 * Stores the distribution of a figure's measurements. As in all tables, a time that is not a number
 * becomes NULL.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_put_spread (LigStore *self,
                                       const char *run,
                                       const LigSpreadRow *row,
                                       GError **error);

/**
 * lig_store_get_spreads:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer container) (element-type LigSpreadRow): rows owned by the array, sorted by
 *   figure; empty for a training run, whose step times are its metric `step-ms`
 */
LIG_API GPtrArray *lig_store_get_spreads (LigStore *self, const char *run, GError **error);

G_END_DECLS
