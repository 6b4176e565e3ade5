/* SPDX-License-Identifier: MIT */
/* Finds the file with the parameters of a run. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/* Finds a checkpoint by its file or by the run that wrote it (transfer full). Prints which one it
 * is, after the word for what is done with it. */
char *
lig_cli_find_checkpoint (const char *selector, LigStore *store, const char *what, GError **error);

G_END_DECLS
