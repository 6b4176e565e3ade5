/* SPDX-License-Identifier: MIT */
/* A list that is shown incrementally: a column view creates two hundred rows even if few are
 * visible, and creating them at once would take many frames. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns: (transfer full): the first rows of @model (transfer full), then more of them between
 *   frames, then all. */
GtkSliceListModel *lig_gradual_new (GListModel *model);

/* Shows all rows at once. */
void lig_gradual_finish (GtkSliceListModel *self);

/* Starts again; call it before the model is replaced. */
void lig_gradual_restart (GtkSliceListModel *self);

G_END_DECLS
