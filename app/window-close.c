/* SPDX-License-Identifier: MIT */
#include "app/window-close.h"

#include "app/connect.h"
#include "ui/session/training.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

struct _LigWindowClose {
  GtkWindow *window;
  AdwTabView *tabs;
  LigSession *session;
  AdwTabPage
    *closing; /* the tab about whose document the user is asked; null: all tabs of the window */
  GHashTable *agreed; /* LigDocumentView: while the window is to be closed */
  gboolean all;       /* the window is to be closed */
  gboolean may_close; /* nothing is left to ask about */
  gboolean quitting;
};

static LigDocumentView *
get_view (AdwTabPage *page)
{
  return LIG_DOCUMENT_VIEW (adw_tab_page_get_child (page));
}

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

static void
discard_all (LigWindowClose *self)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tabs); i++)
    lig_document_discard (
      lig_document_view_get_document (get_view (adw_tab_view_get_nth_page (self->tabs, i))));
}

/* The window is not closed inside the response handler of a dialog, which would have to outlive its
 * parent. */
static void
ask_later (LigWindowClose *self)
{
  g_idle_add_once (close_later, g_object_ref (self->window));
}

static void
close_now (LigWindowClose *self)
{
  self->may_close = TRUE;
  discard_all (self);
  ask_later (self);
}

static void
stay (LigWindowClose *self)
{
  self->all = FALSE;
  g_hash_table_remove_all (self->agreed);
  g_signal_emit_by_name (self->window, "stayed");
}

/* --- Training runs
 * ----------------------------------------------------------------------------- */

static guint
count_active (LigWindowClose *self)
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
has_other_windows (LigWindowClose *self)
{
  GtkWindow *window = self->window;
  GtkApplication *application = gtk_window_get_application (window);
  for (GList *item = gtk_application_get_windows (application); item; item = item->next)
    if (G_OBJECT_TYPE (item->data) == G_OBJECT_TYPE (window) && item->data != window)
      return TRUE;
  return FALSE;
}

static void
close_if_ended (LigWindowClose *self)
{
  if (!self->may_close && count_active (self) == 0)
    close_now (self);
}

static void
interrupt_all (LigWindowClose *self)
{
  GListModel *trainings = G_LIST_MODEL (lig_session_get_trainings (self->session));
  AdwTabPage *page = adw_tab_view_get_selected_page (self->tabs);
  lig_toast (lig_document_view_get_toasts (get_view (page)),
             _ ("Saving a checkpoint; the window closes when it is written"), NULL, NULL);
  for (guint i = 0; i < g_list_model_get_n_items (trainings); i++) {
    g_autoptr (LigTraining) training = g_list_model_get_item (trainings, i);
    if (!lig_training_is_active (training))
      continue;
    lig_connect_part (self->window, training, "ended", G_CALLBACK (close_if_ended), self);
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
    stay (self);
}

static void
ask_about_training (LigWindowClose *self, guint count)
{
  gboolean others = has_other_windows (self);
  GtkWidget *widget = adw_message_dialog_new (
    self->window,
    ngettext ("A training run is in progress", "Training runs are in progress", count),
    others
      ? _ ("It can continue while another window is open, or stop with a checkpoint from which it "
           "can be resumed.")
      : _ ("It ends with this window. With a checkpoint it can be resumed from its current step."));
  AdwMessageDialog *dialog = ADW_MESSAGE_DIALOG (widget);
  add_response (dialog, "cancel", _ ("_Cancel"), ADW_RESPONSE_DEFAULT);
  add_response (dialog, "stop", _ ("_Save a checkpoint and stop"),
                others ? ADW_RESPONSE_DEFAULT : ADW_RESPONSE_SUGGESTED);
  if (others)
    add_response (dialog, "keep", _ ("_Keep running in the background"), ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (dialog, others ? "keep" : "stop");
  adw_message_dialog_set_close_response (dialog, "cancel");
  lig_connect_part (self->window, dialog, "response", G_CALLBACK (answer_training), self);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* While the program quits, the last window asks for all windows. */
static gboolean
must_ask_about_training (LigWindowClose *self)
{
  return count_active (self) > 0 && !(has_other_windows (self) && self->quitting);
}

/* --- Documents ----------------------------------------------------------------------------- */

static gboolean
is_modified (AdwTabPage *page)
{
  return lig_document_is_modified (lig_document_view_get_document (get_view (page)));
}

/* Asks about the first document with unsaved edits, and returns whether there is one. */
static gboolean
ask_about_edits (LigWindowClose *self)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tabs); i++) {
    AdwTabPage *page = adw_tab_view_get_nth_page (self->tabs, i);
    if (!is_modified (page) || g_hash_table_contains (self->agreed, get_view (page)))
      continue;
    adw_tab_view_set_selected_page (self->tabs, page);
    lig_document_view_ask (get_view (page));
    return TRUE;
  }
  return FALSE;
}

gboolean
lig_window_close_ask (LigWindowClose *self)
{
  if (self->may_close)
    return TRUE;
  self->all = TRUE;
  if (ask_about_edits (self))
    return FALSE;
  if (must_ask_about_training (self)) {
    ask_about_training (self, count_active (self));
    return FALSE;
  }
  self->may_close = TRUE;
  discard_all (self);
  return TRUE;
}

static void
finish_tab (LigWindowClose *self, AdwTabPage *page, gboolean may_close)
{
  self->closing = NULL;
  if (may_close)
    lig_document_discard (lig_document_view_get_document (get_view (page)));
  adw_tab_view_close_page_finish (self->tabs, page, may_close);
}

/* The last tab closes with the window, which may have more to ask about. */
static gboolean
close_tab (LigWindowClose *self, AdwTabPage *page)
{
  if (adw_tab_view_get_n_pages (self->tabs) == 1) {
    adw_tab_view_close_page_finish (self->tabs, page, FALSE);
    ask_later (self);
  } else if (is_modified (page)) {
    self->closing = page;
    adw_tab_view_set_selected_page (self->tabs, page);
    lig_document_view_ask (get_view (page));
  } else
    finish_tab (self, page, TRUE);
  return GDK_EVENT_STOP;
}

void
lig_window_close_take_answer (LigWindowClose *self, LigDocumentView *view, gboolean may_close)
{
  if (self->closing && get_view (self->closing) == view)
    finish_tab (self, self->closing, may_close);
  else if (self->all && may_close) {
    g_hash_table_add (self->agreed, view);
    ask_later (self);
  } else if (!may_close)
    stay (self);
}

/* --- Construction -------------------------------------------------------------------------- */

void
lig_window_close_set_quitting (LigWindowClose *self, gboolean quitting)
{
  self->quitting = quitting;
}

LigWindowClose *
lig_window_close_new (GtkWindow *window, AdwTabView *tabs, LigSession *session)
{
  LigWindowClose *self = g_new0 (LigWindowClose, 1);
  self->window = window;
  self->tabs = tabs;
  self->session = session;
  self->agreed = g_hash_table_new (NULL, NULL);
  lig_connect_part (self->window, tabs, "close-page", G_CALLBACK (close_tab), self);
  return self;
}

void
lig_window_close_free (LigWindowClose *self)
{
  g_hash_table_unref (self->agreed);
  g_free (self);
}
