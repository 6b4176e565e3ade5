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

G_END_DECLS
