/* SPDX-License-Identifier: MIT */
/* The run that a word of the command line means. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/* A run by its uuid or the beginning of one. `last` is the newest of `kind`, null for any, and is
 * named to the person who said it. NULL with an error set. */
LigRunRow *
lig_cli_find_run (LigStore *store, const char *selector, const char *kind, GError **error);

G_END_DECLS
