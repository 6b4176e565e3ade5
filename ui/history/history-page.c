/* SPDX-License-Identifier: MIT */
/* The History page: every run of the store, and the actions on runs. */
#include "ui/history/history-page.h"
#include "ui/document/document.h"
#include "ui/history/sweep.h"
#include "ui/session/session.h"

#include "ui/widgets/gradual.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>
#include <string.h>

G_DEFINE_FINAL_TYPE (LigHistoryPage, lig_history_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (history) = {
  .name = "history",
  .title = N_ ("History"),
  .icon = "document-open-recent-symbolic",
  .get_type = lig_history_page_get_type,
};

/* --- The selection ------------------------------------------------------------------------- */

/* Sorting and filtering change positions, but not keys. */
static void
keep_selection (LigHistoryPage *self)
{
  if (self->kept)
    return;
  g_autoptr (GtkBitset) selected = lig_history_get_positions (self);
  GtkBitsetIter iter;
  guint position;
  gboolean more = gtk_bitset_iter_init_first (&iter, selected, &position);
  self->kept = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  for (; more; more = gtk_bitset_iter_next (&iter, &position)) {
    gint64 key = lig_run_list_get_key (self->list, position);
    g_hash_table_add (self->kept, g_memdup2 (&key, sizeof key));
  }
}

static void
restore_selection (LigHistoryPage *self)
{
  g_autoptr (GHashTable) kept = g_steal_pointer (&self->kept);
  if (!kept || g_hash_table_size (kept) == 0)
    return;
  lig_gradual_finish (self->rows);
  g_autoptr (GtkBitset) selected = gtk_bitset_new_empty ();
  guint count = g_list_model_get_n_items (G_LIST_MODEL (self->list));
  for (guint i = 0; i < count; i++) {
    gint64 key = lig_run_list_get_key (self->list, i);
    if (g_hash_table_contains (kept, &key))
      gtk_bitset_add (selected, i);
  }
  g_autoptr (GtkBitset) all = gtk_bitset_new_range (0, count);
  gtk_selection_model_set_selection (GTK_SELECTION_MODEL (self->selection), selected, all);
}

/* --- Showing ------------------------------------------------------------------------------- */

static void
update_side (LigHistoryPage *self)
{
  g_autoptr (GArray) selected = lig_history_get_selected (self);
  guint n = selected->len;
  g_autoptr (LigRunItem) only = lig_history_get_only (self);
  if (self->kept)
    return;
  gtk_widget_set_visible (GTK_WIDGET (self->side), n > 0);
  lig_run_detail_show (self->detail, lig_history_get_store (self), only);
  const LigRunRow *row = only ? lig_run_item_get_row (only) : NULL;
  lig_repeat_row_show (lig_run_detail_get_repeat_row (self->detail),
                       lig_page_get_session (LIG_PAGE (self)), row ? row->uuid : NULL);
  if (n == 1) {
    gtk_stack_set_visible_child_name (self->side, "one");
  } else if (n > 1) {
    g_autofree char *text =
      g_strdup_printf (ngettext ("%u run selected", "%u runs selected", n), n);
    gtk_label_set_text (self->many, text);
    gtk_stack_set_visible_child_name (self->side, "many");
    lig_history_study (self, NULL);
  }
  lig_history_update_actions (self);
}

static void
show_groups (LigHistoryPage *self)
{
  const char *by = lig_history_filters_get_group (self->filters);
  LigStore *store = lig_history_get_store (self);
  if (by && store)
    lig_history_groups_show (self->groups, store, lig_run_list_get_filter (self->list), by);
  lig_history_update_state (self);
}

static void
open_group (LigHistoryPage *self, const char *value)
{
  lig_history_filters_open_group (self->filters, value);
  gtk_widget_grab_focus (GTK_WIDGET (self->view));
}

static void
take_list (LigHistoryPage *self)
{
  lig_history_show_written (self);
  restore_selection (self);
  update_side (self);
  show_groups (self);
}

/* --- Cells --------------------------------------------------------------------------------- */

static void
select_only (LigHistoryPage *self, guint position)
{
  if (!gtk_selection_model_is_selected (GTK_SELECTION_MODEL (self->selection), position))
    gtk_selection_model_select_item (GTK_SELECTION_MODEL (self->selection), position, TRUE);
}

static void
end_menu (GtkWidget *popover)
{
  /* The popover is freed later, because its action is not activated yet. */
  g_idle_add_once ((GSourceOnceFunc) gtk_widget_unparent, popover);
}

static void
pop_up (LigHistoryPage *self, GtkWidget *at, const GdkRectangle *where)
{
  GtkWidget *popover = gtk_popover_menu_new_from_model (self->menu);
  gtk_widget_set_parent (popover, GTK_WIDGET (self));
  gtk_popover_set_has_arrow (GTK_POPOVER (popover), FALSE);
  gtk_widget_set_halign (popover, GTK_ALIGN_START);
  double x = 0, y = 0;
  gtk_widget_translate_coordinates (at, GTK_WIDGET (self), where->x, where->y, &x, &y);
  gtk_popover_set_pointing_to (GTK_POPOVER (popover), &(GdkRectangle){(int) x, (int) y, 1, 1});
  g_signal_connect (popover, "closed", G_CALLBACK (end_menu), NULL);
  gtk_popover_popup (GTK_POPOVER (popover));
}

static void
show_menu (LigHistoryPage *self, GtkWidget *cell, guint position, double x, double y)
{
  select_only (self, position);
  pop_up (self, cell, &(GdkRectangle){(int) x, (int) y, 1, 1});
}

/* Handles the menu key. */
static gboolean
show_menu_by_key (GtkWidget *widget, GVariant *unused, gpointer data)
{
  LigHistoryPage *self = data;
  GtkRoot *root = gtk_widget_get_root (widget);
  GtkWidget *focus = root ? gtk_root_get_focus (root) : NULL;
  if (!focus || !gtk_widget_is_ancestor (focus, widget))
    focus = widget;
  pop_up (self, focus, &(GdkRectangle){24, gtk_widget_get_height (focus) / 2, 1, 1});
  return TRUE;
}

static void
toggle_star (LigHistoryPage *self, guint position)
{
  g_autoptr (LigRunItem) item = g_list_model_get_item (G_LIST_MODEL (self->list), position);
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  if (!row)
    return;
  gint64 key = lig_run_item_get_key (item);
  lig_history_edits_add (self->edits, lig_history_get_store (self),
                         row->starred ? LIG_HISTORY_UNSTAR : LIG_HISTORY_STAR, &key, 1, NULL);
}

static void
toggle_fold (LigHistoryPage *self, guint position)
{
  if (!lig_run_list_open (self->list, position, TRUE))
    lig_run_list_open (self->list, position, FALSE);
}

/* Opens or closes the only selected fold by the arrow keys, which otherwise move the focus. */
static gboolean
open_by_key (GtkWidget *widget, GVariant *open, gpointer data)
{
  LigHistoryPage *self = data;
  g_autoptr (GtkBitset) selected = lig_history_get_positions (self);
  return gtk_bitset_get_size (selected) == 1 &&
         lig_run_list_open (self->list, gtk_bitset_get_minimum (selected),
                            g_variant_get_boolean (open));
}

static void
activate_row (LigHistoryPage *self, guint position)
{
  if (lig_run_list_get_key (self->list, position) < 0) {
    toggle_fold (self, position);
    return;
  }
  select_only (self, position);
  gtk_widget_activate_action (GTK_WIDGET (self), "history.open", NULL);
}

/* --- Edits --------------------------------------------------------------------------------- */

static void
edit_one (LigHistoryPage *self, LigHistoryEdit edit, gint64 key, const char *text)
{
  if (lig_history_get_store (self))
    lig_history_edits_add (self->edits, lig_history_get_store (self), edit, &key, 1, text);
}

static void
set_note (LigHistoryPage *self, gint64 key, const char *text)
{
  edit_one (self, LIG_HISTORY_NOTE, key, text);
}

static void
add_tag (LigHistoryPage *self, gint64 key, const char *tag)
{
  edit_one (self, LIG_HISTORY_TAG, key, tag);
}

static void
remove_tag (LigHistoryPage *self, gint64 key, const char *tag)
{
  edit_one (self, LIG_HISTORY_UNTAG, key, tag);
}

static void
fail_edit (LigHistoryPage *self, guint edit, const char *message)
{
  lig_toast_error (GTK_WIDGET (self), g_error_new_literal (LIG_ERROR, LIG_ERROR_STORE, message));
}

static void
end_edit (LigHistoryPage *self, guint edit)
{
  if (edit == LIG_HISTORY_DELETE)
    lig_history_note_written (self);
  lig_run_list_reload (self->list);
}

static gboolean
poll (gpointer data)
{
  lig_run_list_poll (LIG_HISTORY_PAGE (data)->list);
  return G_SOURCE_CONTINUE;
}

static void
change_store (LigHistoryPage *self)
{
  lig_run_list_set_store (self->list, lig_history_get_store (self));
  lig_history_update_state (self);
}

/* --- Actions of the window ----------------------------------------------------------------- */

static void
open_sequence (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigHistoryPage *self = data;
  GError *error = NULL;
  g_autoptr (LigSequence) sequence =
    lig_sequence_from_json (g_variant_get_string (parameter, NULL), -1, NULL, &error);
  if (!sequence) {
    lig_toast_error (GTK_WIDGET (self), error);
    return;
  }
  const char *name = lig_sequence_get_name (sequence);
  g_autoptr (LigRunItem) only = lig_history_get_only (self);
  const LigRunRow *row = only ? lig_run_item_get_row (only) : NULL;
  if (!name || !*name)
    name = row ? row->name : _ ("a run");
  g_autofree char *label = g_strdup_printf (_ ("Open the sequence of %s"), name);
  g_autofree char *text = g_strdup_printf (_ ("This is the sequence of %s"), name);
  lig_document_replace (lig_page_get_document (LIG_PAGE (self)), sequence, label);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.page", "s", "sequence");
  lig_toast (GTK_WIDGET (self), text, _ ("_Undo"), "win.undo-document");
}

static void
ask_sweep (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_history_ask_sweep (data);
}

static void
compare_runs (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  const char *run, *other;
  g_variant_get (parameter, "(&s&s)", &run, &other);
  lig_history_compare (data, run, other);
}

static void
compare_shown (LigHistoryPage *self, const char *other)
{
  const char *run = lig_run_menu_get_run (lig_run_detail_get_run_menu (self->detail));
  if (run)
    lig_history_compare (self, run, other);
}

static void
add_actions (LigPage *page, GActionMap *map)
{
  static const GActionEntry actions[] = {
    {.name = "new-sweep", .activate = ask_sweep},
    {.name = "compare-runs", .activate = compare_runs, .parameter_type = "(ss)"},
    {.name = "open-sequence", .activate = open_sequence, .parameter_type = "s"},
  };
  g_action_map_add_action_entries (map, actions, G_N_ELEMENTS (actions), page);
}

static void
find (LigPage *page)
{
  gtk_widget_activate_action (GTK_WIDGET (page), "history.find", NULL);
}

static char *
find_sweep (LigPage *page, char **title)
{
  return lig_history_find_sweep (LIG_HISTORY_PAGE (page), title);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_history_page_map (GtkWidget *widget)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (widget);
  GTK_WIDGET_CLASS (lig_history_page_parent_class)->map (widget);
  lig_run_list_set_store (self->list, lig_history_get_store (self));
  lig_run_list_poll (self->list);
  if (!self->poll_source)
    self->poll_source = g_timeout_add_seconds (1, poll, self);
}

static void
lig_history_page_unmap (GtkWidget *widget)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (widget);
  g_clear_handle_id (&self->poll_source, g_source_remove);
  lig_run_detail_save (self->detail);
  GTK_WIDGET_CLASS (lig_history_page_parent_class)->unmap (widget);
}

static void
add_key (GtkEventController *keys, const char *trigger, const char *action)
{
  gtk_shortcut_controller_add_shortcut (
    GTK_SHORTCUT_CONTROLLER (keys),
    gtk_shortcut_new (gtk_shortcut_trigger_parse_string (trigger), gtk_named_action_new (action)));
}

/* Letters are shortcuts only in the list; elsewhere on the page they are text. */
static void
add_keys (LigHistoryPage *self)
{
  GtkEventController *keys = gtk_shortcut_controller_new ();
  add_key (keys, "s", "history.star");
  add_key (keys, "t", "history.tag");
  add_key (keys, "n", "history.note");
  add_key (keys, "Delete", "history.delete");
  add_key (keys, "<Control>c", "history.copy-uuid");
  add_key (keys, "c", "history.compare");
  add_key (keys, "l", "history.overlay");
  gtk_shortcut_controller_add_shortcut (
    GTK_SHORTCUT_CONTROLLER (keys),
    gtk_shortcut_new (gtk_shortcut_trigger_parse_string ("Menu|<Shift>F10"),
                      gtk_callback_action_new (show_menu_by_key, self, NULL)));
  const char *const arrows[] = {"Left", "Right"};
  for (guint i = 0; i < G_N_ELEMENTS (arrows); i++)
    gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new_with_arguments (gtk_shortcut_trigger_parse_string (arrows[i]),
                                       gtk_callback_action_new (open_by_key, self, NULL), "b",
                                       (gboolean) i));
  gtk_widget_add_controller (GTK_WIDGET (self->view), keys);
  GtkEventController *page_keys = gtk_shortcut_controller_new ();
  add_key (page_keys, "Escape", "history.back");
  gtk_widget_add_controller (GTK_WIDGET (self), page_keys);
}

static void
lig_history_page_constructed (GObject *object)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (object);
  LigSession *session = lig_page_get_session (LIG_PAGE (self));
  G_OBJECT_CLASS (lig_history_page_parent_class)->constructed (object);
  self->columns =
    lig_history_columns_new (self->view, self->list, lig_session_get_settings (session));
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
  gtk_widget_insert_action_group (GTK_WIDGET (self), "columns",
                                  lig_history_columns_get_actions (self->columns));
  g_autoptr (GMenuModel) menu = lig_history_columns_make_menu (self->columns);
  lig_history_filters_set_columns_menu (self->filters, menu);
  lig_history_filters_set_list (self->filters, self->list);
  const struct {
    gpointer from;
    const char *signal;
    GCallback callback;
  } signals[] = {
    {self->list, "reloading", G_CALLBACK (keep_selection)},
    {self->list, "reloaded", G_CALLBACK (take_list)},
    {self->selection, "selection-changed", G_CALLBACK (update_side)},
    {self->filters, "grouped", G_CALLBACK (show_groups)},
    {self->groups, "opened", G_CALLBACK (open_group)},
    {self->columns, "menu", G_CALLBACK (show_menu)},
    {self->columns, "star", G_CALLBACK (toggle_star)},
    {self->columns, "fold", G_CALLBACK (toggle_fold)},
    {self->view, "activate", G_CALLBACK (activate_row)},
    {self->detail, "note", G_CALLBACK (set_note)},
    {self->detail, "tag", G_CALLBACK (add_tag)},
    {self->detail, "untag", G_CALLBACK (remove_tag)},
    {lig_run_detail_get_run_menu (self->detail), "chosen", G_CALLBACK (compare_shown)},
    {self->detail, "loaded", G_CALLBACK (lig_history_update_actions)},
    {self->edits, "failed", G_CALLBACK (fail_edit)},
    {session, "store-changed", G_CALLBACK (change_store)},
  };
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (signals[i].from, signals[i].signal, signals[i].callback, self,
                             G_CONNECT_SWAPPED);
  g_signal_connect_object (self->edits, "done", G_CALLBACK (end_edit), self, G_CONNECT_SWAPPED);
  add_keys (self);
  update_side (self);
  lig_history_update_state (self);
}

static void
lig_history_page_dispose (GObject *object)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (object);
  g_clear_handle_id (&self->poll_source, g_source_remove);
  if (self->list) {
    lig_run_detail_save (self->detail);
    gtk_column_view_set_model (self->view, NULL);
  }
  g_clear_pointer (&self->deletions, g_ptr_array_unref);
  g_clear_pointer (&self->undeleted, g_ptr_array_unref);
  g_clear_object (&self->columns);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_HISTORY_PAGE);
  g_clear_object (&self->selection);
  g_clear_object (&self->list);
  g_clear_object (&self->edits);
  g_clear_pointer (&self->kept, g_hash_table_unref);
  G_OBJECT_CLASS (lig_history_page_parent_class)->dispose (object);
}

static void
bind_children (GtkWidgetClass *widget)
{
  gtk_widget_class_set_template_from_resource (widget,
                                               "/org/ligature/Ligature/ui/history/history-page.ui");
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, filters);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, states);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, matches);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, side);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, study);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, error_revealer);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, error_text);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, many);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, study_title);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, broken);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, view);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, groups);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, detail);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, preview);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, overlay);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, compare);
  gtk_widget_class_bind_template_child (widget, LigHistoryPage, menu);
}

static void
lig_history_page_class_init (LigHistoryPageClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  g_type_ensure (LIG_TYPE_HISTORY_FILTERS);
  g_type_ensure (LIG_TYPE_HISTORY_GROUPS);
  g_type_ensure (LIG_TYPE_RUN_DETAIL);
  g_type_ensure (LIG_TYPE_HISTORY_CHART);
  g_type_ensure (LIG_TYPE_RUN_COMPARE);
  object_class->constructed = lig_history_page_constructed;
  object_class->dispose = lig_history_page_dispose;
  widget_class->map = lig_history_page_map;
  widget_class->unmap = lig_history_page_unmap;
  LIG_PAGE_CLASS (class)->add_actions = add_actions;
  LIG_PAGE_CLASS (class)->find = find;
  LIG_PAGE_CLASS (class)->to_command = lig_history_to_command;
  LIG_PAGE_CLASS (class)->find_run = lig_history_find_run;
  LIG_PAGE_CLASS (class)->find_sweep = find_sweep;
  LIG_PAGE_CLASS (class)->list_edits = lig_history_list_edits;
  LIG_PAGE_CLASS (class)->step = lig_history_step;
  bind_children (widget_class);
  lig_history_install_actions (widget_class);
}

static void
lig_history_page_init (LigHistoryPage *self)
{
  self->list = lig_run_list_new ();
  self->rows = lig_gradual_new (g_object_ref (G_LIST_MODEL (self->list)));
  self->selection = gtk_multi_selection_new (G_LIST_MODEL (self->rows));
  self->edits = lig_history_edits_new ();
  self->deletions = g_ptr_array_new_with_free_func (lig_history_free_deletion);
  self->undeleted = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  gtk_widget_init_template (GTK_WIDGET (self));
}
