/* SPDX-License-Identifier: MIT */
#include "ui/history/fit-columns.h"

#include "ui/history/column-kinds.h"

/* A wider list scrolls instead. */
enum { NARROW = 800 };

/* The columns that are omitted, the least important one first. Settings that differ are kept. */
static const char *const spared[] = {"uuid",     "types", "recipe",  "kind",    "device",
                                     "notes",    "tags",  "steps",   "step-ms", "duration",
                                     "accuracy", "loss",  "started", "status"};

static GtkColumnViewColumn *
find (GtkColumnView *view, const char *name)
{
  GListModel *columns = gtk_column_view_get_columns (view);
  for (guint i = 0; i < g_list_model_get_n_items (columns); i++) {
    g_autoptr (GtkColumnViewColumn) made = g_list_model_get_item (columns, i);
    const LigHistoryColumn *column = g_object_get_data (G_OBJECT (made), "column");
    if (g_str_equal (column->name, name))
      return made;
  }
  return NULL;
}

void
lig_history_fit_columns (GtkColumnView *view, gboolean narrow)
{
  GListModel *columns = gtk_column_view_get_columns (view);
  GtkAdjustment *across = gtk_scrollable_get_hadjustment (GTK_SCROLLABLE (view));
  int room = across ? (int) gtk_adjustment_get_page_size (across) : 0, wanted = 0;
  narrow = narrow && room > 0 && room < NARROW;
  for (guint i = 0; i < g_list_model_get_n_items (columns); i++) {
    g_autoptr (GtkColumnViewColumn) made = g_list_model_get_item (columns, i);
    wanted += MAX (gtk_column_view_column_get_fixed_width (made), 0);
    if (!narrow)
      gtk_column_view_column_set_visible (made, TRUE);
  }
  for (guint i = 0; narrow && i < G_N_ELEMENTS (spared); i++) {
    GtkColumnViewColumn *made = find (view, spared[i]);
    gboolean fits = wanted <= room;
    if (!made)
      continue;
    gtk_column_view_column_set_visible (made, fits);
    if (!fits)
      wanted -= MAX (gtk_column_view_column_get_fixed_width (made), 0);
  }
}
