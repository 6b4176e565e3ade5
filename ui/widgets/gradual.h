/* SPDX-License-Identifier: MIT */
/* A list that is shown bit by bit: a column view makes two hundred rows whatever is to be seen, and
 * all at once they take many frames. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* (transfer full): the first rows of `model` (transfer full), then more of them between frames,
 * then all. */
GtkSliceListModel *lig_gradual_new (GListModel *model);

/* The rows are made already, or wanted now. */
void lig_gradual_finish (GtkSliceListModel *self);

/* The model is about to be another. */
void lig_gradual_restart (GtkSliceListModel *self);

G_END_DECLS
