/* SPDX-License-Identifier: MIT */
/* Deleting runs for good: the question, and the runs of the whole trash. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/* Returns a question, with the response `delete`, whether this many runs of the trash are to be
 * deleted for good, of which the filters hide some. */
GtkWidget *lig_trash_question_new (GtkWindow *window, guint runs, guint hidden);

/* Reads the keys of all runs in the trash on a thread. */
void
lig_trash_list_async (LigStore *store, GObject *owner, GAsyncReadyCallback callback, gpointer data);

/* Returns: (transfer full): the keys, or %NULL with an error. */
GArray *lig_trash_list_finish (GAsyncResult *result, GError **error);

G_END_DECLS
