/* SPDX-License-Identifier: MIT */
#include "app/view-shared.h"

#include "app/connect.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

GtkWindow *
lig_view_shared_get_window (const LigViewShared *self)
{
  GtkRoot *root = gtk_widget_get_root (self->view);
  return GTK_IS_WINDOW (root) ? GTK_WINDOW (root) : NULL;
}

LigPage *
lig_view_shared_get_page (const LigViewShared *self)
{
  GtkWidget *place = adw_view_stack_get_visible_child (self->stack);
  GtkWidget *page = ADW_IS_BIN (place) ? adw_bin_get_child (ADW_BIN (place)) : NULL;
  return LIG_IS_PAGE (page) ? LIG_PAGE (page) : NULL;
}

void
lig_view_shared_set_enabled (const LigViewShared *self, const char *action, gboolean enabled)
{
  GAction *found = g_action_map_lookup_action (self->actions, action);
  if (G_IS_SIMPLE_ACTION (found))
    g_simple_action_set_enabled (G_SIMPLE_ACTION (found), enabled);
}

void
lig_view_shared_connect (const LigViewShared *self,
                         gpointer instance,
                         const char *signal,
                         GCallback callback,
                         gpointer part)
{
  lig_connect_part (self->view, instance, signal, callback, part);
}

void
lig_view_shared_answer (const LigViewShared *self, gboolean may_close)
{
  g_signal_emit_by_name (self->view, "answered", may_close);
}

/* GTK does not name the inner button of a menu button, drop-down or split button without a text,
 * nor the close button of an information bar. */
void
lig_name_buttons (GtkWidget *widget)
{
  const char *label = NULL;
  GtkWidget *parent = gtk_widget_get_parent (widget);
  if (GTK_IS_TOGGLE_BUTTON (widget) && (GTK_IS_MENU_BUTTON (parent) || GTK_IS_DROP_DOWN (parent)))
    label = gtk_widget_get_tooltip_text (parent);
  else if (GTK_IS_BUTTON (widget) && ADW_IS_SPLIT_BUTTON (parent) &&
           !adw_split_button_get_label (ADW_SPLIT_BUTTON (parent)))
    label = gtk_widget_get_tooltip_text (parent);
  else if (GTK_IS_BUTTON (widget) && gtk_widget_has_css_class (widget, "close"))
    label = _ ("Close");
  if (label)
    gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                    -1);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    lig_name_buttons (child);
}

/* --- Choosing a file ------------------------------------------------------------------------- */

typedef struct {
  const LigViewShared *shared;
  LigPathCallback callback;
  gpointer part;
} Choice;

static void
take_choice (const Choice *choice, int response, GtkNativeDialog *chooser)
{
  const LigViewShared *self = choice->shared;
  g_autoptr (GListModel) files = gtk_file_chooser_get_files (GTK_FILE_CHOOSER (chooser));
  for (guint i = 0; response == GTK_RESPONSE_ACCEPT && i < g_list_model_get_n_items (files); i++) {
    g_autoptr (GFile) file = g_list_model_get_item (files, i);
    g_autofree char *path = g_file_get_path (file);
    if (path)
      choice->callback (choice->part, path);
    else
      lig_toast (self->toasts, _ ("Only files on this computer can be used"), NULL, NULL);
  }
  if (response != GTK_RESPONSE_ACCEPT)
    lig_view_shared_answer (self, FALSE);
  gtk_native_dialog_destroy (chooser);
  g_object_unref (chooser);
}

void
lig_view_shared_choose_file (const LigViewShared *self,
                             GtkNativeDialog *chooser,
                             LigPathCallback callback,
                             gpointer part)
{
  Choice *choice = g_new (Choice, 1);
  *choice = (Choice){self, callback, part};
  g_object_set_data_full (G_OBJECT (chooser), "choice", choice, g_free);
  gtk_native_dialog_set_modal (chooser, TRUE);
  lig_view_shared_connect (self, chooser, "response", G_CALLBACK (take_choice), choice);
  gtk_native_dialog_show (chooser);
}
