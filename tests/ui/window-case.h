/* SPDX-License-Identifier: MIT */
/* Shared by the tests of windows: one application with a store, and a window of it for each test.
 */
#pragma once

#include "app/application.h"
#include "app/window.h"
#include "tests/ui/case.h"

typedef struct {
  char *folder;
  LigApplication *application;
  LigWindow *window;
  LigDocument *doc;
} Fixture;

static inline char *
in_folder (Fixture *f, const char *name)
{
  return g_build_filename (f->folder, name, NULL);
}

static inline LigWindow *
find_window (Fixture *f)
{
  GList *windows = gtk_application_get_windows (GTK_APPLICATION (f->application));
  while (windows && !LIG_IS_WINDOW (windows->data))
    windows = windows->next;
  return windows ? windows->data : NULL;
}

/* All tests share one application, like all windows. */
static LigApplication *application;

static inline LigDocument *
get_document (AdwTabView *tabs, int position)
{
  GtkWidget *view = adw_tab_page_get_child (adw_tab_view_get_nth_page (tabs, position));
  return lig_document_view_get_document (LIG_DOCUMENT_VIEW (view));
}

static inline void
set_up (Fixture *f, gconstpointer data)
{
  f->folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  f->application = application;
  g_application_activate (G_APPLICATION (application));
  f->window = find_window (f);
  f->doc = lig_window_get_document (f->window);
}

static inline void
tear_down (Fixture *f, gconstpointer data)
{
  for (LigWindow *window; (window = find_window (f));) {
    AdwTabView *tabs = lig_window_get_tabs (window);
    for (int i = 0; i < adw_tab_view_get_n_pages (tabs); i++)
      lig_document_discard (get_document (tabs, i));
    gtk_window_destroy (GTK_WINDOW (window));
  }
  remove_folder (f->folder);
}

static inline void
start_application (const char *store)
{
  g_autoptr (GError) error = NULL;
  g_setenv ("LIGATURE_STORE", store, TRUE);
  gtk_init ();
  application = lig_application_new ();
  g_application_set_flags (G_APPLICATION (application),
                           G_APPLICATION_NON_UNIQUE | G_APPLICATION_HANDLES_OPEN);
  g_assert_true (g_application_register (G_APPLICATION (application), NULL, &error));
  g_assert_no_error (error);
}

static inline void
act (Fixture *f, const char *action)
{
  g_autofree char *name = g_strconcat ("win.", action, NULL);
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (f->window), name, NULL));
}

static inline void
act_on (Fixture *f, const char *action, const char *target)
{
  g_autofree char *name = g_strconcat ("win.", action, NULL);
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (f->window), name, "s", target));
}

static inline gboolean
is_enabled (Fixture *f, const char *action)
{
  GAction *found = g_action_map_lookup_action (G_ACTION_MAP (f->window), action);
  g_assert_nonnull (found);
  return g_action_get_enabled (found);
}

static inline void
write_file (Fixture *f, const char *name, const char *text)
{
  g_autofree char *path = in_folder (f, name);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static inline void
open_file (Fixture *f, const char *name)
{
  g_autofree char *path = in_folder (f, name);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lig_application_open_file (f->application, file);
}

static inline const char *
get_page (Fixture *f)
{
  GtkWidget *stack = find_type (GTK_WIDGET (f->window), ADW_TYPE_VIEW_STACK);
  return adw_view_stack_get_visible_child_name (ADW_VIEW_STACK (stack));
}

static inline gboolean
says (Fixture *f, const char *text)
{
  return find_widget (GTK_WIDGET (f->window), shows_text, text) != NULL;
}

static inline AdwMessageDialog *
find_dialog (void)
{
  g_autoptr (GList) windows = gtk_window_list_toplevels ();
  for (GList *item = windows; item; item = item->next)
    if (ADW_IS_MESSAGE_DIALOG (item->data) && gtk_widget_get_visible (item->data))
      return item->data;
  return NULL;
}

/* Calls @add, which adds the tests, and runs them. The application is this process's, even if
 * another one runs in the session. */
static inline int
run_application_tests (int argc, char **argv, void (*add) (void))
{
  g_setenv ("DBUS_SESSION_BUS_ADDRESS", "disabled:", TRUE);
  gtk_test_init (&argc, &argv);
  char *folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_autofree char *store = g_build_filename (folder, "store.db", NULL);
  start_application (store);
  add ();
  int status = g_test_run ();
  remove_folder (folder);
  return status;
}
