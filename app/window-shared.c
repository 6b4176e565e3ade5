/* SPDX-License-Identifier: MIT */
#include "app/window-shared.h"

#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

void
lig_window_shared_set_enabled (const LigWindowShared *self, const char *action, gboolean enabled)
{
  GAction *found = g_action_map_lookup_action (G_ACTION_MAP (self->window), action);
  if (G_IS_SIMPLE_ACTION (found))
    g_simple_action_set_enabled (G_SIMPLE_ACTION (found), enabled);
}

void
lig_window_shared_connect (const LigWindowShared *self,
                           gpointer instance,
                           const char *signal,
                           GCallback callback,
                           gpointer part)
{
  GClosure *closure = g_cclosure_new_swap (callback, part, NULL);
  g_object_watch_closure (G_OBJECT (self->window), closure);
  g_signal_connect_closure (instance, signal, closure, FALSE);
}

void
lig_window_shared_stay (const LigWindowShared *self)
{
  g_signal_emit_by_name (self->window, "stayed");
}

/* --- Choosing a file ------------------------------------------------------------------------- */

typedef struct {
  const LigWindowShared *shared;
  LigPathCallback callback;
  gpointer part;
} Choice;

static void
take_choice (const Choice *choice, int response, GtkNativeDialog *chooser)
{
  const LigWindowShared *self = choice->shared;
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
    lig_window_shared_stay (self);
  gtk_native_dialog_destroy (chooser);
  g_object_unref (chooser);
}

void
lig_window_shared_choose_file (const LigWindowShared *self,
                               GtkNativeDialog *chooser,
                               LigPathCallback callback,
                               gpointer part)
{
  Choice *choice = g_new (Choice, 1);
  *choice = (Choice){self, callback, part};
  g_object_set_data_full (G_OBJECT (chooser), "choice", choice, g_free);
  gtk_native_dialog_set_modal (chooser, TRUE);
  lig_window_shared_connect (self, chooser, "response", G_CALLBACK (take_choice), choice);
  gtk_native_dialog_show (chooser);
}
