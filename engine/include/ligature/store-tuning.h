/* SPDX-License-Identifier: MIT */
/* Cached measurements in the store: times of fusions, choices of algorithms, rates of devices. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * lig_store_get_tuning:
 * @self: a store
 * @key: device, library versions, kernel or fusion, shapes and types, joined by `|`
 * @microseconds: (out) (optional): the measured time
 * @noise: (out) (optional): the uncertainty of the measured time in microseconds
 * @choice: (out) (optional) (nullable): the choice, which the caller frees
 *
 * Returns: %FALSE if the store has no measurement with this key
 */
LIG_API gboolean lig_store_get_tuning (
  LigStore *self, const char *key, double *microseconds, double *noise, char **choice);

/**
 * lig_store_list_choices:
 * @self: a store
 * @part: a part of keys, such as the name of a device
 *
 * Returns: (transfer full): the choices whose keys contain @part, one per line: key, tab, choice
 */
LIG_API char *lig_store_list_choices (LigStore *self, const char *part);

/**
 * lig_store_put_tuning:
 * @self: a store
 * @key: as for lig_store_get_tuning()
 * @microseconds: the measured time
 * @noise: the uncertainty of the measured time in microseconds
 * @choice: (nullable): the choice; it replaces an earlier one
 *
 * Stores a measurement. A time without a choice is not replaced once stored, so that all processes
 * that use it make the same decision.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_put_tuning (LigStore *self,
                                       const char *key,
                                       double microseconds,
                                       double noise,
                                       const char *choice,
                                       GError **error);

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
