/* SPDX-License-Identifier: MIT */
/* The measurements that the store keeps: times of fusions, choices of algorithms, and the measured
 * properties of devices. */
#pragma once

#include <ligature/store-tuning.h>

G_BEGIN_DECLS

/* Returns whether the store has a measurement with this key, and sets the non-null ones of time,
 * uncertainty and choice (transfer full) (nullable). A key consists of the device, the library
 * versions, the kernel or fusion, the shapes and the types, joined by `|`. */
gboolean lig_store_get_tuning (
  LigStore *self, const char *key, double *microseconds, double *noise, char **choice);

/* Returns (transfer full) the choices whose keys contain a part, such as the name of a device, one
 * per line: key, tab, choice. */
char *lig_store_list_choices (LigStore *self, const char *part);

/* Stores a measurement; a choice (nullable) replaces an earlier one. A time without a choice is not
 * replaced once stored, so that all processes that use it make the same decision. */
gboolean lig_store_put_tuning (LigStore *self,
                               const char *key,
                               double microseconds,
                               double noise,
                               const char *choice,
                               GError **error);

G_END_DECLS
