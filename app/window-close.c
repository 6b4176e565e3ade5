/* SPDX-License-Identifier: MIT */
#include "app/window-close.h"

#include "ui/session/training.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

struct _LigWindowClose {
  const LigWindowShared *shared;
  void (*save) (gpointer data);
  gpointer data;
  gboolean may_close; /* nothing is left to ask about */
  gboolean quitting;
};

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
  g_autoptr (GtkWindow) window = data;
  gtk_window_close (window);
}

/* The window is not closed within the response of a dialog, which would have to outlive its parent.
 */
static void
close_now (LigWindowClose *self)
{
  self->may_close = TRUE;
  lig_document_discard (self->shared->document);
  g_idle_add_once (close_later, g_object_ref (self->shared->window));
}

/* --- Trainings ----------------------------------------------------------------------------- */

static guint
count_active (LigWindowClose *self)
{
  GListModel *trainings = G_LIST_MODEL (lig_session_get_trainings (self->shared->session));
  guint count = 0;
  for (guint i = 0; i < g_list_model_get_n_items (trainings); i++) {
    g_autoptr (LigTraining) training = g_list_model_get_item (trainings, i);
    count += lig_training_is_active (training);
  }
  return count;
}

static gboolean
has_other_windows (LigWindowClose *self)
{
  GtkWindow *window = self->shared->window;
  GtkApplication *application = gtk_window_get_application (window);
  for (GList *item = gtk_application_get_windows (application); item; item = item->next)
    if (G_OBJECT_TYPE (item->data) == G_OBJECT_TYPE (window) && item->data != window)
      return TRUE;
  return FALSE;
}

static void
close_if_ended (LigWindowClose *self)
{
  if (self->shared->document && !self->may_close && count_active (self) == 0)
    close_now (self);
}

static void
interrupt_all (LigWindowClose *self)
{
  GListModel *trainings = G_LIST_MODEL (lig_session_get_trainings (self->shared->session));
  lig_toast (self->shared->toasts, _ ("Saving a checkpoint; the window closes when it is written"),
             NULL, NULL);
  for (guint i = 0; i < g_list_model_get_n_items (trainings); i++) {
    g_autoptr (LigTraining) training = g_list_model_get_item (trainings, i);
    if (!lig_training_is_active (training))
      continue;
    lig_window_shared_connect (self->shared, training, "ended", G_CALLBACK (close_if_ended), self);
    lig_training_interrupt (training);
  }
  close_if_ended (self);
}

static void
answer_training (LigWindowClose *self, const char *response)
{
  if (g_str_equal (response, "keep"))
    close_now (self);
  else if (g_str_equal (response, "stop"))
    interrupt_all (self);
  else
    lig_window_shared_stay (self->shared);
}

static void
ask_about_training (LigWindowClose *self, guint count)
{
  gboolean others = has_other_windows (self);
  GtkWidget *widget = adw_message_dialog_new (
    self->shared->window,
    ngettext ("A training is in progress", "Trainings are in progress", count),
    others
      ? _ ("It can continue while another window is open, or stop with a checkpoint from which it "
           "can be resumed.")
      : _ ("It ends with this window. With a checkpoint it can be resumed from its present step."));
  AdwMessageDialog *dialog = ADW_MESSAGE_DIALOG (widget);
  add_response (dialog, "cancel", _ ("_Cancel"), ADW_RESPONSE_DEFAULT);
  add_response (dialog, "stop", _ ("_Save a checkpoint and stop"),
                others ? ADW_RESPONSE_DEFAULT : ADW_RESPONSE_SUGGESTED);
  if (others)
    add_response (dialog, "keep", _ ("_Keep running in the background"), ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (dialog, others ? "keep" : "stop");
  adw_message_dialog_set_close_response (dialog, "cancel");
  lig_window_shared_connect (self->shared, dialog, "response", G_CALLBACK (answer_training), self);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* While the program quits, the last window asks on behalf of all. */
static gboolean
must_ask_about_training (LigWindowClose *self)
{
  return count_active (self) > 0 && !(has_other_windows (self) && self->quitting);
}

void
lig_window_close_continue (LigWindowClose *self)
{
  if (must_ask_about_training (self))
    ask_about_training (self, count_active (self));
  else
    close_now (self);
}

/* --- Edits --------------------------------------------------------------------------------- */

static void
answer_unsaved (LigWindowClose *self, const char *response)
{
  if (g_str_equal (response, "save"))
    self->save (self->data);
  else if (g_str_equal (response, "discard"))
    lig_window_close_continue (self);
  else
    lig_window_shared_stay (self->shared);
}

static void
ask_about_edits (LigWindowClose *self)
{
  g_autofree char *title = lig_document_get_title (self->shared->document);
  g_autofree char *heading = g_strdup_printf (_ ("Save “%s”?"), title);
  AdwMessageDialog *dialog = ADW_MESSAGE_DIALOG (
    adw_message_dialog_new (self->shared->window, heading,
                            _ ("It has unsaved edits. Discarded edits cannot be restored.")));
  add_response (dialog, "cancel", _ ("_Cancel"), ADW_RESPONSE_DEFAULT);
  add_response (dialog, "discard", _ ("_Discard"), ADW_RESPONSE_DESTRUCTIVE);
  add_response (dialog, "save", _ ("_Save"), ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (dialog, "save");
  adw_message_dialog_set_close_response (dialog, "cancel");
  lig_window_shared_connect (self->shared, dialog, "response", G_CALLBACK (answer_unsaved), self);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* --- Construction -------------------------------------------------------------------------- */

gboolean
lig_window_close_ask (LigWindowClose *self)
{
  if (self->may_close)
    return TRUE;
  if (lig_document_is_modified (self->shared->document))
    ask_about_edits (self);
  else if (must_ask_about_training (self))
    ask_about_training (self, count_active (self));
  else {
    self->may_close = TRUE;
    lig_document_discard (self->shared->document);
  }
  return self->may_close;
}

void
lig_window_close_set_quitting (LigWindowClose *self, gboolean quitting)
{
  self->quitting = quitting;
}

LigWindowClose *
lig_window_close_new (const LigWindowShared *shared, void (*save) (gpointer data), gpointer data)
{
  LigWindowClose *self = g_new0 (LigWindowClose, 1);
  self->shared = shared;
  self->save = save;
  self->data = data;
  return self;
}

void
lig_window_close_free (LigWindowClose *self)
{
  g_free (self);
}
