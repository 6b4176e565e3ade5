/* SPDX-License-Identifier: MIT */
#include "ui/history/trash.h"

#include "ui/session/task.h"
#include <ligature/store-rows.h>
#include <ligature/store.h>

#include <glib/gi18n.h>

/* Returns the warning, which says how many of the runs are not in sight. */
static char *
make_warning (guint hidden)
{
  const char *warning = _ ("Their checkpoints are deleted, too. This cannot be undone.");
  if (hidden == 0)
    return g_strdup (warning);
  g_autofree char *text =
    g_strdup_printf (ngettext ("%u of them does not match the filters.",
                               "%u of them do not match the filters.", hidden),
                     hidden);
  return g_strdup_printf ("%s %s", text, warning);
}

GtkWidget *
lig_trash_question_new (GtkWindow *window, guint runs, guint hidden)
{
  g_autofree char *title =
    g_strdup_printf (ngettext ("Delete %u run for good?", "Delete %u runs for good?", runs), runs);
  g_autofree char *warning = make_warning (hidden);
  GtkWidget *dialog = adw_message_dialog_new (window, title, warning);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"), "delete",
                                    _ ("_Delete"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "delete",
                                              ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  return dialog;
}

static void
read_trash (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  static const LigRunFilter trash = {.deleted = TRUE};
  GError *error = NULL;
  GArray *keys = lig_store_list_keys (data, &trash, LIG_RUN_BY_START, TRUE, &error);
  if (keys)
    g_task_return_pointer (task, keys, (GDestroyNotify) g_array_unref);
  else
    g_task_return_error (task, error);
}

void
lig_trash_list_async (LigStore *store, GObject *owner, GAsyncReadyCallback callback, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (owner, NULL, callback, data);
  g_task_set_task_data (task, g_object_ref (store), g_object_unref);
  lig_task_run (task, read_trash);
}

GArray *
lig_trash_list_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
