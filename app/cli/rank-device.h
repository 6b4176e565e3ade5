/* SPDX-License-Identifier: MIT */
/* The device of a rank. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Opens the device of that name; null: the usual one. Of several ranks on a machine each opens an
 * accelerator of its own, from the named one on, and joins the others'. */
LigDevice *lig_cli_open_rank_device (const char *name, GError **error);

G_END_DECLS
