/* SPDX-License-Identifier: MIT */
/* The columns of the history: their texts, their order, and which of them are visible. */
#pragma once

#include "ui/history/run-list.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_HISTORY_COLUMNS (lig_history_columns_get_type ())
G_DECLARE_FINAL_TYPE (LigHistoryColumns, lig_history_columns, LIG, HISTORY_COLUMNS, GObject)

/**
 * lig_history_columns_new:
 *
 * Adds columns to the view from the settings `history-columns` and `history-widths`, and updates
 * these when the user moves, resizes, adds or removes one. As long as the user has not chosen
 * columns, up to three more appear after the name for settings that differ among the runs of
 * `list`. Clicking a header sorts `list`. The action group has a boolean for each column, and
 * `automatic`, which is false once the user has chosen columns.
 *
 * Signals: `menu` with a cell's widget, the position of its row, and the place in the widget at
 * which the user asked for a menu. `star` and `fold` with a position.
 */
LigHistoryColumns *
lig_history_columns_new (GtkColumnView *view, LigRunList *list, GSettings *settings);

GActionGroup *lig_history_columns_get_actions (LigHistoryColumns *self);

/* Returns: (transfer full): the actions `columns.NAME`. */
GMenuModel *lig_history_columns_make_menu (LigHistoryColumns *self);

G_END_DECLS
