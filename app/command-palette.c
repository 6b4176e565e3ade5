/* SPDX-License-Identifier: MIT */
#include "app/command-palette.h"

#include "app/window-commands.h"

#include <glib/gi18n.h>
#include <string.h>

/* Of a palette; owned by its window. */
typedef struct {
  GtkWindow *window, *parent;
  GtkListBox *list;
  GtkWidget *nothing;
  GStrv words;
} Palette;

static void
free_palette (gpointer data)
{
  Palette *self = data;
  g_strfreev (self->words);
  g_free (self);
}

static const LigWindowCommand *
get_command (GtkListBoxRow *row)
{
  return g_object_get_data (G_OBJECT (row), "command");
}

/* --- Search -------------------------------------------------------------------------------- */

/* Returns whether all words occur in the title. */
static gboolean
matches (GtkListBoxRow *row, gpointer data)
{
  const Palette *self = data;
  g_autofree char *title = g_utf8_casefold (get_command (row)->title, -1);
  for (char **word = self->words; word && *word; word++)
    if (!strstr (title, *word))
      return FALSE;
  return TRUE;
}

/* Returns the first row that can be activated, null without one. */
static GtkListBoxRow *
find_first (const Palette *self)
{
  GtkListBoxRow *row;
  for (int i = 0; (row = gtk_list_box_get_row_at_index (self->list, i)); i++)
    if (gtk_widget_get_child_visible (GTK_WIDGET (row)) &&
        gtk_widget_get_sensitive (GTK_WIDGET (row)))
      return row;
  return NULL;
}

static void
search (Palette *self, GtkEditable *entry)
{
  g_autofree char *folded = g_utf8_casefold (gtk_editable_get_text (entry), -1);
  g_strfreev (self->words);
  self->words = g_strsplit_set (g_strstrip (folded), " \t", -1);
  gtk_list_box_invalidate_filter (self->list);
  GtkListBoxRow *first = find_first (self);
  gtk_list_box_select_row (self->list, first);
  gtk_widget_set_visible (self->nothing, !first);
}

/* --- Acting -------------------------------------------------------------------------------- */

static void
act (Palette *self, GtkListBoxRow *row)
{
  g_autofree char *name = NULL;
  g_autoptr (GVariant) target = NULL;
  g_autoptr (GtkWindow) parent = g_object_ref (self->parent);
  if (!row || !g_action_parse_detailed_name (get_command (row)->action, &name, &target, NULL))
    return;
  gtk_window_destroy (self->window);
  gtk_widget_activate_action_variant (GTK_WIDGET (parent), name, target);
}

static void
act_on_selected (Palette *self)
{
  act (self, gtk_list_box_get_selected_row (self->list));
}

/* The arrow keys move the selection while the text keeps the focus. */
static gboolean
press (Palette *self, guint key)
{
  int step = key == GDK_KEY_Down || key == GDK_KEY_KP_Down ? 1
             : key == GDK_KEY_Up || key == GDK_KEY_KP_Up   ? -1
                                                           : 0;
  GtkListBoxRow *row = gtk_list_box_get_selected_row (self->list);
  if (key == GDK_KEY_Escape)
    gtk_window_destroy (self->window);
  for (int at = row ? gtk_list_box_row_get_index (row) + step : -1; step && row; at += step) {
    row = gtk_list_box_get_row_at_index (self->list, at);
    if (row && gtk_widget_get_child_visible (GTK_WIDGET (row)) &&
        gtk_widget_get_sensitive (GTK_WIDGET (row))) {
      gtk_list_box_select_row (self->list, row);
      gtk_widget_grab_focus (GTK_WIDGET (row));
      gtk_widget_grab_focus (g_object_get_data (G_OBJECT (self->window), "entry"));
      break;
    }
  }
  return step != 0 || key == GDK_KEY_Escape;
}

/* --- Construction -------------------------------------------------------------------------- */

static gboolean
is_enabled (GtkWindow *parent, const LigWindowCommand *command)
{
  g_autofree char *name = NULL;
  g_autoptr (GVariant) target = NULL;
  gboolean own = g_str_has_prefix (command->action, "win.");
  GActionGroup *group =
    own ? G_ACTION_GROUP (parent) : G_ACTION_GROUP (gtk_window_get_application (parent));
  return g_action_parse_detailed_name (command->action, &name, &target, NULL) &&
         g_action_group_get_action_enabled (group, strchr (name, '.') + 1);
}

/* Commands that are impossible now come last, dimmed. */
static GtkWidget *
make_row (Palette *self, const LigWindowCommand *command)
{
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *title = gtk_label_new (command->title);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (title, TRUE);
  gtk_box_append (GTK_BOX (box), title);
  if (command->key) {
    GtkWidget *key = gtk_shortcut_label_new (command->key);
    gtk_widget_add_css_class (key, "dim-label");
    gtk_box_append (GTK_BOX (box), key);
  }
  gtk_widget_add_css_class (box, "command-row");
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  command->title, -1);
  gtk_widget_set_sensitive (row, is_enabled (self->parent, command));
  g_object_set_data (G_OBJECT (row), "command", (gpointer) command);
  return row;
}

static void
add_rows (Palette *self)
{
  GPtrArray *commands = lig_window_commands_list (gtk_window_get_application (self->parent));
  g_object_set_data_full (G_OBJECT (self->window), "commands", commands,
                          (GDestroyNotify) g_ptr_array_unref);
  for (int enabled = TRUE; enabled >= FALSE; enabled--)
    for (guint i = 0; i < commands->len; i++)
      if (is_enabled (self->parent, commands->pdata[i]) == enabled)
        gtk_list_box_append (self->list, make_row (self, commands->pdata[i]));
}

static GtkWidget *
make_list (Palette *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_filter_func (self->list, matches, self, NULL);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "navigation-sidebar");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Commands"), -1);
  add_rows (self);
  g_signal_connect_swapped (self->list, "row-activated", G_CALLBACK (act), self);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->list));
  gtk_widget_set_vexpand (scroller, TRUE);
  return scroller;
}

static GtkWidget *
make_entry (Palette *self)
{
  GtkWidget *entry = gtk_search_entry_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Search commands"), -1);
  g_signal_connect_swapped (entry, "changed", G_CALLBACK (search), self);
  g_signal_connect_swapped (entry, "activate", G_CALLBACK (act_on_selected), self);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (press), self);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  gtk_widget_add_controller (entry, keys);
  g_object_set_data (G_OBJECT (self->window), "entry", entry);
  return entry;
}

void
lig_command_palette_show (GtkWindow *window)
{
  Palette *self = g_new0 (Palette, 1);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  self->parent = window;
  self->window = GTK_WINDOW (gtk_window_new ());
  g_object_set_data_full (G_OBJECT (self->window), "palette", self, free_palette);
  gtk_window_set_title (self->window, _ ("Commands"));
  gtk_window_set_transient_for (self->window, window);
  gtk_window_set_modal (self->window, TRUE);
  gtk_window_set_destroy_with_parent (self->window, TRUE);
  gtk_window_set_default_size (self->window, 480, 440);
  GtkWidget *list = make_list (self), *entry = make_entry (self);
  self->nothing = gtk_label_new (_ ("No command matches"));
  gtk_widget_add_css_class (self->nothing, "dim-label");
  gtk_widget_set_visible (self->nothing, FALSE);
  gtk_box_append (GTK_BOX (box), entry);
  gtk_box_append (GTK_BOX (box), self->nothing);
  gtk_box_append (GTK_BOX (box), list);
  gtk_widget_add_css_class (box, "command-palette");
  gtk_window_set_child (self->window, box);
  gtk_window_present (self->window);
  gtk_widget_grab_focus (entry);
  search (self, GTK_EDITABLE (entry));
}
