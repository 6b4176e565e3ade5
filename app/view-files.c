/* SPDX-License-Identifier: MIT */
#include "app/view-files.h"
#include "ui/document/document.h"

#include "ui/session/task.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/toast.h"

#include <ligature/former-names.h>
#include <ligature/sequence.h>

#include <glib/gi18n.h>
#include <string.h>

struct _LigViewFiles {
  const LigViewShared *shared;
  AdwStatusPage *error_page;
  GtkLabel *error_place;
  char *error_path, *error_text;
  char *wanted; /* the file that is being read */
  gboolean reading, saving;
  LigSavedCallback saved; /* (nullable): called once the file is written */
  gpointer saved_data;
};

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

/* --- Errors -------------------------------------------------------------------------------- */

/* A message has the form `FILE:LINE:COLUMN: …`, `FILE: $.PLACE: …` or `FILE: …`. */
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
show_error (LigViewFiles *self, const char *path, const char *message)
{
  g_autofree char *place = NULL;
  g_autofree char *sentence = split_message (message, path, &place);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *title = g_strdup_printf (_ ("“%s” cannot be opened"), name);
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
  adw_view_stack_set_visible_child_name (self->shared->stack, "error");
}

static void
copy_error (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigViewFiles *self = data;
  if (!self->error_text)
    return;
  gdk_clipboard_set_text (gtk_widget_get_clipboard (self->shared->toasts), self->error_text);
  lig_toast (self->shared->toasts, _ ("Copied"), NULL, NULL);
}

static void
show_error_folder (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigViewFiles *self = data;
  g_autofree char *folder = g_path_get_dirname (self->error_path ? self->error_path : ".");
  gtk_widget_activate_action (self->shared->toasts, "win.open-folder", "s", folder);
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
show_warnings (LigViewFiles *self, const char *const *warnings)
{
  guint count = warnings ? g_strv_length ((GStrv) warnings) : 0;
  if (count == 0)
    return;
  g_autofree char *more = g_strdup_printf (
    ngettext ("%s (and %u more)", "%s (and %u more)", count - 1), warnings[0], count - 1);
  lig_toast (self->shared->toasts, count == 1 ? warnings[0] : more, NULL, NULL);
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
  LigViewFiles *self = data;
  const File *file = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  gboolean read = g_task_propagate_boolean (G_TASK (result), &error);
  self->reading = FALSE;
  if (!self->shared->document || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  if (!read) {
    show_error (self, file->path, error->message);
    return;
  }
  lig_document_take_loaded (self->shared->document, file->sequence, file->path);
  adw_view_stack_set_visible_child_name (self->shared->stack, "sequence");
  show_warnings (self, (const char *const *) file->warnings);
  g_auto (GStrv) remarks = lig_former_names_take_remarks ();
  show_warnings (self, (const char *const *) remarks);
  add_recent (file->path);
}

void
lig_view_files_open (LigViewFiles *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);
  if (!path) {
    g_autofree char *uri = g_file_get_uri (file);
    show_error (self, uri, _ ("only files on this computer can be opened"));
    return;
  }
  File *task_data = g_new0 (File, 1);
  task_data->path = g_canonicalize_filename (path, NULL);
  g_free (self->wanted);
  self->wanted = g_strdup (task_data->path);
  self->reading = TRUE;
  g_autoptr (GTask) task =
    g_task_new (self->shared->view, self->shared->cancellable, take_file, self);
  g_task_set_task_data (task, task_data, free_file);
  lig_task_run (task, read_file);
}

/* The application shows the window with the file, or an empty one, or a new one. */
static void
open_in_application (LigViewFiles *self, GFile *file)
{
  GApplication *application =
    G_APPLICATION (gtk_window_get_application (lig_view_shared_get_window (self->shared)));
  g_application_open (application, &file, 1, "");
}

static void
open_chosen (gpointer data, const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  open_in_application (data, file);
}

static void
open_file (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigViewFiles *self = data;
  GtkFileChooserNative *chooser =
    gtk_file_chooser_native_new (_ ("Open"), lig_view_shared_get_window (self->shared),
                                 GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Open"), NULL);
  gtk_file_chooser_set_select_multiple (GTK_FILE_CHOOSER (chooser), TRUE);
  add_filters (GTK_FILE_CHOOSER (chooser));
  lig_view_shared_choose_file (self->shared, GTK_NATIVE_DIALOG (chooser), open_chosen, self);
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

static void ask_for_path (LigViewFiles *self);

static void
answer_failure (LigViewFiles *self, const char *response)
{
  if (g_str_equal (response, "save-as"))
    ask_for_path (self);
  else
    lig_view_shared_answer (self->shared, FALSE);
}

static void
show_failure (LigViewFiles *self, const char *path, const char *message)
{
  g_autofree char *place = NULL;
  g_autofree char *sentence = split_message (message, path, &place);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *heading = g_strdup_printf (_ ("“%s” was not saved"), name);
  g_autofree char *body = g_strdup_printf (
    _ ("%s. The file is unchanged, and your edits are still in the window."), sentence);
  GtkWidget *dialog =
    adw_message_dialog_new (lig_view_shared_get_window (self->shared), heading, body);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"), "save-as",
                                    _ ("Save _as…"), NULL);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "save-as");
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "save-as",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  lig_view_shared_connect (self->shared, dialog, "response", G_CALLBACK (answer_failure), self);
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
take_written (GObject *source, GAsyncResult *result, gpointer data)
{
  LigViewFiles *self = data;
  const File *file = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  gboolean written = g_task_propagate_boolean (G_TASK (result), &error);
  self->saving = FALSE;
  if (!self->shared->document)
    return;
  if (!written) {
    show_failure (self, file->path, error->message);
    return;
  }
  lig_document_take_saved (self->shared->document, file->sequence, file->path);
  add_recent (file->path);
  if (self->saved)
    self->saved (self->saved_data);
}

/* The chooser asked about overwriting the name as typed; an existing file with a longer name is not
 * overwritten. */
static char *
add_ending (const char *path)
{
  g_autofree char *longer = g_strconcat (path, ".lig", NULL);
  gboolean fine = g_str_has_suffix (path, ".lig") || g_file_test (longer, G_FILE_TEST_EXISTS);
  return fine ? g_strdup (path) : g_steal_pointer (&longer);
}

static void
write_to (LigViewFiles *self, const char *path)
{
  /* Two writers would race for the file. */
  if (self->saving)
    return;
  File *file = g_new0 (File, 1);
  file->sequence = lig_sequence_copy (lig_document_get_sequence (self->shared->document));
  file->path = g_strdup (path);
  self->saving = TRUE;
  /* A write that has started is completed even if the window closes. */
  g_autoptr (GTask) task = g_task_new (self->shared->view, NULL, take_written, self);
  g_task_set_task_data (task, file, free_file);
  lig_task_run (task, write_file);
}

static void
write_to_chosen (gpointer data, const char *path)
{
  g_autofree char *whole = add_ending (path);
  write_to (data, whole);
}

static void
ask_for_path (LigViewFiles *self)
{
  LigDocument *document = self->shared->document;
  const char *path = lig_document_get_path (document);
  GtkFileChooserNative *chooser =
    gtk_file_chooser_native_new (_ ("Save"), lig_view_shared_get_window (self->shared),
                                 GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"), NULL);
  g_autofree char *title = lig_document_get_title (document);
  g_autofree char *name = g_strconcat (g_strdelimit (title, "/", '-'), ".lig", NULL);
  g_autoptr (GFile) file = path ? g_file_new_for_path (path) : NULL;
  if (file)
    gtk_file_chooser_set_file (GTK_FILE_CHOOSER (chooser), file, NULL);
  else
    gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (chooser), name);
  add_filters (GTK_FILE_CHOOSER (chooser));
  lig_view_shared_choose_file (self->shared, GTK_NATIVE_DIALOG (chooser), write_to_chosen, self);
}

void
lig_view_files_save (LigViewFiles *self, LigSavedCallback saved, gpointer data)
{
  const char *path = lig_document_get_path (self->shared->document);
  self->saved = saved;
  self->saved_data = data;
  if (path)
    write_to (self, path);
  else
    ask_for_path (self);
}

static void
save (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_view_files_save (data, NULL, NULL);
}

static void
save_as (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigViewFiles *self = data;
  self->saved = NULL;
  ask_for_path (self);
}

static void
save_as_path (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigViewFiles *self = data;
  self->saved = NULL;
  write_to_chosen (self, g_variant_get_string (parameter, NULL));
}

/* --- Construction -------------------------------------------------------------------------- */

gboolean
lig_view_files_is_busy (LigViewFiles *self)
{
  return self->reading || self->saving;
}

gboolean
lig_view_files_has (LigViewFiles *self, const char *path)
{
  const char *own = self->reading ? self->wanted : lig_document_get_path (self->shared->document);
  return g_strcmp0 (own, path) == 0;
}

LigViewFiles *
lig_view_files_new (const LigViewShared *shared, AdwStatusPage *page, GtkLabel *place)
{
  static const GActionEntry actions[] = {
    {.name = "open", .activate = open_file},
    {.name = "save", .activate = save},
    {.name = "save-as", .activate = save_as},
    {.name = "save-to", .activate = save_as_path, .parameter_type = "s"},
    {.name = "copy-error", .activate = copy_error},
    {.name = "show-error-folder", .activate = show_error_folder},
  };
  LigViewFiles *self = g_new0 (LigViewFiles, 1);
  self->shared = shared;
  self->error_page = page;
  self->error_place = place;
  g_action_map_add_action_entries (shared->actions, actions, G_N_ELEMENTS (actions), self);
  return self;
}

void
lig_view_files_free (LigViewFiles *self)
{
  g_free (self->error_path);
  g_free (self->error_text);
  g_free (self->wanted);
  g_free (self);
}
