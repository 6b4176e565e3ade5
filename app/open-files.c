/* SPDX-License-Identifier: MIT */
#include "app/open-files.h"

#include "app/window.h"

enum { SOON = 200 }; /* milliseconds: several tabs that change together are noted once */

struct _LigOpenFiles {
  GtkApplication *application;
  GSettings *settings;
  gboolean quitting;
  guint source;
};

LigOpenFiles *
lig_open_files_new (GtkApplication *application, GSettings *settings)
{
  LigOpenFiles *self = g_new0 (LigOpenFiles, 1);
  self->application = application;
  self->settings = settings;
  return self;
}

void
lig_open_files_free (LigOpenFiles *self)
{
  g_clear_handle_id (&self->source, g_source_remove);
  g_free (self);
}

/* Appends the paths of a window's tabs. */
static void
append_paths (LigWindow *window, GPtrArray *paths)
{
  AdwTabView *tabs = lig_window_get_tabs (window);
  for (int i = 0; i < adw_tab_view_get_n_pages (tabs); i++) {
    GtkWidget *view = adw_tab_page_get_child (adw_tab_view_get_nth_page (tabs, i));
    const char *path =
      lig_document_get_path (lig_document_view_get_document (LIG_DOCUMENT_VIEW (view)));
    if (path)
      g_ptr_array_add (paths, (gpointer) path);
  }
}

static gboolean
note (gpointer data)
{
  LigOpenFiles *self = data;
  const char *shown = NULL;
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  GList *windows = gtk_application_get_windows (self->application);
  guint count = 0;
  self->source = 0;
  /* The window that was used last is the first. */
  for (GList *item = g_list_last (windows); item; item = item->prev)
    if (LIG_IS_WINDOW (item->data) &&
        adw_tab_view_get_n_pages (lig_window_get_tabs (item->data)) > 0) {
      append_paths (item->data, paths);
      shown = lig_document_get_path (lig_window_get_document (item->data));
      count++;
    }
  if (count == 0 || self->quitting)
    return G_SOURCE_REMOVE;
  g_ptr_array_add (paths, NULL);
  g_settings_set_strv (self->settings, "open-files", (const char *const *) paths->pdata);
  g_settings_set_string (self->settings, "shown-file", shown ? shown : "");
  return G_SOURCE_REMOVE;
}

void
lig_open_files_note (LigOpenFiles *self)
{
  if (self->source == 0)
    self->source = g_timeout_add (SOON, note, self);
}

void
lig_open_files_set_quitting (LigOpenFiles *self, gboolean quitting)
{
  self->quitting = quitting;
}

GPtrArray *
lig_open_files_list (LigOpenFiles *self)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) paths = g_settings_get_strv (self->settings, "open-files");
  g_autofree char *shown = g_settings_get_string (self->settings, "shown-file");
  if (!g_settings_get_boolean (self->settings, "reopen"))
    return files;
  for (guint i = 0; paths[i]; i++)
    if (g_file_test (paths[i], G_FILE_TEST_IS_REGULAR))
      g_ptr_array_add (files, g_strdup (paths[i]));
  if (g_ptr_array_find_with_equal_func (files, shown, g_str_equal, NULL))
    g_ptr_array_add (files, g_strdup (shown));
  return files;
}
