/* SPDX-License-Identifier: MIT */
/* The selected runs. */
#include "ui/history/history-page.h"

LigStore *
lig_history_get_store (LigHistoryPage *self)
{
  return lig_session_get_store (lig_page_get_session (LIG_PAGE (self)));
}

GtkBitset *
lig_history_get_positions (LigHistoryPage *self)
{
  return gtk_selection_model_get_selection (GTK_SELECTION_MODEL (self->selection));
}

GArray *
lig_history_get_selected (LigHistoryPage *self)
{
  g_autoptr (GtkBitset) selected = lig_history_get_positions (self);
  GArray *keys = g_array_new (FALSE, FALSE, sizeof (gint64));
  GtkBitsetIter iter;
  guint position;
  gboolean more = gtk_bitset_iter_init_first (&iter, selected, &position);
  for (; more; more = gtk_bitset_iter_next (&iter, &position)) {
    gint64 key = lig_run_list_get_key (self->list, position);
    g_array_append_val (keys, key);
  }
  return keys;
}

LigRunItem *
lig_history_get_only (LigHistoryPage *self)
{
  g_autoptr (GtkBitset) selected = lig_history_get_positions (self);
  if (gtk_bitset_get_size (selected) != 1)
    return NULL;
  return g_list_model_get_item (G_LIST_MODEL (self->list), gtk_bitset_get_minimum (selected));
}
