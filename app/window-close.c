/* SPDX-License-Identifier: MIT */
/* Closing a window: nothing unsaved and no training is lost without having been asked about. */
#include "app/window-private.h"

#include "ui/session/training.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

static void
add_response (AdwMessageDialog *dialog,
              const char *id,
              const char *label,
              AdwResponseAppearance look)
{
  adw_message_dialog_add_response (dialog, id, label);
  adw_message_dialog_set_response_appearance (dialog, id, look);
}

static void
close_later (gpointer data)
{
  g_autoptr (LigWindow) self = data;
  gtk_window_close (GTK_WINDOW (self));
}

/* Not within the answer of a dialog, which would have to outlive its parent. */
static void
close_now (LigWindow *self)
{
  self->may_close = TRUE;
  lig_document_discard (self->document);
  g_idle_add_once (close_later, g_object_ref (self));
}

/* --- Trainings ----------------------------------------------------------------------------- */

static guint
count_active (LigWindow *self)
{
  GListModel *trainings = G_LIST_MODEL (lig_session_get_trainings (self->session));
  guint count = 0;
  for (guint i = 0; i < g_list_model_get_n_items (trainings); i++) {
    g_autoptr (LigTraining) training = g_list_model_get_item (trainings, i);
    count += lig_training_is_active (training);
  }
  return count;
}

static gboolean
has_other_windows (LigWindow *self)
{
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));
  for (GList *item = gtk_application_get_windows (application); item; item = item->next)
    if (LIG_IS_WINDOW (item->data) && item->data != self)
      return TRUE;
  return FALSE;
}

static void
close_if_ended (LigWindow *self)
{
  if (self->document && !self->may_close && count_active (self) == 0)
    close_now (self);
}

static void
interrupt_all (LigWindow *self)
{
  GListModel *trainings = G_LIST_MODEL (lig_session_get_trainings (self->session));
  lig_toast (self->toasts, _ ("Saving a checkpoint; the window closes when it is written"), NULL,
             NULL);
  for (guint i = 0; i < g_list_model_get_n_items (trainings); i++) {
    g_autoptr (LigTraining) training = g_list_model_get_item (trainings, i);
    if (!lig_training_is_active (training))
      continue;
    g_signal_connect_object (training, "ended", G_CALLBACK (close_if_ended), self,
                             G_CONNECT_SWAPPED);
    lig_training_interrupt (training);
  }
  close_if_ended (self);
}

static void
answer_training (LigWindow *self, const char *response)
{
  if (g_str_equal (response, "keep"))
    close_now (self);
  else if (g_str_equal (response, "stop"))
    interrupt_all (self);
  else
    lig_application_stay (LIG_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))));
}

static void
ask_about_training (LigWindow *self, guint count)
{
  gboolean others = has_other_windows (self);
  GtkWidget *widget = adw_message_dialog_new (
    GTK_WINDOW (self), ngettext ("A Training Is Under Way", "Trainings Are Under Way", count),
    others ? _ ("It can go on as long as another window is open, or be stopped with a checkpoint "
                "from which it can be resumed.")
           : _ ("It ends with this window. With a checkpoint it can be resumed from where it is."));
  AdwMessageDialog *dialog = ADW_MESSAGE_DIALOG (widget);
  add_response (dialog, "cancel", _ ("_Cancel"), ADW_RESPONSE_DEFAULT);
  add_response (dialog, "stop", _ ("_Save a Checkpoint and Stop"),
                others ? ADW_RESPONSE_DEFAULT : ADW_RESPONSE_SUGGESTED);
  if (others)
    add_response (dialog, "keep", _ ("_Keep Running in the Background"), ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (dialog, others ? "keep" : "stop");
  adw_message_dialog_set_close_response (dialog, "cancel");
  g_signal_connect_object (dialog, "response", G_CALLBACK (answer_training), self,
                           G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* While the program is being quit, the last window asks for all. */
static gboolean
must_ask_about_training (LigWindow *self)
{
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));
  return count_active (self) > 0 &&
         !(has_other_windows (self) && lig_application_is_quitting (LIG_APPLICATION (application)));
}

void
lig_window_go_on_closing (LigWindow *self)
{
  if (must_ask_about_training (self))
    ask_about_training (self, count_active (self));
  else
    close_now (self);
}

/* --- Edits --------------------------------------------------------------------------------- */

static void
answer_unsaved (LigWindow *self, const char *response)
{
  if (g_str_equal (response, "save"))
    lig_window_save (self, FALSE, TRUE);
  else if (g_str_equal (response, "discard"))
    lig_window_go_on_closing (self);
  else
    lig_application_stay (LIG_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))));
}

static void
ask_about_edits (LigWindow *self)
{
  g_autofree char *title = lig_document_get_title (self->document);
  g_autofree char *heading = g_strdup_printf (_ ("Save “%s”?"), title);
  AdwMessageDialog *dialog = ADW_MESSAGE_DIALOG (adw_message_dialog_new (
    GTK_WINDOW (self), heading, _ ("It has edits that are not saved. What is discarded is gone.")));
  add_response (dialog, "cancel", _ ("_Cancel"), ADW_RESPONSE_DEFAULT);
  add_response (dialog, "discard", _ ("_Discard"), ADW_RESPONSE_DESTRUCTIVE);
  add_response (dialog, "save", _ ("_Save"), ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (dialog, "save");
  adw_message_dialog_set_close_response (dialog, "cancel");
  g_signal_connect_object (dialog, "response", G_CALLBACK (answer_unsaved), self,
                           G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* --- The end ------------------------------------------------------------------------------- */

static void
keep_state (LigWindow *self)
{
  GSettings *settings = lig_session_get_settings (self->session);
  int width, height;
  gtk_window_get_default_size (GTK_WINDOW (self), &width, &height);
  g_settings_set_boolean (settings, "window-maximized",
                          gtk_window_is_maximized (GTK_WINDOW (self)));
  if (!gtk_window_is_maximized (GTK_WINDOW (self)) && width > 0 && height > 0)
    g_settings_set (settings, "window-size", "(ii)", width, height);
}

gboolean
lig_window_ask_to_close (GtkWindow *window)
{
  LigWindow *self = LIG_WINDOW (window);
  keep_state (self);
  if (self->may_close)
    return FALSE;
  if (lig_document_is_modified (self->document))
    ask_about_edits (self);
  else if (must_ask_about_training (self))
    ask_about_training (self, count_active (self));
  else {
    self->may_close = TRUE;
    lig_document_discard (self->document);
  }
  return !self->may_close;
}
