/* SPDX-License-Identifier: MIT */
/* Omits columns for which a narrow list has no room. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Shows all columns of the view, whose data `column` is a LigHistoryColumn; with @narrow and in a
 * list of less than 800 pixels, only as many as fit without scrolling, the most important ones. */
void lig_history_fit_columns (GtkColumnView *view, gboolean narrow);

G_END_DECLS
