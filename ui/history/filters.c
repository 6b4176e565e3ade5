/* SPDX-License-Identifier: MIT */
/* The bar above the history. */
#include "ui/history/filters.h"

#include "ui/history/format.h"
#include "ui/history/groups.h"
#include "ui/widgets/fit-box.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <string.h>

struct _LigHistoryFilters {
  AdwBin parent_instance;
  LigRunList *list;
  GtkWidget *search, *starred, *trash, *columns, *clear;
  GtkDropDown *status, *device, *tag, *kind, *date, *group;
  LigFitBox *choices;
  GtkLabel *count;
  char *opened_by, *opened; /* the group whose runs are listed */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (LigHistoryFilters, lig_history_filters, ADW_TYPE_BIN)

static guint grouped_signal;

/* Returns the chosen value, null for any. */
static const char *
get_value (GtkDropDown *choice)
{
  GStrv values = g_object_get_data (G_OBJECT (choice), "values");
  guint n = gtk_drop_down_get_selected (choice);
  return values && n > 0 && n != GTK_INVALID_LIST_POSITION ? values[n - 1] : NULL;
}

/* Returns the beginning of the days that are shown, 0 for all. */
static gint64
get_from (LigHistoryFilters *self)
{
  static const int days[] = {0, 1, 7, 30};
  guint n = gtk_drop_down_get_selected (self->date);
  if (n == 0 || n >= G_N_ELEMENTS (days))
    return 0;
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autoptr (GDateTime) midnight =
    g_date_time_new_local (g_date_time_get_year (now), g_date_time_get_month (now),
                           g_date_time_get_day_of_month (now), 0, 0, 0);
  g_autoptr (GDateTime) from = g_date_time_add_days (midnight ? midnight : now, 1 - days[n]);
  return g_date_time_to_unix (from) * G_USEC_PER_SEC;
}

static void
apply (LigHistoryFilters *self)
{
  if (self->updating || !self->list)
    return;
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->search));
  const LigRunFilter filter = {
    .text = *text ? text : NULL,
    .status = get_value (self->status),
    .device = get_value (self->device),
    .tag = get_value (self->tag),
    .kind = get_value (self->kind),
    .starred = gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->starred)),
    .started_from = get_from (self),
    .group_by = self->opened_by,
    .group = self->opened,
    .deleted = gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->trash)),
  };
  lig_run_list_set_filter (self->list, &filter);
  gtk_widget_set_visible (self->clear, lig_run_list_is_filtered (self->list));
}

static const char *
get_word (const char *column, const char *value)
{
  if (strcmp (column, "status") == 0)
    return lig_history_status_word (value);
  return strcmp (column, "kind") == 0 ? lig_history_kind_word (value) : value;
}

/* Lists the values to choose from; the chosen value stays, even if no run has it now. */
static void
fill (LigHistoryFilters *self, GtkDropDown *choice, const char *column, const char *any)
{
  const char *const *values = lig_run_list_get_values (self->list, column);
  GStrv old = g_object_get_data (G_OBJECT (choice), "values");
  if (old && g_strv_equal ((const char *const *) old, values))
    return;
  g_autofree char *chosen = g_strdup (get_value (choice));
  g_autoptr (GtkStringList) words = gtk_string_list_new (NULL);
  g_autoptr (GStrvBuilder) kept = g_strv_builder_new ();
  guint n = 0, selected = 0;
  gtk_string_list_append (words, any);
  for (const char *const *value = values; *value; value++) {
    gtk_string_list_append (words, get_word (column, *value));
    g_strv_builder_add (kept, *value);
    n++;
    if (chosen && strcmp (*value, chosen) == 0)
      selected = n;
  }
  if (chosen && !selected) {
    gtk_string_list_append (words, get_word (column, chosen));
    g_strv_builder_add (kept, chosen);
    selected = n + 1;
  }
  self->updating = TRUE;
  gtk_drop_down_set_model (choice, G_LIST_MODEL (words));
  g_object_set_data_full (G_OBJECT (choice), "values", g_strv_builder_end (kept),
                          (GDestroyNotify) g_strfreev);
  gtk_drop_down_set_selected (choice, selected);
  self->updating = FALSE;
}

/* The trash is left once it is empty. */
static void
show_trash (LigHistoryFilters *self)
{
  guint count = lig_run_list_get_trashed (self->list);
  gboolean active = gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->trash));
  g_autofree char *number = lig_history_count (count);
  g_autofree char *text = g_strdup_printf (_ ("Deleted, %s"), number);
  gtk_button_set_label (GTK_BUTTON (self->trash), text);
  gtk_widget_set_visible (self->trash, count > 0);
  if (active && count == 0 && lig_run_list_is_loaded (self->list))
    gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->trash), FALSE);
}

static void
show_count (LigHistoryFilters *self)
{
  gboolean deleted = lig_run_list_get_filter (self->list)->deleted;
  guint count = lig_run_list_get_count (self->list);
  guint total =
    deleted ? lig_run_list_get_trashed (self->list) : lig_run_list_get_total (self->list);
  g_autofree char *number = lig_history_count (count);
  g_autofree char *all = lig_history_count (total);
  g_autofree char *text = NULL;
  if (!lig_run_list_is_loaded (self->list))
    text = g_strdup (_ ("Reading the runs…"));
  else if (deleted && count < total)
    text = g_strdup_printf (ngettext ("%s of %s deleted run", "%s of %s deleted runs", total),
                            number, all);
  else if (deleted)
    text = g_strdup_printf (ngettext ("%s deleted run", "%s deleted runs", count), number);
  else if (lig_run_list_is_filtered (self->list))
    text = g_strdup_printf (ngettext ("%s of %s run", "%s of %s runs", total), number, all);
  else
    text = g_strdup_printf (ngettext ("%s run", "%s runs", count), number);
  gtk_label_set_text (self->count, text);
  show_trash (self);
}

static void
update_choices (LigHistoryFilters *self)
{
  fill (self, self->status, "status", _ ("Any status"));
  fill (self, self->device, "device", _ ("Any device"));
  fill (self, self->tag, "tag", _ ("Any tag"));
  fill (self, self->kind, "kind", _ ("Any kind"));
}

void
lig_history_filters_set_list (LigHistoryFilters *self, LigRunList *list)
{
  g_set_object (&self->list, list);
  g_signal_connect_object (list, "reloaded", G_CALLBACK (show_count), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (list, "valued", G_CALLBACK (update_choices), self, G_CONNECT_SWAPPED);
  gtk_widget_set_visible (self->clear, FALSE);
  update_choices (self);
  show_count (self);
}

void
lig_history_filters_set_columns_menu (LigHistoryFilters *self, GMenuModel *menu)
{
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (self->columns), menu);
}

void
lig_history_filters_focus_search (LigHistoryFilters *self)
{
  gtk_widget_grab_focus (self->search);
}

void
lig_history_filters_clear (LigHistoryFilters *self)
{
  GtkDropDown *const choices[] = {self->status, self->device, self->tag,
                                  self->kind,   self->date,   self->group};
  self->updating = TRUE;
  g_clear_pointer (&self->opened_by, g_free);
  g_clear_pointer (&self->opened, g_free);
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->starred), FALSE);
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->trash), FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    gtk_drop_down_set_selected (choices[i], 0);
  self->updating = FALSE;
  apply (self);
  g_signal_emit (self, grouped_signal, 0);
}

/* --- Groups -------------------------------------------------------------------------------- */

const char *
lig_history_filters_get_group (LigHistoryFilters *self)
{
  guint n = gtk_drop_down_get_selected (self->group);
  return n > 0 && n != GTK_INVALID_LIST_POSITION ? lig_history_grouping_nth (n - 1) : NULL;
}

void
lig_history_filters_open_group (LigHistoryFilters *self, const char *value)
{
  g_autofree char *by = g_strdup (lig_history_filters_get_group (self));
  g_autofree char *opened = g_strdup (value);
  gtk_drop_down_set_selected (self->group, 0);
  g_free (self->opened_by);
  g_free (self->opened);
  self->opened_by = g_steal_pointer (&by);
  self->opened = g_steal_pointer (&opened);
  apply (self);
}

/* Grouping shows all runs again, including those outside an opened group. */
static void
group_chosen (LigHistoryFilters *self)
{
  if (self->updating)
    return;
  g_clear_pointer (&self->opened_by, g_free);
  g_clear_pointer (&self->opened, g_free);
  apply (self);
  g_signal_emit (self, grouped_signal, 0);
}

static void
fill_groups (LigHistoryFilters *self)
{
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  const char *by;
  gtk_string_list_append (titles, _ ("Not grouped"));
  for (guint i = 0; (by = lig_history_grouping_nth (i)); i++) {
    g_autofree char *title = lig_history_grouping_title (by);
    g_autofree char *text = g_strdup_printf (_ ("By %s"), title);
    gtk_string_list_append (titles, text);
  }
  gtk_drop_down_set_model (self->group, G_LIST_MODEL (titles));
  gtk_drop_down_set_enable_search (self->group, TRUE);
  g_autoptr (GtkExpression) expression =
    gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string");
  gtk_drop_down_set_expression (self->group, expression);
}

/* --- Construction -------------------------------------------------------------------------- */

/* A long tag must not make the bar wider than the window. */
static void
set_up_choice (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars (GTK_LABEL (label), 8);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 20);
  lig_tooltip_when_cut (GTK_LABEL (label));
  gtk_list_item_set_child (item, label);
}

static void
bind_choice (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  const char *text = gtk_string_object_get_string (gtk_list_item_get_item (item));
  gtk_label_set_text (GTK_LABEL (gtk_list_item_get_child (item)), text);
}

static void
lig_history_filters_dispose (GObject *object)
{
  LigHistoryFilters *self = LIG_HISTORY_FILTERS (object);
  g_clear_object (&self->list);
  g_clear_pointer (&self->opened_by, g_free);
  g_clear_pointer (&self->opened, g_free);
  gtk_widget_dispose_template (GTK_WIDGET (object), LIG_TYPE_HISTORY_FILTERS);
  G_OBJECT_CLASS (lig_history_filters_parent_class)->dispose (object);
}

static void
lig_history_filters_class_init (LigHistoryFiltersClass *class)
{
  GtkWidgetClass *widget = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_history_filters_dispose;
  gtk_widget_class_set_template_from_resource (widget,
                                               "/org/ligature/Ligature/ui/history/filters.ui");
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, search);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, starred);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, trash);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, columns);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, clear);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, choices);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, status);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, device);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, tag);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, kind);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, date);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, group);
  gtk_widget_class_bind_template_child (widget, LigHistoryFilters, count);
  grouped_signal = g_signal_new ("grouped", LIG_TYPE_HISTORY_FILTERS, G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);
}

static void
add_choices (LigHistoryFilters *self)
{
  GtkDropDown *const choices[] = {self->status, self->device, self->tag,
                                  self->kind,   self->date,   self->group};
  const char *const labels[] = {_ ("Status"), _ ("Device"), _ ("Tag"),
                                _ ("Kind"),   _ ("Date"),   _ ("Groups")};
  static const int ranks[] = {0, 2, 3, 4, 5, 1};
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    lig_fit_box_add (self->choices, GTK_WIDGET (choices[i]), labels[i], ranks[i]);
  lig_tooltip_set (lig_fit_box_get_button (self->choices), _ ("More filters"));
}

/* Escape clears the search; if it is empty, Escape goes back as elsewhere on the page. */
static void
clear_search (LigHistoryFilters *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
}

static void
lig_history_filters_init (LigHistoryFilters *self)
{
  g_type_ensure (LIG_TYPE_FIT_BOX);
  gtk_widget_init_template (GTK_WIDGET (self));
  add_choices (self);
  GtkDropDown *const choices[] = {self->status, self->device, self->tag, self->kind, self->date};
  GtkEditable *text = gtk_editable_get_delegate (GTK_EDITABLE (self->search));
  gtk_text_set_placeholder_text (GTK_TEXT (text), _ ("Name, note, tag, device or run number"));
  g_autoptr (GtkListItemFactory) factory = gtk_signal_list_item_factory_new ();
  g_signal_connect (factory, "setup", G_CALLBACK (set_up_choice), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_choice), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++) {
    gtk_drop_down_set_factory (choices[i], factory);
    g_signal_connect_object (choices[i], "notify::selected", G_CALLBACK (apply), self,
                             G_CONNECT_SWAPPED);
  }
  fill_groups (self);
  gtk_drop_down_set_factory (self->group, factory);
  g_signal_connect_object (self->group, "notify::selected", G_CALLBACK (group_chosen), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->search, "search-changed", G_CALLBACK (apply), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->search, "stop-search", G_CALLBACK (clear_search), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->starred, "toggled", G_CALLBACK (apply), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->trash, "toggled", G_CALLBACK (apply), self, G_CONNECT_SWAPPED);
}
