/* SPDX-License-Identifier: MIT */
#include "app/view-close.h"
#include "ui/document/document.h"
#include "ui/session/session.h"

#include <glib/gi18n.h>

typedef struct {
  const LigViewShared *shared;
  void (*save) (gpointer data);
  gpointer data;
} Question;

static void
answer (const Question *question, const char *response)
{
  if (g_str_equal (response, "save"))
    question->save (question->data);
  else
    lig_view_shared_answer (question->shared, g_str_equal (response, "discard"));
}

void
lig_view_close_ask (const LigViewShared *self, void (*save) (gpointer data), gpointer data)
{
  g_autofree char *title = lig_document_get_title (self->document);
  g_autofree char *heading = g_strdup_printf (_ ("Save “%s”?"), title);
  Question *question = g_new (Question, 1);
  *question = (Question){self, save, data};
  AdwMessageDialog *dialog = ADW_MESSAGE_DIALOG (
    adw_message_dialog_new (lig_view_shared_get_window (self), heading,
                            _ ("It has unsaved edits. Discarded edits cannot be restored.")));
  adw_message_dialog_add_responses (dialog, "cancel", _ ("_Cancel"), "discard", _ ("_Discard"),
                                    "save", _ ("_Save"), NULL);
  adw_message_dialog_set_response_appearance (dialog, "discard", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_response_appearance (dialog, "save", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (dialog, "save");
  adw_message_dialog_set_close_response (dialog, "cancel");
  g_object_set_data_full (G_OBJECT (dialog), "question", question, g_free);
  lig_view_shared_connect (self, dialog, "response", G_CALLBACK (answer), question);
  gtk_window_present (GTK_WINDOW (dialog));
}
