/* SPDX-License-Identifier: MIT */
/* Columns are created once per sweep; rows are replaced when a run ends. */
#include "ui/history/sweep-table.h"

#include "ui/history/format.h"
#include "ui/widgets/figures.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

/* --- Rows ---------------------------------------------------------------------------------- */

#define LIG_TYPE_SWEEP_ITEM (lig_sweep_item_get_type ())
G_DECLARE_FINAL_TYPE (LigSweepItem, lig_sweep_item, LIG, SWEEP_ITEM, GObject)

struct _LigSweepItem {
  GObject parent_instance;
  GStrv cells;
  guint best;
  gboolean first; /* the best settings of the sweep */
};

G_DEFINE_FINAL_TYPE (LigSweepItem, lig_sweep_item, G_TYPE_OBJECT)

static void
lig_sweep_item_finalize (GObject *object)
{
  g_strfreev (LIG_SWEEP_ITEM (object)->cells);
  G_OBJECT_CLASS (lig_sweep_item_parent_class)->finalize (object);
}

static void
lig_sweep_item_class_init (LigSweepItemClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_sweep_item_finalize;
}

static void
lig_sweep_item_init (LigSweepItem *self)
{
}

static char *
format_mean (const LigSweepSummary *summary)
{
  g_autofree char *mean = lig_history_number (summary->mean);
  if (!isfinite (summary->std))
    return g_steal_pointer (&mean);
  return g_strdup_printf ("%s ± %.2g", mean, summary->std);
}

static char *
format_range (const LigSweepSummary *summary)
{
  if (summary->count < 2)
    return g_strdup ("–");
  g_autofree char *min = lig_history_number (summary->min);
  g_autofree char *max = lig_history_number (summary->greatest);
  return g_strdup_printf (_ ("%s to %s"), min, max);
}

/* Returns the number of results, or the state of the only run. */
static char *
format_runs (const LigSweepSummary *summary, const LigSweepPoint *point)
{
  if (summary->points == 1 && summary->count == 0)
    return g_strdup (point->status ? lig_history_status_word (point->status) : _ ("missing"));
  if (summary->count == summary->points)
    return g_strdup_printf ("%u", summary->count);
  return g_strdup_printf (_ ("%u of %u"), summary->count, summary->points);
}

static char *
format_accuracy (const LigSweepSummary *summary)
{
  return isfinite (summary->accuracy) ? g_strdup_printf ("%.1f %%", 100 * summary->accuracy)
                                      : g_strdup ("–");
}

static LigSweepItem *
make_item (LigSweep *sweep, const LigSweepSummary *summary, gboolean accuracy)
{
  guint n_axes, n_points;
  const LigSweepAxis *axes = lig_sweep_get_axes (sweep, &n_axes);
  const LigSweepPoint *points = lig_sweep_get_points (sweep, &n_points);
  g_autoptr (GPtrArray) cells = g_ptr_array_new ();
  LigSweepItem *item = g_object_new (LIG_TYPE_SWEEP_ITEM, NULL);
  item->best = summary->best;
  item->first = (int) summary->best == lig_sweep_find_best (sweep);
  for (guint i = 0; i < n_axes; i++)
    if (!g_str_equal (axes[i].key, "seed"))
      g_ptr_array_add (cells, g_strdup (summary->values[i]));
  g_ptr_array_add (cells, format_mean (summary));
  g_ptr_array_add (cells, format_range (summary));
  if (accuracy)
    g_ptr_array_add (cells, format_accuracy (summary));
  g_ptr_array_add (cells, format_runs (summary, &points[summary->best]));
  g_ptr_array_add (cells, isfinite (summary->step_ms) ? lig_figure_time (summary->step_ms / 1e3)
                                                      : g_strdup ("–"));
  g_ptr_array_add (cells, NULL);
  item->cells = (GStrv) g_ptr_array_free (g_steal_pointer (&cells), FALSE);
  return item;
}

/* --- The table ----------------------------------------------------------------------------- */

struct _LigSweepTable {
  AdwBin parent_instance;
  GtkColumnView *view;
  GtkSingleSelection *selection;
  GListStore *items;
  char *sweep; /* the uuid for which the columns were made */
  guint align_source;
  gboolean updating;
};

/* The position of the accuracy among the result columns; only classification has it. */
enum { ACCURACY = 2 };

G_DEFINE_FINAL_TYPE (LigSweepTable, lig_sweep_table, ADW_TYPE_BIN)

static guint chosen;

static void
lig_sweep_table_dispose (GObject *object)
{
  LigSweepTable *self = LIG_SWEEP_TABLE (object);
  g_clear_handle_id (&self->align_source, g_source_remove);
  g_clear_object (&self->items);
  g_clear_pointer (&self->sweep, g_free);
  G_OBJECT_CLASS (lig_sweep_table_parent_class)->dispose (object);
}

static void
lig_sweep_table_class_init (LigSweepTableClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_sweep_table_dispose;
  chosen = g_signal_new ("chosen", LIG_TYPE_SWEEP_TABLE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                         G_TYPE_NONE, 1, G_TYPE_INT);
}

int
lig_sweep_table_get_chosen (LigSweepTable *self)
{
  LigSweepItem *item = gtk_single_selection_get_selected_item (self->selection);
  return item ? (int) item->best : -1;
}

guint
lig_sweep_table_count (LigSweepTable *self)
{
  return g_list_model_get_n_items (G_LIST_MODEL (self->items));
}

static void
selection_changed (LigSweepTable *self)
{
  if (!self->updating)
    g_signal_emit (self, chosen, 0, lig_sweep_table_get_chosen (self));
}

static void
set_up_cell (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer column)
{
  GtkWidget *label = gtk_inscription_new (NULL);
  gtk_inscription_set_xalign (GTK_INSCRIPTION (label), 1);
  gtk_inscription_set_min_chars (GTK_INSCRIPTION (label), 6);
  gtk_inscription_set_nat_chars (GTK_INSCRIPTION (label), 12);
  gtk_widget_add_css_class (label, "numeric");
  gtk_list_item_set_child (item, label);
}

static void
bind_cell (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer column)
{
  LigSweepItem *row = gtk_list_item_get_item (item);
  guint index = GPOINTER_TO_UINT (column);
  /* The picture emphasizes the same settings in the same colour. */
  if (row->first)
    gtk_widget_add_css_class (gtk_list_item_get_child (item), "sweep-best");
  else
    gtk_widget_remove_css_class (gtk_list_item_get_child (item), "sweep-best");
  gtk_inscription_set_text (GTK_INSCRIPTION (gtk_list_item_get_child (item)),
                            index < g_strv_length (row->cells) ? row->cells[index] : NULL);
}

static void
add_column (LigSweepTable *self, const char *title, guint index, int width)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_signal_connect (factory, "setup", G_CALLBACK (set_up_cell), GUINT_TO_POINTER (index));
  g_signal_connect (factory, "bind", G_CALLBACK (bind_cell), GUINT_TO_POINTER (index));
  g_autoptr (GtkColumnViewColumn) column = gtk_column_view_column_new (title, factory);
  gtk_column_view_column_set_resizable (column, TRUE);
  gtk_column_view_column_set_fixed_width (column, width);
  gtk_column_view_column_set_expand (column, width < 0);
  gtk_column_view_append_column (self->view, column);
}

/* Aligns the titles with the figures below them once the header has its buttons. */
static gboolean
align_titles (gpointer data)
{
  LigSweepTable *self = data;
  GtkWidget *header = gtk_widget_get_first_child (GTK_WIDGET (self->view));
  self->align_source = 0;
  for (GtkWidget *title = gtk_widget_get_first_child (header); title;
       title = gtk_widget_get_next_sibling (title)) {
    GtkWidget *box = gtk_widget_get_first_child (title);
    if (box)
      gtk_widget_set_halign (box, GTK_ALIGN_END);
  }
  return G_SOURCE_REMOVE;
}

static void
make_columns (LigSweepTable *self, LigSweep *sweep, gboolean validation, gboolean accuracy)
{
  guint count, index = 0;
  const LigSweepAxis *axes = lig_sweep_get_axes (sweep, &count);
  GListModel *columns = gtk_column_view_get_columns (self->view);
  while (g_list_model_get_n_items (columns) > 0) {
    g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, 0);
    gtk_column_view_remove_column (self->view, column);
  }
  for (guint i = 0; i < count; i++)
    if (!g_str_equal (axes[i].key, "seed"))
      add_column (self, axes[i].key, index++, 120);
  const char *const titles[] = {validation ? _ ("Validation loss") : _ ("Loss"), _ ("Range"),
                                _ ("Accuracy"), _ ("Runs"), _ ("Step")};
  static const int widths[] = {160, 180, 100, 90, 110};
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    if (accuracy || i != ACCURACY)
      add_column (self, titles[i], index++, widths[i]);
  /* The rows extend to the edge of the window. */
  add_column (self, "", index, -1);
  if (!self->align_source)
    self->align_source = g_idle_add (align_titles, self);
}

void
lig_sweep_table_show (LigSweepTable *self, LigSweep *sweep)
{
  g_autoptr (GPtrArray) summaries = lig_sweep_summarize (sweep);
  const LigSweepSummary *first = summaries->len > 0 ? summaries->pdata[0] : NULL;
  gboolean validation = !first || first->validation || first->count == 0;
  gboolean accuracy = FALSE;
  for (guint i = 0; i < summaries->len; i++)
    accuracy = accuracy || isfinite (((const LigSweepSummary *) summaries->pdata[i])->accuracy);
  g_autofree char *key =
    g_strdup_printf ("%s %d %d", lig_sweep_get_uuid (sweep), validation, accuracy);
  int before = lig_sweep_table_get_chosen (self);
  guint selected = GTK_INVALID_LIST_POSITION;
  self->updating = TRUE;
  if (g_strcmp0 (self->sweep, key) != 0) {
    g_free (self->sweep);
    self->sweep = g_steal_pointer (&key);
    make_columns (self, sweep, validation, accuracy);
    before = -1;
  }
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < summaries->len; i++) {
    g_ptr_array_add (items, make_item (sweep, summaries->pdata[i], accuracy));
    if ((int) ((const LigSweepSummary *) summaries->pdata[i])->best == before)
      selected = i;
  }
  g_list_store_splice (self->items, 0, g_list_model_get_n_items (G_LIST_MODEL (self->items)),
                       items->pdata, items->len);
  gtk_single_selection_set_selected (self->selection, selected);
  self->updating = FALSE;
  selection_changed (self);
}

static void
lig_sweep_table_init (LigSweepTable *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  self->items = g_list_store_new (LIG_TYPE_SWEEP_ITEM);
  self->selection = gtk_single_selection_new (G_LIST_MODEL (g_object_ref (self->items)));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  self->view = GTK_COLUMN_VIEW (gtk_column_view_new (GTK_SELECTION_MODEL (self->selection)));
  gtk_column_view_set_show_row_separators (self->view, TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->view), "data-table");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Results of the sweep"), -1);
  g_signal_connect_object (self->selection, "notify::selected", G_CALLBACK (selection_changed),
                           self, G_CONNECT_SWAPPED);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), GTK_WIDGET (self->view));
  gtk_widget_set_vexpand (scrolled, TRUE);
  adw_bin_set_child (ADW_BIN (self), scrolled);
}

GtkWidget *
lig_sweep_table_new (void)
{
  return g_object_new (LIG_TYPE_SWEEP_TABLE, NULL);
}
