/* SPDX-License-Identifier: MIT */
/* The store's tuning table as the place where plans keep measured times. */
#pragma once

#include "engine/plan.h"
#include "engine/store.h"

G_BEGIN_DECLS

/**
 * lig_tuning_init:
 * @store: (nullable): kept by reference by nobody: it has to outlive the tuning
 *
 * Without a store nothing is remembered beyond one compilation.
 */
LIG_API void lig_tuning_init (LigTuning *self, LigStore *store);

/**
 * lig_tuning_recall:
 * @path: (nullable): of a store, as for lig_store_open()
 *
 * Gives the device the ceilings that `lig devices --measure` left in a store. Where there is no
 * such file or entry, or the entry is another machine's, the device stays as it is; no store is
 * made.
 *
 * Returns: whether measured ceilings were found
 */
LIG_API gboolean lig_tuning_recall (LigDevice *device, const char *path);

G_END_DECLS
