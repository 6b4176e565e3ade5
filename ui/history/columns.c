/* SPDX-License-Identifier: MIT */
/* The columns of the history. GTK 4.8 has no function that returns the column by which a view is
 * sorted, so its sorter compares two items, and the first column that is called is that column. */
#include "ui/history/columns.h"

#include "ui/history/column-kinds.h"
#include "ui/history/format.h"

#include <glib/gi18n.h>
#include <string.h>

struct _LigHistoryColumns {
  GObject parent_instance;
  GtkColumnView *view; /* not owned: it outlives this */
  LigRunList *list;
  GSettings *settings;
  GSimpleActionGroup *actions;
  GHashTable *made; /* name to GtkColumnViewColumn */
  gboolean loading;
  guint save_source, align_source;
};

G_DEFINE_FINAL_TYPE (LigHistoryColumns, lig_history_columns, G_TYPE_OBJECT)

enum { MENU, STAR, N_SIGNALS };
static guint signals[N_SIGNALS];

/* --- Cells --------------------------------------------------------------------------------- */

static gboolean
is_star (const LigHistoryColumn *column)
{
  return column == lig_history_column_star ();
}

/* Data of a cell's widget. */
typedef struct {
  LigHistoryColumns *self;
  const LigHistoryColumn *column;
  GtkListItem *item;
  GtkWidget *icon, *text; /* only the status has the icon */
  gulong handler;
  gboolean updating;
} Cell;

static G_DEFINE_QUARK (lig - history - cell, cell)

  static void show_text (Cell *cell, const LigRunRow *row)
{
  g_autofree char *text = row ? lig_history_column_text (cell->column, row) : g_strdup ("…");
  gtk_inscription_set_text (GTK_INSCRIPTION (cell->text), text);
  if (!cell->icon)
    return;
  const char *status = row ? row->status : "";
  const char *class[] = {"history-status", status, NULL};
  gtk_image_set_from_icon_name (GTK_IMAGE (cell->icon),
                                row ? lig_history_status_icon (status) : NULL);
  gtk_widget_set_css_classes (cell->icon, class);
}

static void
show_star (Cell *cell, const LigRunRow *row)
{
  gboolean starred = row && row->starred;
  cell->updating = TRUE;
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (cell->text), starred);
  cell->updating = FALSE;
  gtk_button_set_icon_name (GTK_BUTTON (cell->text),
                            starred ? "starred-symbolic" : "non-starred-symbolic");
}

static void
show (Cell *cell)
{
  LigRunItem *item = gtk_list_item_get_item (cell->item);
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  if (!is_star (cell->column))
    show_text (cell, row);
  else
    show_star (cell, row);
}

static void
toggle_star (GtkToggleButton *button, Cell *cell)
{
  if (!cell->updating)
    g_signal_emit (cell->self, signals[STAR], 0, gtk_list_item_get_position (cell->item));
}

/* Returns the cell at a point of the view. One controller serves all cells, because there are
 * thousands.
 */
static Cell *
find_cell (LigHistoryColumns *self, double x, double y)
{
  GtkWidget *widget = gtk_widget_pick (GTK_WIDGET (self->view), x, y, GTK_PICK_DEFAULT);
  for (; widget && widget != GTK_WIDGET (self->view); widget = gtk_widget_get_parent (widget)) {
    Cell *cell = g_object_get_qdata (G_OBJECT (widget), cell_quark ());
    GtkWidget *inner = cell ? NULL : gtk_widget_get_first_child (widget);
    if (inner && !cell)
      cell = g_object_get_qdata (G_OBJECT (inner), cell_quark ());
    if (cell)
      return cell;
  }
  return NULL;
}

static void
ask_for_menu (GtkGestureClick *gesture, int presses, double x, double y, LigHistoryColumns *self)
{
  Cell *cell = find_cell (self, x, y);
  if (!cell)
    return;
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  g_signal_emit (self, signals[MENU], 0, self->view, gtk_list_item_get_position (cell->item), x, y);
}

/* GTK 4.8 has one click gesture in the row and another in the cell, so a Control click selects the
 * row and deselects it again. */
static void
toggle_row (GtkGestureClick *gesture, int presses, double x, double y, LigHistoryColumns *self)
{
  GdkModifierType held =
    gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  Cell *cell = find_cell (self, x, y);
  if (!cell || (held & (GDK_CONTROL_MASK | GDK_SHIFT_MASK)) != GDK_CONTROL_MASK)
    return;
  GtkSelectionModel *model = gtk_column_view_get_model (self->view);
  guint position = gtk_list_item_get_position (cell->item);
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  if (gtk_selection_model_is_selected (model, position))
    gtk_selection_model_unselect_item (model, position);
  else
    gtk_selection_model_select_item (model, position, FALSE);
  gtk_widget_grab_focus (gtk_widget_get_parent (cell->text));
}

static gboolean
is_cut (GtkWidget *widget, const char *text)
{
  int width;
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, text);
  pango_layout_get_pixel_size (layout, &width, NULL);
  return width > gtk_widget_get_width (widget);
}

/* Returns the tooltip: the text that the cell truncates or omits. */
static gboolean
show_tip (
  GtkWidget *view, int x, int y, gboolean keyboard, GtkTooltip *tip, LigHistoryColumns *self)
{
  Cell *cell = keyboard ? NULL : find_cell (self, x, y);
  LigRunItem *item = cell ? gtk_list_item_get_item (cell->item) : NULL;
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  if (!row)
    return FALSE;
  const LigHistoryColumn *column = cell->column;
  g_autofree char *text = is_star (column)
                            ? g_strdup (row->starred ? _ ("Remove the star") : _ ("Add a star"))
                          : column->tip ? column->tip (row)
                                        : lig_history_column_text (column, row);
  if (!text || !*text || (!is_star (column) && !column->tip && !is_cut (cell->text, text)))
    return FALSE;
  gtk_tooltip_set_text (tip, text);
  return TRUE;
}

static GtkWidget *
make_star (Cell *cell)
{
  cell->text = gtk_toggle_button_new ();
  gtk_widget_add_css_class (cell->text, "flat");
  gtk_widget_add_css_class (cell->text, "history-star");
  gtk_widget_set_halign (cell->text, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (cell->text, GTK_ALIGN_CENTER);
  gtk_widget_set_focus_on_click (cell->text, FALSE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (cell->text), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Star"), -1);
  g_signal_connect (cell->text, "toggled", G_CALLBACK (toggle_star), cell);
  return cell->text;
}

static GtkWidget *
make_text (Cell *cell)
{
  gboolean numeric = cell->column->numeric;
  cell->text = gtk_inscription_new (NULL);
  gtk_inscription_set_text_overflow (GTK_INSCRIPTION (cell->text),
                                     GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END);
  gtk_inscription_set_xalign (GTK_INSCRIPTION (cell->text), numeric ? 1 : 0);
  gtk_inscription_set_min_lines (GTK_INSCRIPTION (cell->text), 1);
  gtk_inscription_set_nat_lines (GTK_INSCRIPTION (cell->text), 1);
  gtk_widget_set_hexpand (cell->text, TRUE);
  gtk_widget_set_valign (cell->text, GTK_ALIGN_CENTER);
  if (numeric)
    gtk_widget_add_css_class (cell->text, "numeric");
  if (strcmp (cell->column->name, "status") != 0)
    return cell->text;
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  cell->icon = gtk_image_new ();
  gtk_accessible_update_state (GTK_ACCESSIBLE (cell->icon), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
  gtk_box_append (GTK_BOX (box), cell->icon);
  gtk_box_append (GTK_BOX (box), cell->text);
  return box;
}

static void
set_up_cell (GtkSignalListItemFactory *factory, GtkListItem *item, LigHistoryColumns *self)
{
  Cell *cell = g_new0 (Cell, 1);
  cell->self = self;
  cell->column = g_object_get_data (G_OBJECT (factory), "column");
  cell->item = item;
  GtkWidget *widget = is_star (cell->column) ? make_star (cell) : make_text (cell);
  g_object_set_qdata (G_OBJECT (widget), cell_quark (), cell);
  g_object_set_qdata_full (G_OBJECT (item), cell_quark (), cell, g_free);
  gtk_list_item_set_child (item, widget);
}

static void
bind_cell (GtkSignalListItemFactory *factory, GtkListItem *item, LigHistoryColumns *self)
{
  Cell *cell = g_object_get_qdata (G_OBJECT (item), cell_quark ());
  cell->handler =
    g_signal_connect_swapped (gtk_list_item_get_item (item), "changed", G_CALLBACK (show), cell);
  show (cell);
}

static void
unbind_cell (GtkSignalListItemFactory *factory, GtkListItem *item, LigHistoryColumns *self)
{
  Cell *cell = g_object_get_qdata (G_OBJECT (item), cell_quark ());
  if (cell->handler)
    g_signal_handler_disconnect (gtk_list_item_get_item (item), cell->handler);
  cell->handler = 0;
}

/* --- Sorting ------------------------------------------------------------------------------- */

static const LigHistoryColumn *asked_first;

static int
note_asked (gconstpointer a, gconstpointer b, gpointer column)
{
  if (!asked_first)
    asked_first = column;
  return -1;
}

static void
sort (GtkSorter *sorter, GtkSorterChange change, LigHistoryColumns *self)
{
  g_autoptr (GObject) one = g_object_new (LIG_TYPE_RUN_ITEM, NULL);
  g_autoptr (GObject) other = g_object_new (LIG_TYPE_RUN_ITEM, NULL);
  asked_first = NULL;
  GtkOrdering ordering = gtk_sorter_compare (sorter, one, other);
  if (asked_first)
    lig_run_list_set_order (self->list, asked_first->order,
                            asked_first->setting ? asked_first->setting->name : NULL,
                            ordering == GTK_ORDERING_LARGER);
}

/* --- Columns ------------------------------------------------------------------------------- */

static gboolean
save (gpointer data)
{
  LigHistoryColumns *self = data;
  GListModel *shown = gtk_column_view_get_columns (self->view);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  GVariantBuilder widths;
  self->save_source = 0;
  g_variant_builder_init (&widths, G_VARIANT_TYPE ("a{si}"));
  for (guint i = 0; i < g_list_model_get_n_items (shown); i++) {
    g_autoptr (GtkColumnViewColumn) made = g_list_model_get_item (shown, i);
    const LigHistoryColumn *column = g_object_get_data (G_OBJECT (made), "column");
    if (column == lig_history_column_star ())
      continue;
    g_strv_builder_add (names, column->name);
    g_variant_builder_add (&widths, "{si}", column->name,
                           gtk_column_view_column_get_fixed_width (made));
  }
  g_auto (GStrv) list = g_strv_builder_end (names);
  g_settings_set_strv (self->settings, "history-columns", (const char *const *) list);
  g_settings_set_value (self->settings, "history-widths", g_variant_builder_end (&widths));
  return G_SOURCE_REMOVE;
}

static void
save_soon (LigHistoryColumns *self)
{
  if (!self->loading && !self->save_source)
    self->save_source = g_timeout_add (300, save, self);
}

/* Returns the minimum width of a column: that of its title and of the longest number, because a
 * number without its last digits is a different number. */
static int
get_min_width (LigHistoryColumns *self, const LigHistoryColumn *column)
{
  enum { PADDING = 24, ARROW = 20 };
  int title = 0, number = 0;
  if (is_star (column))
    return 40;
  g_autoptr (PangoLayout) layout =
    gtk_widget_create_pango_layout (GTK_WIDGET (self->view), lig_history_column_title (column));
  pango_layout_get_pixel_size (layout, &title, NULL);
  pango_layout_set_text (layout, "-0.000e-00", -1);
  pango_layout_get_pixel_size (layout, &number, NULL);
  return MAX (column->numeric ? number : 0, MIN (title + ARROW, 160)) + PADDING;
}

/* Returns the width for the current text size: column widths are given for 96 dpi. */
static int
scale_width (int width)
{
  int dpi = -1;
  g_object_get (gtk_settings_get_default (), "gtk-xft-dpi", &dpi, NULL);
  return dpi > 0 ? (int) ((gint64) width * dpi / (96 * PANGO_SCALE)) : width;
}

static void
column_sized (LigHistoryColumns *self, GParamSpec *spec, GtkColumnViewColumn *made)
{
  const LigHistoryColumn *column = g_object_get_data (G_OBJECT (made), "column");
  int min = get_min_width (self, column);
  int width = gtk_column_view_column_get_fixed_width (made);
  if (width >= 0 && width < min)
    gtk_column_view_column_set_fixed_width (made, min);
  save_soon (self);
}

static GtkColumnViewColumn *
make_column (LigHistoryColumns *self, const LigHistoryColumn *column)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_object_set_data (G_OBJECT (factory), "column", (gpointer) column);
  g_signal_connect_object (factory, "setup", G_CALLBACK (set_up_cell), self, 0);
  g_signal_connect_object (factory, "bind", G_CALLBACK (bind_cell), self, 0);
  g_signal_connect_object (factory, "unbind", G_CALLBACK (unbind_cell), self, 0);
  const char *title = is_star (column) ? "★" : lig_history_column_title (column);
  GtkColumnViewColumn *made = gtk_column_view_column_new (title, factory);
  g_object_set_data (G_OBJECT (made), "column", (gpointer) column);
  gtk_column_view_column_set_resizable (made, !is_star (column));
  if (column->order != LIG_RUN_N_ORDERS) {
    GtkCustomSorter *sorter = gtk_custom_sorter_new (note_asked, (gpointer) column, NULL);
    gtk_column_view_column_set_sorter (made, GTK_SORTER (sorter));
    g_object_unref (sorter);
  }
  g_autoptr (GVariant) widths = g_settings_get_value (self->settings, "history-widths");
  int width = scale_width (column->width);
  g_variant_lookup (widths, column->name, "i", &width);
  gtk_column_view_column_set_fixed_width (made, CLAMP (width, get_min_width (self, column), 2000));
  gtk_column_view_column_set_expand (made, strcmp (column->name, "name") == 0);
  g_signal_connect_object (made, "notify::fixed-width", G_CALLBACK (column_sized), self,
                           G_CONNECT_SWAPPED);
  g_hash_table_insert (self->made, (gpointer) column->name, made);
  return made;
}

/* Right-aligns the titles of numeric columns. GTK 4.8 has no function for it: the titles are the
 * children of the view's first child, in the order of the columns. */
static gboolean
align_titles (gpointer data)
{
  LigHistoryColumns *self = data;
  GListModel *columns = gtk_column_view_get_columns (self->view);
  GtkWidget *header = gtk_widget_get_first_child (GTK_WIDGET (self->view));
  GtkWidget *title = header ? gtk_widget_get_first_child (header) : NULL;
  self->align_source = 0;
  for (guint i = 0; title && i < g_list_model_get_n_items (columns); i++) {
    g_autoptr (GtkColumnViewColumn) made = g_list_model_get_item (columns, i);
    const LigHistoryColumn *column = g_object_get_data (G_OBJECT (made), "column");
    GtkWidget *box = gtk_widget_get_first_child (title);
    if (box)
      gtk_widget_set_halign (box, column->numeric ? GTK_ALIGN_END : GTK_ALIGN_FILL);
    title = gtk_widget_get_next_sibling (title);
  }
  return G_SOURCE_REMOVE;
}

static void
align_titles_soon (LigHistoryColumns *self)
{
  if (!self->align_source)
    self->align_source = g_idle_add (align_titles, self);
}

static GtkColumnViewColumn *
get_column (LigHistoryColumns *self, const LigHistoryColumn *column)
{
  GtkColumnViewColumn *made = g_hash_table_lookup (self->made, column->name);
  return made ? made : make_column (self, column);
}

static gboolean
is_shown (LigHistoryColumns *self, const LigHistoryColumn *column)
{
  GtkColumnViewColumn *made = g_hash_table_lookup (self->made, column->name);
  return made && gtk_column_view_column_get_column_view (made) == self->view;
}

static void
show_column (GSimpleAction *action, GVariant *state, gpointer data)
{
  LigHistoryColumns *self = data;
  const LigHistoryColumn *column = lig_history_column_find (g_action_get_name (G_ACTION (action)));
  gboolean wanted = g_variant_get_boolean (state);
  guint shown = g_list_model_get_n_items (gtk_column_view_get_columns (self->view));
  if (wanted == is_shown (self, column) || (!wanted && shown <= 2))
    return;
  if (wanted)
    gtk_column_view_append_column (self->view, get_column (self, column));
  else
    gtk_column_view_remove_column (self->view, get_column (self, column));
  g_simple_action_set_state (action, state);
  save_soon (self);
}

static void
load (LigHistoryColumns *self)
{
  g_auto (GStrv) names = g_settings_get_strv (self->settings, "history-columns");
  const LigHistoryColumn *column;
  self->loading = TRUE;
  gtk_column_view_append_column (self->view, get_column (self, lig_history_column_star ()));
  for (char **name = names; *name; name++) {
    column = lig_history_column_find (*name);
    if (column && !is_shown (self, column))
      gtk_column_view_append_column (self->view, get_column (self, column));
  }
  if (g_list_model_get_n_items (gtk_column_view_get_columns (self->view)) == 1)
    gtk_column_view_append_column (self->view, get_column (self, lig_history_column_find ("name")));
  for (guint i = 0; (column = lig_history_column_nth (i)); i++) {
    GSimpleAction *action = g_simple_action_new_stateful (
      column->name, NULL, g_variant_new_boolean (is_shown (self, column)));
    g_signal_connect_object (action, "change-state", G_CALLBACK (show_column), self, 0);
    g_action_map_add_action (G_ACTION_MAP (self->actions), G_ACTION (action));
    g_object_unref (action);
  }
  self->loading = FALSE;
}

GActionGroup *
lig_history_columns_get_actions (LigHistoryColumns *self)
{
  return G_ACTION_GROUP (self->actions);
}

GMenuModel *
lig_history_columns_make_menu (LigHistoryColumns *self)
{
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenu) settings = g_menu_new ();
  const LigHistoryColumn *column;
  for (guint i = 0; (column = lig_history_column_nth (i)); i++) {
    g_autofree char *action = g_strconcat ("columns.", column->name, NULL);
    g_menu_append (column->setting ? settings : menu, lig_history_column_title (column), action);
  }
  g_menu_append_submenu (menu, _ ("Settings"), G_MENU_MODEL (settings));
  return G_MENU_MODEL (menu);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_history_columns_dispose (GObject *object)
{
  LigHistoryColumns *self = LIG_HISTORY_COLUMNS (object);
  g_clear_handle_id (&self->save_source, g_source_remove);
  g_clear_handle_id (&self->align_source, g_source_remove);
  g_clear_object (&self->list);
  g_clear_object (&self->settings);
  g_clear_object (&self->actions);
  g_clear_pointer (&self->made, g_hash_table_unref);
  G_OBJECT_CLASS (lig_history_columns_parent_class)->dispose (object);
}

static void
lig_history_columns_class_init (LigHistoryColumnsClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_history_columns_dispose;
  signals[MENU] =
    g_signal_new ("menu", LIG_TYPE_HISTORY_COLUMNS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                  G_TYPE_NONE, 4, GTK_TYPE_WIDGET, G_TYPE_UINT, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
  signals[STAR] = g_signal_new ("star", LIG_TYPE_HISTORY_COLUMNS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
lig_history_columns_init (LigHistoryColumns *self)
{
  self->actions = g_simple_action_group_new ();
  self->made = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
}

LigHistoryColumns *
lig_history_columns_new (GtkColumnView *view, LigRunList *list, GSettings *settings)
{
  LigHistoryColumns *self = g_object_new (LIG_TYPE_HISTORY_COLUMNS, NULL);
  self->view = view;
  self->list = g_object_ref (list);
  self->settings = g_object_ref (settings);
  load (self);
  gtk_column_view_sort_by_column (view, get_column (self, lig_history_column_find ("started")),
                                  GTK_SORT_DESCENDING);
  GtkGesture *click = gtk_gesture_click_new ();
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), GDK_BUTTON_SECONDARY);
  g_signal_connect_object (click, "pressed", G_CALLBACK (ask_for_menu), self, 0);
  gtk_widget_add_controller (GTK_WIDGET (view), GTK_EVENT_CONTROLLER (click));
  GtkGesture *toggle = gtk_gesture_click_new ();
  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (toggle), GTK_PHASE_CAPTURE);
  g_signal_connect_object (toggle, "pressed", G_CALLBACK (toggle_row), self, 0);
  gtk_widget_add_controller (GTK_WIDGET (view), GTK_EVENT_CONTROLLER (toggle));
  gtk_widget_set_has_tooltip (GTK_WIDGET (view), TRUE);
  g_signal_connect_object (view, "query-tooltip", G_CALLBACK (show_tip), self, 0);
  g_signal_connect_object (gtk_column_view_get_sorter (view), "changed", G_CALLBACK (sort), self,
                           0);
  g_signal_connect_object (gtk_column_view_get_columns (view), "items-changed",
                           G_CALLBACK (save_soon), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_column_view_get_columns (view), "items-changed",
                           G_CALLBACK (align_titles_soon), self, G_CONNECT_SWAPPED);
  align_titles_soon (self);
  return self;
}
