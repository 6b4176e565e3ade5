/* SPDX-License-Identifier: MIT */
/* The device of a rank. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Opens the device of that name; null: the default one. If several ranks are on a machine, each
 * opens its own accelerator, beginning with the named one, and connects it with the others'. */
LigDevice *lig_cli_open_rank_device (const char *name, GError **error);

/* Forms the rank groups of --parallel (nullable), on which all ranks must agree, and opens this
 * rank's device. */
LigDevice *lig_cli_open_sharded_device (const char *name, const char *parallel, GError **error);

G_END_DECLS
