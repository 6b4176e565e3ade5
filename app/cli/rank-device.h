/* SPDX-License-Identifier: MIT */
/* The device of a rank. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Opens the device of that name; null: the usual one. Of several ranks on a machine each opens an
 * accelerator of its own, from the named one on, and joins the others'. */
LigDevice *lig_cli_open_rank_device (const char *name, GError **error);

/* Divides the ranks by the value of --parallel (nullable), on which they have to agree, and opens
 * the device of this one. */
LigDevice *lig_cli_open_sharded_device (const char *name, const char *parallel, GError **error);

G_END_DECLS
