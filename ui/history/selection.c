/* SPDX-License-Identifier: MIT */
/* The selected runs. */
#include "ui/history/history-page.h"
#include "ui/history/run-question.h"

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
  g_autoptr (GHashTable) seen = lig_run_keys_new ();
  gboolean more = gtk_bitset_iter_init_first (&iter, selected, &position);
  for (; more; more = gtk_bitset_iter_next (&iter, &position)) {
    g_autoptr (GArray) row = g_array_new (FALSE, FALSE, sizeof (gint64));
    lig_run_list_append_keys (self->list, position, row);
    /* A run may be selected by itself and with its fold. */
    for (guint i = 0; i < row->len; i++) {
      gint64 key = g_array_index (row, gint64, i);
      if (g_hash_table_contains (seen, &key))
        continue;
      lig_run_keys_add (seen, key);
      g_array_append_val (keys, key);
    }
  }
  return keys;
}

static LigRunItem *
get_only_row (LigHistoryPage *self)
{
  g_autoptr (GtkBitset) selected = lig_history_get_positions (self);
  if (gtk_bitset_get_size (selected) != 1)
    return NULL;
  return g_list_model_get_item (G_LIST_MODEL (self->list), gtk_bitset_get_minimum (selected));
}

char *
lig_history_get_sweep (LigHistoryPage *self)
{
  g_autoptr (LigRunItem) item = get_only_row (self);
  const LigRunFold *fold = item ? lig_run_item_get_fold (item) : NULL;
  const LigRunRow *row = item && !fold ? lig_run_item_get_row (item) : NULL;
  return fold ? g_strdup (fold->sweep) : row && row->point >= 0 ? g_strdup (row->sweep) : NULL;
}

LigRunItem *
lig_history_get_only (LigHistoryPage *self)
{
  g_autoptr (LigRunItem) item = get_only_row (self);
  return item && !lig_run_item_get_fold (item) ? g_steal_pointer (&item) : NULL;
}
