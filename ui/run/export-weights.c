/* SPDX-License-Identifier: MIT */
#include "ui/run/export-weights.h"

#include "ui/session/child-run.h"
#include "ui/session/session.h"
#include "ui/widgets/toast.h"
#include <ligature/error.h>

#include <glib/gi18n.h>

#define RUN "lig-run"

typedef struct {
  GtkWidget *widget;
  char *path;
} Export;

static void
free_export (Export *self)
{
  g_object_unref (self->widget);
  g_free (self->path);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Export, free_export)

static void
show_result (Export *self, GError *error)
{
  if (error)
    lig_toast_error (self->widget, error);
  else
    lig_toast_exported (self->widget, self->path);
}

static void
ended (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Export) self = data;
  GSubprocess *process = G_SUBPROCESS (source);
  char *said = NULL;
  GError *error = NULL;
  if (g_subprocess_communicate_utf8_finish (process, result, NULL, &said, &error) &&
      !g_subprocess_get_successful (process)) {
    g_autofree char *reason = said ? lig_child_run_find_reason (said) : NULL;
    error = g_error_new (LIG_ERROR, LIG_ERROR_FILE, "%s",
                         reason ? reason : _ ("the weights could not be written"));
  }
  g_free (said);
  show_result (self, error);
}

void
lig_export_weights_to (GtkWidget *widget, LigSession *session, const char *uuid, const char *path)
{
  GError *error = NULL;
  g_autofree char *program = lig_child_run_find_program ();
  const char *store = lig_session_get_store_path (session);
  Export *export = g_new0 (Export, 1);
  export->widget = g_object_ref (widget);
  export->path = g_strdup (path);
  const char *const words[] = {program ? program : "lig", "export-weights",     uuid, "-o", path,
                               store ? "--store" : NULL,  store ? store : NULL, NULL};
  g_autoptr (GSubprocess) process = g_subprocess_newv (
    words, G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
  if (process) {
    g_subprocess_communicate_utf8_async (process, NULL, NULL, ended, export);
    return;
  }
  show_result (export, error);
  free_export (export);
}

static void
take_file (GtkNativeDialog *dialog, int response, GtkWidget *widget)
{
  g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  g_autofree char *path = file ? g_file_get_path (file) : NULL;
  LigSession *session = g_object_get_data (G_OBJECT (dialog), "lig-session");
  if (response == GTK_RESPONSE_ACCEPT && path)
    lig_export_weights_to (widget, session, g_object_get_data (G_OBJECT (dialog), RUN), path);
  g_object_unref (dialog);
}

void
lig_export_weights_choose (GtkWidget *widget,
                           LigSession *session,
                           const char *uuid,
                           const char *name)
{
  g_autofree char *plain = g_strdelimit (g_strdup (name && *name ? name : "weights"), "/", '-');
  g_autofree char *file = g_strconcat (plain, ".safetensors", NULL);
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
    _ ("Export the weights"), GTK_WINDOW (gtk_widget_get_root (widget)),
    GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Export"), _ ("_Cancel"));
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), file);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_object_set_data_full (G_OBJECT (dialog), RUN, g_strdup (uuid), g_free);
  g_object_set_data_full (G_OBJECT (dialog), "lig-session", g_object_ref (session), g_object_unref);
  g_signal_connect_object (dialog, "response", G_CALLBACK (take_file), widget, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}
