/* SPDX-License-Identifier: MIT */
/* The columns of the history: what they show, how they sort, which of them are there. */
#pragma once

#include "ui/history/run-list.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_HISTORY_COLUMNS (lig_history_columns_get_type ())
G_DECLARE_FINAL_TYPE (LigHistoryColumns, lig_history_columns, LIG, HISTORY_COLUMNS, GObject)

/**
 * lig_history_columns_new:
 *
 * Gives the view its columns after the settings `history-columns` and `history-widths`, and writes
 * them when a person moves, sizes, adds or removes one. A header sorts `list`. The action group
 * has a boolean for each column.
 *
 * Signals: `menu` with a cell's widget, the position of its row and x and y of a pointer in the
 * widget, where a person asked for a menu. `star` with a position.
 */
LigHistoryColumns *
lig_history_columns_new (GtkColumnView *view, LigRunList *list, GSettings *settings);

GActionGroup *lig_history_columns_get_actions (LigHistoryColumns *self);

/* (transfer full): `columns.NAME` for each. */
GMenuModel *lig_history_columns_make_menu (LigHistoryColumns *self);

G_END_DECLS
