/* SPDX-License-Identifier: MIT */
#include "app/view-export.h"

#include "ui/document/export.h"
#include "ui/widgets/toast.h"
#include <ligature/report.h>

#include <glib/gi18n.h>

/* --- Writing ------------------------------------------------------------------------------- */

typedef struct {
  const LigViewShared *shared; /* valid as long as the view, on which it holds a reference */
  char *path;
} Writing;

static void
take_report (GObject *source, GAsyncResult *result, gpointer data)
{
  Writing *writing = data;
  const LigViewShared *self = writing->shared;
  GError *error = NULL;
  gboolean fine = lig_export_finish (LIG_DOCUMENT (source), result, &error);
  if (fine && self->document) {
    lig_toast_exported (self->toasts, writing->path);
  } else if (self->document)
    lig_toast_error (self->toasts, g_steal_pointer (&error));
  g_clear_error (&error);
  g_object_unref (self->view);
  g_free (writing->path);
  g_free (writing);
}

/* The record of the page that is shown: a run or a sweep, or neither; then the plan is exported. */
typedef struct {
  char *run, *sweep, *title;
} Record;

static void
clear_record (Record *self)
{
  g_free (self->run);
  g_free (self->sweep);
  g_free (self->title);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Record, clear_record)

static Record
find_record (const LigViewShared *self)
{
  LigPage *page = lig_view_shared_get_page (self);
  Record found = {0};
  found.sweep = page ? lig_page_find_sweep (page, &found.title) : NULL;
  if (page && !found.sweep)
    found.run = lig_page_find_run (page, &found.title);
  return found;
}

static void
export_path (gpointer data, const char *path)
{
  const LigViewShared *self = data;
  g_auto (Record) record = find_record (self);
  Writing *writing = g_new (Writing, 1);
  g_object_ref (self->view);
  *writing = (Writing){self, g_canonicalize_filename (path, NULL)};
  if (record.sweep)
    lig_export_sweep_async (self->document, record.sweep, writing->path, NULL, take_report,
                            writing);
  else if (record.run)
    lig_export_run_async (self->document, record.run, writing->path, NULL, take_report, writing);
  else
    lig_export_async (self->document, writing->path, NULL, take_report, writing);
}

static void
export_to (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  export_path (data, g_variant_get_string (parameter, NULL));
}

/* --- The dialog ---------------------------------------------------------------------------- */

static void
choose_path (const LigViewShared *self, const char *format)
{
  g_auto (Record) record = find_record (self);
  g_autofree char *title =
    record.run || record.sweep ? g_strdup (record.title) : lig_document_get_title (self->document);
  g_autofree char *name = g_strdup_printf ("%s.%s", g_strdelimit (title, "/", '-'), format);
  GtkFileChooserNative *chooser =
    gtk_file_chooser_native_new (_ ("Export"), lig_view_shared_get_window (self),
                                 GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Export"), NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (chooser), name);
  lig_view_shared_choose_file (self, GTK_NATIVE_DIALOG (chooser), export_path, (gpointer) self);
}

static void
choose_format (const LigViewShared *self, GtkListBoxRow *row)
{
  const char *format = g_object_get_data (G_OBJECT (row), "format");
  GtkRoot *dialog = gtk_widget_get_root (GTK_WIDGET (row));
  gtk_window_destroy (GTK_WINDOW (dialog));
  choose_path (self, format);
}

static GtkWidget *
new_format_row (const char *format)
{
  GtkWidget *row = adw_action_row_new ();
  g_autofree char *ending = g_strconcat (".", format, NULL);
  GtkWidget *label = gtk_label_new (ending);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_widget_add_css_class (label, "monospace");
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ (lig_report_format_title (format)));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), _ (lig_report_format_help (format)));
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), label);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  g_object_set_data (G_OBJECT (row), "format", (gpointer) format);
  return row;
}

static void export(GSimpleAction *action, GVariant *parameter, gpointer data)
{
  const LigViewShared *self = data;
  g_autoptr (GtkBuilder) builder =
    gtk_builder_new_from_resource ("/org/ligature/Ligature/app/export.ui");
  GtkWindow *dialog = GTK_WINDOW (gtk_builder_get_object (builder, "dialog"));
  GtkListBox *list = GTK_LIST_BOX (gtk_builder_get_object (builder, "formats"));
  const char *format;
  g_auto (Record) record = find_record (self);
  for (guint i = 0; (format = lig_report_format_nth (i)); i++)
    if (!record.sweep || lig_report_shows_sweep (format))
      gtk_list_box_append (list, new_format_row (format));
  lig_view_shared_connect (self, list, "row-activated", G_CALLBACK (choose_format), data);
  if (record.run || record.sweep)
    adw_preferences_group_set_description (
      ADW_PREFERENCES_GROUP (gtk_builder_get_object (builder, "group")),
      record.run ? _ ("The run that the page shows, in the format that suits the reader.")
                 : _ ("The sweep that the page shows, in the format that suits the reader."));
  gtk_window_set_transient_for (dialog, lig_view_shared_get_window (self));
  gtk_window_present (dialog);
}

/* --- Commands and folders ------------------------------------------------------------------ */

static void
copy_command (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  const LigViewShared *self = data;
  LigPage *page = lig_view_shared_get_page (self);
  g_autofree char *text =
    page ? lig_page_to_command (page) : lig_document_to_command (self->document, "fuse");
  if (!text) {
    lig_toast (self->toasts, _ ("There are no operations yet for a command"), NULL, NULL);
    return;
  }
  g_autofree char *message = g_strdup_printf (_ ("Copied “%s”"), text);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (self->toasts), text);
  lig_toast (self->toasts, message, NULL, NULL);
}

static void
open_folder (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  const LigViewShared *self = data;
  g_autofree char *uri = g_filename_to_uri (g_variant_get_string (parameter, NULL), NULL, NULL);
  if (uri)
    gtk_show_uri (lig_view_shared_get_window (self), uri, GDK_CURRENT_TIME);
}

void
lig_view_export_add_actions (const LigViewShared *shared)
{
  static const GActionEntry actions[] = {
    {.name = "export", .activate = export},
    {.name = "export-to", .activate = export_to, .parameter_type = "s"},
    {.name = "copy-command", .activate = copy_command},
    {.name = "open-folder", .activate = open_folder, .parameter_type = "s"},
  };
  g_action_map_add_action_entries (shared->actions, actions, G_N_ELEMENTS (actions),
                                   (gpointer) shared);
}
