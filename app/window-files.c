/* SPDX-License-Identifier: MIT */
/* A window's files: opening, and the page that says what is wrong with one; saving. The reading and
 * the writing happen on threads. */
#include "app/window-private.h"

#include "ui/widgets/figures.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
  LigSequence *sequence;
  char *path;
  GStrv warnings;
} File;

static void
free_file (gpointer data)
{
  File *file = data;
  g_clear_object (&file->sequence);
  g_free (file->path);
  g_strfreev (file->warnings);
  g_free (file);
}

/* --- Choosing ------------------------------------------------------------------------------ */

typedef struct {
  LigPathCallback callback;
  gpointer data;
} Choice;

static void
take_choice (GtkNativeDialog *chooser, int response, LigWindow *self)
{
  const Choice *choice = g_object_get_data (G_OBJECT (chooser), "choice");
  g_autoptr (GListModel) files = gtk_file_chooser_get_files (GTK_FILE_CHOOSER (chooser));
  for (guint i = 0; response == GTK_RESPONSE_ACCEPT && i < g_list_model_get_n_items (files); i++) {
    g_autoptr (GFile) file = g_list_model_get_item (files, i);
    g_autofree char *path = g_file_get_path (file);
    if (path)
      choice->callback (self, path, choice->data);
    else
      lig_toast (self->toasts, _ ("Only files on this computer can be used"), NULL, NULL);
  }
  if (response != GTK_RESPONSE_ACCEPT)
    lig_application_stay (LIG_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))));
  gtk_native_dialog_destroy (chooser);
  g_object_unref (chooser);
}

void
lig_window_choose_file (LigWindow *self,
                        GtkNativeDialog *chooser,
                        LigPathCallback callback,
                        gpointer data)
{
  Choice *choice = g_new (Choice, 1);
  *choice = (Choice){callback, data};
  g_object_set_data_full (G_OBJECT (chooser), "choice", choice, g_free);
  gtk_native_dialog_set_modal (chooser, TRUE);
  g_signal_connect_object (chooser, "response", G_CALLBACK (take_choice), self, 0);
  gtk_native_dialog_show (chooser);
}

static void
add_filters (GtkFileChooser *chooser)
{
  g_autoptr (GtkFileFilter) ours = gtk_file_filter_new ();
  gtk_file_filter_set_name (ours, _ ("Sequences (*.lig)"));
  gtk_file_filter_add_pattern (ours, "*.lig");
  gtk_file_chooser_add_filter (chooser, ours);
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();
  gtk_file_filter_set_name (all, _ ("All files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (chooser, all);
}

/* --- What is wrong with a file ------------------------------------------------------------- */

/* A message reads `FILE:LINE:COLUMN: …`, `FILE: $.PLACE: …` or `FILE: …`. */
static char *
split_message (const char *message, const char *path, char **place)
{
  guint line, column;
  int length = 0;
  const char *rest = g_str_has_prefix (message, path) ? message + strlen (path) : message;
  *place = NULL;
  if (sscanf (rest, ":%u:%u: %n", &line, &column, &length) == 2 && length > 0)
    *place = g_strdup_printf (_ ("Line %u, column %u"), line, column);
  else if (rest[0] == ':' && rest[1] == ' ')
    length = 2;
  rest += length;
  const char *end = *rest == '$' ? strstr (rest, ": ") : NULL;
  if (end) {
    *place = g_strndup (rest, (gsize) (end - rest));
    rest = end + 2;
  }
  return lig_figure_sentence (rest);
}

static void
show_error (LigWindow *self, const char *path, const char *message)
{
  g_autofree char *place = NULL;
  g_autofree char *sentence = split_message (message, path, &place);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *title = g_strdup_printf (_ ("“%s” Cannot Be Opened"), name);
  g_autofree char *escaped = g_markup_escape_text (sentence, -1);
  g_free (self->error_path);
  g_free (self->error_text);
  self->error_path = g_strdup (path);
  self->error_text = g_strdup (message);
  adw_status_page_set_title (self->error_page, title);
  adw_status_page_set_description (self->error_page, escaped);
  g_autofree char *whole = g_filename_display_name (path);
  g_autofree char *where = place ? g_strdup_printf ("%s\n%s", place, whole) : g_strdup (whole);
  gtk_label_set_text (self->error_place, where);
  lig_window_show_page (self, "error");
}

static void
copy_error (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigWindow *self = data;
  if (!self->error_text)
    return;
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), self->error_text);
  lig_toast (self->toasts, _ ("Copied"), NULL, NULL);
}

static void
show_error_folder (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigWindow *self = data;
  g_autofree char *folder = g_path_get_dirname (self->error_path ? self->error_path : ".");
  gtk_widget_activate_action (GTK_WIDGET (self), "win.open-folder", "s", folder);
}

/* --- Opening ------------------------------------------------------------------------------- */

static void
read_file (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  File *file = data;
  GError *error = NULL;
  file->sequence = lig_sequence_load (file->path, &file->warnings, &error);
  if (file->sequence)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
show_warnings (LigWindow *self, const char *const *warnings)
{
  guint count = warnings ? g_strv_length ((GStrv) warnings) : 0;
  if (count == 0)
    return;
  g_autofree char *more = g_strdup_printf (
    ngettext ("%s (and %u more)", "%s (and %u more)", count - 1), warnings[0], count - 1);
  lig_toast (self->toasts, count == 1 ? warnings[0] : more, NULL, NULL);
}

static void
add_recent (const char *path)
{
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);
  GtkRecentData recent = {.mime_type = (char *) "application/x-ligature+json",
                          .app_name = (char *) "Ligature",
                          .app_exec = (char *) "ligature %f"};
  if (uri)
    gtk_recent_manager_add_full (gtk_recent_manager_get_default (), uri, &recent);
}

static void
take_file (GObject *source, GAsyncResult *result, gpointer data)
{
  LigWindow *self = LIG_WINDOW (source);
  const File *file = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  gboolean read = g_task_propagate_boolean (G_TASK (result), &error);
  self->reading = FALSE;
  if (!self->document || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  if (!read) {
    show_error (self, file->path, error->message);
    return;
  }
  lig_document_take_loaded (self->document, file->sequence, file->path);
  lig_window_show_page (self, "sequence");
  show_warnings (self, (const char *const *) file->warnings);
  add_recent (file->path);
}

void
lig_window_open (LigWindow *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);
  if (!path) {
    g_autofree char *uri = g_file_get_uri (file);
    show_error (self, uri, _ ("only files on this computer can be opened"));
    return;
  }
  File *task_data = g_new0 (File, 1);
  task_data->path = g_canonicalize_filename (path, NULL);
  self->reading = TRUE;
  g_autoptr (GTask) task = g_task_new (self, self->cancellable, take_file, NULL);
  g_task_set_task_data (task, task_data, free_file);
  g_task_run_in_thread (task, read_file);
}

static void
open_chosen (LigWindow *self, const char *path, gpointer data)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lig_application_open_file (LIG_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))),
                             file);
}

static void
open_file (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkFileChooserNative *chooser = gtk_file_chooser_native_new (
    _ ("Open"), GTK_WINDOW (data), GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Open"), NULL);
  gtk_file_chooser_set_select_multiple (GTK_FILE_CHOOSER (chooser), TRUE);
  add_filters (GTK_FILE_CHOOSER (chooser));
  lig_window_choose_file (LIG_WINDOW (data), GTK_NATIVE_DIALOG (chooser), open_chosen, NULL);
}

static gboolean
take_drop (GtkDropTarget *target, const GValue *value, double x, double y, LigWindow *self)
{
  GSList *files = g_value_get_boxed (value);
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));
  for (GSList *item = files; item; item = item->next)
    lig_application_open_file (LIG_APPLICATION (application), item->data);
  return files != NULL;
}

/* --- Saving -------------------------------------------------------------------------------- */

static void
write_file (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const File *file = data;
  GError *error = NULL;
  if (lig_sequence_save (file->sequence, file->path, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
answer_failure (LigWindow *self, const char *response)
{
  if (g_str_equal (response, "save-as"))
    lig_window_save (self, TRUE, self->close_after_saving);
}

static void
show_failure (LigWindow *self, const char *path, const char *message)
{
  g_autofree char *place = NULL;
  g_autofree char *sentence = split_message (message, path, &place);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *heading = g_strdup_printf (_ ("“%s” Was Not Saved"), name);
  g_autofree char *body = g_strdup_printf (
    _ ("%s. The file is as it was before, and your edits are still in the window."), sentence);
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (self), heading, body);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"), "save-as",
                                    _ ("Save _As…"), NULL);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "save-as");
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "save-as",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_signal_connect_object (dialog, "response", G_CALLBACK (answer_failure), self,
                           G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
take_written (GObject *source, GAsyncResult *result, gpointer data)
{
  LigWindow *self = LIG_WINDOW (source);
  const File *file = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  gboolean written = g_task_propagate_boolean (G_TASK (result), &error);
  self->saving = FALSE;
  if (!self->document)
    return;
  if (!written) {
    show_failure (self, file->path, error->message);
    return;
  }
  lig_document_take_saved (self->document, file->sequence, file->path);
  add_recent (file->path);
  if (self->close_after_saving)
    lig_window_go_on_closing (self);
}

/* The chooser asked about the file as it was typed, so another one is not overwritten. */
static char *
add_ending (const char *path)
{
  g_autofree char *longer = g_strconcat (path, ".lig", NULL);
  gboolean fine = g_str_has_suffix (path, ".lig") || g_file_test (longer, G_FILE_TEST_EXISTS);
  return fine ? g_strdup (path) : g_steal_pointer (&longer);
}

static void
save_to (LigWindow *self, const char *path, gpointer data)
{
  /* Two at once would race for the one file. */
  if (self->saving)
    return;
  File *file = g_new0 (File, 1);
  file->sequence = lig_sequence_copy (lig_document_get_sequence (self->document));
  file->path = data ? g_strdup (path) : add_ending (path);
  self->saving = TRUE;
  /* What has been begun is written, whatever becomes of the window. */
  g_autoptr (GTask) task = g_task_new (self, NULL, take_written, NULL);
  g_task_set_task_data (task, file, free_file);
  g_task_run_in_thread (task, write_file);
}

/* The path stays as it is where the document has it from a file. */
static char as_it_is[] = "";

void
lig_window_save (LigWindow *self, gboolean as, gboolean and_close)
{
  const char *path = lig_document_get_path (self->document);
  self->close_after_saving = and_close;
  if (path && !as) {
    save_to (self, path, as_it_is);
    return;
  }
  GtkFileChooserNative *chooser = gtk_file_chooser_native_new (
    _ ("Save"), GTK_WINDOW (self), GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"), NULL);
  g_autofree char *title = lig_document_get_title (self->document);
  g_autofree char *name = g_strconcat (g_strdelimit (title, "/", '-'), ".lig", NULL);
  g_autoptr (GFile) file = path ? g_file_new_for_path (path) : NULL;
  if (file)
    gtk_file_chooser_set_file (GTK_FILE_CHOOSER (chooser), file, NULL);
  else
    gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (chooser), name);
  add_filters (GTK_FILE_CHOOSER (chooser));
  lig_window_choose_file (self, GTK_NATIVE_DIALOG (chooser), save_to, NULL);
}

static void
save (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_window_save (LIG_WINDOW (data), FALSE, FALSE);
}

static void
save_as (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_window_save (LIG_WINDOW (data), TRUE, FALSE);
}

static void
save_as_path (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LIG_WINDOW (data)->close_after_saving = FALSE;
  save_to (LIG_WINDOW (data), g_variant_get_string (parameter, NULL), NULL);
}

void
lig_window_init_files (LigWindow *self)
{
  static const GActionEntry actions[] = {
    {.name = "open", .activate = open_file},
    {.name = "save", .activate = save},
    {.name = "save-as", .activate = save_as},
    {.name = "save-to", .activate = save_as_path, .parameter_type = "s"},
    {.name = "copy-error", .activate = copy_error},
    {.name = "show-error-folder", .activate = show_error_folder},
  };
  g_action_map_add_action_entries (G_ACTION_MAP (self), actions, G_N_ELEMENTS (actions), self);
  GtkDropTarget *target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
  g_signal_connect_object (target, "drop", G_CALLBACK (take_drop), self, 0);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (target));
}
