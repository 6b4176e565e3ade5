/* SPDX-License-Identifier: MIT */
/* A layout of a box: columns of equal width, as many as fit, and further rows below. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_COLUMNS (lig_columns_get_type ())
G_DECLARE_FINAL_TYPE (LigColumns, lig_columns, LIG, COLUMNS, GtkLayoutManager)

/* Lays out the visible children of a box, with this space between them. */
void lig_columns_use (GtkBox *box, int spacing);

G_END_DECLS
