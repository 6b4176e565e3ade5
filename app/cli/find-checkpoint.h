/* SPDX-License-Identifier: MIT */
/* Finds the checkpoint file of a run. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/* Finds a checkpoint by its file or by the run that wrote it (transfer full). Prints which one it
 * is, after a word for its use such as "resuming". */
char *
lig_cli_find_checkpoint (const char *selector, LigStore *store, const char *what, GError **error);

/* Finds the weights of --init and --weights: a file, a folder, or the checkpoint of a run of the
 * store at a path. Sets `weights` (transfer full), to null without a text. */
gboolean lig_cli_find_weights (const char *text, const char *store, char **weights, GError **error);

/* Does the same on each rank of a training run; only rank 0 has a store. */
gboolean lig_cli_find_initial (const char *text, const char *store, char **weights, GError **error);

G_END_DECLS
