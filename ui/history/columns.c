/* SPDX-License-Identifier: MIT */
/* The columns of the history. GTK 4.8 has no function that returns the column by which a view is
 * sorted, so its sorter compares two items, and the first column that is called is that column. */
#include "ui/history/columns.h"

#include "ui/history/column-kinds.h"
#include "ui/history/fit-columns.h"
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
  GPtrArray *added; /* LigHistoryColumn: of settings that differ, which the user did not choose */
  gboolean loading, automatic;
  guint save_source, align_source, fit_source;
};

G_DEFINE_FINAL_TYPE (LigHistoryColumns, lig_history_columns, G_TYPE_OBJECT)

enum { MENU, STAR, FOLD, N_SIGNALS };
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
  GtkWidget *expander;    /* of the name */
  gulong handler;
  gboolean updating;
} Cell;

static G_DEFINE_QUARK (lig - history - cell, cell)

  /* Opens and closes a fold; the runs inside are indented. */
  static void show_expander (Cell *cell, LigRunItem *item)
{
  gboolean fold = item && lig_run_item_get_fold (item);
  gtk_widget_set_visible (cell->expander, fold);
  gtk_widget_set_margin_start (cell->text, item && item->inner ? 30 : 0);
  if (!fold)
    return;
  gtk_button_set_icon_name (GTK_BUTTON (cell->expander),
                            item->open ? "pan-down-symbolic" : "pan-end-symbolic");
  gtk_accessible_update_property (GTK_ACCESSIBLE (cell->expander), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  item->open ? _ ("Fold the runs") : _ ("List the runs"), -1);
  gtk_accessible_update_state (GTK_ACCESSIBLE (cell->expander), GTK_ACCESSIBLE_STATE_EXPANDED,
                               item->open, -1);
}

static char *
get_text (const LigHistoryColumn *column, LigRunItem *item)
{
  const LigRunFold *fold = item ? lig_run_item_get_fold (item) : NULL;
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  if (!row)
    return g_strdup ("…");
  return fold ? lig_history_column_fold_text (column, fold, row)
              : lig_history_column_text (column, row);
}

static void
show_text (Cell *cell, LigRunItem *item)
{
  const LigRunFold *fold = item ? lig_run_item_get_fold (item) : NULL;
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  g_autofree char *text = get_text (cell->column, item);
  gtk_inscription_set_text (GTK_INSCRIPTION (cell->text), text);
  if (cell->expander)
    show_expander (cell, item);
  if (!cell->icon)
    return;
  const char *status = fold ? lig_history_fold_status (fold) : row ? row->status : "";
  const char *class[] = {"history-status", status, NULL};
  gtk_image_set_from_icon_name (GTK_IMAGE (cell->icon),
                                row ? lig_history_status_icon (status) : NULL);
  gtk_widget_set_css_classes (cell->icon, class);
}

static void
show_star (Cell *cell, LigRunItem *item)
{
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  gboolean starred = row && row->starred;
  gtk_widget_set_visible (cell->text, item && !lig_run_item_get_fold (item));
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
  if (!is_star (cell->column))
    show_text (cell, item);
  else
    show_star (cell, item);
}

static void
toggle_fold (GtkButton *button, Cell *cell)
{
  g_signal_emit (cell->self, signals[FOLD], 0, gtk_list_item_get_position (cell->item));
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
  const LigRunFold *fold = lig_run_item_get_fold (item);
  g_autofree char *about = fold ? lig_history_column_fold_tip (column, fold) : NULL;
  if (about)
    gtk_tooltip_set_text (tip, about);
  if (about || (fold && is_star (column)))
    return about != NULL;
  g_autofree char *text = fold ? lig_history_column_fold_text (column, fold, row)
                          : is_star (column)
                            ? g_strdup (row->starred ? _ ("Remove the star") : _ ("Add a star"))
                          : column->tip ? column->tip (row)
                                        : lig_history_column_text (column, row);
  if (!text || !*text ||
      (!is_star (column) && (fold || !column->tip) && !is_cut (cell->text, text)))
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
make_name (Cell *cell)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  cell->expander = gtk_button_new ();
  gtk_widget_add_css_class (cell->expander, "flat");
  gtk_widget_add_css_class (cell->expander, "history-star");
  gtk_widget_set_valign (cell->expander, GTK_ALIGN_CENTER);
  gtk_widget_set_focus_on_click (cell->expander, FALSE);
  g_signal_connect (cell->expander, "clicked", G_CALLBACK (toggle_fold), cell);
  gtk_box_append (GTK_BOX (box), cell->expander);
  gtk_box_append (GTK_BOX (box), cell->text);
  return box;
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
  if (strcmp (cell->column->name, "name") == 0)
    return make_name (cell);
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
  if (!self->automatic)
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

static void
set_automatic (LigHistoryColumns *self, gboolean automatic)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self->actions), "automatic");
  self->automatic = automatic;
  if (action)
    g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_boolean (automatic));
}

/* The user has added, removed or moved a column, and so chosen all that are shown. */
static void
columns_chosen (LigHistoryColumns *self)
{
  if (self->loading)
    return;
  set_automatic (self, FALSE);
  g_ptr_array_set_size (self->added, 0);
  save_soon (self);
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

/* Returns the text of the first label in a widget, empty without one. */
static const char *
find_label (GtkWidget *widget)
{
  const char *text = GTK_IS_LABEL (widget) ? gtk_label_get_text (GTK_LABEL (widget)) : "";
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child && !*text;
       child = gtk_widget_get_next_sibling (child))
    text = find_label (child);
  return text;
}

static gboolean
is_numeric (LigHistoryColumns *self, const char *title)
{
  GListModel *columns = gtk_column_view_get_columns (self->view);
  for (guint i = 0; i < g_list_model_get_n_items (columns); i++) {
    g_autoptr (GtkColumnViewColumn) made = g_list_model_get_item (columns, i);
    const LigHistoryColumn *column = g_object_get_data (G_OBJECT (made), "column");
    if (g_strcmp0 (gtk_column_view_column_get_title (made), title) == 0)
      return column->numeric;
  }
  return FALSE;
}

/* Right-aligns the titles of numeric columns. GTK 4.8 has no function for it: the titles are the
 * children of the view's first child, in the order in which they were added. */
static gboolean
align_titles (gpointer data)
{
  LigHistoryColumns *self = data;
  GtkWidget *header = gtk_widget_get_first_child (GTK_WIDGET (self->view));
  GtkWidget *title = header ? gtk_widget_get_first_child (header) : NULL;
  self->align_source = 0;
  for (; title; title = gtk_widget_get_next_sibling (title)) {
    GtkWidget *box = gtk_widget_get_first_child (title);
    if (box)
      gtk_widget_set_halign (box, is_numeric (self, find_label (title)) ? GTK_ALIGN_END
                                                                        : GTK_ALIGN_FILL);
  }
  return G_SOURCE_REMOVE;
}

static gboolean
fit (gpointer data)
{
  LigHistoryColumns *self = data;
  self->fit_source = 0;
  lig_history_fit_columns (self->view, self->automatic);
  return G_SOURCE_REMOVE;
}

/* Later, because columns cannot change while the list is allocated. */
static void
fit_soon (LigHistoryColumns *self)
{
  if (!self->fit_source)
    self->fit_source = g_idle_add (fit, self);
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
}

/* Sets the state of a column's action. */
static void
note_shown (LigHistoryColumns *self, const LigHistoryColumn *column)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self->actions), column->name);
  if (action)
    g_simple_action_set_state (G_SIMPLE_ACTION (action),
                               g_variant_new_boolean (is_shown (self, column)));
}

static void
remove_column (LigHistoryColumns *self, const LigHistoryColumn *column)
{
  if (is_shown (self, column))
    gtk_column_view_remove_column (self->view, get_column (self, column));
  note_shown (self, column);
}

/* Returns the columns for settings that differ and that are not shown anyway. */
static GPtrArray *
find_missing (LigHistoryColumns *self)
{
  enum { MAX_ADDED = 3 };
  GPtrArray *missing = g_ptr_array_new ();
  const char *const *names = lig_run_list_get_varying (self->list);
  for (; *names && missing->len < MAX_ADDED; names++) {
    const LigHistoryColumn *column = lig_history_column_find (*names);
    if (column && (!is_shown (self, column) || g_ptr_array_find (self->added, column, NULL)))
      g_ptr_array_add (missing, (gpointer) column);
  }
  return missing;
}

/* Shows the settings that differ after the name; columns that the user chose stay as they are. */
static void
update_added (LigHistoryColumns *self)
{
  if (!self->automatic || lig_run_list_get_count (self->list) == 0)
    return;
  GPtrArray *wanted = find_missing (self);
  gboolean same = wanted->len == self->added->len;
  for (guint i = 0; same && i < wanted->len; i++)
    same = wanted->pdata[i] == self->added->pdata[i];
  self->loading = TRUE;
  for (guint i = 0; !same && i < self->added->len; i++)
    remove_column (self, self->added->pdata[i]);
  for (guint i = 0; !same && i < wanted->len; i++) {
    gtk_column_view_insert_column (self->view, 2 + i, get_column (self, wanted->pdata[i]));
    note_shown (self, wanted->pdata[i]);
  }
  self->loading = FALSE;
  g_ptr_array_unref (self->added);
  self->added = wanted;
}

static void
show_columns (LigHistoryColumns *self)
{
  g_auto (GStrv) names = g_settings_get_strv (self->settings, "history-columns");
  const LigHistoryColumn *column;
  gtk_column_view_append_column (self->view, get_column (self, lig_history_column_star ()));
  for (char **name = names; *name; name++) {
    column = lig_history_column_find (*name);
    if (column && !is_shown (self, column))
      gtk_column_view_append_column (self->view, get_column (self, column));
  }
  if (g_list_model_get_n_items (gtk_column_view_get_columns (self->view)) == 1)
    gtk_column_view_append_column (self->view, get_column (self, lig_history_column_find ("name")));
}

/* Shows the usual columns again, with those that differ; or keeps the columns that are shown. */
static void
change_automatic (GSimpleAction *action, GVariant *state, gpointer data)
{
  LigHistoryColumns *self = data;
  const LigHistoryColumn *column;
  if (!g_variant_get_boolean (state)) {
    columns_chosen (self);
    return;
  }
  g_clear_handle_id (&self->save_source, g_source_remove);
  g_settings_reset (self->settings, "history-columns");
  self->loading = TRUE;
  for (guint i = 0; (column = lig_history_column_nth (i)); i++)
    remove_column (self, column);
  remove_column (self, lig_history_column_star ());
  show_columns (self);
  for (guint i = 0; (column = lig_history_column_nth (i)); i++)
    note_shown (self, column);
  self->loading = FALSE;
  set_automatic (self, TRUE);
  update_added (self);
}

static void
fold_changed (LigHistoryColumns *self)
{
  lig_run_list_set_folding (self->list, g_settings_get_boolean (self->settings, "history-fold"));
}

static void
load (LigHistoryColumns *self)
{
  const LigHistoryColumn *column;
  g_autoptr (GVariant) chosen = g_settings_get_user_value (self->settings, "history-columns");
  self->automatic = !chosen;
  self->loading = TRUE;
  show_columns (self);
  g_autoptr (GSimpleAction) automatic =
    g_simple_action_new_stateful ("automatic", NULL, g_variant_new_boolean (self->automatic));
  g_signal_connect_object (automatic, "change-state", G_CALLBACK (change_automatic), self, 0);
  g_action_map_add_action (G_ACTION_MAP (self->actions), G_ACTION (automatic));
  g_autoptr (GAction) fold = g_settings_create_action (self->settings, "history-fold");
  g_action_map_add_action (G_ACTION_MAP (self->actions), fold);
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
  g_autoptr (GMenu) columns = g_menu_new (), settings = g_menu_new (), automatic = g_menu_new ();
  const LigHistoryColumn *column;
  g_menu_append (automatic, _ ("Settings that _differ"), "columns.automatic");
  g_menu_append (automatic, _ ("_Fold sweeps and repetitions"), "columns.history-fold");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (automatic));
  for (guint i = 0; (column = lig_history_column_nth (i)); i++) {
    g_autofree char *action = g_strconcat ("columns.", column->name, NULL);
    g_menu_append (column->setting ? settings : columns, lig_history_column_title (column), action);
  }
  g_menu_append_submenu (columns, _ ("Settings"), G_MENU_MODEL (settings));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (columns));
  return G_MENU_MODEL (menu);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_history_columns_dispose (GObject *object)
{
  LigHistoryColumns *self = LIG_HISTORY_COLUMNS (object);
  g_clear_handle_id (&self->save_source, g_source_remove);
  g_clear_handle_id (&self->align_source, g_source_remove);
  g_clear_handle_id (&self->fit_source, g_source_remove);
  g_clear_object (&self->list);
  g_clear_object (&self->settings);
  g_clear_object (&self->actions);
  g_clear_pointer (&self->made, g_hash_table_unref);
  g_clear_pointer (&self->added, g_ptr_array_unref);
  G_OBJECT_CLASS (lig_history_columns_parent_class)->dispose (object);
}

static void
lig_history_columns_class_init (LigHistoryColumnsClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_history_columns_dispose;
  signals[MENU] =
    g_signal_new ("menu", LIG_TYPE_HISTORY_COLUMNS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                  G_TYPE_NONE, 4, GTK_TYPE_WIDGET, G_TYPE_UINT, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
  signals[FOLD] = g_signal_new ("fold", LIG_TYPE_HISTORY_COLUMNS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[STAR] = g_signal_new ("star", LIG_TYPE_HISTORY_COLUMNS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
lig_history_columns_init (LigHistoryColumns *self)
{
  self->actions = g_simple_action_group_new ();
  self->added = g_ptr_array_new ();
  self->made = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
}

LigHistoryColumns *
lig_history_columns_new (GtkColumnView *view, LigRunList *list, GSettings *settings)
{
  LigHistoryColumns *self = g_object_new (LIG_TYPE_HISTORY_COLUMNS, NULL);
  self->view = view;
  self->list = g_object_ref (list);
  self->settings = g_object_ref (settings);
  g_signal_connect_object (settings, "changed::history-fold", G_CALLBACK (fold_changed), self,
                           G_CONNECT_SWAPPED);
  fold_changed (self);
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
                           G_CALLBACK (columns_chosen), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (list, "reloaded", G_CALLBACK (update_added), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_column_view_get_columns (view), "items-changed",
                           G_CALLBACK (align_titles_soon), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_column_view_get_columns (view), "items-changed",
                           G_CALLBACK (fit_soon), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_scrollable_get_hadjustment (GTK_SCROLLABLE (view)),
                           "notify::page-size", G_CALLBACK (fit_soon), self, G_CONNECT_SWAPPED);
  align_titles_soon (self);
  return self;
}
