/* SPDX-License-Identifier: MIT */
/* Cached measurements in the store: times of fusions, choices of algorithms, rates of devices. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * lig_store_get_device:
 * @self: a store
 * @name: the name of the device
 *
 * Returns: (transfer full) (nullable): the measured properties of the device as JSON; %NULL without
 *   an error if the store has none
 */
LIG_API char *lig_store_get_device (LigStore *self, const char *name, GError **error);

/**
 * lig_store_put_device:
 * @self: a store
 * @name: the name of the device
 * @json: the measured properties
 *
 * Stores the measured properties of a device.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_put_device (LigStore *self,
                                       const char *name,
                                       const char *json,
                                       GError **error);

G_END_DECLS
